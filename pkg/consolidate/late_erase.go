package consolidate

import (
	"context"
	"fmt"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// vectorsLeft gives the vectors of a write whose records were not forgotten:
// facts that the store has, messages that the log has.
func (c *Consolidator) vectorsLeft(ctx context.Context, w memory.Write) ([]memory.LateVector, error) {
	if len(w.Vectors) == 0 {
		return nil, nil
	}
	var ids []memory.FactID
	var seqs []uint64
	for _, v := range w.Vectors {
		if v.Record == memory.RecordFact {
			ids = append(ids, memory.FactID(v.ID))
		} else {
			seqs = append(seqs, v.Seq)
		}
	}
	known, err := c.deps.Store.KnownFacts(ctx, ids)
	if err != nil {
		return nil, fmt.Errorf("look up the facts of the vectors of write %d: %w", w.Seq, err)
	}
	said, err := c.deps.Conn.Messages(ctx, seqs)
	if err != nil {
		return nil, fmt.Errorf("look up the messages of the vectors of write %d: %w", w.Seq, err)
	}
	var left []memory.LateVector
	for _, v := range w.Vectors {
		_, there := said[v.Seq]
		if v.Record == memory.RecordFact && known[memory.FactID(v.ID)] || v.Record != memory.RecordFact && there {
			left = append(left, v)
		}
	}
	return left, nil
}
