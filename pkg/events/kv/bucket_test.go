package kv_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/events/kv"
	"github.com/eunoe-memory/eunoe/pkg/events/natstest"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

func TestADroppedProfileLeavesNoBytes(t *testing.T) {
	t.Parallel()
	s := natstest.StartServer(t)
	c := s.Connect(t)
	if err := c.Reconcile(t.Context(), events.DefaultStreamOptions()); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"first words", "second words", "third words"} {
		if err := kv.PutProfile(t.Context(), c, memory.Bank{ID: "alice", Instructions: text}); err != nil {
			t.Fatal(err)
		}
	}
	if natstest.OnDisk(t, s.Dir(), "first words") || natstest.OnDisk(t, s.Dir(), "second words") || !natstest.OnDisk(t, s.Dir(), "third words") {
		t.Error("not the newest profile alone is there")
	}
	if err := kv.DropProfile(t.Context(), c, "alice"); err != nil {
		t.Fatal(err)
	}
	if natstest.OnDisk(t, s.Dir(), "third words") {
		t.Error("the profile is still there")
	}
}

func TestProfilesAndBuckets(t *testing.T) {
	t.Parallel()
	c := natstest.Start(t)
	for _, bank := range []memory.BankID{"!room:x.org", "日本", "a=b"} {
		if b, ok, err := kv.Profile(t.Context(), c, bank); ok || err != nil || b.ID != bank || b.Disposition != memory.DefaultDisposition() {
			t.Errorf("before: %+v %v %v", b, ok, err)
		}
		if err := kv.PutProfile(t.Context(), c, memory.Bank{ID: bank, Instructions: "be brief", Version: 7}); err != nil {
			t.Fatal(err)
		}
		if b, ok, err := kv.Profile(t.Context(), c, bank); !ok || err != nil || b.ID != bank || b.Instructions != "be brief" || b.Version != 7 {
			t.Errorf("after: %+v %v %v", b, ok, err)
		}
		library, err := c.JS.KeyValue(t.Context(), c.Naming.BankBucket()) // as any other program reads it
		if err != nil {
			t.Fatal(err)
		}
		if e, err := library.Get(t.Context(), events.Key(string(bank))); err != nil || !strings.Contains(string(e.Value()), "be brief") {
			t.Errorf("by the key-value API: %v", err)
		}
		for range 2 {
			if err := kv.DropProfile(t.Context(), c, bank); err != nil {
				t.Fatal(err)
			}
		}
		if _, ok, err := kv.Profile(t.Context(), c, bank); ok || err != nil {
			t.Errorf("dropped: %v %v", ok, err)
		}
	}

	b := kv.Open(c, c.Naming.IngestBucket())
	rec := kv.Record{Key: "a.b", Value: []byte("1")}
	rev, err := b.Put(t.Context(), rec)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.Put(t.Context(), rec); !errors.Is(err, memory.ErrConflict) {
		t.Errorf("a second first write: %v", err)
	}
	rec.Revision = rev
	all := []kv.Record{rec, {Key: "a.c", Value: []byte{}}, {Key: "x", Value: []byte("3")}}
	if err := b.PutAll(t.Context(), all); err != nil || all[0].Revision <= rev || all[1].Revision == 0 {
		t.Errorf("%+v, %v", all, err)
	}
	if err := b.PutAll(t.Context(), []kv.Record{rec}); !errors.Is(err, memory.ErrConflict) {
		t.Errorf("over an old revision: %v", err)
	}
	var keys []string
	if err := b.Each(t.Context(), "a.>", func(r kv.Record) error { keys = append(keys, r.Key); return nil }); err != nil || cmp.Diff([]string{"a.b", "a.c"}, keys) != "" {
		t.Errorf("%v, %v", keys, err)
	}
	if err := b.Delete(t.Context(), rec); !errors.Is(err, memory.ErrConflict) {
		t.Errorf("deleting an old revision: %v", err)
	}
	if err := b.Delete(t.Context(), all[0]); err != nil {
		t.Error(err)
	}
	gone, err := b.Get(t.Context(), "a.b")
	if err != nil || gone.Value != nil {
		t.Errorf("%+v, %v", gone, err)
	}
	gone.Value = []byte("again")
	if _, err := b.Put(t.Context(), gone); err != nil {
		t.Errorf("after a delete: %v", err)
	}
	if err := b.Clear(t.Context()); err != nil {
		t.Error(err)
	}
	if left, err := b.Get(t.Context(), "a.b"); err != nil || left.Value != nil {
		t.Errorf("after it was cleared: %+v, %v", left, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := b.Get(ctx, "a.b"); err == nil {
		t.Error("it read with a context that had ended")
	}
}
