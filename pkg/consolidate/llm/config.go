package llm

import (
	"errors"
	"fmt"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// Config holds the settings of a Worker.
type Config struct {
	Poll time.Duration // how often the store is asked for pending questions

	DecideBatch   int           // pending facts of a bank that start a question
	DecideAfter   time.Duration // age from which fewer start one too
	DecideFacts   int           // facts of one question, at most
	DecideTargets int           // older facts shown with each, at most

	SummariseBatch int           // pending composites of a bank that start a question
	SummariseAfter time.Duration // age from which fewer start one too
	SummariseNodes int           // composites of one question, at most

	ObserveBatch    int           // unobserved facts of a bank that start a question
	ObserveAfter    time.Duration // age from which ObserveLeast of them are enough
	ObserveLeast    int
	ObserveEvery    time.Duration // how often unobserved facts are counted
	ObserveSubjects int           // subjects of one question, at most
	ObserveFacts    int           // facts of a subject shown, newest first, at most
	ObserveNew      int           // unobserved facts without which a subject is left out, unless a request asks

	// TokensPerDay is how many tokens language models may use for a bank on one UTC day; further questions wait for the
	// next. A bank's quotas may name another bound; 0 = no bound.
	TokensPerDay int64

	TextBytes int           // of one text that is shown, at most
	Timeout   time.Duration // of one question
	Tries     int           // unusable answers after which a question is given up
	Unusable  int           // unusable answers of a stage to one bank after which it is not asked again within the hour
	Backoff   time.Duration // first pause after a failure; it doubles
	BackoffTo time.Duration // longest pause: how late, at most, it is noticed that a model is back
}

// DefaultConfig asks rarely, and about many records at a time.
func DefaultConfig() Config {
	return Config{
		Poll:        time.Second,
		DecideBatch: 32, DecideAfter: 5 * time.Minute, DecideFacts: 32, DecideTargets: 5,
		SummariseBatch: 32, SummariseAfter: time.Hour, SummariseNodes: 32,
		ObserveBatch: 250, ObserveAfter: 6 * time.Hour, ObserveLeast: 12, ObserveEvery: time.Minute,
		ObserveSubjects: 8, ObserveFacts: 30, ObserveNew: 4,
		TextBytes: 800, Timeout: 2 * time.Minute, Tries: 3, Unusable: 12, Backoff: 2 * time.Second, BackoffTo: time.Minute,
	}
}

// Validate reports every setting that cannot be used; the error wraps memory.ErrInvalid.
func (c Config) Validate() error {
	var errs []error
	for _, n := range []struct {
		name       string
		value, low int
	}{
		{"decide_batch", c.DecideBatch, 1}, {"decide_facts", c.DecideFacts, 1}, {"decide_targets", c.DecideTargets, 1},
		{"summarise_batch", c.SummariseBatch, 1}, {"summarise_nodes", c.SummariseNodes, 1},
		{"observe_batch", c.ObserveBatch, 1}, {"observe_least", c.ObserveLeast, 1}, {"observe_subjects", c.ObserveSubjects, 1},
		{"observe_facts", c.ObserveFacts, 2}, {"observe_new", c.ObserveNew, 1}, {"text_bytes", c.TextBytes, 16}, {"tries", c.Tries, 1}, {"unusable", c.Unusable, 1},
	} {
		if n.value < n.low || n.value > 1_000_000 {
			errs = append(errs, memory.Invalid(n.name, "is %d; expected %d to 1000000", n.value, n.low))
		}
	}
	if c.TokensPerDay < 0 {
		errs = append(errs, memory.Invalid("tokens_per_day", "is %d; it must not be negative", c.TokensPerDay))
	}
	for _, d := range []struct {
		name  string
		value time.Duration
	}{
		{"poll", c.Poll}, {"decide_after", c.DecideAfter}, {"summarise_after", c.SummariseAfter}, {"observe_after", c.ObserveAfter},
		{"observe_every", c.ObserveEvery}, {"timeout", c.Timeout}, {"backoff", c.Backoff}, {"backoff_to", c.BackoffTo},
	} {
		if d.value <= 0 {
			errs = append(errs, memory.Invalid(d.name, "is %s; it must be more than 0", d.value))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("consolidate llm config: %w", err)
	}
	return nil
}
