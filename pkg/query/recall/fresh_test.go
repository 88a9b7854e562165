package recall_test

import (
	"context"
	"errors"
	"testing"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/query/recall"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

// falling is a store that had applied more when it was asked how far it is than when it is searched: another server answers.
type falling struct {
	recall.Store
	messages, writes uint64
	asked            int
}

func (f *falling) AppliedOf(ctx context.Context, bank memory.BankID) (messages, writes uint64, err error) {
	if f.asked++; f.asked == 1 {
		return f.messages, f.writes, nil
	}
	return f.Store.AppliedOf(ctx, bank)
}

func TestARecallIsFreshByWhatItSearched(t *testing.T) {
	t.Parallel()
	e, _ := newRepetitiveStore(t)
	real := e.Store
	ask := func(bank memory.BankID, after, afterWrite uint64) wire.RecallReply {
		t.Helper()
		e.Store = &falling{Store: real, messages: 1000, writes: 1000}
		reply, err := e.Recall(t.Context(), bank, wire.RecallRequest{Query: "Wo ist die Katze?", After: after, AfterWrite: afterWrite})
		if err != nil {
			t.Fatal(err)
		}
		return reply
	}
	for _, c := range []struct {
		name              string
		bank              memory.BankID
		after, afterWrite uint64
		fresh             bool
	}{
		{"what both have", alice, 120, 1, true},
		{"a message that one had", alice, 121, 0, false},
		{"a write that one had", alice, 0, 2, false},
		{"a bank that one had", "bob", 121, 0, false},
	} {
		if reply := ask(c.bank, c.after, c.afterWrite); reply.Fresh != c.fresh || reply.Seen > 120 {
			t.Errorf("%s: fresh is %v, and %d is seen", c.name, reply.Fresh, reply.Seen)
		}
	}
	e.Store = real
	if _, err := e.Recall(t.Context(), "bob", wire.RecallRequest{Query: "Wo ist die Katze?", After: 120}); !errors.Is(err, memory.ErrNotFound) {
		t.Errorf("a bank that is not there: %v", err)
	}
}
