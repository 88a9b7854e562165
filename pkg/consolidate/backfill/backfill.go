// Package backfill embeds records that were stored without a vector.
//
// A record is stored at once even where the embedder is down, refuses its text, or was replaced by another model. A
// Worker looks for such records, embeds them in batches and appends their vectors to the log; the consolidator applies
// them like every other write. It keeps no position: what lacks a vector is found again.
package backfill

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/oklog/ulid/v2"
	"github.com/rs/zerolog"
	"go.opentelemetry.io/otel/trace"

	"github.com/eunoe-memory/eunoe/internal/telemetry"
	"github.com/eunoe-memory/eunoe/pkg/consolidate/retry"
	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// Store tells which records lack a vector.
type Store interface {
	// Applied returns the last applied sequences of MEM_MESSAGES and MEM_WRITES.
	Applied(ctx context.Context) (messages, writes uint64, err error)
	// FactsWithoutVector returns up to limit facts of all banks, in any state, that have no vector and whose place is
	// past after, by place.
	FactsWithoutVector(ctx context.Context, after int64, limit int) ([]Record, error)
	// MessagesWithoutVector returns the same of messages, whose place is their sequence.
	MessagesWithoutVector(ctx context.Context, after int64, limit int) ([]Record, error)
}

// Record is a fact or a message without a vector.
type Record struct {
	Place  int64 // where the next page goes on; the store's own
	Bank   memory.BankID
	Record memory.Record // fact or message
	ID     string
	Seq    uint64 // of a message
	Text   string // to embed
}

const (
	batch        = 64                     // records embedded and appended at once, at most
	vectorBytes  = 512 << 10              // of the vectors of one write, at most: half of what a broker takes
	pollEvery    = 250 * time.Millisecond // between two looks for records
	firstPause   = 200 * time.Millisecond // before the embedder is asked again after a failure; it doubles
	longestPause = 30 * time.Second
	usageTimeout = 2 * time.Second // to append the usage that is left when a Worker stops
)

// Deps are what a Worker works with. All are required but Log.
type Deps struct {
	Conn     *events.Conn
	Store    Store
	Embedder memory.Embedder
	Redactor interface{ Redact(text string) string }
	Retry    retry.Policy
	Log      zerolog.Logger
}

// Worker embeds the records of one store. It is not safe for concurrent use.
type Worker struct {
	// Progress is called with the number of vectors appended so far; nil = nobody is told.
	Progress func(vectors int)

	deps          Deps
	fact, message int64  // places up to which the current pass has looked
	appended      uint64 // last sequence of MEM_WRITES that this Worker appended
	vectors       int    // appended so far
	meters        map[memory.BankID]*memory.Meter
	refused       map[string]bool // records that the embedder refuses
	ranksMessages bool
}

// New returns a Worker; it starts nothing.
func New(deps Deps) *Worker {
	return &Worker{deps: deps, meters: map[memory.BankID]*memory.Meter{}, refused: map[string]bool{},
		ranksMessages: deps.Embedder.Thresholds().RankWeight > 0}
}

// Run embeds records until ctx ends. While the embedder is down it tries again, with pauses of up to 30 seconds;
// nothing else waits for it.
func (w *Worker) Run(ctx context.Context) error {
	defer w.appendUsage(ctx)
	if err := w.deps.Retry.Do(ctx, "reading the end of the log", func() (err error) {
		w.appended, err = w.deps.Conn.LastSeq(ctx, w.deps.Conn.Naming.Writes()) // an earlier owner's vectors may be there
		return err
	}); err != nil {
		return nil //nolint:nilerr // ctx ended
	}
	pauses := backoff.NewExponentialBackOff()
	pauses.InitialInterval, pauses.MaxInterval, pauses.Multiplier, pauses.RandomizationFactor = firstPause, longestPause, 2, 0
	for down := false; ; {
		n, err := w.Round(ctx)
		pause := pollEvery
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			if !down {
				w.deps.Log.Warn().Err(err).Str("stage", memory.StageEmbed).Msg("records wait for their vectors")
			}
			down, pause = true, pauses.NextBackOff()
		case n > 0:
			if down {
				w.deps.Log.Info().Str("stage", memory.StageEmbed).Msg("records get their vectors again")
			}
			down, pause = false, 0
			pauses.Reset()
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return nil
		}
	}
}

