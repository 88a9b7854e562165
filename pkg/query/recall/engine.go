package recall

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/rs/zerolog"
	"github.com/sony/gobreaker/v2"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/query/recall/rank"
	"github.com/eunoe-memory/eunoe/pkg/query/request"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

// Config holds the numbers of recall.
type Config struct {
	// Waits bounds wait and deadline of a request.
	Waits request.Waits
	// JudgeTimeout bounds one call of the judge, or of an adequacy round.
	JudgeTimeout time.Duration
	// TokensPerDay is how many tokens language models may take for a bank on one UTC day before answers, judgements
	// and adequacy rounds are left to the rules, unless the bank's quotas name another bound; 0 = no bound.
	TokensPerDay int64

	// Messages, Facts and Nodes bound the candidates that are ranked, per record. Nodes are composites and observations.
	Messages, Facts, Nodes int
	// CommonTerm bounds the rows that are looked up for one term. It also bounds what the rarest terms of a question
	// bring before commoner terms bring no more.
	CommonTerm int
	// Things bounds the rows that are ranked because they name a thing of a class the question asks for; 0 = none.
	Things int
	// Dated bounds the messages that are ranked because they have a word of the question and were said in the time it
	// names; 0 = none.
	Dated int
	// Ranking are the weights by which texts are ranked.
	Ranking rank.Weights
	// Weights are the strategies' weights where a request names none. Semantic is multiplied with the embedder's
	// RankWeight.
	Weights map[string]float64
	// Support is the share of what a fact scores above its message that is added to the message, 0 to 1. Of messages that are
	// no talk among people less is added: a fact of a long message shares words with many questions.
	Support float64
	// Alone is what is left of the score of a fact none of whose messages is ranked, among messages that are no talk among
	// people, 0 to 1: its few words are measured as those of a talk.
	Alone float64
	// Node scales composites and observations against facts and messages.
	Node float64
	// NodeShare is the share of places that composites and observations may take, 0 to 1.
	NodeShare float64
	// Ended scales a message all of whose facts have ended.
	Ended float64
	// Repeated scales a message that itself came out of memory.
	Repeated float64
	// DecayWeight is the share of a fact's score that decays, 0 to 1.
	DecayWeight float64
	// HalfLives are the times after its last use in which a fact loses half of its relevance; a system that is not
	// named never decays.
	HalfLives map[memory.System]time.Duration
	// DecayFloor is the least that decay leaves of the decaying share.
	DecayFloor float64
	// RecencyHalfLife is the age at which the recency of an item is one half.
	RecencyHalfLife time.Duration
	// EmbedTimeout bounds the embedder of the query; without its answer words decide.
	EmbedTimeout time.Duration
	// RerankTimeout bounds the reranker; RerankDepth is how many items it sees.
	RerankTimeout time.Duration
	RerankDepth   int
	// RerankWeight is the reranker's share in the blended score, 0 to 1.
	RerankWeight float64
}

// DefaultConfig returns the numbers Eunoe runs with.
func DefaultConfig() Config {
	return Config{
		Waits: request.Waits{Default: 2 * time.Second, Max: 5 * time.Minute}, JudgeTimeout: 15 * time.Second,
		Messages: 100, Facts: 60, Nodes: 30, CommonTerm: 1000, Things: 150, Dated: 20, Ranking: rank.DefaultWeights(),
		Weights: map[string]float64{
			memory.StrategyKeyword: 1, memory.StrategySemantic: 1, memory.StrategyEntity: .05,
			memory.StrategyTemporal: .02, memory.StrategyGraph: .05, memory.StrategyRecency: .005,
		},
		Support: .5, Alone: .4, Node: .5, NodeShare: .3, Ended: .85, Repeated: .5,
		DecayWeight: .1, DecayFloor: .2, RecencyHalfLife: 30 * 24 * time.Hour,
		HalfLives:    map[memory.System]time.Duration{memory.Episodic: 30 * 24 * time.Hour, memory.Semantic: 180 * 24 * time.Hour},
		EmbedTimeout: time.Second, RerankTimeout: 2 * time.Second, RerankDepth: 50, RerankWeight: .6,
	}
}

