package llm

import (
	"fmt"
	"testing"

	"github.com/eunoe-memory/eunoe/pkg/consolidate"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// What tests of the pure parts see of them.

// Case is a new fact with older ones.
type Case struct {
	Fact  memory.Fact
	Older []memory.Fact
}

// Batch is a question about facts.
type Batch struct {
	prompt memory.Prompt
	pairs  pairs
	err    error
}

// NewBatch asks about cases.
func NewBatch(r consolidate.Redactor, bytes int, cases []Case) Batch {
	var list []decideCase
	for _, c := range cases {
		list = append(list, decideCase{id: c.Fact.ID, fact: c.Fact, older: c.Older})
	}
	p, ps, err := decidePrompt(shown{r, bytes}, list)
	return Batch{p, ps, err}
}

// Prompt is what is asked.
func (b Batch) Prompt() (memory.Prompt, error) { return b.prompt, b.err }

// Answer is what stands of an answer.
type Answer struct{ decideAnswer }

// Parse reads an answer.
func (b Batch) Parse(text string, cut bool) (Answer, error) {
	a, err := parseDecisions(text, cut, b.pairs)
	return Answer{a}, err
}

// Items returns the pairs and actions that stand.
func (a Answer) Items() []string {
	var out []string
	for _, i := range a.items {
		out = append(out, fmt.Sprintf("%d>%d %s", i.newer, i.older, i.action))
	}
	return out
}

// Refused counts the items that do not.
func (a Answer) Refused() int { return a.refused }

// Answers reports whether something is said about a fact.
func (a Answer) Answers(i int) bool { return a.answers(i) }

// Check holds an answer to what is promised of every answer.
func (b Batch) Check(t *testing.T, a Answer) {
	t.Helper()
	seen := map[pair]bool{}
	for _, i := range a.items {
		if i.newer < 0 || i.newer >= len(b.pairs.batch) || i.older < 0 || i.older >= len(b.pairs.batch[i.newer].older) || seen[i.pair] || !i.action.Valid() {
			t.Errorf("%+v", i)
		}
		if (i.action == memory.ActionUpdate) != (memory.NormalText(i.text) != "") {
			t.Errorf("an update with %q", i.text)
		}
		if r := i.relation; r != nil && (r.From == r.To || r.Strength < 0 || r.Strength > 1 || len(r.Facts) != 2) {
			t.Errorf("%+v", r)
		}
		seen[i.pair] = true
	}
}

// SummarisePrompt asks for summaries of groups.
func SummarisePrompt(groups [][]string) (memory.Prompt, error) {
	var list []summariseCase
	for _, g := range groups {
		list = append(list, summariseCase{texts: g})
	}
	return summarisePrompt(shown{}, list)
}

// ParseSummaries reads an answer.
var ParseSummaries = parseSummaries

// Subject is a subject with its facts.
type Subject struct {
	Entity memory.Entity
	Facts  []memory.Fact
	Known  []memory.Observation
}

// Sightings say what numbers stand for.
type Sightings = shownSubjects

// ObservePrompt asks about subjects.
func ObservePrompt(r consolidate.Redactor, bytes int, list []Subject) (memory.Prompt, Sightings, error) {
	var subjects []subject
	for _, s := range list {
		subjects = append(subjects, subject{entity: s.Entity, facts: s.Facts, known: s.Known})
	}
	return observePrompt(shown{r, bytes}, subjects)
}

// ParseObservations reads an answer.
var ParseObservations = parseObservations
