// Package storage opens the store for the stages of a process that share it.
package storage

import (
	"context"
	"errors"
	"fmt"

	"github.com/eunoe-memory/eunoe/internal/app/process"
	"github.com/eunoe-memory/eunoe/internal/app/settings"
	"github.com/eunoe-memory/eunoe/pkg/consolidate"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/query"
	"github.com/eunoe-memory/eunoe/pkg/store"
)

// Opened is a store with what it says about the log.
type Opened struct {
	store.Store
	SameLog func() error // why the log is not the one that the store was made from; nil = it is
}

// Open returns the store that the settings of the process name. It is opened at the first call, once for all stages of
// the process; the process closes it when it ends and is ready only while the store answers. What takes its place is
// opened in turn.
func Open(p *process.Process) (Opened, error) {
	return process.Share(p, "store", func() (Opened, error) {
		c := p.Settings
		st, err := store.OpenCurrent(Config(c, c.Store, p))
		if err != nil {
			return Opened{}, fmt.Errorf("store %s: %w", c.Store, err)
		}
		if err := Moved(context.Background(), st, c.Store); err != nil {
			return Opened{}, errors.Join(err, st.Close())
		}
		p.OnClose(st.Close)
		p.Check("store", func(ctx context.Context) error {
			return Moved(ctx, st, c.Store)
		})
		p.CheckHeld(consolidate.LeaseKey, "nobody consolidates")
		return Opened{Store: st, SameLog: p.CheckLog(st)}, nil
	})
}

// Config returns the configuration of a store at path.
func Config(c settings.Config, path string, p *process.Process) store.Config {
	return store.Config{DSN: path, Limit: c.StoreLimit, Embedder: p.Embedder.Name(), Dimension: p.Embedder.Dimension(), Log: p.Log}
}

// Profile returns a function that reads a bank's profile from the store.
func Profile(st store.Store) func(context.Context, memory.BankID) (memory.Bank, error) {
	return func(ctx context.Context, bank memory.BankID) (b memory.Bank, err error) {
		err = st.Read(ctx, bank, func(r query.Reader) error {
			b, err = r.Bank()
			return err
		})
		return b, err
	}
}
