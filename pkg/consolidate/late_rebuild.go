package consolidate

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// embedPatience is how long a rebuild asks an embedder that does not answer.
const embedPatience = time.Minute

// Progress says how far a rebuild has come.
type Progress struct {
	Messages, Writes uint64 // sequences applied
	LastWrite        uint64 // sequence at which the log of writes ended when the rebuild began
	Embedded         int    // records that were given a vector by Reembed
}

// Reembed is Rebuild under another embedding model: every fact and, where the
// model ranks messages, every message that has no vector of it is embedded, and
// the vectors are appended to the log. A later Rebuild finds them there and
// makes the same store. It can be broken off anywhere: what was appended is
// found again by the next run, and means nothing to a store of another model.
func (c *Consolidator) Reembed(ctx context.Context, progress func(Progress)) error {
	if c.deps.Embedder == nil {
		return errors.New("consolidate: an embedder is needed to embed anew")
	}
	l := c.newLate()
	r, err := c.newRebuilder(ctx, progress)
	if err != nil {
		return err
	}
	l.progress = func(done int) { r.told.Embedded = done; r.tell() }
	r.late = l
	if err := r.all(ctx); err != nil {
		return err
	}
	for { // what is left: messages, and facts that came by an edit or a decision
		n := 0
		err := r.embedder(ctx, func() (err error) { n, err = l.round(ctx); return err })
		if err != nil {
			return err
		}
		before := r.appliedWrites
		if err := r.writes(ctx); err != nil {
			return err
		}
		if n == 0 && r.appliedWrites == before && l.fact == 0 {
			return r.rest(ctx)
		}
	}
}

// embedWaiting embeds the facts of the gathered writes that have no vector of
// the configured model and finds none in the log, and appends the vectors.
func (r *rebuilder) embedWaiting(ctx context.Context) error {
	banks := map[memory.BankID][]LateRecord{}
	var order []memory.BankID
	asked := map[memory.FactID]bool{}
	for _, p := range r.waiting {
		bare := r.config.bare(p.write)
		for i, f := range p.write.Facts {
			id, ok := bare[i]
			if _, known := r.early.at[id]; !ok || known || asked[id] || memory.NormalText(f.Text) == "" {
				continue
			}
			asked[id] = true
			if banks[p.write.Bank] == nil {
				order = append(order, p.write.Bank)
			}
			banks[p.write.Bank] = append(banks[p.write.Bank], LateRecord{Bank: p.write.Bank, Record: memory.RecordFact, ID: string(id), Text: f.Text})
		}
	}
	for _, bank := range order {
		if err := r.embedBank(ctx, bank, banks[bank]); err != nil {
			return err
		}
	}
	return nil
}

func (r *rebuilder) embedBank(ctx context.Context, bank memory.BankID, list []LateRecord) error {
	for len(list) > 0 {
		part := list[:min(len(list), r.late.most())]
		list = list[len(part):]
		var vectors []memory.LateVector
		err := r.embedder(ctx, func() (err error) { vectors, err = r.late.vectors(ctx, bank, part); return err })
		if err != nil {
			return err
		}
		if err := r.late.append(ctx, bank, vectors, true); err != nil {
			return err
		}
		w := memory.Write{Bank: bank, Seq: r.late.appended, Early: true, Vectors: vectors}
		r.early.note(w)
		r.early.keep(w)
	}
	return nil
}

// embedder calls f, which asks the embedder, until it succeeds or has failed for too long.
func (r *rebuilder) embedder(ctx context.Context, f func() error) error {
	rest, until := lateRest, time.Now().Add(embedPatience)
	for {
		err := f()
		if err == nil || ctx.Err() != nil || time.Now().Add(rest).After(until) || refused(err) {
			return err
		}
		r.deps.Log.Warn().Err(err).Str("stage", memory.StageEmbed).Msg("the embedder failed; trying again")
		select {
		case <-time.After(rest):
		case <-ctx.Done():
			return err
		}
		rest = min(2*rest, lateMost)
	}
}

// messageFeed gives the messages of the log in order, read ahead by one reader
// for the whole rebuild.
type messageFeed struct {
	batches chan messageBatch
	err     error  // set before batches is closed
	end     uint64 // the last sequence there was when it began
}

// feedMessages reads MEM_MESSAGES up to its end until ctx ends.
func (c *Consolidator) feedMessages(ctx context.Context) (*messageFeed, error) {
	stream := c.deps.Conn.Naming.Messages()
	end, err := c.deps.Conn.LastSeq(ctx, stream)
	if err != nil {
		return nil, err
	}
	f := &messageFeed{batches: make(chan messageBatch, 4), end: end}
	go func() {
		defer close(f.batches)
		var batch []events.Event
		send := func() error {
			select {
			case f.batches <- c.readMessages(batch):
				batch = nil
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		_, f.err = c.deps.Conn.Scan(ctx, stream, nil, 0, func(e events.Event) error {
			if batch = append(batch, e); len(batch) < c.config.Batch {
				return nil
			}
			return send()
		})
		if f.err == nil && len(batch) > 0 {
			f.err = send()
		}
		if f.err != nil {
			f.err = fmt.Errorf("read %s: %w", stream, f.err)
		}
	}()
	return f, nil
}

// next gives the next batch; more is false when there is none.
func (f *messageFeed) next() (batch messageBatch, more bool, err error) {
	if batch, more = <-f.batches; more {
		return batch, true, nil
	}
	return batch, false, f.err
}
