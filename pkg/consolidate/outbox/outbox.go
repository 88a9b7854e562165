// Package outbox publishes the changes that commits left in the store's outbox table.
//
// A transaction of the consolidator writes the changes it caused into the outbox; a Publisher sends them to the stream
// of changes, oldest first, and removes them after the broker has acknowledged them. After a crash a change may be
// published twice, with the same id. The Publisher also keeps the profiles of banks where stages without a store read
// them.
package outbox

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/trace"

	"github.com/eunoe-memory/eunoe/internal/telemetry"
	"github.com/eunoe-memory/eunoe/pkg/consolidate/retry"
	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/events/kv"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// Store is the outbox table.
type Store interface {
	// Outbox returns up to limit committed changes after number after that were not yet marked sent, oldest first.
	Outbox(ctx context.Context, after int64, limit int) ([]Entry, error)
	// Sent removes the entries up to a number.
	Sent(ctx context.Context, upto int64) error
}

// Entry is a committed change on its way out.
type Entry struct {
	No     int64 // ascending in the order of commits
	Bank   memory.BankID
	Change memory.Change
	Trace  string // trace context of the write or message that caused it; "" = none
}

const (
	batch = 1024 // changes published at once, at most
	// pause is between two rounds, at least, and as long as the last one took: what is committed meanwhile is published
	// together, and a broker that is slow gets fewer batches.
	pause = 10 * time.Millisecond
	// removeEvery is how often published entries are removed, at most. That is a transaction of its own, for which the
	// one that applies writes has to wait.
	removeEvery = 100 * time.Millisecond
	// finishWithin is how long the last removal may take.
	finishWithin = time.Second
)

// Deps are what a Publisher works with. Conn and Store are required.
type Deps struct {
	Conn      *events.Conn
	Store     Store
	Retry     retry.Policy
	Published prometheus.Counter
	// Profile reads a bank's profile from the store; with it, profiles that change are published for stages without a
	// store. nil = they are not.
	Profile func(ctx context.Context, bank memory.BankID) (memory.Bank, error)
}

// Publisher publishes the outbox of one store.
type Publisher struct {
	deps      Deps
	published int64 // number of the last entry that the broker has
	removed   int64 // up to where entries are removed
}

// New returns a Publisher; it starts nothing.
func New(deps Deps) *Publisher { return &Publisher{deps: deps} }

// Run publishes what is in the outbox, and then again whenever committed is signalled, until ctx ends. It removes what
// is published no more often than every 100 ms.
func (p *Publisher) Run(ctx context.Context, committed <-chan struct{}) error {
	remove := time.NewTicker(removeEvery)
	defer remove.Stop()
	for {
		published, began := 0, time.Now()
		err := p.deps.Retry.Do(ctx, "publishing changes", func() error {
			entries, err := p.deps.Store.Outbox(ctx, p.published, batch)
			published = len(entries)
			if err != nil || published == 0 {
				return err
			}
			return p.publish(ctx, entries)
		})
		if err != nil {
			return err
		}
		if published > 0 {
			err = p.await(ctx, time.After(max(pause, time.Since(began))), nil, remove.C)
		} else {
			err = p.await(ctx, nil, committed, remove.C)
		}
		if ctx.Err() != nil {
			return p.finish(ctx)
		}
		if err != nil {
			return err
		}
	}
}

// await waits until paused or committed is signalled or ctx ends. It removes what is published whenever it is time to.
func (p *Publisher) await(ctx context.Context, paused <-chan time.Time, committed <-chan struct{}, remove <-chan time.Time) error {
	for {
		select {
		case <-paused:
			return nil
		case <-committed:
			return nil
		case <-remove:
			if err := p.remove(ctx); err != nil {
				return err
			}
		case <-ctx.Done():
			return nil
		}
	}
}

// finish removes what is published once more: what stays is published again by the next Publisher.
func (p *Publisher) finish(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), finishWithin)
	defer cancel()
	_ = p.remove(ctx) //nolint:errcheck // the store may be closed or belong to another owner
	return nil
}

// remove removes from the outbox what is published.
func (p *Publisher) remove(ctx context.Context) error {
	if p.removed == p.published {
		return nil
	}
	err := p.deps.Retry.Do(ctx, "removing published changes", func() error { return p.deps.Store.Sent(ctx, p.published) })
	if err == nil {
		p.removed = p.published
	}
	return err
}

func (p *Publisher) publish(ctx context.Context, entries []Entry) error {
	changes := make([]events.BankChange, len(entries))
	for i, e := range entries {
		changes[i] = events.BankChange{Bank: e.Bank, Change: e.Change, Trace: e.Trace}
	}
	spans := p.trace(ctx, changes)
	err := p.deps.Conn.PublishChanges(ctx, changes)
	for _, s := range spans {
		s.End(err)
	}
	if err != nil {
		return err
	}
	if p.deps.Published != nil {
		p.deps.Published.Add(float64(len(entries)))
	}
	for _, e := range entries {
		if e.Change.What == memory.ChangeBank || e.Change.What == memory.ChangeForget { // a forget may have removed the bank
			if err := p.publishProfile(ctx, e.Bank); err != nil {
				return err
			}
		}
	}
	p.published = entries[len(entries)-1].No
	return nil
}

// publishProfile brings the copy of a bank's profile up to date that stages without a store read.
func (p *Publisher) publishProfile(ctx context.Context, bank memory.BankID) error {
	if p.deps.Profile == nil {
		return nil
	}
	b, err := p.deps.Profile(ctx, bank)
	if errors.Is(err, memory.ErrNotFound) {
		return kv.DropProfile(ctx, p.deps.Conn, bank)
	}
	if err != nil {
		return fmt.Errorf("read the profile of %s: %w", bank, err)
	}
	return kv.PutProfile(ctx, p.deps.Conn, b)
}

// trace begins a span for each run of changes of one cause, under the commit that caused them, and sets the trace
// context the changes are published with. Without a tracer it returns nil and changes nothing.
func (p *Publisher) trace(ctx context.Context, changes []events.BankChange) []telemetry.Span {
	if p.deps.Conn.Tracer == nil {
		return nil
	}
	var spans []telemetry.Span
	for from := 0; from < len(changes); {
		first, to := changes[from], from+1
		for to < len(changes) && changes[to].Trace == first.Trace && changes[to].Bank == first.Bank {
			to++
		}
		if first.Trace != "" {
			inner, span := telemetry.Begin(telemetry.Resume(ctx, first.Trace), p.deps.Conn.Tracer, trace.SpanKindProducer, "publish changes")
			span.Text(telemetry.Bank, string(first.Bank)).Number(telemetry.Count, to-from)
			line := telemetry.Line(inner)
			for i := from; i < to; i++ {
				changes[i].Trace = line
			}
			spans = append(spans, span)
		}
		from = to
	}
	return spans
}
