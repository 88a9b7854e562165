// Package storage opens the store for the stages of a process that share it.
package storage

import (
	"context"
	"errors"
	"fmt"

	"github.com/eunoe-memory/eunoe/internal/app/process"
	"github.com/eunoe-memory/eunoe/internal/app/settings"
	"github.com/eunoe-memory/eunoe/pkg/consolidate"
	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/query"
	"github.com/eunoe-memory/eunoe/pkg/store"
)

// Opened are the stores of all shards, with what they say about the log.
type Opened struct {
	store.Whole
	Parts   []Part
	SameLog func() error // why the log is not the one that the stores were made from; nil = it is
}

// Part is the store of one shard.
type Part struct {
	store.Store
	Shard events.Shard
	DSN   string
}

// Open returns the stores that the settings of the process name. They are opened at the first call, once for all stages of
// the process; the process closes them when it ends and is ready only while they answer. What takes the place of one is
// opened in turn.
func Open(p *process.Process) (Opened, error) {
	return process.Share(p, "store", func() (out Opened, err error) {
		ctx := context.Background()
		shards, err := Shards(ctx, p.Conn, p.Settings)
		if err != nil {
			return out, err
		}
		var parts []store.Store
		var logs []events.LogStore
		for _, s := range shards {
			part, err := openPart(ctx, p, s)
			if err != nil {
				return out, err
			}
			out.Parts = append(out.Parts, part)
			parts, logs = append(parts, part.Store), append(logs, part.Store)
		}
		out.Whole, out.SameLog = store.Join(p.Conn.Naming, parts), p.CheckLog(logs...)
		return out, nil
	})
}

// openPart opens the store of a shard.
func openPart(ctx context.Context, p *process.Process, s events.Shard) (Part, error) {
	dsn := ShardDSN(p.Settings, s)
	cfg := Config(p.Settings, dsn, p)
	cfg.Shards = s.Of
	st, err := store.OpenCurrent(cfg)
	if err != nil {
		return Part{}, fmt.Errorf("store %s: %w", Shown(dsn), err)
	}
	if err := Moved(ctx, st, dsn); err != nil {
		return Part{}, errors.Join(err, st.Close())
	}
	p.OnClose(st.Close)
	p.Check(s.Key("store"), func(ctx context.Context) error { return Moved(ctx, st, dsn) })
	p.CheckHeld(s.Key(consolidate.LeaseKey), "nobody consolidates")
	return Part{Store: st, Shard: s, DSN: dsn}, nil
}

// Config returns the configuration of a store at path.
func Config(c settings.Config, path string, p *process.Process) store.Config {
	return store.Config{DSN: path, Limit: c.StoreLimit, Embedder: p.Embedder.Name(), Dimension: p.Embedder.Dimension(), Log: p.Log}
}

// Profile returns a function that reads a bank's profile from the store.
func Profile(st query.Store) func(context.Context, memory.BankID) (memory.Bank, error) {
	return func(ctx context.Context, bank memory.BankID) (b memory.Bank, err error) {
		err = st.Read(ctx, bank, func(r query.Reader) error {
			b, err = r.Bank()
			return err
		})
		return b, err
	}
}
