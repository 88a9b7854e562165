package sqlite

import (
	"errors"
	"fmt"

	sqlite3 "github.com/mattn/go-sqlite3"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// failure gives a driver's error the meaning it has for a caller: what waiting
// or an operator can mend is memory.ErrUnavailable. Other errors, and those
// that have a meaning already, are given back as they are.
func failure(err error) error {
	var e sqlite3.Error
	if err == nil || !errors.As(err, &e) || errors.Is(err, memory.ErrUnavailable) {
		return err
	}
	switch e.Code {
	case sqlite3.ErrBusy, sqlite3.ErrLocked, sqlite3.ErrFull, sqlite3.ErrIoErr, sqlite3.ErrCantOpen,
		sqlite3.ErrReadonly, sqlite3.ErrPerm, sqlite3.ErrNomem, sqlite3.ErrProtocol:
		return fmt.Errorf("%w: %w", err, memory.ErrUnavailable)
	}
	return err
}
