package events_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/events/natstest"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

func TestRestore(t *testing.T) {
	t.Parallel()
	c := natstest.Start(t)
	r := events.NewRestorer(c)
	remove := func(names ...string) {
		t.Helper()
		for _, name := range names {
			if err := c.JS.DeleteStream(t.Context(), name); err != nil {
				t.Fatal(err)
			}
		}
	}
	restored := func(what string) {
		t.Helper()
		if err := r.Restore(t.Context()); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		for _, name := range c.Naming.AllStreams() {
			if _, err := c.JS.Stream(t.Context(), name); err != nil {
				t.Errorf("%s: %s: %v", what, name, err)
			}
		}
	}
	restored("nothing is missing")
	remove(c.Naming.AllStreams()...)
	restored("everything is missing and nothing was kept")

	natstest.Publish(t, c, "alice", "s", "I keep bees.")
	restored("a message is kept")
	remove("KV_MEM_LEASES", "MEM_WRITES")
	restored("an empty log of writes is missing")

	remove("KV_MEM_LEASES", "MEM_MESSAGES")
	err := r.Restore(t.Context())
	if !errors.Is(err, memory.ErrConflict) || !strings.Contains(err.Error(), "MEM_MESSAGES") {
		t.Errorf("a log with a message is missing: %v", err)
	}
	if _, err := c.JS.Stream(t.Context(), "MEM_MESSAGES"); err == nil {
		t.Error("it was made anew")
	}
}

// positions are those of a store.
type positions struct{ messages, writes memory.LogPosition }

func (p positions) LogPositions(context.Context) (messages, writes memory.LogPosition, err error) {
	return p.messages, p.writes, nil
}

func TestCheckLog(t *testing.T) {
	t.Parallel()
	c := natstest.Start(t)
	var last events.Event
	for range 3 {
		var err error
		if last, err = c.EventAt(t.Context(), "MEM_MESSAGES", natstest.Publish(t, c, "alice", "s", "I keep bees.")); err != nil {
			t.Fatal(err)
		}
	}
	log, _, err := c.CheckLog(t.Context(), positions{})
	if err != nil || log == "" {
		t.Fatalf("a store that has applied nothing: %q, %v", log, err)
	}
	if err := c.Reconcile(t.Context(), events.StreamOptions{}); err != nil {
		t.Fatal(err)
	}
	at := memory.LogPosition{Log: log, Applied: 3, Event: 3, Stored: memory.At(last.Stored)}
	with := func(change func(*memory.LogPosition)) positions {
		p := at
		change(&p)
		return positions{messages: p}
	}
	for name, p := range map[string]positions{
		"the same log":              {messages: at},
		"no identity is known yet":  with(func(p *memory.LogPosition) { p.Log = "" }),
		"no event is known":         with(func(p *memory.LogPosition) { p.Event = 0 }),
		"the log has gone on":       with(func(p *memory.LogPosition) { p.Applied = 2; p.Event = 0 }),
		"nothing of it was applied": {messages: memory.LogPosition{Log: "another"}},
	} {
		if now, _, err := c.CheckLog(t.Context(), p); err != nil || now != log {
			t.Errorf("%s: %q, %v", name, now, err)
		}
	}
	for name, p := range map[string]positions{
		"another stream": with(func(p *memory.LogPosition) { p.Log = "another" }),
		"ends at 3":      with(func(p *memory.LogPosition) { p.Applied = 4 }),
		"event 3":        with(func(p *memory.LogPosition) { p.Stored = p.Stored.Add(time.Microsecond) }),
	} {
		if _, _, err := c.CheckLog(t.Context(), p); !errors.Is(err, memory.ErrConflict) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := c.Erase(t.Context(), "MEM_MESSAGES", 3); err != nil {
		t.Fatal(err)
	}
	if _, _, err := c.CheckLog(t.Context(), positions{messages: at}); err != nil {
		t.Errorf("an event that a forget erased: %v", err)
	}
	if err := c.JS.DeleteStream(t.Context(), "MEM_MESSAGES"); err != nil {
		t.Fatal(err)
	}
	if err := c.Reconcile(t.Context(), events.StreamOptions{}); err != nil {
		t.Fatal(err)
	}
	if now, _, err := c.CheckLog(t.Context(), positions{}); err != nil || now == log {
		t.Errorf("a stream that was made anew has the identity %q, %v", now, err)
	}
}
