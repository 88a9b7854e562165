package provider

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/rs/zerolog"
	"github.com/sony/gobreaker/v2"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// maxAnswer bounds how much of an answer is read, in bytes.
const maxAnswer = 16 << 20

// line is the way to one model at one address. Every request goes through its
// exchange: there, and nowhere else, attempts are repeated, counted and given up.
type line struct {
	model   string // as it is counted: provider and model
	key     Key
	config  Config
	client  *http.Client
	log     zerolog.Logger
	metrics *Metrics
	slots   chan struct{}
	breaker *gobreaker.CircuitBreaker[struct{}]
	failed  atomic.Pointer[string] // what the last attempt failed of
}

func newLine(c Config, d Deps, m *Metrics, model string, key Key) *line {
	none := "no answer in time"
	l := &line{
		model: model, key: key, config: c, client: d.Client, log: d.Log, metrics: m, slots: make(chan struct{}, c.Concurrency),
		breaker: gobreaker.NewCircuitBreaker[struct{}](gobreaker.Settings{
			Timeout:      c.Rest,
			ReadyToTrip:  func(n gobreaker.Counts) bool { return int(n.ConsecutiveFailures) >= c.Trip },
			IsSuccessful: func(err error) bool { return !unwell(err) },
			IsExcluded:   func(err error) bool { return errors.Is(err, errCutShort) },
		}),
	}
	l.failed.Store(&none)
	return l
}

// request is one POST and the reading of its answer.
type request struct {
	stage  string
	url    string
	header http.Header
	body   []byte
	// answer reads the body of an answer of status 200 and gives what the call
	// took, as far as it is told, also with an error.
	answer func(io.Reader) (memory.Usage, error)
	took   *memory.Usage // adds up what the attempts took; nil = nobody asks
}

// errCutShort marks an attempt that its caller ended before it said anything
// about the provider's health.
var errCutShort = errors.New("ended by the caller")

// patience is how long an attempt must have lasted for its deadline to count
// as a failure of the provider.
const patience = 500 * time.Millisecond

func unwell(err error) bool {
	var f *fault
	return errors.As(err, &f) && f.down
}

// exchange sends a request until it is answered, no further attempt can help,
// or the time is over. The error has a meaning of pkg/memory, or is the context's.
func (l *line) exchange(ctx context.Context, r request) error {
	bounded, cancel := context.WithTimeout(ctx, l.config.Timeout)
	defer cancel()
	select {
	case l.slots <- struct{}{}:
		defer func() { <-l.slots }()
	case <-bounded.Done():
		return l.over(ctx, errors.New("all places for requests are taken"))
	}
	waits := backoff.NewExponentialBackOff()
	waits.InitialInterval, waits.MaxInterval = l.config.Wait, 20*time.Second
	var last error
	tries := 0
	_, err := backoff.Retry(bounded, func() (struct{}, error) {
		tries++
		last = l.traced(bounded, r, tries)
		return struct{}{}, l.next(bounded, last)
	}, backoff.WithBackOff(waits), backoff.WithMaxTries(uint(l.config.Retries)+1), backoff.WithMaxElapsedTime(0)) //nolint:gosec // never negative
	var f *fault
	switch {
	case err == nil:
		return nil
	case bounded.Err() != nil && (!errors.As(last, &f) || f.again || f.outcome == outcomeDeadline || f.outcome == outcomeCanceled):
		return l.over(ctx, last)
	}
	return fmt.Errorf("%s: %w", l.model, last)
}

// next says what follows an attempt: nothing, a wait, or the wait the server asks for.
func (l *line) next(ctx context.Context, err error) error {
	var f *fault
	switch {
	case err == nil:
		return nil
	case !errors.As(err, &f) || !f.again:
		return backoff.Permanent(err)
	case f.after == 0:
		return err
	}
	if end, ok := ctx.Deadline(); ok && time.Until(end) < f.after {
		return backoff.Permanent(err) // it would be too late
	}
	return &backoff.RetryAfterError{Duration: f.after}
}

// over is the error of a call whose time is over: the caller's, or the one
// that a call may take.
func (l *line) over(ctx context.Context, last error) error {
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		return fmt.Errorf("%s: %w", l.model, context.Canceled)
	case ctx.Err() != nil:
		return fmt.Errorf("%s: %s: %w", l.model, text(last), memory.ErrDeadline)
	}
	return fmt.Errorf("%s: gave up after %s: %s: %w", l.model, l.config.Timeout, text(last), memory.ErrUnavailable)
}

