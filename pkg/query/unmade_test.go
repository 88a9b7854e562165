package query_test

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/eunoe-memory/eunoe/pkg/events/natstest"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/query"
	"github.com/eunoe-memory/eunoe/pkg/query/recall"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

// lateBank is a store in which a bank appears right after the first read, or the first search, that did not find it.
type lateBank struct {
	query.Store
	read, search func()
}

func (s *lateBank) Read(ctx context.Context, bank memory.BankID, fn func(query.Reader) error) error {
	return missed(s.Store.Read(ctx, bank, fn), s.read)
}

func (s *lateBank) Search(ctx context.Context, bank memory.BankID, f memory.Filter, fn func(recall.Searcher) error) error {
	return missed(s.Store.Search(ctx, bank, f, fn), s.search)
}

func missed(err error, appear func()) error {
	if errors.Is(err, memory.ErrNotFound) {
		appear()
	}
	return err
}

func TestABankThatAppearsDuringALook(t *testing.T) {
	t.Parallel()
	setup := func(t *testing.T, at func(late *lateBank, appear func())) *fixture {
		t.Helper()
		conn := natstest.Start(t)
		late := &lateBank{read: func() {}, search: func() {}}
		w := newFixtureWith(t, query.DefaultConfig(), func(d *query.Deps) {
			late.Store, d.Store, d.Conn = d.Store, late, conn
		})
		at(late, sync.OnceFunc(func() { w.say(memory.Message{Content: "I moved to Lisbon."}) }))
		if _, err := conn.PublishMessage(t.Context(), alice, "s1", []byte(`{"content":"I moved to Lisbon."}`)); err != nil {
			t.Fatal(err)
		}
		return w
	}
	t.Run("its status is told, not that it is unknown", func(t *testing.T) {
		t.Parallel()
		w := setup(t, func(late *lateBank, appear func()) { late.read = appear })
		st, err := w.service.Status(t.Context(), alice, wire.StatusRequest{})
		if err != nil || st.Settled || st.Conservation.Published != 1 || st.Conservation.Pending != 1 {
			t.Errorf("got %+v, %v", st, err)
		}
	})
	t.Run("a recall that waited in vain has seen what it says it has", func(t *testing.T) {
		t.Parallel()
		w := setup(t, func(late *lateBank, appear func()) { late.search = appear })
		reply, err := w.service.Recall(t.Context(), alice, wire.RecallRequest{Query: "Lisbon", After: 100, Wait: new(memory.Duration)})
		if err != nil || reply.Fresh || (reply.Seen > 0) != (len(reply.Items) > 0) {
			t.Errorf("got %+v, %v", reply, err)
		}
	})
}
