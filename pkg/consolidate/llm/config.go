package llm

import (
	"errors"
	"fmt"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// Config holds the numbers of the loop.
type Config struct {
	Poll time.Duration // how often the store is asked what waits

	DecideBatch   int           // waiting facts of a bank that are asked about at once
	DecideAfter   time.Duration // after so long even fewer are
	DecideFacts   int           // facts of one question, at most
	DecideTargets int           // older facts shown with each, at most

	SummariseBatch int           // waiting composites of a bank that are asked about at once
	SummariseAfter time.Duration // after so long even fewer are
	SummariseNodes int           // composites of one question, at most

	ObserveBatch    int           // unobserved facts of a bank that are observed at once
	ObserveAfter    time.Duration // after so long ObserveLeast of them are enough
	ObserveLeast    int
	ObserveEvery    time.Duration // how often it is looked whether there are as many
	ObserveSubjects int           // subjects of one question, at most
	ObserveFacts    int           // facts of a subject shown, newest first, at most
	ObserveNew      int           // unobserved facts that a subject is looked at for, unless a request asks

	// TokensPerDay is how many tokens language models may take for a bank on one
	// UTC day before what waits is left for the next, unless the bank's quotas
	// name another bound; 0 = no bound.
	TokensPerDay int64

	TextBytes int           // of one text that is shown, at most
	Timeout   time.Duration // of one question
	Tries     int           // answers without sense after which what was asked about waits no longer
	Backoff   time.Duration // first pause after a failure; it doubles
	BackoffTo time.Duration // longest pause
}

// DefaultConfig asks seldom and much at a time.
func DefaultConfig() Config {
	return Config{
		Poll:        time.Second,
		DecideBatch: 32, DecideAfter: 5 * time.Minute, DecideFacts: 32, DecideTargets: 5,
		SummariseBatch: 32, SummariseAfter: time.Hour, SummariseNodes: 32,
		ObserveBatch: 250, ObserveAfter: 6 * time.Hour, ObserveLeast: 12, ObserveEvery: time.Minute,
		ObserveSubjects: 8, ObserveFacts: 30, ObserveNew: 4,
		TextBytes: 800, Timeout: 2 * time.Minute, Tries: 3, Backoff: 2 * time.Second, BackoffTo: 5 * time.Minute,
	}
}

// Validate reports every number that cannot be used.
func (c Config) Validate() error {
	var errs []error
	for _, n := range []struct {
		name       string
		value, low int
	}{
		{"decide_batch", c.DecideBatch, 1}, {"decide_facts", c.DecideFacts, 1}, {"decide_targets", c.DecideTargets, 1},
		{"summarise_batch", c.SummariseBatch, 1}, {"summarise_nodes", c.SummariseNodes, 1},
		{"observe_batch", c.ObserveBatch, 1}, {"observe_least", c.ObserveLeast, 1}, {"observe_subjects", c.ObserveSubjects, 1},
		{"observe_facts", c.ObserveFacts, 2}, {"observe_new", c.ObserveNew, 1}, {"text_bytes", c.TextBytes, 16}, {"tries", c.Tries, 1},
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
