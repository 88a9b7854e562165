package rebuild_test

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rs/zerolog"

	"github.com/eunoe-memory/eunoe/pkg/consolidate"
	"github.com/eunoe-memory/eunoe/pkg/consolidate/consolidatetest"
	"github.com/eunoe-memory/eunoe/pkg/consolidate/rebuild"
	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/events/kv"
	"github.com/eunoe-memory/eunoe/pkg/events/natstest"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/query"
	"github.com/eunoe-memory/eunoe/pkg/store/sqlite"
	"github.com/eunoe-memory/eunoe/pkg/text/secret"
)

// TestAFollowerOfAStoreInWhichBanksAreAhead follows a store that holds one bank back and is ahead with the other: what rests on
// that waits until the end, and then the follower stands where the store does.
func TestAFollowerOfAStoreInWhichBanksAreAhead(t *testing.T) {
	t.Parallel()
	c := natstest.Start(t)
	var last uint64
	for _, bank := range []memory.BankID{"loud", "calm", "loud", "loud", "calm", "loud"} {
		last = natstest.Publish(t, c, bank, "s", "Something was said.")
	}
	kept := map[string]memory.FactID{}
	var write uint64
	for _, w := range []struct {
		text string
		bank memory.BankID
		upto uint64
	}{{"Tove keeps bees.", "calm", 2}, {"Ugo repairs accordions.", "loud", 3}, {"Tove sells honey on Sundays.", "calm", 5}, {"Ugo plays in Trieste.", "loud", 3}} {
		f := consolidatetest.FactWithoutVector(w.text)
		f.ID = memory.NewFactID(w.bank, f.Text, f.Kind)
		kept[w.text] = f.ID
		write = appended(t, c, memory.Write{Bank: w.bank, Kind: memory.WriteRetain, Op: w.text, Upto: w.upto, Facts: []memory.Fact{f}})
	}

	db, err := sqlite.Open(sqlite.DefaultConfig(filepath.Join(t.TempDir(), "eunoe.db")))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	redactor, err := secret.NewRedactor(nil)
	if err != nil {
		t.Fatal(err)
	}
	r, err := rebuild.New(consolidate.DefaultConfig(), consolidate.Deps{Conn: c, Store: db, Redactor: redactor, Log: zerolog.Nop()})
	if err != nil {
		t.Fatal(err)
	}
	follower, err := r.Follow(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	stands := func(when string, messages memory.MessagePosition, write uint64, facts ...string) {
		t.Helper()
		at, err := db.MessagePosition(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		_, writes, err := db.Applied(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if !at.Equal(messages) || writes != write {
			t.Errorf("%s it stands at %+v and write %d", when, at, writes)
		}
		want := map[memory.FactID]bool{}
		for _, text := range facts {
			want[kept[text]] = true
		}
		all := make([]memory.FactID, 0, len(kept))
		for _, id := range kept {
			all = append(all, id)
		}
		known, err := db.KnownFacts(t.Context(), all)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, known); diff != "" {
			t.Errorf("%s the facts are (-want +got):\n%s", when, diff)
		}
	}

	at := kv.Progress{Write: write, Messages: memory.MessagePosition{Seq: 3, Ahead: last - 1, Held: map[memory.BankID]uint64{"loud": 3}}}
	for range 2 { // the second time there is nothing to do
		if err := follower.CatchUp(t.Context(), at); err != nil {
			t.Fatal(err)
		}
		stands("behind it", memory.MessagePosition{Seq: 3}, write-2, "Tove keeps bees.", "Ugo repairs accordions.")
	}
	if err := follower.Finish(t.Context(), at); err != nil {
		t.Fatal(err)
	}
	for bank, want := range map[memory.BankID]int{"loud": 2, "calm": 2} {
		err := db.Read(t.Context(), bank, func(v query.Reader) error {
			c, err := v.Conservation()
			if err == nil && c.Published != want {
				t.Errorf("%d messages of %s are applied", c.Published, bank)
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
	stands("at the end", at.Messages, write, "Tove keeps bees.", "Ugo repairs accordions.", "Tove sells honey on Sundays.", "Ugo plays in Trieste.")
}

func appended(t *testing.T, c *events.Conn, w memory.Write) uint64 {
	t.Helper()
	seq, err := c.AppendWrite(t.Context(), w)
	if err != nil {
		t.Fatal(err)
	}
	return seq
}
