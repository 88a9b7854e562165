package postgres_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/eunoe-memory/eunoe/pkg/store/internal/engine"
)

// TestFunctionsThatReadTogether reads in three functions, one of which has two of its own and another waits for the first.
func TestFunctionsThatReadTogether(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	read := func(tx *engine.Tx, what string, n int) (got int, err error) {
		err = tx.Get(what, `SELECT CAST(? AS BIGINT) + 1`, []any{n}, &got)
		return got, err
	}
	err := s.Read(t.Context(), func(tx *engine.Tx) error {
		var order []string
		var sum, after int
		err := tx.Interleave(func(tx *engine.Tx, _ func() bool) error {
			for n := range 3 {
				got, err := read(tx, "count", n)
				if err != nil {
					return err
				}
				sum += got
				order = append(order, "a")
			}
			return nil
		}, func(tx *engine.Tx, _ func() bool) error {
			add := func(tx *engine.Tx) error {
				got, err := read(tx, "count", 10)
				sum += got
				order = append(order, "b")
				return err
			}
			return tx.Together(add, add)
		}, func(tx *engine.Tx, rest func() bool) error {
			for len(order) < 5 {
				if !rest() {
					return errors.New("nobody goes on")
				}
			}
			var err error
			after, err = read(tx, "count", sum)
			return err
		})
		if got := strings.Join(order, ""); sum != 6+22 || after != sum+1 || got != "abbaa" {
			t.Errorf("the functions read %d and then %d, in the order %s", sum, after, got)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	err = s.Read(t.Context(), func(tx *engine.Tx) error {
		ended := []string{}
		err := tx.Together(func(tx *engine.Tx) error {
			defer func() { ended = append(ended, "first") }()
			_, err := read(tx, "read well", 1)
			if err == nil {
				_, err = read(tx, "read again", 1)
			}
			return err
		}, func(tx *engine.Tx) error {
			return tx.Get("divide by nothing", `SELECT 1 / CAST(? AS BIGINT)`, []any{0}, new(int))
		}, func(tx *engine.Tx) error {
			defer func() { ended = append(ended, "third") }()
			_, err := read(tx, "read more", 1)
			return err
		})
		slices.Sort(ended)
		if !slices.Equal(ended, []string{"first", "third"}) {
			t.Errorf("%v ended", ended)
		}
		return err
	})
	if err == nil || !strings.Contains(err.Error(), "divide by nothing: ") {
		t.Errorf("a statement that fails among others: %v", err)
	}
}

// TestWhatRestedComputesWhileTheDatabaseWorks lets one function rest before it computes: it does so before the other one has
// its answer, and may read at once meanwhile.
func TestWhatRestedComputesWhileTheDatabaseWorks(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	var order []string
	err := s.Read(t.Context(), func(tx *engine.Tx) error {
		return tx.Interleave(func(tx *engine.Tx, _ func() bool) error {
			var n int
			err := tx.Get("count", `SELECT count(*) FROM meta`, nil, &n)
			order = append(order, fmt.Sprint("answered ", n > 0))
			return err
		}, func(tx *engine.Tx, rest func() bool) error {
			if !rest() {
				return errors.New("nobody goes on")
			}
			var n int
			order = append(order, "rested")
			err := tx.Apart().Get("count at once", `SELECT 1 + count(*) FROM meta`, nil, &n)
			order = append(order, fmt.Sprint("at once ", n > 1))
			return err
		})
	})
	if want := []string{"rested", "at once true", "answered true"}; err != nil || !slices.Equal(order, want) {
		t.Errorf("%q, %v; expected %q", order, err, want)
	}
}

// TestAStatementThatWaitedFailsAmongFunctionsThatReadTogether fails with a statement that nobody waits for, whose error is
// known when the first answer is read.
func TestAStatementThatWaitedFailsAmongFunctionsThatReadTogether(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	read := func(tx *engine.Tx) error { return tx.Get("count", `SELECT count(*) FROM meta`, nil, new(int)) }
	for _, fns := range [][]func(*engine.Tx) error{{read, read}, {read, func(tx *engine.Tx) error { return read(tx.Apart()) }}} {
		err := s.Write(t.Context(), func(tx *engine.Tx) error {
			for range 2 {
				if err := tx.Exec("put it twice", `INSERT INTO meta (key, value) VALUES ('twice', '1')`); err != nil {
					return err
				}
			}
			return tx.Together(fns...)
		})
		if err == nil || !strings.Contains(err.Error(), "put it twice: ") || strings.Contains(err.Error(), "count") {
			t.Errorf("%v", err)
		}
		if err := s.Write(t.Context(), read); err != nil {
			t.Errorf("a write after it: %v", err)
		}
	}
}
