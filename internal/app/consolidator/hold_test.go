package consolidator_test

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/eunoe-memory/eunoe/internal/app/apptest"
	"github.com/eunoe-memory/eunoe/internal/app/consolidator"
	"github.com/eunoe-memory/eunoe/internal/app/storage"
	"github.com/eunoe-memory/eunoe/pkg/events/natstest"
	"github.com/eunoe-memory/eunoe/pkg/store"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

// A rebuild that holds keeps erasures from the streams: one that nobody asks for any more must not hold for ever.
func TestARebuildThatHoldsEndsWhenNobodyAsks(t *testing.T) { //nolint:paralleltest // it sets how long that is
	consolidator.ForgetAfter(time.Second)
	defer consolidator.ForgetAfter(time.Minute)
	c := apptest.Settings(t, nil)
	l := apptest.Start(t, c)
	to := filepath.Join(c.Data, "moved.db")
	ask := func(r wire.RebuildRequest) (s wire.RebuildStatus) {
		body, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		if m, err := l.Conn.NC.Request(consolidator.RebuildSubject(l.Conn.Naming), body, time.Second); err == nil {
			if err := json.Unmarshal(m.Data, &s); err != nil {
				t.Fatal(err)
			}
		}
		return s
	}
	natstest.Eventually(t, "it holds", func() bool {
		return ask(wire.RebuildRequest{Start: true, Hold: true, To: to}).Doing == "holding"
	})
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for range 10 { // longer than nobody may be silent
		<-tick.C
		if s := ask(wire.RebuildRequest{}); s.Doing != "holding" {
			t.Fatalf("it ended while it was asked for: %+v", s)
		}
	}
	natstest.Eventually(t, "what it made is removed", func() bool {
		there, err := storage.Exists(t.Context(), storage.Unfinished(to))
		return err == nil && !there
	})
	var s wire.RebuildStatus
	natstest.Eventually(t, "it says why", func() bool {
		s = ask(wire.RebuildRequest{})
		return !s.Running
	})
	if !strings.Contains(s.Error, "nobody has asked for a minute") || s.Code != 503 {
		t.Errorf("%+v", s)
	}
	st, err := store.Open(store.Config{DSN: c.Store, ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	if m, err := st.Move(t.Context()); err != nil || m != (store.Move{}) {
		t.Errorf("the store notes %+v, %v", m, err)
	}
}