// Round embeds the next page of records and returns how many it looked at; 0 at the end of a pass. A new pass begins
// once the store has applied what the last one appended.
func (w *Worker) Round(ctx context.Context) (int, error) {
	if w.AtStart() && w.appended > 0 {
		if _, writes, err := w.deps.Store.Applied(ctx); err != nil || writes < w.appended {
			return 0, err
		}
	}
	n, err := w.page(ctx, w.deps.Store.FactsWithoutVector, &w.fact)
	if err != nil || n > 0 {
		return n, err
	}
	w.fact = 0
	if !w.ranksMessages {
		return 0, nil
	}
	return w.page(ctx, w.deps.Store.MessagesWithoutVector, &w.message)
}

// AtStart reports whether the next Round begins a new pass over the facts.
func (w *Worker) AtStart() bool { return w.fact == 0 }

// page embeds the records that find returns past a place, and moves the place behind them.
func (w *Worker) page(ctx context.Context, find func(context.Context, int64, int) ([]Record, error), place *int64) (int, error) {
	list, err := find(ctx, *place, batch)
	if err != nil || len(list) == 0 {
		return 0, err
	}
	banks := map[memory.BankID][]Record{}
	for _, r := range list {
		if !w.refused[r.key()] {
			banks[r.Bank] = append(banks[r.Bank], r)
		}
	}
	for _, bank := range slices.Sorted(maps.Keys(banks)) {
		for part := range slices.Chunk(banks[bank], w.BatchSize()) {
			if err := w.embedAndAppend(ctx, bank, part); err != nil {
				return 0, err
			}
		}
	}
	*place = list[len(list)-1].Place
	return len(list), nil
}

func (w *Worker) embedAndAppend(ctx context.Context, bank memory.BankID, records []Record) error {
	ctx, span := telemetry.Begin(ctx, w.deps.Conn.Tracer, trace.SpanKindInternal, "embed late")
	vectors, err := w.Embed(ctx, bank, records)
	if err == nil {
		_, err = w.Append(ctx, bank, vectors, false)
	}
	span.Text(telemetry.Bank, string(bank)).Number(telemetry.Count, len(records)).End(err)
	return err
}

func (r Record) key() string { return fmt.Sprintf("%s/%s/%d/%s", r.Bank, r.Record, r.Seq, r.ID) }

// BatchSize is how many vectors one write holds, 1 to 64.
func (w *Worker) BatchSize() int {
	return max(1, min(batch, vectorBytes/(w.deps.Embedder.Dimension()*6+64))) // 4 bytes a dimension, a third more as text
}

// Append appends vectors of a bank to the log as one write, with the usage of making them, and returns its sequence.
// early marks vectors that a rebuild gives to their facts where the facts are made. Without vectors it appends nothing
// and returns the last sequence it appended.
func (w *Worker) Append(ctx context.Context, bank memory.BankID, vectors []memory.LateVector, early bool) (uint64, error) {
	if len(vectors) == 0 {
		return w.appended, nil
	}
	write := memory.Write{Bank: bank, Kind: memory.WriteVectors, Op: "vectors/" + ulid.Make().String(), Vectors: vectors, Early: early,
		By: &memory.Stamp{Model: w.deps.Embedder.Name()}, Usage: w.meter(bank).Take()}
	for _, v := range vectors {
		write.Upto = max(write.Upto, v.Seq)
	}
	seq, err := w.deps.Conn.AppendWrite(ctx, write)
	if err != nil {
		for _, u := range write.Usage {
			w.meter(bank).Add(u)
		}
		return 0, fmt.Errorf("append the vectors of %d records: %w", len(vectors), err)
	}
	w.appended = max(w.appended, seq)
	w.vectors += len(vectors)
	if w.Progress != nil {
		w.Progress(w.vectors)
	}
	return w.appended, nil
}

// appendUsage appends, as far as it can, the usage that no write has reported yet.
func (w *Worker) appendUsage(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), usageTimeout)
	defer cancel()
	for _, bank := range slices.Sorted(maps.Keys(w.meters)) {
		usage := w.meters[bank].Take()
		if len(usage) == 0 {
			continue
		}
		_, err := w.deps.Conn.AppendWrite(ctx, memory.Write{Bank: bank, Kind: memory.WriteUsage, Op: ulid.Make().String(), Usage: usage})
		if err != nil {
			w.deps.Log.Warn().Err(err).Str("stage", memory.StageEmbed).Str("bank", string(bank)).Msg("the usage of embedding is not counted")
		}
	}
}

func (w *Worker) meter(bank memory.BankID) *memory.Meter {
	if w.meters[bank] == nil {
		w.meters[bank] = &memory.Meter{}
	}
	return w.meters[bank]
}
