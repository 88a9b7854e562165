package extract

import (
	"context"
	"errors"
	"fmt"

	"github.com/eunoe-memory/eunoe/internal/telemetry"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// embed gives facts their vectors. While the embedder is away facts go without:
// they are found by words, and get their vectors later.
func (w *Worker) embed(ctx context.Context, facts []memory.Fact) error {
	if w.deps.Embedder == nil || len(facts) == 0 {
		return nil
	}
	texts := make([]string, len(facts))
	for i, f := range facts {
		texts[i] = f.Text
	}
	calling, span := telemetry.Start(ctx, "embed facts")
	vectors, err := w.deps.Embedder.Embed(calling, texts)
	span.Number(telemetry.Count, len(texts)).Text(telemetry.Model, w.deps.Embedder.Name()).End(err)
	if err == nil && len(vectors) != len(facts) {
		err = fmt.Errorf("%s gave %d vectors for %d texts: %w", w.deps.Embedder.Name(), len(vectors), len(facts), memory.ErrUnavailable)
	}
	switch {
	case err == nil:
	case ctx.Err() == nil && (errors.Is(err, memory.ErrUnavailable) || errors.Is(err, memory.ErrDeadline)):
		w.metrics.plain.Add(float64(len(facts)))
		if w.plain.CompareAndSwap(false, true) {
			w.deps.Log.Warn().Err(err).Str("stage", memory.StageEmbed).Msg("facts go without vectors until the embedder answers")
		}
		return nil
	default:
		return err
	}
	if w.plain.CompareAndSwap(true, false) {
		w.deps.Log.Info().Str("stage", memory.StageEmbed).Msg("facts have vectors again")
	}
	for i := range facts {
		facts[i].Vector, facts[i].Model = vectors[i], w.deps.Embedder.Name()
	}
	return nil
}
