package query

import (
	"regexp"
	"slices"
	"strings"

	"github.com/eunoe-memory/eunoe/pkg/analysis"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// maxStates bounds the states of a subject that are looked at.
const maxStates = 200

// asksFor says how questions ask for an attribute that they do not call by its
// name: "Where does Alice live?" for her residence.
var asksFor = map[string]*regexp.Regexp{
	"residence":      regexp.MustCompile(`\b(?:where|city|town|country)\b.*\b(?:lives?|living|resides?|residing|home)\b`),
	"employer":       regexp.MustCompile(`\b(?:where|whom?|company|firm)\b.*\b(?:works?|working|employed|employs|employer)\b`),
	"job":            regexp.MustCompile(`\bwhat\b.*\b(?:job|occupation|profession|for a living|works? as)\b`),
	"vehicle":        regexp.MustCompile(`\b(?:what|which)\b.*\b(?:drives?|driving)\b`),
	"age":            regexp.MustCompile(`\bhow old\b`),
	"marital status": regexp.MustCompile(`\b(?:is|are)\b.*\b(?:married|single|divorced|widowed|engaged)\b`),
}

// numberOf begins the name of an attribute that counts things.
const numberOf = "number of "

// attributes gives those of the names of attributes that a question asks for:
// by a form of asksFor, or by every word of the name.
func attributes(query string, names []string) []string {
	asked := strings.ToLower(strings.ReplaceAll(query, "avorite", "avourite"))
	stems := analysis.ContentStems(asked)
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		if form := asksFor[name]; form != nil {
			return !form.MatchString(asked)
		}
		words := analysis.ContentStems(name)
		if things, counts := strings.CutPrefix(name, numberOf); counts {
			if !strings.Contains(asked, "how many") {
				return true
			}
			words = strings.Fields(things)
		}
		return len(words) == 0 || slices.ContainsFunc(words, func(w string) bool { return !slices.Contains(stems, w) })
	})
}

// states puts the facts first that give the one subject of a question the state
// it asks for: whatever their words are, they are its answer, and of several the
// one with the most words of the question. best is the score of the best
// message, own what facts score by words and meaning.
func (g *gatherer) states(best float64, own, into marks) error {
	if len(g.q.entities) != 1 || !g.a.on(memory.StrategyEntity) || !g.wantsFacts() {
		return nil
	}
	rows, err := g.s.States(g.q.entities[0], maxStates)
	if err != nil || len(rows) == 0 {
		return err
	}
	var names []string
	for _, r := range rows {
		names = append(names, r.Attribute)
	}
	slices.Sort(names)
	names = attributes(g.a.query, slices.Compact(names))
	var nos []int64
	for _, r := range rows {
		if slices.Contains(names, r.Attribute) {
			nos = append(nos, r.Fact)
			top := max(best, stateScore)
			into.set(r.Fact, top+(1-top)*max(.01, own[r.Fact])/10)
			g.pool.of(memory.RecordFact, memory.StrategyEntity).set(r.Fact, 1)
		}
	}
	return g.readFacts(nos)
}

// stateScore is the least score of a fact that gives the state a question asks
// for: a little more than that of a text with each of its words (calibrate).
const stateScore = .9
