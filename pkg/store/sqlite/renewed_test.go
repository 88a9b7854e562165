package sqlite_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/eunoe-memory/eunoe/pkg/consolidate/plan"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/store/sqlite"
)

// TestAReusedRowChangesNoContent applies the same changes in two ways: a composite reuses the row of the one that it
// replaces, or the old one is deleted and the new one inserted.
func TestAReusedRowChangesNoContent(t *testing.T) {
	t.Parallel()
	ctx, w := context.Background(), &generator{r: rand.New(rand.NewPCG(3, 5))}
	takes, anew := openBench(t), openBench(t)
	renewed := 0
	for seq := uint64(1); seq <= 300; seq++ {
		c := w.change(seq)
		for _, t := range w.trees {
			if w.r.IntN(4) == 0 {
				c.Uses = append(c.Uses, memory.Use{ID: string(t.ID), Used: 1, At: benchEpoch})
			}
		}
		renewed += len(c.Renewed)
		for _, db := range []*sqlite.DB{takes, anew} {
			log := []memory.Write{{Bank: "b", Kind: memory.WriteWindow, Seq: seq, Op: fmt.Sprint(seq), Time: benchEpoch}}
			err := db.ApplyWrites(ctx, seq-1, seq, log, func(plan.View, memory.Write) (memory.Changes, error) { return c, nil })
			if err != nil {
				t.Fatal(err)
			}
			c.Renewed = nil
		}
	}
	var one, two bytes.Buffer
	if err := errors.Join(takes.Dump(ctx, &one), anew.Dump(ctx, &two)); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(two.String(), "\n"), strings.Split(one.String(), "\n")); diff != "" || renewed < 20 {
		t.Errorf("%d renewed; made anew is -, renewed is +:\n%s", renewed, diff)
	}
	v, err := takes.Verify(ctx, false)
	if err != nil {
		t.Fatal(err)
	}
	for _, check := range v.Checks {
		if check.Broken > 0 && strings.Contains(check.Rule, "index") {
			t.Errorf("%s: %v", check.Rule, check.Where)
		}
	}
}
