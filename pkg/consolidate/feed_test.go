package consolidate_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/eunoe-memory/eunoe/pkg/events/natstest"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// TestAFloodIsAppliedByOwnersThatStop publishes more long messages of a bank than are kept in memory, and short ones of
// another one between and behind them. Consolidators that stop on the way apply it: the quiet bank is done long before the
// loud one, and in the end the store is the one that a rebuild makes.
func TestAFloodIsAppliedByOwnersThatStop(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	const loud, quiet = 80, 8
	content := strings.Repeat("The heron stands in the reeds. ", 10_000) // 310 kB
	var last uint64
	for i := range loud {
		for bank, text := range map[memory.BankID]string{"loud": content, "quiet": fmt.Sprintf("boat %d", i)} {
			if bank == "quiet" && i%(loud/quiet) != loud/quiet-1 {
				continue
			}
			seq, err := s.conn.PublishMessage(t.Context(), bank, "s", fmt.Appendf(nil, `{"id":"m%d","content":%q}`, i, text))
			if err != nil {
				t.Fatal(err)
			}
			last = max(last, seq)
		}
	}
	at := func() memory.MessagePosition {
		p, err := s.db.MessagePosition(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	early := false
	for before := (memory.MessagePosition{}); before.Seq < last; {
		stop := s.run()
		natstest.Eventually(t, "some transactions", func() bool {
			p := at()
			early = early || p.Of("quiet") >= last && p.Of("loud") < last
			return p.Seq > before.Seq+10 || p.Seq == last
		})
		stop()
		before = at()
	}
	if !early {
		t.Error("the quiet bank waited for the loud one")
	}
	if v, err := s.db.Verify(t.Context(), true); err != nil || !v.OK {
		t.Errorf("the store is not whole: %v, %v", v.Problems, err)
	}
	again := openStore(t, filepath.Join(t.TempDir(), "again.db"))
	if err := s.rebuilder(again).Rebuild(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(strings.Split(dumpOf(t, again), "\n"), strings.Split(dumpOf(t, s.db), "\n")); d != "" {
		t.Errorf("(-rebuilt +live):\n%.2000s", d)
	}
}
