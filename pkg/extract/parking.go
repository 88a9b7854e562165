package extract

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/events/kv"
	"github.com/eunoe-memory/eunoe/pkg/events/lease"
	"github.com/eunoe-memory/eunoe/pkg/events/work"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// LeaseKey is the lease of the extractor that returns parked windows to the queue.
const LeaseKey = "parked"

// Park puts a window aside if its bank has used up its tokens or has older windows parked, and reports whether it did.
// The caller must then acknowledge the event: the window is safe before Park returns.
func (b *Budget) Park(ctx context.Context, e events.Event) (bool, error) {
	if b == nil || !b.config.Metered {
		return false, nil
	}
	s, _, err := b.read(ctx, e.Bank)
	if err != nil {
		return false, err
	}
	bound := b.bound(ctx, e.Bank)
	over := bound > 0 && s.Tokens+b.unwrittenOf(e.Bank) >= bound
	if !over && (!s.Held || work.WasParked(e)) {
		return false, nil
	}
	if !s.Held {
		if err := b.hold(ctx, e.Bank, true); err != nil {
			return false, err
		}
	}
	if err := work.Park(ctx, b.deps.Conn, e); err != nil {
		return false, err
	}
	b.parked.Inc()
	b.deps.Log.Debug().Str("stage", "extract").Str("bank", string(e.Bank)).Uint64("seq", e.Seq).Msg("parked")
	return true, nil
}

// hold sets whether windows of a bank wait behind parked ones.
func (b *Budget) hold(ctx context.Context, bank memory.BankID, held bool) error {
	return b.change(ctx, bank, func(s *spending) bool {
		if s.Held == held {
			return false
		}
		s.Held = held
		return true
	})
}

// Run returns parked windows to the queue until ctx ends, in one process at a time, and then returns nil.
func (b *Budget) Run(ctx context.Context) error {
	if b == nil {
		return nil
	}
	return lease.Hold(ctx, b.deps.Conn, LeaseKey, b.deps.Owner, b.active)
}

// runWhile runs the budget while work runs, and returns the errors of both.
func (b *Budget) runWhile(ctx context.Context, work func() error) error {
	ended := make(chan error, 1)
	ctx, stop := context.WithCancel(ctx)
	go func() { ended <- b.Run(ctx) }()
	err := work()
	stop()
	return errors.Join(err, <-ended)
}

// active looks at the parked windows at every tick, as the owner of the lease.
func (b *Budget) active(ctx context.Context) error {
	held, err := b.heldBanks(ctx)
	t := time.NewTicker(b.config.Tick)
	defer t.Stop()
	for ; err == nil; err = b.releaseAll(ctx, held) {
		select {
		case <-ctx.Done():
			return nil
		case <-t.C:
		}
	}
	if ctx.Err() != nil {
		return nil
	}
	return fmt.Errorf("look at the parked windows: %w: %w", err, memory.ErrUnavailable)
}

// heldBanks returns the banks that an earlier owner may have left held. The key of a bank is one token; keys of more are of
// package work.
func (b *Budget) heldBanks(ctx context.Context) (map[memory.BankID]bool, error) {
	out := map[memory.BankID]bool{}
	err := b.bucket.Each(ctx, "*", func(r kv.Record) error {
		var s spending
		name, err := events.ParseKey(r.Key)
		if err == nil && json.Unmarshal(r.Value, &s) == nil && s.Held {
			out[memory.BankID(name)] = true
		}
		return nil
	})
	return out, err
}

// releaseAll returns what may return, bank by bank, and ends the hold on banks that have nothing parked any more.
func (b *Budget) releaseAll(ctx context.Context, held map[memory.BankID]bool) error {
	parked, err := work.Parked(ctx, b.deps.Conn)
	if err != nil {
		return err
	}
	waiting := map[memory.BankID]bool{}
	for _, token := range slices.Sorted(maps.Keys(parked)) {
		bank, err := events.DecodeBank(token)
		if err != nil {
			continue
		}
		waiting[bank], held[bank] = true, true
		if err := b.release(ctx, bank); err != nil {
			return err
		}
	}
	for _, bank := range slices.Sorted(maps.Keys(held)) {
		if waiting[bank] {
			continue
		}
		if err := b.hold(ctx, bank, false); err != nil {
			return err
		}
		delete(held, bank)
	}
	return nil
}

// release returns windows of a bank to the queue, in the order in which they were cut, if the bank may spend tokens:
// only as many as leave the queue short, so that no other bank waits behind them.
func (b *Budget) release(ctx context.Context, bank memory.BankID) error {
	s, _, err := b.read(ctx, bank)
	if err != nil {
		return err
	}
	if bound := b.bound(ctx, bank); bound > 0 && s.Tokens >= bound {
		return nil
	}
	if !s.Held {
		if err := b.hold(ctx, bank, true); err != nil {
			return err
		}
	}
	queued, err := work.Pending(ctx, b.deps.Conn, bank)
	if err != nil || queued >= b.config.Ahead {
		return err
	}
	list, err := work.ParkedWindows(ctx, b.deps.Conn, bank)
	if err != nil {
		return err
	}
	sortWindows(list)
	for _, e := range list[:min(len(list), b.config.Ahead-queued)] {
		if err := work.Unpark(ctx, b.deps.Conn, e); err != nil {
			return err
		}
		b.returned.Inc()
	}
	return nil
}

// sortWindows sorts window events by their last new message, then by the first. An event that holds no window comes
// first, so that the queue soon declares it dead.
func sortWindows(list []events.Event) {
	key := func(e events.Event) (last, first uint64) {
		if w, err := e.Window(); err == nil {
			return w.Last(), w.First()
		}
		return 0, 0
	}
	slices.SortStableFunc(list, func(x, y events.Event) int {
		xl, xf := key(x)
		yl, yf := key(y)
		return cmp.Or(cmp.Compare(xl, yl), cmp.Compare(xf, yf), cmp.Compare(x.Seq, y.Seq))
	})
}
