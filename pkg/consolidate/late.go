package consolidate

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/oklog/ulid/v2"
	"go.opentelemetry.io/otel/trace"

	"github.com/eunoe-memory/eunoe/internal/telemetry"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// LateStore says which records wait for a vector.
type LateStore interface {
	// FactsWithoutVector gives up to limit facts of all banks, in any state, that
	// have no vector and whose place is past after, by place.
	FactsWithoutVector(ctx context.Context, after int64, limit int) ([]LateRecord, error)
	// MessagesWithoutVector gives the same of messages; the place of one is its sequence.
	MessagesWithoutVector(ctx context.Context, after int64, limit int) ([]LateRecord, error)
}

// LateRecord is a record without a vector.
type LateRecord struct {
	Place  int64 // where the next page goes on; the store's own
	Bank   memory.BankID
	Record memory.Record // fact or message
	ID     string
	Seq    uint64 // of a message
	Text   string // what is embedded
}

// The numbers of late vectors.
const (
	lateRecords = 64                     // embedded and appended at once, at most
	lateBytes   = 512 << 10              // of vectors in one write, at most: half of what a broker takes
	lateEvery   = 250 * time.Millisecond // between two looks for records
	lateRest    = 200 * time.Millisecond // before the embedder is asked again after a failure, doubled each time
	lateMost    = 30 * time.Second       // and at most so long
	lateCall    = 2 * time.Minute        // one answer of the embedder
	lateSpent   = 2 * time.Second        // to tell at the end what calls took
	leastText   = 64                     // bytes below which a text is not shortened further
)

// late embeds records that were stored without a vector and appends their
// vectors to the log. It keeps no position: what has no vector is looked for again.
type late struct {
	*Consolidator
	embedder       memory.Embedder
	fact, message  int64 // places the pass stands at
	appended       uint64
	meters         map[memory.BankID]*memory.Meter // of calls that no write has told of
	unfit          map[string]bool                 // records that the embedder refuses
	progress       func(done int)                  // told of the vectors appended so far; nil = nobody is
	done           int
	messagesRanked bool
}

func (c *Consolidator) newLate() *late {
	e := c.deps.Embedder
	return &late{Consolidator: c, embedder: e, meters: map[memory.BankID]*memory.Meter{}, unfit: map[string]bool{},
		messagesRanked: e.Thresholds().RankWeight > 0}
}

// embedLate gives records their vectors until ctx ends. While the embedder is
// down it tries again, ever more rarely; nothing else waits for it.
func (c *Consolidator) embedLate(ctx context.Context) error {
	if c.deps.Embedder == nil {
		return nil
	}
	l := c.newLate()
	defer l.spent(ctx)
	if err := c.insist(ctx, "reading the end of the log", func() (err error) {
		l.appended, err = c.deps.Conn.LastSeq(ctx, c.deps.Conn.Naming.Writes()) // an earlier owner's vectors may stand there
		return err
	}); err != nil {
		return nil //nolint:nilerr // ctx ended
	}
	rest, down := lateRest, false
	for {
		n, err := l.round(ctx)
		pause := lateEvery
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			if !down {
				c.deps.Log.Warn().Err(err).Str("stage", memory.StageEmbed).Msg("records wait for their vectors")
			}
			down, pause = true, rest
			rest = min(2*rest, lateMost)
		case n > 0:
			if down {
				c.deps.Log.Info().Str("stage", memory.StageEmbed).Msg("records get their vectors again")
			}
			rest, down, pause = lateRest, false, 0
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return nil
		}
	}
}

// round embeds the next page of records and gives how many it looked at. At the
// end of the facts it begins anew once the store has what was appended.
func (l *late) round(ctx context.Context) (int, error) {
	if l.fact == 0 && l.appended > 0 {
		if _, writes, err := l.deps.Store.Applied(ctx); err != nil || writes < l.appended {
			return 0, err
		}
	}
	list, err := l.deps.Store.FactsWithoutVector(ctx, l.fact, lateRecords)
	if err != nil {
		return 0, err
	}
	if len(list) > 0 {
		if err := l.give(ctx, list); err != nil {
			return 0, err
		}
		l.fact = list[len(list)-1].Place
		return len(list), nil
	}
	l.fact = 0
	if !l.messagesRanked {
		return 0, nil
	}
	if list, err = l.deps.Store.MessagesWithoutVector(ctx, l.message, lateRecords); err != nil || len(list) == 0 {
		return 0, err
	}
	if err := l.give(ctx, list); err != nil {
		return 0, err
	}
	l.message = list[len(list)-1].Place
	return len(list), nil
}

// give embeds records and appends their vectors, bank by bank.
func (l *late) give(ctx context.Context, list []LateRecord) error {
	banks := map[memory.BankID][]LateRecord{}
	for _, r := range list {
		if !l.unfit[r.key()] {
			banks[r.Bank] = append(banks[r.Bank], r)
		}
	}
	for _, bank := range slices.Sorted(maps.Keys(banks)) {
		for part := range slices.Chunk(banks[bank], l.most()) {
			inner, span := telemetry.Begin(ctx, l.deps.Conn.Tracer, trace.SpanKindInternal, "embed late")
			vectors, err := l.vectors(inner, bank, part)
			if err == nil {
				err = l.append(inner, bank, vectors, false)
			}
			span.Text(telemetry.Bank, string(bank)).Number(telemetry.Count, len(part)).End(err)
			if err != nil {
				return err
			}
		}
	}
	return nil
}

func (r LateRecord) key() string { return fmt.Sprintf("%s/%s/%d/%s", r.Bank, r.Record, r.Seq, r.ID) }

// most is how many vectors one write holds.
func (l *late) most() int {
	return max(1, min(lateRecords, lateBytes/(l.embedder.Dimension()*6+64))) // 4 bytes a dimension, a third more as text
}

// append appends vectors of a bank to the log, with what making them took.
func (l *late) append(ctx context.Context, bank memory.BankID, vectors []memory.LateVector, early bool) error {
	if len(vectors) == 0 {
		return nil
	}
	w := memory.Write{Bank: bank, Kind: memory.WriteVectors, Op: "vectors/" + ulid.Make().String(), Vectors: vectors, Early: early,
		By: &memory.Stamp{Model: l.embedder.Name()}, Usage: l.meter(bank).Take()}
	for _, v := range vectors {
		w.Upto = max(w.Upto, v.Seq)
	}
	seq, err := l.deps.Conn.AppendWrite(ctx, w)
	if err != nil {
		for _, u := range w.Usage {
			l.meter(bank).Add(u)
		}
		return fmt.Errorf("append the vectors of %d records: %w", len(vectors), err)
	}
	l.appended = max(l.appended, seq)
	l.done += len(vectors)
	if l.progress != nil {
		l.progress(l.done)
	}
	return nil
}

// spent appends, as far as it can, what calls took that no write has told of.
func (l *late) spent(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lateSpent)
	defer cancel()
	for _, bank := range slices.Sorted(maps.Keys(l.meters)) {
		used := l.meters[bank].Take()
		if len(used) == 0 {
			continue
		}
		_, err := l.deps.Conn.AppendWrite(ctx, memory.Write{Bank: bank, Kind: memory.WriteUsage, Op: ulid.Make().String(), Usage: used})
		if err != nil {
			l.deps.Log.Warn().Err(err).Str("stage", memory.StageEmbed).Str("bank", string(bank)).Msg("what embedding took is not counted")
		}
	}
}

func (l *late) meter(bank memory.BankID) *memory.Meter {
	if l.meters[bank] == nil {
		l.meters[bank] = &memory.Meter{}
	}
	return l.meters[bank]
}
