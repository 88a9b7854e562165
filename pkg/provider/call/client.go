// Package call carries out calls to models over HTTP, whatever their protocol.
//
// A Client stands for one model at one address. Its Do runs an attempt, repeats it where that can help, waits as long
// as the server asks, leaves a failing model alone for a while, and counts every attempt in the Meter of the context
// and in Metrics. An attempt is a function that sends one request through its Exchange. The Exchange is the
// http.RoundTripper under the client library of a provider: it edits the request where the library cannot express it,
// bounds the answer, and gives failures the meaning of pkg/memory, which the libraries lose.
//
// Form records which parts of a request a model turned out not to accept, so that it is asked without them.
package call

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"sync/atomic"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/rs/zerolog"
	"github.com/sony/gobreaker/v2"

	"github.com/eunoe-memory/eunoe/internal/telemetry"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// Key is a secret that never appears in text: printing it only shows whether it is set.
type Key string

// String returns "(set)", or "" for an empty key.
func (k Key) String() string {
	if k == "" {
		return ""
	}
	return "(set)"
}

// GoString returns String, for %#v.
func (k Key) GoString() string { return k.String() }

// MarshalText returns String, so that encoders do not reveal the key.
func (k Key) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// Endpoint is one model at one address.
type Endpoint struct {
	Model string // as it is counted and named in errors: "provider:model"
	URL   string // base URL without a slash at its end
	Key   Key    // "" = requests carry no key
}

// Config bounds the calls to one model.
type Config struct {
	Timeout     time.Duration // of one call, including its attempts and waits
	Retries     int           // attempts after the first one
	Wait        time.Duration // before the second attempt, doubled for each further one; a server's Retry-After has priority
	Concurrency int           // simultaneous requests to one model; further calls wait
	Trip        int           // consecutive failures after which a model is left alone
	Rest        time.Duration // how long it is left alone
}

// DefaultConfig returns bounds that suit hosted models.
func DefaultConfig() Config {
	return Config{Timeout: time.Minute, Retries: 2, Wait: 500 * time.Millisecond, Concurrency: 8, Trip: 5, Rest: 15 * time.Second}
}

// Validate joins everything that is wrong with the bounds.
func (c Config) Validate() error {
	var errs []error
	if c.Timeout <= 0 || c.Wait <= 0 || c.Rest <= 0 {
		errs = append(errs, memory.Invalid("timeout", "timeout, wait and rest must be more than 0"))
	}
	if c.Retries < 0 || c.Concurrency < 1 || c.Trip < 1 {
		errs = append(errs, memory.Invalid("retries", "retries must be 0 or more, concurrency and trip at least 1"))
	}
	return errors.Join(errs...)
}

// Deps are a Client's collaborators.
type Deps struct {
	Transport http.RoundTripper // required
	Log       zerolog.Logger
	Metrics   *Metrics // required
}

// Client calls one model at one address. It is shared by the stages that use the model, and safe for concurrent use.
type Client struct {
	at          Endpoint
	config      Config
	deps        Deps
	slots       chan struct{}
	breaker     *gobreaker.CircuitBreaker[struct{}]
	lastFailure atomic.Pointer[string]
}

// New makes a Client; it sends nothing.
func New(c Config, d Deps, at Endpoint) *Client {
	none := "no answer in time"
	client := &Client{
		at: at, config: c, deps: d, slots: make(chan struct{}, c.Concurrency),
		breaker: gobreaker.NewCircuitBreaker[struct{}](gobreaker.Settings{
			Timeout:      c.Rest,
			ReadyToTrip:  func(n gobreaker.Counts) bool { return int(n.ConsecutiveFailures) >= c.Trip },
			IsSuccessful: func(err error) bool { return !isOutage(err) },
			IsExcluded:   func(err error) bool { return errors.Is(err, errEndedByCaller) },
		}),
	}
	client.lastFailure.Store(&none)
	return client
}

