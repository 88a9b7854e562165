package extract

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"

	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/events/kv"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// BudgetConfig sets how many tokens extraction may take.
type BudgetConfig struct {
	// TokensPerDay bounds the tokens of language models of each bank by the UTC day, unless the bank's own quotas name
	// another bound. 0 means no bound.
	TokensPerDay int64
	// Metered says that the extractor calls a language model. Without it no window is parked, and parked windows
	// return.
	Metered bool
	Tick    time.Duration // how often parked windows are looked at
	Ahead   int           // windows of one bank on the queue beyond which no more come back, 1 or more
}

// DefaultBudgetConfig bounds nothing, looks at parked windows every 2 s and returns up to 64 windows of a bank at a
// time.
func DefaultBudgetConfig() BudgetConfig { return BudgetConfig{Tick: 2 * time.Second, Ahead: 64} }

// Validate returns all errors of the configuration, joined.
func (c BudgetConfig) Validate() error {
	var errs []error
	if c.TokensPerDay < 0 {
		errs = append(errs, memory.Invalid("tokens_per_day", "is %d; it must not be negative", c.TokensPerDay))
	}
	if c.Tick <= 0 {
		errs = append(errs, memory.Invalid("tick", "must be more than 0"))
	}
	if c.Ahead < 1 {
		errs = append(errs, memory.Invalid("ahead", "is %d; expected 1 or more", c.Ahead))
	}
	return errors.Join(errs...)
}

// BudgetDeps are a Budget's collaborators. Conn is required.
type BudgetDeps struct {
	Conn  *events.Conn
	Log   zerolog.Logger
	Now   func() time.Time // nil = time.Now; it says which day it is
	Owner string           // this process, unlike any other's; "" = a random one
	// Profile returns a bank's profile. Nil, or an error, means the deployment's bound.
	Profile func(ctx context.Context, bank memory.BankID) (memory.Bank, error)
}

// Budget keeps extraction within the tokens that a bank may take on one day. A bucket of the broker holds one record
// per bank, to which every extractor adds. A window of a bank that has used up its tokens is parked, and returns when
// the day turns or the bound is raised. A bank may exceed its bound by what the windows take that are in work when it
// is reached. A nil Budget bounds nothing. It is a prometheus.Collector.
type Budget struct {
	config   BudgetConfig
	deps     BudgetDeps
	bucket   kv.Bucket
	parked   prometheus.Counter
	returned prometheus.Counter

	mu        sync.Mutex
	unwritten map[memory.BankID]int64 // spent and not yet in the record
}

// NewBudget returns a budget. It starts nothing.
func NewBudget(c BudgetConfig, d BudgetDeps) (*Budget, error) {
	if err := c.Validate(); err != nil {
		return nil, fmt.Errorf("token budget: %w", err)
	}
	if d.Conn == nil {
		return nil, memory.Invalid("deps", "a token budget needs a connection")
	}
	if d.Now == nil {
		d.Now = time.Now
	}
	if d.Owner == "" {
		d.Owner = uuid.NewString()
	}
	counter := func(name, help string) prometheus.Counter {
		return prometheus.NewCounter(prometheus.CounterOpts{Name: "eunoe_extract_" + name, Help: help})
	}
	return &Budget{
		config: c, deps: d, bucket: kv.Open(d.Conn, d.Conn.Naming.BudgetBucket()), unwritten: map[memory.BankID]int64{},
		parked:   counter("parked_total", "Windows put aside, for their bank had used up its tokens."),
		returned: counter("returned_total", "Parked windows put back on the queue."),
	}, nil
}

// Describe implements prometheus.Collector.
func (b *Budget) Describe(ch chan<- *prometheus.Desc) {
	b.parked.Describe(ch)
	b.returned.Describe(ch)
}

// Collect implements prometheus.Collector.
func (b *Budget) Collect(ch chan<- prometheus.Metric) {
	b.parked.Collect(ch)
	b.returned.Collect(ch)
}