// Validate joins the errors of every wrong number.
func (c Config) Validate() error {
	var errs []error
	check := func(ok bool, format string, args ...any) {
		if !ok {
			errs = append(errs, fmt.Errorf(format, args...))
		}
	}
	check(c.Waits.Default >= 0 && c.Waits.Default <= c.Waits.Max, "wait is %s; expected 0 to %s", c.Waits.Default, c.Waits.Max)
	check(c.EmbedTimeout > 0, "embed timeout is %s; it must be positive", c.EmbedTimeout)
	check(c.JudgeTimeout > 0, "judge timeout is %s; it must be positive", c.JudgeTimeout)
	check(c.TokensPerDay >= 0, "tokens per day is %d; it must not be negative", c.TokensPerDay)
	check(c.Messages >= 1 && c.Facts >= 1 && c.Nodes >= 1 && c.CommonTerm >= 1, "recall: messages, facts, nodes and common term must be at least 1")
	check(c.Things >= 0, "recall: things is %d; it must not be negative", c.Things)
	check(c.Dated >= 0, "recall: dated is %d; it must not be negative", c.Dated)
	for _, n := range []struct {
		name  string
		value float64
	}{{"support", c.Support}, {"alone", c.Alone}, {"node", c.Node}, {"node share", c.NodeShare}, {"ended", c.Ended}, {"repeated", c.Repeated},
		{"decay weight", c.DecayWeight}, {"decay floor", c.DecayFloor}, {"rerank weight", c.RerankWeight}} {
		check(n.value >= 0 && n.value <= 1, "recall: %s is %g; expected 0 to 1", n.name, n.value)
	}
	for _, name := range memory.Strategies {
		check(c.Weights[name] >= 0, "recall: the weight of %s is %g; it must not be negative", name, c.Weights[name])
	}
	recency := c.Weights[memory.StrategyRecency]
	check(recency <= .05, "recall: the weight of recency is %g; at most 0.05", recency)
	check(c.RecencyHalfLife > 0, "recall: the half-life of recency must be positive")
	return errors.Join(errs...)
}

// Deps are the collaborators of an Engine.
type Deps struct {
	Store    Store
	SameLog  func() error         // why the log is not the one that the store was made from; nil = it is
	Embedder memory.Embedder      // nil = no semantic recall, and a caller's vector is checked against the bank's alone
	Reranker memory.Reranker      // nil = the fused order stands
	Judge    memory.LanguageModel // judges what was found and says what is missing; nil = neither is done
	Redact   func(string) string  // takes secrets out of what models are shown; nil = nothing is taken out
	Now      func() time.Time     // nil = time.Now
	Log      zerolog.Logger
}

// Engine answers recalls. It is safe for concurrent use.
type Engine struct {
	cfg Config
	Deps
	breaker *gobreaker.CircuitBreaker[memory.Vector] // of the embedder
}

// New returns an engine over a store, which is required.
func New(cfg Config, deps Deps) (*Engine, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	if deps.Store == nil {
		return nil, errors.New("recall: no store is given")
	}
	if deps.Redact == nil {
		deps.Redact = func(text string) string { return text }
	}
	if deps.Now == nil {
		deps.Now = time.Now
	}
	return &Engine{cfg: cfg, Deps: deps, breaker: newEmbedBreaker()}, nil
}

// Recall finds what the bank holds about a query. A bank that was never made is memory.ErrNotFound, unless the request
// waits for something that was not applied in time: then the reply is empty and not fresh.
func (e *Engine) Recall(ctx context.Context, bank memory.BankID, r wire.RecallRequest) (wire.RecallReply, error) {
	q, err := e.Parse(r)
	if err != nil {
		return wire.RecallReply{}, err
	}
	found, err := e.Find(ctx, bank, q)
	if err != nil {
		return wire.RecallReply{}, err
	}
	found.Reply.Took = memory.Duration(time.Since(q.Started))
	return found.Reply, nil
}