// Endpoint returns the model's name, address and key.
func (c *Client) Endpoint() Endpoint { return c.at }

// Attempt sends one request through x and reads its answer. It sets x.Usage as soon as the answer reports it.
type Attempt func(ctx context.Context, x *Exchange) error

// maxWait bounds the wait before an attempt where the server does not ask for a longer one.
const maxWait = 20 * time.Second

// Do runs attempts until one succeeds, no further one can help, or the time is over. It returns the sum of what all
// attempts took, also with an error. The error has a meaning of pkg/memory or is context.Canceled.
func (c *Client) Do(ctx context.Context, stage string, attempt Attempt) (memory.Usage, error) {
	var total memory.Usage
	bounded, cancel := context.WithTimeout(ctx, c.config.Timeout)
	defer cancel()
	select {
	case c.slots <- struct{}{}:
		defer func() { <-c.slots }()
	case <-bounded.Done():
		return total, c.timeOver(ctx, errors.New("all places for requests are taken"))
	}
	waits := backoff.NewExponentialBackOff()
	waits.InitialInterval, waits.MaxInterval = c.config.Wait, maxWait
	var last error
	tries := 0
	_, err := backoff.Retry(bounded, func() (struct{}, error) {
		tries++
		var usage memory.Usage
		usage, last = c.traced(bounded, stage, tries, attempt)
		total = total.Plus(usage)
		return struct{}{}, retryAdvice(bounded, last)
	}, backoff.WithBackOff(waits), backoff.WithMaxTries(uint(c.config.Retries)+1), backoff.WithMaxElapsedTime(0)) //nolint:gosec // never negative
	var f *Fault
	switch {
	case err == nil:
		return total, nil
	case bounded.Err() != nil && (!errors.As(last, &f) || f.again || f.outcome == outcomeDeadline || f.outcome == outcomeCanceled):
		return total, c.timeOver(ctx, last)
	}
	return total, fmt.Errorf("%s: %w", c.at.Model, last)
}

// Complete runs attempts as Do does, for an answer to a prompt of a language model. The pieces of a streamed answer that
// an attempt emits go to the prompt's receivers. The completion's usage is the sum of what all attempts took.
func (c *Client) Complete(
	ctx context.Context, stage string, p memory.Prompt, attempt func(context.Context, *Exchange) (memory.Completion, error),
) (memory.Completion, error) {
	var out memory.Completion
	usage, err := c.Do(ctx, stage, func(ctx context.Context, x *Exchange) (err error) {
		x.Receive(p.Stream, p.StreamCall)
		out, err = attempt(ctx, x)
		return err
	})
	if err != nil {
		return memory.Completion{}, err
	}
	out.Usage = usage
	return out, nil
}

// retryAdvice tells backoff what follows an attempt: nothing, the next wait, or the wait the server asks for.
func retryAdvice(ctx context.Context, err error) error {
	var f *Fault
	switch {
	case err == nil:
		return nil
	case !errors.As(err, &f) || !f.again:
		return backoff.Permanent(err)
	case f.after == 0:
		return err
	}
	if end, ok := ctx.Deadline(); ok && time.Until(end) < f.after {
		return backoff.Permanent(err) // the next attempt would be too late
	}
	return &backoff.RetryAfterError{Duration: f.after}
}

// timeOver is the error of a call whose time is over: the caller's time, or the one that a call may take.
func (c *Client) timeOver(ctx context.Context, last error) error {
	reason := "no answer"
	if last != nil {
		reason = last.Error()
	}
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		return fmt.Errorf("%s: %w", c.at.Model, context.Canceled)
	case ctx.Err() != nil:
		return fmt.Errorf("%s: %s: %w", c.at.Model, reason, memory.ErrDeadline)
	}
	return fmt.Errorf("%s: gave up after %s: %s: %w", c.at.Model, c.config.Timeout, reason, memory.ErrUnavailable)
}

