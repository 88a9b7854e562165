package postgres_test

import (
	"testing"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/store/internal/engine"
	"github.com/eunoe-memory/eunoe/pkg/store/postgres/internal/server"
)

// TestTheWriterPlansAStatementOnce looks up lists of many lengths. The server makes one plan of the statement, and none for
// a single execution.
func TestTheWriterPlansAStatementOnce(t *testing.T) {
	t.Parallel()
	s, err := server.Open(server.Config{DSN: newSchema(t), Readers: 1, Busy: 5 * time.Second, Idle: 5 * time.Second, Scrub: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close() //nolint:errcheck // what was asked is what counts
	if err := s.Make(t.Context()); err != nil {
		t.Fatal(err)
	}
	const n = 20
	var kept, made int
	err = s.Write(t.Context(), func(tx *engine.Tx) error {
		var nos []int64
		for no := range int64(n) {
			nos = append(nos, no)
			found, err := tx.Numbers("read a list", `SELECT j.value FROM json_each(?) j LEFT JOIN facts f ON f.no = j.value ORDER BY 1`, engine.List(nos))
			if err != nil {
				return err
			}
			if len(found) != len(nos) {
				t.Errorf("%d numbers were read of %d", len(found), len(nos))
			}
		}
		const count = `SELECT coalesce(max(generic_plans), 0), coalesce(sum(custom_plans), 0) FROM pg_catalog.pg_prepared_statements`
		return tx.Get("count plans", count, nil, &kept, &made)
	})
	if err != nil {
		t.Fatal(err)
	}
	if kept < n || made > 0 {
		t.Errorf("a statement was run %d times by its plan, and %d plans were made for one execution", kept, made)
	}
}
