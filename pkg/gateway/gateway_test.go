package gateway_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/nats-io/nkeys"

	"github.com/eunoe-memory/eunoe/internal/app/apptest"
	"github.com/eunoe-memory/eunoe/internal/app/gateway"
	"github.com/eunoe-memory/eunoe/internal/app/local"
	"github.com/eunoe-memory/eunoe/pkg/events/natstest"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

// door is a gateway before a whole Eunoe, and a client of its own.
type door struct {
	*testing.T
	*local.Local
	http *http.Client
}

// open starts both with settings of its own beside a free port.
func open(t *testing.T, overrides map[string]string) *door {
	t.Helper()
	set := map[string]string{"HTTP": "127.0.0.1:0", "LOG": "fatal"}
	for k, v := range overrides {
		set[k] = v
	}
	return doorOf(t, apptest.Start(t, apptest.Settings(t, set), gateway.Stage()))
}

func doorOf(t *testing.T, l *local.Local) *door {
	tr := &http.Transport{}
	t.Cleanup(tr.CloseIdleConnections)
	return &door{T: t, Local: l, http: &http.Client{Transport: tr, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
}

// in returns the door of a subtest.
func (d *door) in(t *testing.T) *door {
	out := *d
	out.T = t
	return &out
}

// request returns a request as a well-behaved client makes it.
func (d *door) request(method, path string, body string) *http.Request {
	d.Helper()
	r, err := http.NewRequestWithContext(d.Context(), method, d.Gateway+path, strings.NewReader(body))
	if err != nil {
		d.Fatal(err)
	}
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/json")
	}
	return r
}

// do returns the status, the headers and the body of an answer.
func (d *door) do(r *http.Request) (int, http.Header, string) {
	d.Helper()
	resp, err := d.http.Do(r)
	if err != nil {
		d.Fatalf("%s %s: %v", r.Method, r.URL, err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		d.Fatalf("%s %s: %v", r.Method, r.URL, err)
	}
	return resp.StatusCode, resp.Header, string(b)
}

// post makes a request that must be answered well, and reads the reply.
func post[T any](d *door, path, body string) T {
	d.Helper()
	return must[T](d, d.request(http.MethodPost, path, body))
}

func must[T any](d *door, r *http.Request) T {
	d.Helper()
	status, _, text := d.do(r)
	if status != http.StatusOK {
		d.Fatalf("%s %s: %d %s", r.Method, r.URL, status, text)
	}
	return apptest.Decode[T](d.T, text)
}

// refused makes a request that must be refused with a status, a field and words.
func (d *door) refused(r *http.Request, status int, field, words string) http.Header {
	d.Helper()
	got, header, text := d.do(r)
	var f wire.Fault
	if err := json.Unmarshal([]byte(text), &f); err != nil || got != status || f.Error.Code != status || f.Error.Field != field || !strings.Contains(f.Error.Message, words) {
		d.Errorf("%s %.200s: %d %.300s; expected %d, field %q, %q", r.Method, r.URL, got, text, status, field, words)
	}
	return header
}

// published is what a publish answers.
type published struct {
	Seq  uint64
	Seqs []uint64
}

// settle waits until everything published to a bank is in the store.
func (d *door) settle(bank string) {
	d.Helper()
	natstest.Eventually(d.T, bank+" is settled", func() bool {
		_, _, text := d.do(d.request(http.MethodGet, "/v1/banks/"+bank+"/status", ""))
		var s wire.Status
		return json.Unmarshal([]byte(text), &s) == nil && s.Settled
	})
}

func TestADayByHTTP(t *testing.T) {
	t.Parallel()
	d := open(t, nil)
	one := post[published](d, "/v1/banks/ann/sessions/chat/messages", `{"id":"m1","speaker":"Ann","content":"I am allergic to walnuts.","mood":"calm"}`)
	if one.Seq == 0 {
		t.Fatalf("published at %+v", one)
	}
	many := post[published](d, "/v1/banks/ann/sessions/chat/messages", `[{"speaker":"Ann","content":"My sister lives in Porto."},{"speaker":"Ann","content":"I play the cello."}]`)
	if len(many.Seqs) != 2 || many.Seqs[0] <= one.Seq || many.Seqs[1] <= many.Seqs[0] || many.Seq != many.Seqs[1] {
		t.Errorf("published at %+v after %+v", many, one)
	}
	if found := post[wire.RecallReply](d, "/v1/banks/ann/recall", fmt.Sprintf(`{"query":"What is Ann allergic to?","after":%d}`, many.Seq)); len(found.Items) == 0 || !found.Fresh || !strings.Contains(found.Items[0].Text, "walnuts") {
		t.Errorf("recalled %+v", found)
	}
	if flush := post[published](d, "/v1/banks/ann/sessions/chat/flush", ""); flush.Seq <= many.Seq {
		t.Errorf("flushed at %+v", flush)
	}
	d.settle("ann")

	t.Run("every endpoint of the table answers under its name", func(t *testing.T) {
		d := d.in(t)
		for _, e := range wire.Endpoints() {
			path := "/v1/banks/ann/" + e.Name
			if e.Role == wire.Operator {
				path = "/v1/admin/" + e.Name
			}
			body, err := json.Marshal(e.Request.Example)
			if err != nil {
				t.Fatal(err)
			}
			if e.Name == "erase" || e.Name == "reextract" {
				body = []byte(`{"bank":"nobody"}`)
			}
			status, header, text := d.do(d.request(http.MethodPost, path, string(body)))
			if status != 200 && status != 404 && status != 400 || status != 200 && !strings.Contains(text, `"error"`) || header.Get("Content-Type") != "application/json" {
				t.Errorf("%s: %d %s", path, status, text)
			}
			if status == 404 && strings.Contains(text, "no such endpoint") {
				t.Errorf("%s is not served", path)
			}
		}
	})
	t.Run("what is read has addresses of its own", func(t *testing.T) {
		d := d.in(t)
		list := post[wire.Page[struct{ ID, Text string }]](d, "/v1/banks/ann/list", `{"record":"fact"}`)
		if len(list.Items) == 0 {
			t.Fatal("there are no facts")
		}
		id := list.Items[0].ID
		if item := must[struct{ ID, Text string }](d, d.request(http.MethodGet, "/v1/banks/ann/items/"+id, "")); item != list.Items[0] {
			t.Errorf("got %+v, listed is %+v", item, list.Items[0])
		}
		if h := must[wire.HistoryReply](d, d.request(http.MethodGet, "/v1/banks/ann/items/"+id+"/history", "")); string(h.ID) != id || len(h.Items) == 0 {
			t.Errorf("its history is %+v", h)
		}
		if c := must[wire.Page[struct{ Seq uint64 }]](d, d.request(http.MethodGet, "/v1/banks/ann/changes?after=0&limit=2", "")); len(c.Items) != 2 || c.Next == "" {
			t.Errorf("changes are %+v", c)
		}
		if m := must[map[string]any](d, d.request(http.MethodGet, "/v1/banks/ann/items/m1", "")); !strings.Contains(fmt.Sprint(m["text"]), "walnuts") {
			t.Errorf("the message is %v", m)
		}
	})
	t.Run("an Idempotency-Key makes a write and a publish happen once", func(t *testing.T) {
		d := d.in(t)
		var replies []string
		for range 2 {
			r := d.request(http.MethodPost, "/v1/banks/ann/retain", `{"facts":[{"text":"Ann owns a blue bicycle."}]}`)
			r.Header.Set("Idempotency-Key", "bike-1")
			status, _, text := d.do(r)
			if status != 200 || !strings.Contains(text, `"op":"bike-1"`) {
				t.Fatalf("%d %s", status, text)
			}
			replies = append(replies, text)
		}
		if replies[0] != replies[1] {
			t.Errorf("the repeat got %s, the first %s", replies[1], replies[0])
		}
		r := d.request(http.MethodPost, "/v1/banks/ann/retain", `{"op":"other","facts":[{"text":"x"}]}`)
		r.Header.Set("Idempotency-Key", "bike-1")
		d.refused(r, 400, "op", "Idempotency-Key")
		for range 2 {
			r := d.request(http.MethodPost, "/v1/banks/ann/sessions/once/messages", `[{"content":"Twice sent, once told."},{"content":"So is this."}]`)
			r.Header.Set("Idempotency-Key", "batch-1")
			must[published](d, r)
		}
		post[published](d, "/v1/banks/ann/sessions/once/flush", "{}")
		d.settle("ann")
		if l := post[wire.Page[struct{ ID string }]](d, "/v1/banks/ann/list", `{"record":"message","session":"once"}`); len(l.Items) != 2 {
			t.Errorf("stored are %+v", l)
		}
	})
	t.Run("names are percent-encoded as URLs are, slashes too", func(t *testing.T) {
		d := d.in(t)
		post[published](d, "/v1/banks/a%2Fb%20%C3%A9/sessions/s%2Ft/messages", `{"content":"A strange name."}`)
		post[published](d, "/v1/banks/a%2Fb%20%C3%A9/sessions/s%2Ft/flush", "{}")
		d.settle("a%2Fb%20%C3%A9")
		if out := must[map[string]any](d, d.request(http.MethodPost, "/v1/banks/a%2Fb%20%C3%A9/bank", "{}")); out["id"] != "a/b é" {
			t.Errorf("the bank is %v", out["id"])
		}
	})
	t.Run("gzip is taken and given", func(t *testing.T) {
		d := d.in(t)
		var packed bytes.Buffer
		z := gzip.NewWriter(&packed)
		fmt.Fprintf(z, `{"query":"cello","strategies":{"keyword":1},"explain":true,"max_facts":50}`)
		z.Close()
		r := d.request(http.MethodPost, "/v1/banks/ann/recall", packed.String())
		r.Header.Set("Content-Encoding", "gzip")
		must[wire.RecallReply](d, r)
		r = d.request(http.MethodPost, "/v1/banks/ann/list", `{"record":"fact","limit":100}`)
		r.Header.Set("Accept-Encoding", "gzip")
		status, header, text := d.do(r)
		if status != 200 || len(text) == 0 || header.Get("Content-Encoding") != "gzip" {
			t.Errorf("%d %v", status, header)
		}
	})
	t.Run("it describes itself", func(t *testing.T) {
		d := d.in(t)
		if doc := must[map[string]any](d, d.request(http.MethodGet, "/openapi.json", "")); doc["openapi"] != "3.1.0" {
			t.Errorf("the document is of version %v", doc["openapi"])
		}
		status, header, page := d.do(d.request(http.MethodGet, "/docs", ""))
		if status != 200 || !strings.Contains(page, "/v1/banks/{bank}/recall") || !strings.Contains(header.Get("Content-Security-Policy"), "default-src 'none'") {
			t.Errorf("%d %v %.200s", status, header, page)
		}
		if strings.Contains(page, "://") {
			t.Error("the page names an address elsewhere")
		}
	})
	t.Run("it says who it is and how it is", func(t *testing.T) {
		d := d.in(t)
		if s := must[map[string]string](d, d.request(http.MethodGet, "/v1/self", "")); s["key"] != "" || s["prefix"] != "mem" {
			t.Errorf("self is %v", s)
		}
		for _, path := range []string{"/health/live", "/health/ready"} {
			if h := must[map[string]bool](d, d.request(http.MethodGet, path, "")); !h["ok"] {
				t.Errorf("%s: %v", path, h)
			}
		}
		if code, text := apptest.Get(t, "http://"+d.HTTP+"/metrics"); code != 200 || !strings.Contains(text, `eunoe_http_requests_total{code="200",route="POST /v1/banks/{bank}/recall"}`) {
			t.Errorf("metrics: %d", code)
		}
	})
}

func TestWhatIsWrongIsNamed(t *testing.T) {
	t.Parallel()
	d := open(t, nil)
	post[published](d, "/v1/banks/ann/sessions/chat/messages", `{"content":"Hello there."}`)
	post[published](d, "/v1/banks/ann/sessions/chat/flush", "{}")
	d.settle("ann") // from now on there is a bank
	bare := func(method, path, body string, set ...string) *http.Request {
		r := d.request(method, path, body)
		for i := 0; i < len(set); i += 2 {
			if r.Header.Del(set[i]); set[i+1] != "" {
				r.Header.Set(set[i], set[i+1])
			}
		}
		return r
	}
	pair, err := nkeys.CreateUser()
	if err != nil {
		t.Fatal(err)
	}
	seed, err := pair.Seed()
	if err != nil {
		t.Fatal(err)
	}
	const recall = "/v1/banks/ann/recall"
	for name, c := range map[string]struct {
		r            *http.Request
		status       int
		field, words string
	}{
		"a path that nobody has":         {bare("GET", "/v2/banks", ""), 404, "", "no such path"},
		"an endpoint that nobody has":    {bare("POST", "/v1/banks/ann/remember", "{}"), 404, "", "recall, reflect"},
		"an operator's that nobody has":  {bare("POST", "/v1/admin/drop", "{}"), 404, "", "banks, dead"},
		"a path with dots":               {bare("POST", "/v1/banks/bob/../ann/recall", "{}"), 404, "", "no such path"},
		"a path with an empty name":      {bare("POST", "/v1/banks//recall", "{}"), 404, "", "no such"},
		"the reserved name":              {bare("POST", "/v1/banks/admin/recall", "{}"), 400, "bank", "admin"},
		"a name that is too long":        {bare("POST", "/v1/banks/"+strings.Repeat("x", 200)+"/recall", "{}"), 400, "bank", "128"},
		"a control character in a name":  {bare("POST", "/v1/banks/a%00b/recall", "{}"), 400, "bank", "control"},
		"a wrong method":                 {bare("GET", recall, ""), 405, "", "expected POST"},
		"a wrong method of a read":       {bare("POST", "/v1/banks/ann/items/x", "{}"), 405, "", "expected GET"},
		"no media type":                  {bare("POST", recall, `{"query":"x"}`, "Content-Type", ""), 415, "Content-Type", "application/json"},
		"a form":                         {bare("POST", recall, `query=x`, "Content-Type", "application/x-www-form-urlencoded"), 415, "Content-Type", "application/json"},
		"text that is JSON":              {bare("POST", recall, `{"query":"x"}`, "Content-Type", "text/plain"), 415, "Content-Type", "application/json"},
		"another charset":                {bare("POST", recall, `{"query":"x"}`, "Content-Type", "application/json; charset=latin1"), 415, "Content-Type", "UTF-8"},
		"another encoding":               {bare("POST", recall, `{"query":"x"}`, "Content-Encoding", "br"), 415, "Content-Encoding", "gzip"},
		"gzip that is none":              {bare("POST", recall, `{"query":"x"}`, "Content-Encoding", "gzip"), 400, "", "body"},
		"malformed JSON":                 {bare("POST", recall, `{"query":`), 400, "", "malformed JSON"},
		"an array":                       {bare("POST", recall, `[]`), 400, "", "JSON object"},
		"two objects":                    {bare("POST", recall, `{"query":"x"}{}`), 400, "", "after the JSON object"},
		"an unknown field":               {bare("POST", recall, `{"query":"x","limit":3}`), 400, "limit", "unknown field"},
		"a field of another case":        {bare("POST", recall, `{"Query":"x"}`), 400, "Query", "unknown field"},
		"a wrong type":                   {bare("POST", recall, `{"query":"x","max_facts":"ten"}`), 400, "max_facts", "whole number"},
		"invalid UTF-8":                  {bare("POST", recall, "{\"query\":\"\xff\"}"), 400, "", "UTF-8"},
		"deep nesting":                   {bare("POST", recall, `{"query":`+strings.Repeat("[", 20000)+strings.Repeat("]", 20000)+`}`), 400, "", "depth"},
		"a body of 10 MB":                {bare("POST", recall, `{"query":"`+strings.Repeat("x", 10<<20)+`"}`), 413, "", "bytes"},
		"an unknown parameter":           {bare("POST", recall+"?debug=1", `{"query":"x"}`), 400, "debug", "none"},
		"an unknown parameter of a read": {bare("GET", "/v1/banks/ann/changes?since=1", ""), 400, "since", "after, limit"},
		"a parameter that is no number":  {bare("GET", "/v1/banks/ann/changes?after=-1", ""), 400, "after", "whole number"},
		"an id that nobody has":          {bare("GET", "/v1/banks/ann/items/none", ""), 404, "", "none"},
		"a bank that nobody has":         {bare("GET", "/v1/banks/zoe/status", ""), 404, "", "zoe"},
		"a message without content":      {bare("POST", "/v1/banks/ann/sessions/s/messages", `{"speaker":"Ann"}`), 400, "content", "required"},
		"a wrong message of several":     {bare("POST", "/v1/banks/ann/sessions/s/messages", `[{"content":"x"},{"content":7}]`), 400, "1.content", "a string"},
		"no messages":                    {bare("POST", "/v1/banks/ann/sessions/s/messages", `[]`), 400, "", "1 to 1000"},
		"too many messages":              {bare("POST", "/v1/banks/ann/sessions/s/messages", `[`+strings.Repeat(`{"content":"x"},`, 1000)+`{"content":"x"}]`), 400, "", "more than 1000"},
		"a flush with words":             {bare("POST", "/v1/banks/ann/sessions/s/flush", `{"now":true}`), 400, "now", "unknown field"},
		"a key where there are no users": {bare("GET", "/v1/self", "", "Authorization", "Bearer "+string(seed)), 401, "Authorization", "no users"},
		"a password":                     {bare("GET", "/v1/self", "", "Authorization", "Basic YTpi"), 401, "Authorization", "Bearer"},
		"a key that is none":             {bare("GET", "/v1/self", "", "Authorization", "Bearer letmein"), 401, "Authorization", "SU"},
	} {
		t.Run(name, func(t *testing.T) {
			d.in(t).refused(c.r, c.status, c.field, c.words)
		})
	}
	t.Run("two Authorization headers", func(t *testing.T) {
		d := d.in(t)
		r := d.request("GET", "/v1/self", "")
		r.Header["Authorization"] = []string{"Bearer a", "Bearer b"}
		d.refused(r, 400, "Authorization", "several")
	})
	t.Run("a refused method says which are allowed, a refused key how to bring one", func(t *testing.T) {
		d := d.in(t)
		if h := d.refused(d.request("GET", recall, ""), 405, "", "expected"); h.Get("Allow") != "POST" {
			t.Errorf("Allow is %q", h.Get("Allow"))
		}
		if h := d.refused(bare("GET", "/v1/self", "", "Authorization", "Bearer x"), 401, "Authorization", ""); h.Get("WWW-Authenticate") == "" {
			t.Error("WWW-Authenticate is missing")
		}
	})
	if s := post[wire.Status](d, "/v1/banks/ann/status", ""); s.Conservation.Published != 1 {
		t.Errorf("of what was refused, something was stored: %+v", s.Conservation)
	}
}

func TestMoreRequestsThanAllowedAreToldToWait(t *testing.T) {
	t.Parallel()
	d := open(t, map[string]string{"HTTP_RATE": "2"})
	var limited http.Header
	natstest.Eventually(t, "the gateway refuses", func() bool {
		status, h, _ := d.do(d.request("GET", "/v1/self", ""))
		limited = h
		return status == http.StatusTooManyRequests
	})
	if limited.Get("Retry-After") != "1" {
		t.Errorf("Retry-After is %q", limited.Get("Retry-After"))
	}
	if code, _, _ := d.do(d.request("GET", "/health/live", "")); code != 200 {
		t.Errorf("the health check was refused with %d", code)
	}
}

func TestABrokerThatIsGone(t *testing.T) {
	t.Parallel()
	d := open(t, nil)
	post[published](d, "/v1/banks/ann/sessions/chat/messages", `{"content":"Hello there."}`)
	if err := d.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	if _, err := d.http.Do(d.request("GET", "/health/live", "")); err == nil {
		t.Error("the gateway answers after it was stopped")
	}
}
