package query

import (
	"errors"
	"fmt"
	"time"

	"github.com/rs/zerolog"

	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/query/rank"
)

// Config holds the numbers of the query service.
type Config struct {
	// Requests is how many requests are worked on at once; more wait. At least 1.
	// Reflect takes at most half of them, and one at least.
	Requests int
	// MaxWait bounds wait and deadline of a request.
	MaxWait time.Duration
	// Wait is how long a request waits for freshness or a write's outcome when it does not say.
	Wait time.Duration
	// IdleAfter is after how long an idle session is flushed (status shows until when).
	IdleAfter time.Duration
	// ReflectTimeout bounds an answer of reflect by a language model; when it has
	// passed the context is given.
	ReflectTimeout time.Duration
	// JudgeTimeout bounds one call of the judge, or of an adequacy round.
	JudgeTimeout time.Duration
	// TokensPerDay is how many tokens language models may take for a bank on one
	// UTC day before answers, judgements and adequacy rounds are left to the
	// rules, unless the bank's quotas name another bound; 0 = no bound.
	TokensPerDay int64
	// Observer says that a language model answers observe and consolidate too:
	// within the request's wait its answer is waited for.
	Observer bool
	// Redact says whether secrets in what is retained by hand, and in what a
	// language model is shown, are replaced.
	Redact bool
	// RedactExtra are further patterns that count as secrets.
	RedactExtra []string
	// Recall holds the numbers of recall.
	Recall RecallConfig
	// Version is what the service says of itself: semantic versioning.
	Version string
	// Metadata is what the service tells whoever asks the broker for it; nil = nothing.
	Metadata map[string]string
}

// RecallConfig holds the numbers of recall.
type RecallConfig struct {
	// Messages, Facts and Nodes bound the candidates that are ranked, per record.
	Messages, Facts, Nodes int
	// CommonTerm is how many rows a term is looked up to, and how many the
	// rarest terms of a question bring before commoner ones bring no more.
	CommonTerm int
	// Things bounds the rows that are ranked because they name a thing of a class
	// the question asks for; 0 = they are not looked up.
	Things int
	// Ranking are the weights by which texts are ranked.
	Ranking rank.Weights
	// Weights are the strategies' weights where a request names none. Semantic
	// is multiplied with the embedder's RankWeight.
	Weights map[string]float64
	// Support is how much of what a fact scores above its message is added to it, 0 to 1.
	Support float64
	// Node scales composites and observations against facts and messages.
	Node float64
	// NodeShare is the share of places composites and observations may take, 0 to 1.
	NodeShare float64
	// Ended scales a message all of whose facts are superseded.
	Ended float64
	// Repeated scales a message that itself came out of memory.
	Repeated float64
	// DecayWeight is the share of a fact's score that decays, 0 to 1.
	DecayWeight float64
	// HalfLives are how long after its last use half of a fact's relevance is
	// left; a system that is not named never decays.
	HalfLives map[memory.System]time.Duration
	// DecayFloor is what decay leaves at least.
	DecayFloor float64
	// RecencyHalfLife is the age at which the recency of an item is one half.
	RecencyHalfLife time.Duration
	// RerankTimeout bounds the reranker; RerankDepth is how many items it sees.
	RerankTimeout time.Duration
	RerankDepth   int
	// RerankWeight is the reranker's share in the blended score, 0 to 1.
	RerankWeight float64
}

// DefaultConfig gives the numbers Eunoe runs with.
func DefaultConfig() Config {
	return Config{
		Requests: 64, MaxWait: 5 * time.Minute, Wait: 2 * time.Second, IdleAfter: 30 * time.Second, Redact: true, Version: "0.1.0",
		ReflectTimeout: time.Minute, JudgeTimeout: 15 * time.Second,
		Recall: RecallConfig{
			Messages: 100, Facts: 60, Nodes: 30, CommonTerm: 1000, Things: 150, Ranking: rank.DefaultWeights(),
			Weights: map[string]float64{
				memory.StrategyKeyword: 1, memory.StrategySemantic: 1, memory.StrategyEntity: .05,
				memory.StrategyTemporal: .02, memory.StrategyGraph: .05, memory.StrategyRecency: .005,
			},
			Support: .5, Node: .5, NodeShare: .3, Ended: .85, Repeated: .5,
			DecayWeight: .1, DecayFloor: .2, RecencyHalfLife: 30 * 24 * time.Hour,
			HalfLives:     map[memory.System]time.Duration{memory.Episodic: 30 * 24 * time.Hour, memory.Semantic: 180 * 24 * time.Hour},
			RerankTimeout: 2 * time.Second, RerankDepth: 50, RerankWeight: .6,
		},
	}
}

// Validate joins every wrong number.
func (c Config) Validate() error {
	var errs []error
	check := func(ok bool, format string, args ...any) {
		if !ok {
			errs = append(errs, fmt.Errorf(format, args...))
		}
	}
	check(c.Requests >= 1, "requests is %d; at least 1 is needed", c.Requests)
	check(c.Wait >= 0 && c.Wait <= c.MaxWait, "wait is %s; expected 0 to %s", c.Wait, c.MaxWait)
	check(c.IdleAfter >= 0, "idle after is %s; it must not be negative", c.IdleAfter)
	check(c.ReflectTimeout > 0 && c.JudgeTimeout > 0, "reflect timeout is %s and judge timeout %s; both must be positive", c.ReflectTimeout, c.JudgeTimeout)
	check(c.TokensPerDay >= 0, "tokens per day is %d; it must not be negative", c.TokensPerDay)
	check(c.Version != "", "version is empty")
	r := c.Recall
	check(r.Messages >= 1 && r.Facts >= 1 && r.Nodes >= 1 && r.CommonTerm >= 1, "recall: messages, facts, nodes and common term must be at least 1")
	check(r.Things >= 0, "recall: things is %d; it must not be negative", r.Things)
	for _, n := range []struct {
		name  string
		value float64
	}{{"support", r.Support}, {"node", r.Node}, {"node share", r.NodeShare}, {"ended", r.Ended}, {"repeated", r.Repeated},
		{"decay weight", r.DecayWeight}, {"decay floor", r.DecayFloor}, {"rerank weight", r.RerankWeight}} {
		check(n.value >= 0 && n.value <= 1, "recall: %s is %g; expected 0 to 1", n.name, n.value)
	}
	for _, name := range memory.Strategies {
		check(r.Weights[name] >= 0, "recall: the weight of %s is %g; it must not be negative", name, r.Weights[name])
	}
	check(r.Weights[memory.StrategyRecency] <= .05, "recall: the weight of recency is %g; at most 0.05", r.Weights[memory.StrategyRecency])
	check(r.RecencyHalfLife > 0, "recall: the half-life of recency must be positive")
	return errors.Join(errs...)
}

// Deps are the service's collaborators.
type Deps struct {
	Conn     *events.Conn
	Store    Store
	Embedder memory.Embedder // nil = no semantic recall, vectors of callers are not checked against a model
	Reranker memory.Reranker // nil = the fused order stands
	// Answerer writes the answers of reflect; nil = it gives the context.
	Answerer memory.LanguageModel
	// Judge judges what was found and says what is missing; nil = neither is done.
	Judge memory.LanguageModel
	Log   zerolog.Logger
	Now   func() time.Time // nil = time.Now
}
