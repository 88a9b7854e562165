package postgres_test

import (
	"strings"
	"testing"

	"github.com/eunoe-memory/eunoe/pkg/store/internal/engine"
)

// TestAStatementThatWaitedNamesItselfWhenItFails fails with a statement that waits, in front of one that reads, at the
// commit, and within what may fail.
func TestAStatementThatWaitedNamesItselfWhenItFails(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	put := func(tx *engine.Tx, what, key string) error {
		return tx.Exec(what, `INSERT INTO meta (key, value) VALUES (?, '1')`, key)
	}
	twice := func(tx *engine.Tx) error {
		for _, what := range []string{"put it", "put it again", "go on"} {
			if err := put(tx, what, "once "+what[:3]); err != nil {
				return err
			}
		}
		return nil
	}
	read := func(tx *engine.Tx) error { return tx.Get("read it", `SELECT count(*) FROM meta`, nil, new(int)) }
	for _, c := range []struct {
		name string
		then func(*engine.Tx) error
	}{{"a read", read}, {"the commit", func(*engine.Tx) error { return nil }}} {
		err := s.Write(t.Context(), func(tx *engine.Tx) error {
			if err := twice(tx); err != nil {
				return err
			}
			return c.then(tx)
		})
		if err == nil || !strings.Contains(err.Error(), "put it again: ") || strings.Contains(err.Error(), "read it") {
			t.Errorf("before %s: %v", c.name, err)
		}
	}
	err := s.Write(t.Context(), func(tx *engine.Tx) error {
		if err := tx.Try(func() error { return twice(tx) }); err == nil || !strings.Contains(err.Error(), "put it again: ") {
			t.Errorf("within what may fail: %v", err)
		}
		return put(tx, "put it", "kept")
	})
	if err != nil {
		t.Errorf("after what may fail: %v", err)
	}
	var kept int
	err = s.Read(t.Context(), func(tx *engine.Tx) error {
		return tx.Get("count", `SELECT count(*) FROM meta WHERE key = 'kept' OR key LIKE 'once%'`, nil, &kept)
	})
	if kept != 1 || err != nil {
		t.Errorf("%d rows were kept, %v", kept, err)
	}
}
