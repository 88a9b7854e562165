package recall

import (
	"strings"
	"time"
	"unicode/utf8"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/query/request"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

// Request is a recall request that was checked, with every default filled in. Engine.Parse makes it.
type Request struct {
	Query     string
	Filter    memory.Filter
	MaxItems  int
	MaxTokens int
	Now       time.Time // the time that ages and relative dates are measured from
	Started   time.Time // when the request came, by the clock
	Deadline  time.Time // when it must be answered, by the clock; zero = never
	Adequacy  int       // how many rounds may search for what is missing
	Sources   bool      // items name the messages they rest on

	vector     memory.Vector
	weights    map[string]float64 // of the strategies
	chosen     bool               // the caller named the strategies
	wall       time.Time          // Now on the clock of who asks, as if it were UTC; zero where Now came without an offset
	afterSeq   uint64             // message that must be applied
	afterWrite uint64             // write that must be applied
	wait       time.Duration      // how long it waits for the two
	minScore   float64
	explain    bool
	exact      bool     // every vector is compared
	judge      *float64 // the score that a judged item needs; nil = nothing is judged
}

// today is the time from which the days of the question are counted, as the clock of who asks shows it.
func (q Request) today() time.Time {
	if q.wall.IsZero() {
		return q.Now
	}
	return q.wall
}

// Next returns the same request with another query. It waits for nothing that the first one waited for.
func (q Request) Next(query string) Request {
	q.Query, q.vector, q.afterSeq, q.afterWrite = query, nil, 0, 0
	return q
}

// on reports whether a strategy has weight.
func (q Request) on(strategy string) bool { return q.weights[strategy] > 0 }

// only reports whether a strategy is the only one with weight.
func (q Request) only(strategy string) bool {
	for name, w := range q.weights {
		if w > 0 && name != strategy {
			return false
		}
	}
	return q.on(strategy)
}

// timeout returns how long a call may take that is bounded by most and by the request's deadline.
func (q Request) timeout(most time.Duration) time.Duration {
	if q.Deadline.IsZero() {
		return most
	}
	return min(most, time.Until(q.Deadline))
}

// Parse checks a request and fills in the defaults. What is wrong is memory.ErrInvalid with the field's name.
func (e *Engine) Parse(r wire.RecallRequest) (Request, error) {
	q := Request{Query: r.Query, Filter: r.Filter, Now: memory.At(e.Now()), Started: time.Now(), Adequacy: r.Adequacy,
		Sources: r.Sources == nil || *r.Sources, afterSeq: r.After, afterWrite: r.AfterWrite, minScore: r.MinScore, explain: r.Explain, exact: r.Exact}
	switch {
	case strings.TrimSpace(r.Query) == "":
		return q, memory.Invalid("query", "must not be empty")
	case len(r.Query) > memory.MaxQuery:
		return q, memory.Invalid("query", "is %d bytes long; at most %d are allowed", len(r.Query), memory.MaxQuery)
	case !utf8.ValidString(r.Query):
		return q, memory.Invalid("query", "is not valid UTF-8")
	}
	var err error
	if q.MaxItems, err = request.Limit("max_facts", r.MaxFacts, 10, memory.MaxLimit); err != nil {
		return q, err
	}
	if q.MaxTokens, err = request.Limit("max_tokens", r.MaxTokens, 2000, memory.MaxTokens); err != nil {
		return q, err
	}
	if r.Now != nil {
		if err := request.Time("now", *r.Now); err != nil {
			return q, err
		}
		q.Now = memory.At(*r.Now)
		if _, offset := r.Now.Zone(); offset != 0 {
			q.wall = memory.WallClock(*r.Now)
		}
	}
	if err := request.Share("min_score", &r.MinScore); err != nil {
		return q, err
	}
	if r.Adequacy < 0 || r.Adequacy > 2 {
		return q, memory.Invalid("adequacy", "is %d; expected 0 to 2 rounds", r.Adequacy)
	}
	if r.Judge != nil && !r.Judge.Off {
		threshold := wire.DefaultJudgeThreshold
		if r.Judge.Threshold != nil {
			threshold = *r.Judge.Threshold
		}
		if err := request.Share("judge.threshold", &threshold); err != nil {
			return q, err
		}
		q.judge = &threshold
	}
	if q.wait, err = e.cfg.Waits.Of("wait", r.Wait); err != nil {
		return q, err
	}
	if r.Deadline != nil {
		within, err := e.cfg.Waits.Of("deadline", r.Deadline)
		if err != nil {
			return q, err
		}
		if within == 0 {
			return q, memory.Invalid("deadline", "must be more than 0s")
		}
		q.Deadline, q.wait = q.Started.Add(within), min(q.wait, within)
	}
	if q.weights = e.cfg.Weights; r.Strategies != nil {
		if err := request.Weights("strategies", r.Strategies, memory.Strategies); err != nil {
			return q, err
		}
		q.weights, q.chosen = r.Strategies, true
	}
	if r.Vector != nil {
		if len(r.Vector) > memory.MaxDimension {
			return q, memory.Invalid("vector", "has %d elements; at most %d are allowed", len(r.Vector), memory.MaxDimension)
		}
		if err := r.Vector.Check("vector"); err != nil {
			return q, err
		}
		q.vector = r.Vector.Unit()
	}
	return q, request.Filter(r.Filter)
}
