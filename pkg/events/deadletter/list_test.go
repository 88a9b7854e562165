package deadletter_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/events/deadletter"
	"github.com/eunoe-memory/eunoe/pkg/events/natstest"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

func TestDeadLetters(t *testing.T) {
	t.Parallel()
	c := natstest.Start(t)
	bury := func(bank, stage string, seq uint64, subject string, payload []byte) {
		t.Helper()
		d := memory.DeadLetter{Stage: stage, Bank: bank, Stream: "MEM_X", Seq: seq, Subject: subject, Payload: payload, Reason: "because", First: time.Unix(1, 0).UTC(), Last: time.Unix(2, 0).UTC()}
		for range 2 { // a repeat is one
			if err := deadletter.Publish(t.Context(), c, d); err != nil {
				t.Fatal(err)
			}
		}
	}
	bury("alice", "ingest", 1, "mem.alice.message.s", []byte(`{"content":"now fine"}`))
	bury("alice", "extract", 2, "mem.alice.window.s", []byte(`{"new":[{"seq":4}],"context":[3]}`))
	bury("bob", "extract", 3, "mem.bob.window.s", []byte(`{}`))
	bury("%61", "ingest", 4, "mem.%61.message.s", []byte{0xff, 0x00})
	bury("carol", "ingest", 5, "nowhere", make([]byte, 1<<20))

	list := func(f deadletter.Filter) (ids []uint64) {
		t.Helper()
		l, err := deadletter.List(t.Context(), c, f)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range l {
			ids = append(ids, d.ID)
		}
		return ids
	}
	for _, q := range []struct {
		f    deadletter.Filter
		want []uint64
	}{
		{deadletter.Filter{}, []uint64{1, 2, 3, 4, 5}},
		{deadletter.Filter{Bank: "alice"}, []uint64{1, 2}},
		{deadletter.Filter{Stage: "extract"}, []uint64{2, 3}},
		{deadletter.Filter{Bank: "%61"}, []uint64{4}},
		{deadletter.Filter{After: 2, Limit: 2}, []uint64{3, 4}},
		{deadletter.Filter{Bank: "nobody"}, nil},
	} {
		if d := cmp.Diff(q.want, list(q.f)); d != "" {
			t.Errorf("%+v: %s", q.f, d)
		}
	}
	d, err := deadletter.Get(t.Context(), c, 4)
	if err != nil || d.Bank != "%61" || string(d.Payload) != "\xff\x00" || d.Reason != "because" || !d.Last.Equal(time.Unix(2, 0)) {
		t.Errorf("%+v, %v", d, err)
	}
	if d, err := deadletter.Get(t.Context(), c, 2); err != nil || cmp.Diff([]uint64{3, 4}, d.Messages(c.Naming.Messages())) != "" {
		t.Errorf("the messages %v, %v", d.Messages(c.Naming.Messages()), err)
	}
	if d, err := deadletter.Get(t.Context(), c, 5); err != nil || !strings.Contains(d.Reason, "cut") {
		t.Errorf("a large one: %s, %v", d.Reason, err)
	}
	if seq, err := deadletter.Retry(t.Context(), c, 1); seq != 1 || err != nil {
		t.Errorf("sent again as %d, %v", seq, err)
	}
	if n, err := c.Count(t.Context(), c.Naming.Windows(), c.Naming.BankKind("alice", events.KindWindow)); n != 0 || err != nil {
		t.Errorf("%d windows wait, %v", n, err)
	}
	if _, err := deadletter.Retry(t.Context(), c, 1); !errors.Is(err, memory.ErrNotFound) {
		t.Errorf("once more: %v", err)
	}
	if n, err := deadletter.RetryAll(t.Context(), c, deadletter.Filter{}); n != 3 || err == nil {
		t.Errorf("sent %d again, %v", n, err)
	}
	if n, err := deadletter.DropAll(t.Context(), c, deadletter.Filter{}); n != 1 || err != nil {
		t.Errorf("dropped %d, %v", n, err)
	}
	if err := deadletter.Drop(t.Context(), c, 5); err != nil {
		t.Errorf("dropped once more: %v", err)
	}
	if l := list(deadletter.Filter{}); l != nil {
		t.Errorf("left %v", l)
	}
}
