package rebuild

import (
	"context"
	"errors"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/consolidate/backfill"
	"github.com/eunoe-memory/eunoe/pkg/consolidate/retry"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// embedderGiveUp is how long a rebuild repeats calls of an embedder that does not answer.
const embedderGiveUp = time.Minute

// Reembed is Rebuild under another embedding model: every fact and, where the model ranks messages, every message
// without a vector of it is embedded, and the vectors are appended to the log. It can be stopped anywhere: the next run
// finds what was appended, and a store of another model ignores it.
func (r *Rebuilder) Reembed(ctx context.Context, progress func(Progress)) error {
	if r.deps.Embedder == nil {
		return errors.New("rebuild: an embedder is needed to embed anew")
	}
	run, err := r.begin(ctx, progress)
	if err != nil {
		return err
	}
	run.embedder = backfill.New(r.deps.Backfill(retry.Policy{}))
	run.embedder.Progress = func(vectors int) { run.reached.Embedded = vectors; run.report() }
	if err := run.applyLog(ctx); err != nil {
		return err
	}
	for { // what is left: messages, and facts that came by an edit or a decision
		n := 0
		err := run.retryEmbedding(ctx, func() (err error) { n, err = run.embedder.Round(ctx); return err })
		if err != nil {
			return err
		}
		before := run.Writes
		if err := run.applyWrites(ctx); err != nil {
			return err
		}
		if n == 0 && run.Writes == before && run.embedder.AtStart() {
			return run.finish(ctx)
		}
	}
}

// embedWaiting embeds the facts of the batch that have no vector of the configured model, neither of their own nor in
// the log, and appends the vectors, bank by bank in the order of the batch.
func (r *run) embedWaiting(ctx context.Context) error {
	banks := map[memory.BankID][]backfill.Record{}
	var order []memory.BankID
	seen := map[memory.FactID]bool{}
	for _, p := range r.waiting {
		if p.Write == nil {
			continue
		}
		bank, bare := p.Write.Bank, withoutVector(r.config.Config, p.Write)
		for i, f := range p.Write.Facts {
			id, ok := bare[i]
			if _, early := r.early.events[id]; !ok || early || seen[id] || memory.NormalText(f.Text) == "" {
				continue
			}
			seen[id] = true
			if banks[bank] == nil {
				order = append(order, bank)
			}
			banks[bank] = append(banks[bank], backfill.Record{Bank: bank, Record: memory.RecordFact, ID: string(id), Text: f.Text})
		}
	}
	for _, bank := range order {
		if err := r.embedFacts(ctx, bank, banks[bank]); err != nil {
			return err
		}
	}
	return nil
}

func (r *run) embedFacts(ctx context.Context, bank memory.BankID, records []backfill.Record) error {
	for len(records) > 0 {
		part := records[:min(len(records), r.embedder.BatchSize())]
		records = records[len(part):]
		var vectors []memory.LateVector
		err := r.retryEmbedding(ctx, func() (err error) { vectors, err = r.embedder.Embed(ctx, bank, part); return err })
		if err != nil {
			return err
		}
		if len(vectors) == 0 {
			continue
		}
		seq, err := r.embedder.Append(ctx, bank, vectors, true)
		if err != nil {
			return err
		}
		w := memory.Write{Bank: bank, Seq: seq, Early: true, Vectors: vectors}
		r.early.note(w)
		r.early.remember(w)
	}
	return nil
}

// retryEmbedding calls f, which asks the embedder, until it succeeds or has failed for a minute.
func (r *run) retryEmbedding(ctx context.Context, f func() error) error {
	p := retry.Policy{First: 200 * time.Millisecond, Longest: 30 * time.Second, GiveUp: embedderGiveUp, Final: backfill.Refused,
		Log: r.deps.Log, Stage: memory.StageEmbed}
	return p.Do(ctx, "embedding", f)
}
