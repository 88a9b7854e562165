package consolidate_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/eunoe-memory/eunoe/pkg/consolidate"
	"github.com/eunoe-memory/eunoe/pkg/consolidate/plan"
	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/events/natstest"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/store/sqlite"
	"github.com/eunoe-memory/eunoe/pkg/text/secret"
)

// transactions counts those of a store that apply something.
type transactions struct {
	*sqlite.DB
	n atomic.Int64
}

func (s *transactions) ApplyMessagesAhead(ctx context.Context, from, to memory.MessagePosition, list []consolidate.MessageEvent) error {
	s.n.Add(1)
	return s.DB.ApplyMessagesAhead(ctx, from, to, list)
}

func (s *transactions) ApplyWrites(ctx context.Context, after, last uint64, writes []memory.Write, decide plan.Func) error {
	s.n.Add(1)
	return s.DB.ApplyWrites(ctx, after, last, writes, decide)
}

// TestWhatOtherShardsHoldTakesFewTransactions publishes to a bank of one shard, message by message, while the consolidator of
// the other one runs: its positions reach the end of the log, in a few transactions.
func TestWhatOtherShardsHoldTakesFewTransactions(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	shard := events.Shards(2)[1-s.conn.Naming.ShardOf("alice", 2)]
	redactor, err := secret.NewRedactor(nil)
	if err != nil {
		t.Fatal(err)
	}
	store := &transactions{DB: s.db}
	c, err := consolidate.New(settings(), consolidate.Deps{Conn: natstest.Another(t, s.conn), Store: store, Shard: shard, Redactor: redactor, Log: zerolog.Nop()})
	if err != nil {
		t.Fatal(err)
	}
	s.runAs(c)
	began := time.Now()
	var message, write uint64
	for i := range 200 {
		id := fmt.Sprintf("m%d", i)
		message = s.say(id, "I own a boat.")
		write = s.facts(message, id, "Alice owns a boat.")
	}
	natstest.Eventually(t, "the positions are the ends of the log", func() bool {
		messages, writes, err := s.db.Applied(t.Context())
		return err == nil && messages == message && writes == write
	})
	// Two for each time that a position waits, and those that were begun.
	if most := 4 + 2*int64(time.Since(began)/consolidate.PositionAfter); store.n.Load() > most {
		t.Errorf("400 events of another shard took %d transactions; want %d at most", store.n.Load(), most)
	}
	if s.has(s.db, "Alice owns a boat.") {
		t.Error("the fact is in the store of another shard")
	}
}

// TestMessagesOfOthersGoBetweenAHeldBankAndWrites has messages of another bank come while those of a held bank are stored, and
// a write wait.
func TestMessagesOfOthersGoBetweenAHeldBankAndWrites(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	const text = "Alice keeps bees."
	if waiting, err := s.consolidator(s.conn, s.db).AfterHeld(t.Context(), s.retained(text)); waiting != 0 || err != nil || !s.has(s.db, text) {
		t.Errorf("%d batches of other banks waited for the write: %v", waiting, err)
	}
}