// spending is a bank's record in the bucket.
type spending struct {
	Day    string `json:"day"` // UTC, as 2026-05-20
	Tokens int64  `json:"tokens"`
	// Held means that windows of the bank are parked, and that later ones wait behind them.
	Held bool `json:"held,omitempty"`
}

// day returns the day for which a record is kept that was written for another, maybe by a process whose clock is not this
// one's. Tomorrow's stands: were it begun anew, the clocks of two processes around midnight would take from it in turns
// what the other one spent. A later one is no day that a clock in order knows.
func (b *Budget) day(written string) string {
	now := b.deps.Now().UTC()
	if tomorrow := now.AddDate(0, 0, 1).Format(time.DateOnly); written == tomorrow {
		return tomorrow
	}
	return now.Format(time.DateOnly)
}

// bound returns how many tokens a bank may take on one day, 0 for any number.
func (b *Budget) bound(ctx context.Context, bank memory.BankID) int64 {
	if !b.config.Metered {
		return 0
	}
	if b.deps.Profile != nil {
		if p, err := b.deps.Profile(ctx, bank); err == nil && p.Quotas != nil && p.Quotas.TokensPerDay > 0 {
			return p.Quotas.TokensPerDay
		}
	}
	return b.config.TokensPerDay
}

// read returns a bank's record as it stands today, or tomorrow by the clock that is ahead.
func (b *Budget) read(ctx context.Context, bank memory.BankID) (spending, kv.Record, error) {
	r, err := b.bucket.Get(ctx, events.Key(string(bank)))
	if err != nil {
		return spending{}, r, fmt.Errorf("token budget of %s: %w", bank, err)
	}
	var s spending
	if r.Value != nil {
		if err := json.Unmarshal(r.Value, &s); err != nil {
			s = spending{} // not ours: it is written over
		}
	}
	if day := b.day(s.Day); s.Day != day {
		s.Day, s.Tokens = day, 0
	}
	return s, r, nil
}

// change writes what f makes of a bank's record, and reads again where another writer was first. Nothing is written
// where f returns false.
func (b *Budget) change(ctx context.Context, bank memory.BankID, f func(*spending) bool) error {
	for range 32 {
		s, r, err := b.read(ctx, bank)
		if err != nil || !f(&s) {
			return err
		}
		if r.Value, err = json.Marshal(s); err != nil {
			return err
		}
		if _, err = b.bucket.Put(ctx, r); !errors.Is(err, memory.ErrConflict) {
			return err
		}
	}
	return fmt.Errorf("token budget of %s: others wrote it each time: %w", bank, memory.ErrUnavailable)
}

// Spend adds the tokens of calls to language models to what the bank took today. Embedding and reranking are not
// counted. What cannot be written now is added the next time, so a process that ends loses at most what it could not
// write since the broker last answered.
func (b *Budget) Spend(ctx context.Context, bank memory.BankID, usage []memory.StageUsage) {
	if b == nil || !b.config.Metered {
		return
	}
	var tokens int64
	for _, u := range usage {
		if u.Stage != memory.StageEmbed && u.Stage != memory.StageRerank {
			tokens += int64(u.Tokens())
		}
	}
	b.mu.Lock()
	tokens += b.unwritten[bank]
	delete(b.unwritten, bank)
	b.mu.Unlock()
	if tokens <= 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), usageTimeout)
	defer cancel()
	err := b.change(ctx, bank, func(s *spending) bool { s.Tokens += tokens; return true })
	if err == nil {
		return
	}
	b.mu.Lock()
	b.unwritten[bank] += tokens
	b.mu.Unlock()
	b.deps.Log.Warn().Err(err).Str("stage", "extract").Str("bank", string(bank)).Msg("what was spent is written later")
}

// unwrittenOf returns what this process spent for a bank and could not write yet.
func (b *Budget) unwrittenOf(bank memory.BankID) int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.unwritten[bank]
}
