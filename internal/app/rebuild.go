package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/consolidate"
	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/secret"
	"github.com/eunoe-memory/eunoe/pkg/store"
)

// Rebuild makes the store anew from the log and puts it in the old one's
// place when it is whole; until then the old one stays as it is. The log is
// that of the data directory, or, where that holds no streams, of the NATS
// server at the URL. The stages must be stopped.
func Rebuild(ctx context.Context, c Config) (err error) {
	log := newLogger(os.Stderr, c.Log)
	l := &Local{Dir: c.Data}
	defer func() { err = errors.Join(err, l.release()) }()
	if err := l.lock(c.Data); err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(c.Data, "streams")); err == nil {
		c.Port = -1
		if err := l.serve(ctx, c, log); err != nil {
			return err
		}
	} else {
		cc := c.conn("eunoe-rebuild", log)
		cc.Wait = 10 * time.Second
		conn, err := events.Connect(ctx, cc)
		if err != nil {
			return err
		}
		l.Conn = conn
		l.end = append(l.end, func() error { conn.Close(); return nil })
	}
	anew := c.Store + ".rebuild"
	if err := removeStore(anew); err != nil {
		return err
	}
	p := newProcess(c, log, l.Conn)
	st, err := openStore(c, anew, p.embedder, log)
	if err != nil {
		return err
	}
	if err := rebuildInto(ctx, p, st); err != nil {
		return errors.Join(fmt.Errorf("rebuild: the old store stays as it was: %w", err), st.Close(), removeStore(anew))
	}
	if err := st.Close(); err != nil {
		return err
	}
	return replaceStore(c.Store, anew)
}

func rebuildInto(ctx context.Context, p *process, st store.Store) error {
	redact, err := secret.NewRedactor(p.config.Redact)
	if err != nil {
		return err
	}
	c, err := consolidate.New(p.config.consolidate(p.embedder), consolidate.Deps{Conn: p.conn, Store: st, Redactor: redact, Log: p.log})
	if err != nil {
		return err
	}
	return c.Rebuild(ctx, func(messages, writes uint64) {
		p.log.Info().Uint64("messages", messages).Uint64("writes", writes).Msg("rebuilding")
	})
}

// storeFiles are what SQLite keeps of one store.
var storeFiles = []string{"", "-wal", "-shm"}

func removeStore(path string) error {
	for _, suffix := range storeFiles {
		if err := os.Remove(path + suffix); err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("remove %s: %w", path+suffix, err)
		}
	}
	return nil
}

// replaceStore moves a closed store to path; its write-ahead log is gone with the closing.
func replaceStore(path, anew string) error {
	if err := removeStore(path); err != nil {
		return err
	}
	if err := os.Rename(anew, path); err != nil {
		return fmt.Errorf("put the rebuilt store in place: %w", err)
	}
	return nil
}
