package query

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// ask is a recall request that was checked, with every default filled in.
type ask struct {
	query      string
	filter     memory.Filter
	records    map[memory.Record]bool
	maxFacts   int
	maxTokens  int
	now        time.Time
	vector     memory.Vector
	weights    map[string]float64
	chosen     bool // the caller named the strategies
	after      uint64
	afterWrite uint64
	wait       time.Duration
	deadline   time.Duration // 0 = none
	minScore   float64
	explain    bool
	sources    bool
	exact      bool     // every vector is compared
	judge      *float64 // what a judged item needs; nil = none judges
	adequacy   int      // rounds
}

// on reports whether a strategy has weight.
func (a ask) on(strategy string) bool { return a.weights[strategy] > 0 }

// only reports whether a strategy is the only one with weight.
func (a ask) only(strategy string) bool {
	for name, w := range a.weights {
		if w > 0 && name != strategy {
			return false
		}
	}
	return a.on(strategy)
}

// newAsk checks a request and fills in the defaults. now is the server's time.
func (c Config) newAsk(r memory.RecallRequest, now time.Time) (ask, error) {
	a := ask{query: r.Query, maxFacts: 10, maxTokens: 2000, now: memory.At(now), after: r.After, afterWrite: r.AfterWrite,
		wait: c.Wait, minScore: r.MinScore, explain: r.Explain, sources: true, exact: r.Exact}
	switch {
	case strings.TrimSpace(r.Query) == "":
		return a, memory.Invalid("query", "must not be empty")
	case len(r.Query) > memory.MaxQuery:
		return a, memory.Invalid("query", "is %d bytes long; at most %d are allowed", len(r.Query), memory.MaxQuery)
	case !utf8.ValidString(r.Query):
		return a, memory.Invalid("query", "is not valid UTF-8")
	}
	if err := setLimit("max_facts", r.MaxFacts, memory.MaxLimit, &a.maxFacts); err != nil {
		return a, err
	}
	if err := setLimit("max_tokens", r.MaxTokens, memory.MaxTokens, &a.maxTokens); err != nil {
		return a, err
	}
	if r.Now != nil {
		if err := checkTime("now", *r.Now); err != nil {
			return a, err
		}
		a.now = memory.At(*r.Now)
	}
	if r.Sources != nil {
		a.sources = *r.Sources
	}
	if math.IsNaN(r.MinScore) || r.MinScore < 0 || r.MinScore > 1 {
		return a, memory.Invalid("min_score", "is %g; expected 0 to 1", r.MinScore)
	}
	if err := setModels(r, &a); err != nil {
		return a, err
	}
	if err := c.setTimes(r, &a); err != nil {
		return a, err
	}
	if err := c.setWeights(r, &a); err != nil {
		return a, err
	}
	if r.Vector != nil {
		if len(r.Vector) > memory.MaxDimension {
			return a, memory.Invalid("vector", "has %d elements; at most %d are allowed", len(r.Vector), memory.MaxDimension)
		}
		if err := r.Vector.Check("vector"); err != nil {
			return a, err
		}
		a.vector = r.Vector.Unit()
	}
	var err error
	a.filter, err = checkFilter(r.Filter)
	a.records = recordSet(a.filter.Records)
	return a, err
}

func setLimit(field string, given *int, most int, into *int) error {
	if given == nil {
		return nil
	}
	if *given < 1 || *given > most {
		return memory.Invalid(field, "is %d; expected 1 to %d", *given, most)
	}
	*into = *given
	return nil
}

func (c Config) setTimes(r memory.RecallRequest, a *ask) error {
	for _, d := range []struct {
		field string
		given *memory.Duration
		into  *time.Duration
	}{{"wait", r.Wait, &a.wait}, {"deadline", r.Deadline, &a.deadline}} {
		if d.given == nil {
			continue
		}
		v := time.Duration(*d.given)
		if v < 0 || v > c.MaxWait {
			return memory.Invalid(d.field, "is %s; expected 0s to %s", v, c.MaxWait)
		}
		*d.into = v
	}
	if r.Deadline != nil && *r.Deadline == 0 {
		return memory.Invalid("deadline", "must be more than 0s")
	}
	return nil
}

func (c Config) setWeights(r memory.RecallRequest, a *ask) error {
	if r.Strategies == nil {
		a.weights = c.Recall.Weights
		return nil
	}
	a.weights, a.chosen = map[string]float64{}, true
	names := make([]string, 0, len(r.Strategies))
	for name := range r.Strategies {
		names = append(names, name)
	}
	slices.Sort(names)
	total := 0.0
	for _, name := range names {
		w := r.Strategies[name]
		if !slices.Contains(memory.Strategies, name) {
			return memory.Invalid("strategies."+name, "is not a strategy; expected one of %s", strings.Join(memory.Strategies, ", "))
		}
		if math.IsNaN(w) || w < 0 || w > 1000 {
			return memory.Invalid("strategies."+name, "is %g; expected a weight from 0 to 1000", w)
		}
		a.weights[name] = w
		total += w
	}
	if total == 0 {
		return memory.Invalid("strategies", "gives no strategy any weight")
	}
	return nil
}

func recordSet(list []memory.Record) map[memory.Record]bool {
	if len(list) == 0 {
		list = memory.Records
	}
	set := map[memory.Record]bool{}
	for _, r := range list {
		set[r] = true
	}
	return set
}

func checkTime(field string, t time.Time) error {
	if y := t.UTC().Year(); y < 1 || y > 9999 {
		return memory.Invalid(field, "year %d is outside 1 to 9999", y)
	}
	return nil
}

// waiting bounds a write's wait by the service's.
func (c Config) waiting(w *memory.Duration) (time.Duration, error) {
	if w == nil {
		return c.Wait, nil
	}
	v := time.Duration(*w)
	if v < 0 || v > c.MaxWait {
		return 0, memory.Invalid("wait", "is %s; expected 0s to %s", v, c.MaxWait)
	}
	return v, nil
}

// fieldOf names an element of a list field.
func fieldOf(list string, i int) string { return fmt.Sprintf("%s.%d", list, i) }