// traced runs try in a span of its own, where the caller's span is recorded.
func (c *Client) traced(ctx context.Context, stage string, number int, attempt Attempt) (memory.Usage, error) {
	ctx, span := telemetry.Call(ctx, "model call")
	usage, err := c.try(ctx, stage, attempt)
	if span.On() {
		span.Text(telemetry.Stage, stage).Text(telemetry.Model, c.at.Model).Number(telemetry.Attempt, number).
			Text(telemetry.Outcome, outcomeOf(err)).Number(telemetry.Prompt, usage.PromptTokens).
			Number(telemetry.Cached, usage.CachedTokens).Number(telemetry.Complete, usage.CompletionTokens).End(err)
	}
	return usage, err
}

// errEndedByCaller marks an attempt that its caller ended before it said anything about the model's health.
var errEndedByCaller = errors.New("ended by the caller")

// patience is how long an attempt must have lasted for its deadline to count as a failure of the model.
const patience = 500 * time.Millisecond

// try runs one attempt, unless the model is being left alone, and counts what it took.
func (c *Client) try(ctx context.Context, stage string, attempt Attempt) (usage memory.Usage, err error) {
	if ctx.Err() != nil { // a request whose answer nobody waits for is neither sent nor counted
		return usage, broken("no answer", ctx.Err())
	}
	began := time.Now()
	sent := false
	_, gate := c.breaker.Execute(func() (struct{}, error) {
		sent = true
		x := &Exchange{client: c}
		err = x.outcome(ctx, attempt(ctx, x))
		usage = plausible(x.Usage)
		if isOutage(err) {
			reason := err.Error()
			c.lastFailure.Store(&reason)
		}
		if ctx.Err() != nil && err != nil {
			if errors.Is(ctx.Err(), context.Canceled) || time.Since(began) < patience {
				return struct{}{}, errEndedByCaller
			}
			return struct{}{}, &Fault{down: true}
		}
		return struct{}{}, err
	})
	if !sent {
		c.deps.Metrics.skipped(stage, c.at.Model)
		return usage, &Fault{
			text: fmt.Sprintf("failed %d times in a row and is left alone for %s; the last time: %s",
				c.config.Trip, c.config.Rest, *c.lastFailure.Load()),
			meaning: memory.ErrUnavailable, cause: gate, outcome: outcomeSkipped,
		}
	}
	usage.Calls = 1
	if err != nil {
		usage.Failed = 1
		c.deps.Log.Debug().Ctx(ctx).Err(err).Str("stage", stage).Str("model", c.at.Model).Msg("a request to a model failed")
	}
	memory.MeterOf(ctx).Add(memory.StageUsage{Stage: stage, Model: c.at.Model, Usage: usage})
	c.deps.Metrics.attempt(stage, c.at.Model, outcomeOf(err), usage, time.Since(began))
	return usage, err
}

// plausible keeps the token counts that a server reports within reason.
func plausible(u memory.Usage) memory.Usage {
	sane := func(n int) int { return min(max(0, n), 1<<30) }
	return memory.Usage{
		PromptTokens: sane(u.PromptTokens), CachedTokens: min(sane(u.CachedTokens), sane(u.PromptTokens)),
		CompletionTokens: sane(u.CompletionTokens),
	}
}

// Count returns the count that a number of a server's means: whole, and 0 to 2^30.
func Count(n float64) int { return int(min(max(0, n), 1<<30)) }

// CheckURL accepts an http or https URL that holds no credentials, query or fragment. The error is memory.ErrInvalid.
func CheckURL(raw string) error {
	u, err := url.Parse(raw)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		return memory.Invalid("url", "expected an http or https URL with a host")
	case u.User != nil:
		return memory.Invalid("url", "a URL must not hold credentials: a key is a setting of its own")
	case u.RawQuery != "" || u.Fragment != "":
		return memory.Invalid("url", "expected a URL without query and fragment")
	}
	return nil
}
