package file

import (
	"context"

	"github.com/eunoe-memory/eunoe/pkg/store/internal/engine"
)

// Second begins a transaction on another connection that reads the same state as t, for reads in parallel. It returns
// nil when all second connections are in use, when something was committed since t began, or when a connection cannot
// be opened, which is logged: the caller goes on with t alone. The caller calls release at the end.
func (f *File) Second(t *engine.Tx) (second *engine.Tx, release func(), err error) {
	state, err := t.Commits()
	if err != nil {
		return nil, nil, err
	}
	select {
	case f.seconds <- struct{}{}:
	default:
		return nil, nil, nil
	}
	tx, err := f.beginAt(t.Context(), state)
	if tx == nil {
		<-f.seconds
		f.Warn(err, "a second connection could not be used; a search goes on by one")
		return nil, nil, nil
	}
	return engine.NewTx(t.Context(), tx, f), func() {
		tx.rollback()
		<-f.seconds
	}, nil
}

// beginAt begins to read a state on a second connection; nil if that connection sees another.
func (f *File) beginAt(ctx context.Context, state int64) (*transaction, error) {
	tx, err := begin(ctx, f.second, "BEGIN")
	if err != nil {
		return nil, err
	}
	seen, err := engine.NewTx(ctx, tx, f).Commits()
	if err != nil || seen != state {
		tx.rollback()
		return nil, err
	}
	return tx, nil
}
