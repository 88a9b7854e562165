package faults_test

import (
	"testing"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/test/faults"
)

func TestTrafficIsTheSumOfItsParts(t *testing.T) {
	t.Parallel()
	whole := faults.NewTraffic(3, 100)
	var sum faults.Traffic
	seen := map[memory.MessageID]bool{}
	for _, part := range whole.Parts(4) {
		for _, s := range part.Sessions {
			for _, m := range s {
				seen[m.ID] = true
			}
		}
		sum = sum.Join(part)
	}
	if sum.Messages != 100 || len(seen) != 100 || len(sum.Sessions) != len(whole.Sessions) {
		t.Fatalf("%d messages under %d ids in %d sessions", sum.Messages, len(seen), len(sum.Sessions))
	}
	for i := range whole.Sessions {
		for j, m := range whole.Sessions[i] {
			if sum.Sessions[i][j].ID != m.ID {
				t.Fatalf("session %d has %s at %d, expected %s", i, sum.Sessions[i][j].ID, j, m.ID)
			}
		}
	}
}
