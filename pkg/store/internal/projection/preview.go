package projection

import (
	"context"
	"fmt"

	"github.com/eunoe-memory/eunoe/pkg/consolidate/plan"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/store/internal/engine"
)

// Preview returns what decide would change for a write that came next, and changes nothing. It reads one state of the
// store, beside the writer.
func (db *DB) Preview(ctx context.Context, w memory.Write, decide plan.Func) (c memory.Changes, err error) {
	err = db.database.Read(ctx, func(tx *engine.Tx) error {
		v := &view{tx: tx, id: w.Bank}
		if _, err := tx.Find("look up the bank", `SELECT no FROM banks WHERE id = ?`, []any{string(w.Bank)}, &v.bank); err != nil {
			return err
		}
		c, err = decide(v, w)
		return err
	})
	if err != nil {
		return memory.Changes{}, fmt.Errorf("preview a write (%s) of bank %q: %w", w.Kind, string(w.Bank), err)
	}
	return c, nil
}
