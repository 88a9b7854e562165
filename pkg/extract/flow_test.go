package extract_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/events/kv"
	"github.com/eunoe-memory/eunoe/pkg/events/natstest"
	"github.com/eunoe-memory/eunoe/pkg/extract"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// TestABankAppendsLittleAheadOfTheStore is told that nothing is applied, and then that everything is.
func TestABankAppendsLittleAheadOfTheStore(t *testing.T) {
	t.Parallel()
	c := natstest.Start(t)
	told, stop := make(chan uint64), make(chan struct{})
	stopped := make(chan struct{})
	go func() { // the consolidator, which tells again before the record expires
		defer close(stopped)
		record, applied := kv.OpenApplied(c, events.Shard{}), kv.Progress{}
		for {
			if err := record.Put(t.Context(), applied); err != nil {
				t.Error(err)
			}
			select {
			case applied.Write = <-told:
			case <-time.After(events.LeaseTTL / 6):
			case <-stop:
				return
			}
		}
	}()
	defer func() { close(stop); <-stopped }()
	natstest.Eventually(t, "a record", func() bool {
		_, known, err := kv.OpenApplied(c, events.Shard{}).Get(t.Context())
		return err == nil && known
	})

	put := func(b memory.BankID, n int) {
		for i := range n {
			seq, err := c.PublishMessage(t.Context(), b, session, fmt.Appendf(nil, `{"content":"message %d"}`, i))
			if err != nil {
				t.Fatal(err)
			}
			w := memory.Window{Bank: b, Session: session, Trigger: memory.TriggerFlush, ID: memory.NewWindowID(b, session, seq, seq, 0), New: []memory.WindowMessage{{Seq: seq}}}
			if err := c.PublishWindow(t.Context(), w); err != nil {
				t.Fatal(err)
			}
		}
	}
	const loud = 300
	put("loud", loud)
	start(t, c, extract.Func(echo()), func(cfg *extract.Config, _ *extract.Deps) { cfg.Concurrency, cfg.InTurn, cfg.Ahead = 16, true, 1000 })
	appended := func(b memory.BankID) uint64 {
		last, err := c.LastWrite(t.Context(), b)
		if err != nil {
			t.Fatal(err)
		}
		return last
	}
	natstest.Eventually(t, "writes of the loud bank", func() bool { return appended("loud") > 50 })
	for i := range 20 { // while handlers work for others, the loud bank would go on if it could
		quiet := memory.BankID(fmt.Sprintf("quiet%d", i))
		put(quiet, 1)
		natstest.Eventually(t, "the write of a quiet bank", func() bool { return appended(quiet) > 0 })
	}
	// Positions are of the whole log: the twenty writes of the others may stand before the loud bank's last one.
	if n := appended("loud"); n > 200+20 {
		t.Fatalf("the loud bank appended up to position %d before any write was applied", n)
	}
	told <- 1 << 40
	natstest.Eventually(t, "all writes of the loud bank", func() bool { return appended("loud") >= loud })
}

// TestABankIsHeldBackUntilItsMessagesAreStored is told that the store holds a bank behind a message: the write that rests
// on it is not appended, and another bank's is, until the store is past it.
func TestABankIsHeldBackUntilItsMessagesAreStored(t *testing.T) {
	t.Parallel()
	c := natstest.Start(t)
	publish := func(b memory.BankID) uint64 {
		seq, err := c.PublishMessage(t.Context(), b, session, []byte(`{"content":"a message"}`))
		if err != nil {
			t.Fatal(err)
		}
		return seq
	}
	cut := func(b memory.BankID, seq uint64) {
		w := memory.Window{Bank: b, Session: session, Trigger: memory.TriggerFlush, ID: memory.NewWindowID(b, session, seq, seq, 0), New: []memory.WindowMessage{{Seq: seq}}}
		if err := c.PublishWindow(t.Context(), w); err != nil {
			t.Fatal(err)
		}
	}
	appended := func(b memory.BankID) bool {
		last, err := c.LastWrite(t.Context(), b)
		if err != nil {
			t.Fatal(err)
		}
		return last > 0
	}
	loud, quiet := publish("loud"), publish("quiet")
	record := kv.OpenApplied(c, events.Shard{})
	tell := func(held uint64) {
		if err := record.Put(t.Context(), kv.Progress{Messages: memory.MessagePosition{Ahead: quiet, Held: map[memory.BankID]uint64{"loud": held}}}); err != nil {
			t.Fatal(err)
		}
	}
	tell(loud - 1)
	start(t, c, extract.Func(echo()), func(cfg *extract.Config, _ *extract.Deps) { cfg.Concurrency, cfg.InTurn, cfg.Ahead = 4, true, 100 })
	cut("loud", loud)
	cut("quiet", quiet)
	natstest.Eventually(t, "the write of the quiet bank", func() bool { tell(loud - 1); return appended("quiet") })
	if appended("loud") {
		t.Error("the write of the bank that is held was appended before its message was stored")
	}
	natstest.Eventually(t, "the write of the bank that was held", func() bool { tell(loud); return appended("loud") })
}

// TestASlowStoreIsNotOverrun is told that fifty writes a second are applied: a bank comes to append no more ahead than
// such a store applies in the least time.
func TestASlowStoreIsNotOverrun(t *testing.T) {
	t.Parallel()
	c := natstest.Start(t)
	record, applied := kv.OpenApplied(c, events.Shard{}), kv.Progress{}
	if err := record.Put(t.Context(), applied); err != nil {
		t.Fatal(err)
	}
	for i := range 400 {
		seq, err := c.PublishMessage(t.Context(), "loud", session, fmt.Appendf(nil, `{"content":"message %d"}`, i))
		if err != nil {
			t.Fatal(err)
		}
		w := memory.Window{Bank: "loud", Session: session, Trigger: memory.TriggerFlush, ID: memory.NewWindowID("loud", session, seq, seq, 0), New: []memory.WindowMessage{{Seq: seq}}}
		if err := c.PublishWindow(t.Context(), w); err != nil {
			t.Fatal(err)
		}
	}
	start(t, c, extract.Func(echo()), func(cfg *extract.Config, _ *extract.Deps) { cfg.Concurrency, cfg.InTurn, cfg.Ahead = 16, true, 1000 })
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for ahead := uint64(0); applied.Write < 150; { // a write of these costs two: 24 of them are the least that a bank may have ahead
		<-tick.C
		appended, err := c.LastWrite(t.Context(), "loud")
		if err != nil {
			t.Fatal(err)
		}
		if ahead = appended - applied.Write; applied.Write > 100 && ahead > 30 {
			t.Fatalf("%d writes are ahead of a store that applies fifty a second", ahead)
		}
		applied.Write += min(5, ahead)
		if err := record.Put(t.Context(), applied); err != nil {
			t.Fatal(err)
		}
	}
}
