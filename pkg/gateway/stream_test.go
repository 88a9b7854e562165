package gateway_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/eunoe-memory/eunoe/pkg/wire"
)

// event is one server-sent event.
type event struct{ id, name, data string }

// listen opens a stream of events; next waits for the next one, and is not ok at its end.
func (d *door) listen(ctx context.Context, r *http.Request) (next func() (event, bool)) {
	d.Helper()
	resp, err := d.http.Do(r.WithContext(ctx))
	if err != nil {
		d.Fatal(err)
	}
	d.Cleanup(func() { resp.Body.Close() })
	if resp.StatusCode != 200 || resp.Header.Get("Content-Type") != "text/event-stream" {
		d.Fatalf("%s: %d %v", r.URL, resp.StatusCode, resp.Header)
	}
	lines := bufio.NewScanner(resp.Body)
	lines.Buffer(nil, 1<<20)
	return func() (e event, ok bool) {
		for lines.Scan() {
			switch name, value, _ := strings.Cut(lines.Text(), ": "); {
			case lines.Text() == "" && e != event{}:
				return e, true
			case name == "id":
				e.id = value
			case name == "event":
				e.name = value
			case name == "data":
				e.data = value
			}
		}
		return e, false
	}
}

func TestChangesAreStreamedAndResumed(t *testing.T) {
	t.Parallel()
	d := open(t, nil)
	tell := func(i int) {
		t.Helper()
		post[wire.RetainReply](d, "/v1/banks/ann/retain", fmt.Sprintf(`{"facts":[{"text":"Ann has read book number %d."}],"wait":"60s"}`, i))
	}
	tell(0)
	ctx, hangUp := context.WithCancel(t.Context())
	events := func(id, query string) func() (event, bool) {
		r := d.request(http.MethodGet, "/v1/banks/ann/events"+query, "")
		if id != "" {
			r.Header.Set("Last-Event-ID", id)
		}
		return d.listen(ctx, r)
	}
	// facts returns the facts of the next n events about facts, and the last id.
	facts := func(next func() (event, bool), n int) (ids []string, last string) {
		t.Helper()
		for len(ids) < n {
			e, ok := next()
			if !ok {
				t.Fatalf("the stream ended after %v", ids)
			}
			var c struct{ Record, Op string }
			if err := json.Unmarshal([]byte(e.data), &c); err != nil || e.id == "" {
				t.Fatalf("event %+v: %v", e, err)
			}
			if last = e.id; e.name == "fact" && c.Op == "added" {
				ids = append(ids, c.Record)
			}
		}
		return ids, last
	}
	live := events("", "")
	for i := 1; i <= 3; i++ {
		tell(i)
	}
	seen, last := facts(live, 3)
	if again, _ := facts(events("", "?after=0"), 4); fmt.Sprint(again[1:]) != fmt.Sprint(seen) {
		t.Errorf("from the beginning %v, live %v", again, seen)
	}
	hangUp()
	ctx, hangUp = context.WithCancel(t.Context())
	defer hangUp()
	tell(4)
	tell(5)
	missed, _ := facts(events(last, ""), 2)
	for _, id := range missed {
		if strings.Contains(fmt.Sprint(seen), id) {
			t.Errorf("%s came twice", id)
		}
	}
	many := make([]func() (event, bool), 20)
	for i := range many {
		many[i] = events("", "")
	}
	tell(6)
	first, _ := facts(many[0], 1)
	for _, next := range many[1:] {
		if same, _ := facts(next, 1); same[0] != first[0] {
			t.Errorf("streams differ: %v, %v", first, same)
		}
	}
	d.refused(d.request(http.MethodGet, "/v1/banks/nobody/events", ""), 404, "", "nobody")
	r := d.request(http.MethodGet, "/v1/banks/ann/events", "")
	r.Header.Set("Last-Event-ID", "yesterday")
	d.refused(r, 400, "Last-Event-ID", "number")
	if err := d.Close(t.Context()); err != nil {
		t.Errorf("with streams open: %v", err)
	}
}

func TestReflectIsStreamed(t *testing.T) {
	t.Parallel()
	d := open(t, nil)
	post[wire.RetainReply](d, "/v1/banks/ann/retain", `{"facts":[{"text":"Ann is allergic to walnuts."}],"wait":"60s"}`)
	next := d.listen(t.Context(), d.request(http.MethodPost, "/v1/banks/ann/reflect", `{"query":"What is Ann allergic to?","stream":true}`))
	var text strings.Builder
	for {
		e, ok := next()
		if !ok {
			t.Fatal("the stream ended without done")
		}
		var piece struct{ Delta, Response string }
		if err := json.Unmarshal([]byte(e.data), &piece); err != nil {
			t.Fatalf("%+v: %v", e, err)
		}
		switch e.name {
		case "delta":
			text.WriteString(piece.Delta)
			continue
		case "reset":
			text.Reset()
			continue
		case "done":
		default:
			t.Fatalf("event %+v", e)
		}
		if piece.Response != text.String() || !strings.Contains(piece.Response, "walnuts") {
			t.Errorf("the pieces are %q, the whole %q", text.String(), piece.Response)
		}
		break
	}
	d.refused(d.request(http.MethodPost, "/v1/banks/ann/reflect", `{"stream":true}`), 400, "query", "empty")
	d.refused(d.request(http.MethodPost, "/v1/banks/zoe/reflect", `{"query":"x","stream":true}`), 404, "", "zoe")
}