func text(err error) string {
	if err == nil {
		return "no answer"
	}
	return err.Error()
}

// attempt sends a request once, unless the model is being left alone, and
// counts what it took, which it gives.
func (l *line) attempt(ctx context.Context, r request) (usage memory.Usage, err error) {
	if ctx.Err() != nil { // nothing is sent whose answer nobody waits for, and nothing counted
		return usage, broken("no answer", ctx.Err())
	}
	began := time.Now()
	sent := false
	_, gate := l.breaker.Execute(func() (struct{}, error) {
		sent = true
		if usage, err = l.send(ctx, r); unwell(err) {
			said := err.Error()
			l.failed.Store(&said)
		}
		if ctx.Err() != nil && err != nil {
			if errors.Is(ctx.Err(), context.Canceled) || time.Since(began) < patience {
				return struct{}{}, errCutShort
			}
			return struct{}{}, &fault{down: true}
		}
		return struct{}{}, err
	})
	if !sent {
		l.metrics.skipped(r.stage, l.model)
		return usage, &fault{
			text:    fmt.Sprintf("failed %d times in a row and is left alone for %s; the last time: %s", l.config.Trip, l.config.Rest, *l.failed.Load()),
			meaning: memory.ErrUnavailable, cause: gate, outcome: outcomeSkipped,
		}
	}
	usage = plausible(usage)
	usage.Calls = 1
	if err != nil {
		usage.Failed = 1
	}
	if r.took != nil {
		*r.took = r.took.Plus(usage)
	}
	memory.MeterOf(ctx).Add(memory.StageUsage{Stage: r.stage, Model: l.model, Usage: usage})
	l.metrics.attempt(r.stage, l.model, outcomeOf(err), usage, time.Since(began))
	if err != nil {
		l.log.Debug().Ctx(ctx).Err(err).Str("stage", r.stage).Str("model", l.model).Msg("a request to a model failed")
	}
	return usage, err
}

// send sends a request once and reads its answer.
func (l *line) send(ctx context.Context, r request) (memory.Usage, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, r.url, bytes.NewReader(r.body))
	if err != nil {
		return memory.Usage{}, &fault{text: "the request cannot be made", meaning: memory.ErrInvalid, outcome: outcomeInvalid}
	}
	req.Header = r.header.Clone()
	resp, err := l.client.Do(req)
	if err != nil {
		return memory.Usage{}, l.hide(broken("no answer", err))
	}
	defer resp.Body.Close() //nolint:errcheck // it was read
	if resp.StatusCode != http.StatusOK {
		body, _ := io.ReadAll(io.LimitReader(resp.Body, 64<<10)) //nolint:errcheck // the status says enough
		return memory.Usage{}, l.hide(refused(resp.StatusCode, resp.Header, body, time.Now()))
	}
	usage, err := r.answer(&bounded{from: resp.Body, left: maxAnswer})
	if err != nil {
		return usage, l.hide(broken("the answer broke off", err))
	}
	return usage, nil
}

// hide takes the key out of an error: servers like to repeat what they were sent.
func (l *line) hide(f *fault) *fault {
	if l.key != "" && strings.Contains(f.text, string(l.key)) {
		f.text, f.cause = strings.ReplaceAll(f.text, string(l.key), "[key]"), nil
	}
	return f
}

// plausible keeps what a server says that a call took within reason.
func plausible(u memory.Usage) memory.Usage {
	sane := func(n int) int { return min(max(0, n), 1<<30) }
	return memory.Usage{PromptTokens: sane(u.PromptTokens), CachedTokens: min(sane(u.CachedTokens), sane(u.PromptTokens)), CompletionTokens: sane(u.CompletionTokens)}
}

func outcomeOf(err error) string {
	var f *fault
	switch {
	case err == nil:
		return outcomeOK
	case errors.As(err, &f) && f.outcome != "":
		return f.outcome
	}
	return outcomeUnavailable
}

// bounded reads up to a number of bytes and fails beyond it.
type bounded struct {
	from io.Reader
	left int
}

// Read implements io.Reader.
func (b *bounded) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, &fault{
			text:    fmt.Sprintf("the answer is larger than %d MiB", maxAnswer>>20),
			meaning: memory.ErrUnavailable, outcome: outcomeUnavailable, down: true,
		}
	}
	n, err := b.from.Read(p[:min(len(p), b.left)])
	b.left -= n
	return n, err
}
