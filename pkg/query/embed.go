package query

import (
	"context"
	"fmt"
	"time"

	"github.com/eunoe-memory/eunoe/internal/telemetry"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// embedWithin is how long a write waits for the embedder. What it does not give
// in time comes later: no write is refused or held up for want of a vector.
const embedWithin = 2 * time.Second

// embedTexts gives one vector for each text that is stored, of the embedder's size.
func (s *Service) embedTexts(ctx context.Context, texts []string) ([]memory.Vector, error) {
	found, err := s.embedder.Embed(ctx, texts)
	if err != nil {
		return nil, fmt.Errorf("embed with %s: %w", s.embedder.Name(), err)
	}
	fits := len(found) == len(texts)
	for _, v := range found {
		fits = fits && len(v) == s.embedder.Dimension()
	}
	if !fits {
		return nil, fmt.Errorf("embed with %s: the answer has another size: %w", s.embedder.Name(), memory.ErrUnavailable)
	}
	return found, nil
}

// embedQuestion gives the vector of a question.
func (s *Service) embedQuestion(ctx context.Context, text string) (memory.Vector, error) {
	q, ok := s.embedder.(memory.QueryEmbedder)
	if !ok {
		found, err := s.embedTexts(ctx, []string{text})
		if err != nil {
			return nil, err
		}
		return found[0], nil
	}
	v, err := q.EmbedQuery(ctx, text)
	if err == nil && len(v) != s.embedder.Dimension() {
		err = fmt.Errorf("the answer has another size: %w", memory.ErrUnavailable)
	}
	if err != nil {
		return nil, fmt.Errorf("embed a question with %s: %w", s.embedder.Name(), err)
	}
	return v, nil
}

// embedFacts gives every fact without a vector one, and gives what that took.
// Without an embedder, or when it fails, they go without: the consolidator
// embeds them later.
func (s *Service) embedFacts(ctx context.Context, facts []memory.Fact) []memory.StageUsage {
	if s.embedder == nil {
		return nil
	}
	var texts []string
	var at []int
	for i := range facts {
		if facts[i].Vector == nil {
			texts, at = append(texts, facts[i].Text), append(at, i)
		} else {
			facts[i].Model = s.embedder.Name() // the caller's word
		}
	}
	found, used := s.embedInTime(ctx, texts)
	for k, v := range found {
		facts[at[k]].Vector, facts[at[k]].Model = v, s.embedder.Name()
	}
	return used
}

// embedEdit gives the vector of a new wording and its model, or none when the embedder fails.
func (s *Service) embedEdit(ctx context.Context, text string) (memory.Vector, string, []memory.StageUsage) {
	found, used := s.embedInTime(ctx, []string{text})
	if len(found) == 0 {
		return nil, "", used
	}
	return found[0], s.embedder.Name(), used
}

// embedInTime embeds what is written; no vectors when that fails or takes too long.
func (s *Service) embedInTime(ctx context.Context, texts []string) ([]memory.Vector, []memory.StageUsage) {
	if len(texts) == 0 {
		return nil, nil
	}
	meter := &memory.Meter{}
	ctx, cancel := context.WithTimeout(memory.WithMeter(ctx, meter), embedWithin)
	defer cancel()
	ctx, span := telemetry.Start(ctx, "embed facts")
	found, err := s.embedTexts(ctx, texts)
	span.Number(telemetry.Count, len(texts)).Text(telemetry.Model, s.embedder.Name()).End(err)
	if err != nil {
		s.log.Warn().Ctx(ctx).Err(err).Str("stage", memory.StageEmbed).Msg("stored without vectors, which come later")
	}
	return found, meter.Take()
}
