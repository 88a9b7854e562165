package storage

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/rs/zerolog"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/store"
	"github.com/eunoe-memory/eunoe/pkg/store/postgres"
)

// reachWithin is how long the server of another store may take to answer.
const reachWithin = 10 * time.Second

// Moved returns an error, memory.ErrConflict, if another store is in force in place of the one at a data source name: it says
// what to do.
func Moved(ctx context.Context, st store.Store, dsn string) error {
	m, err := st.Move(ctx)
	if err == nil && m.Step == store.MoveDone {
		err = movedError(dsn, m)
	}
	return err
}

func movedError(dsn string, m store.Move) error {
	return fmt.Errorf("the store %s was moved to %s: set EUNOE_STORE to that for the consolidators and query services, and restart them; "+
		"what is published meanwhile is kept in the streams: %w", Shown(dsn), m.To, memory.ErrConflict)
}

// Admit prepares a store to be written by its only writer. A move of it that was interrupted is
// completed where the new store has its name already: the error is that of Moved then. Else it is undone: what it left is
// removed, and where that cannot be reached, which is logged, once it can be. While a store that was about to get its name
// cannot be reached, nobody knows which of the two is in force: memory.ErrUnavailable.
func Admit(ctx context.Context, st Part, log zerolog.Logger) error {
	m, err := st.Move(ctx)
	if err != nil {
		return err
	}
	switch m.Step {
	case store.MoveDone:
		return movedError(st.DSN, m)
	case store.MovePlacing:
		reach, cancel := context.WithTimeout(ctx, reachWithin)
		defer cancel()
		placed, err := Exists(reach, store.ShardDSN(m.To, st.Shard))
		if err != nil {
			return fmt.Errorf("the store %s may have been moved to %s: %w", Shown(st.DSN), Shown(m.To), err)
		}
		if placed {
			m.Step = store.MoveDone
			return errors.Join(st.NoteMove(ctx, m), movedError(st.DSN, m))
		}
		return undoMove(ctx, st, m, log)
	case store.MoveFilling:
		return undoMove(ctx, st, m, log)
	}
	return nil
}

// undoMove removes what a move left whose store never got its name.
func undoMove(ctx context.Context, st Part, m store.Move, log zerolog.Logger) error {
	reach, cancel := context.WithTimeout(ctx, reachWithin)
	defer cancel()
	if err := Remove(reach, Unfinished(store.ShardDSN(m.To, st.Shard))); err != nil {
		log.Warn().Err(err).Str("stage", "consolidator").Msg("what an interrupted move left cannot be removed; it is tried again when a consolidator begins to work")
		return st.NoteMove(ctx, store.Move{To: m.To, Step: store.MoveFilling}) // nobody will give it its name
	}
	return st.NoteMove(ctx, store.Move{})
}

// CheckMove checks that a store can be moved to another data source name, where there must be nothing yet.
func CheckMove(ctx context.Context, from, to string) error {
	if !postgres.Names(to) && !filepath.IsAbs(to) {
		return memory.Invalid("to", "%q is neither an absolute path nor the address of a PostgreSQL server", to)
	}
	if sameStore(from, to) {
		return memory.Invalid("to", "%s is the store that is in use", Shown(to))
	}
	if to == Unfinished(from) {
		return memory.Invalid("to", "a store at %s would be taken for what a killed rebuild left", to)
	}
	ctx, cancel := context.WithTimeout(ctx, reachWithin)
	defer cancel()
	for _, place := range []string{to, Unfinished(to)} {
		exists, err := Exists(ctx, place)
		if err == nil && exists {
			err = fmt.Errorf("there is something at %s; move it away first: %w", shownWhole(place), memory.ErrConflict)
		}
		if err != nil {
			return err
		}
	}
	if postgres.Names(to) {
		return nil
	}
	if dir, err := os.Stat(filepath.Dir(to)); err != nil || !dir.IsDir() {
		return memory.Invalid("to", "%s is no directory on the host of the consolidator", filepath.Dir(to))
	}
	return nil
}

// sameStore reports whether two data source names are known to name one store.
func sameStore(a, b string) bool {
	if postgres.Names(a) || postgres.Names(b) {
		return a == b
	}
	at, err := os.Stat(a)
	if err != nil {
		return a == b
	}
	bt, err := os.Stat(b)
	return err == nil && os.SameFile(at, bt)
}

// shownWhole is Shown with the schema of a store on a server.
func shownWhole(dsn string) string {
	if postgres.Names(dsn) {
		return fmt.Sprintf("%s (schema %s)", postgres.Shown(dsn), postgres.Schema(dsn))
	}
	return dsn
}

// Place renames a closed store, which is complete, to a name under which there is none yet.
func Place(ctx context.Context, dsn, made string) error {
	if postgres.Names(dsn) {
		return postgres.Place(ctx, dsn, made)
	}
	if exists, err := Exists(ctx, dsn); exists || err != nil {
		if err == nil {
			err = fmt.Errorf("there is a file %s by now: %w", dsn, memory.ErrConflict)
		}
		return err
	}
	if wal, err := os.Stat(made + "-wal"); err == nil && wal.Size() > 0 {
		return fmt.Errorf("the new store %s was not closed in full: %w", made, memory.ErrUnavailable)
	}
	if err := SyncFile(made); err != nil {
		return err
	}
	if err := os.Rename(made, dsn); err != nil {
		return fmt.Errorf("put the new store in place: %w", err)
	}
	return SyncFile(filepath.Dir(dsn))
}
