package recall

import (
	"context"
	"errors"
	"time"

	"github.com/sony/gobreaker/v2"

	"github.com/eunoe-memory/eunoe/internal/telemetry"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/query/admission"
)

// An embedder that failed embedFailures times in a row is left alone for embedPause; then one query tries it again.
// Meanwhile recalls are answered by words at once instead of each waiting for the embedder.
const (
	embedFailures = 3
	embedPause    = 10 * time.Second
)

// newEmbedBreaker returns the breaker of query embedding. What the embedder refuses, and what the caller's own deadline
// cut short, says nothing about whether it is there.
func newEmbedBreaker() *gobreaker.CircuitBreaker[memory.Vector] {
	return gobreaker.NewCircuitBreaker[memory.Vector](gobreaker.Settings{
		Timeout:      embedPause,
		ReadyToTrip:  func(n gobreaker.Counts) bool { return n.ConsecutiveFailures >= embedFailures },
		IsSuccessful: func(err error) bool { return err == nil || errors.Is(err, memory.ErrInvalid) },
		IsExcluded:   func(err error) bool { return errors.Is(err, errHurried) },
	})
}

// errHurried marks a failure of the embedder that the caller's deadline caused.
var errHurried = errors.New("the request's deadline passed")

// embedQuery returns the vector of a query, or why there is none. It waits for the embedder for the configured time at
// most, and for less where the request's deadline is nearer.
func (e *Engine) embedQuery(ctx context.Context, q Request) (memory.Vector, string) {
	v, err := e.breaker.Execute(func() (memory.Vector, error) {
		within := q.timeout(e.cfg.EmbedTimeout)
		timed, cancel := context.WithTimeout(ctx, within)
		defer cancel()
		timed, span := telemetry.Start(timed, "embed query")
		defer admission.Leave(ctx)()
		v, err := e.vectorOf(timed, e.Redact(q.Query))
		span.Text(telemetry.Model, e.Embedder.Name()).End(err)
		if err != nil && (ctx.Err() != nil || timed.Err() != nil && within < e.cfg.EmbedTimeout) {
			err = errors.Join(errHurried, err)
		}
		return v, err
	})
	switch {
	case errors.Is(err, gobreaker.ErrOpenState), errors.Is(err, gobreaker.ErrTooManyRequests):
		return nil, "the embedder is away; words decide until it is back"
	case err != nil:
		return nil, "the embedder failed or was too slow"
	}
	return v, ""
}

// vectorOf asks the embedder for the vector of a question.
func (e *Engine) vectorOf(ctx context.Context, text string) (memory.Vector, error) {
	var list []memory.Vector
	var err error
	if m, ok := e.Embedder.(memory.QueryEmbedder); ok {
		list = make([]memory.Vector, 1)
		list[0], err = m.EmbedQuery(ctx, text)
	} else {
		list, err = e.Embedder.Embed(ctx, []string{text})
	}
	if err == nil && (len(list) != 1 || len(list[0]) != e.Embedder.Dimension()) {
		err = errors.New("the embedder's answer has another size")
	}
	if err != nil {
		return nil, err
	}
	return list[0], nil
}
