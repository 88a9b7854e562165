package plan_test

import (
	"errors"
	"testing"

	"github.com/eunoe-memory/eunoe/pkg/consolidate/consolidatetest"
	"github.com/eunoe-memory/eunoe/pkg/consolidate/plan"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

func TestAUsageWriteWithoutUsageIsInvalid(t *testing.T) {
	t.Parallel()
	w := memory.Write{Bank: "alice", Kind: memory.WriteUsage, Op: "x"}
	if _, err := plan.Plan(consolidatetest.New("alice"), w, settings()); !errors.Is(err, memory.ErrInvalid) {
		t.Errorf("got %v", err)
	}
}
