package trace_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/eunoe-memory/eunoe/internal/app/apptest"
	"github.com/eunoe-memory/eunoe/internal/app/local"
	"github.com/eunoe-memory/eunoe/internal/app/offline"
	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/events/natstest"
	"github.com/eunoe-memory/eunoe/pkg/events/ordered"
	"github.com/eunoe-memory/eunoe/pkg/store"
)

func dump(t *testing.T, path string) []string {
	t.Helper()
	st, err := store.Open(store.Config{DSN: path, ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	var b bytes.Buffer
	if err := st.Dump(t.Context(), &b); err != nil {
		t.Fatal(err)
	}
	return strings.Split(b.String(), "\n")
}

func TestTracesAreNoPartOfTheStore(t *testing.T) {
	t.Parallel()
	file := newTraces(t)
	c := apptest.Settings(t, map[string]string{"TRACE": "file:" + file.path})
	l, err := local.Start(t.Context(), c, os.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	closed := false
	t.Cleanup(func() {
		if !closed {
			_ = l.Close(context.Background())
		}
	})
	nc := dial(t, l.URL)
	talk, retained := begun(21), begun(22)
	say(t, nc, talk, "m1", "I moved to Lisbon in May.")
	say(t, nc, talk, "m2", "My sister Nora lives in Bergen.")
	file.of(talk.id, linked(talk.span, "cut window", "extract window", "append write", "commit write", "publish changes"))
	ask(t, nc, retained, "mem.alice.retain", `{"facts":[{"text":"Alice plays the cello."}]}`)
	natstest.Eventually(t, "the store stands at the end of the log", func() bool {
		return strings.Contains(ask(t, nc, traced{}, "mem.alice.status", ""), `"writes":{"pending":0}`)
	})
	nc.Close()
	closed = true
	if err := l.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	before := dump(t, c.Store)
	for _, line := range before {
		if strings.Contains(line, talk.id) || strings.Contains(line, retained.id) {
			t.Errorf("the store holds a trace: %s", line)
		}
	}
	if err := offline.Rebuild(t.Context(), c, nil); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, dump(t, c.Store)); diff != "" {
		t.Errorf("a rebuild differs (-live +rebuilt):\n%s", diff)
	}
}

func TestAWriteThatIsAppendedAnewKeepsItsTrace(t *testing.T) {
	t.Parallel()
	file := newTraces(t)
	l := apptest.Start(t, apptest.Settings(t, map[string]string{"TRACE": "file:" + file.path}))
	nc := dial(t, l.URL)
	retained := begun(31)
	reply := ask(t, nc, retained, "mem.alice.retain", `{"facts":[{"text":"Alice plays the cello."},{"text":"Alice owns a red kayak."}]}`)
	var got struct {
		Write   uint64
		Results []struct{ ID string }
	}
	if err := json.Unmarshal([]byte(reply), &got); err != nil || len(got.Results) != 2 {
		t.Fatalf("retain: %s, %v", reply, err)
	}

	ask(t, nc, begun(32), "mem.alice.forget", `{"id":"`+got.Results[1].ID+`"}`)
	var rest events.Event
	natstest.Eventually(t, "the rest of the write is in the log", func() bool {
		_, err := ordered.Scan(t.Context(), l.Conn, l.Conn.Naming.Writes(), nil, got.Write, func(e events.Event) error {
			if bytes.Contains(e.Data, []byte("cello")) {
				rest = e
			}
			return nil
		})
		return err == nil && rest.Data != nil
	})
	if !strings.Contains(rest.Header.Get("traceparent"), retained.id) {
		t.Errorf("the rest carries %q", rest.Header.Get("traceparent"))
	}
}
