package consolidate

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// finding is what facts of one entity have in common: a word.
type finding struct {
	typ    memory.ObservationType
	entity memory.EntityID
	stem   string
	facts  []memory.Fact
}

// causes are the words by which a statement names a cause or an effect.
var causes = []string{"because", "because of", "due to", "so that", "led to", "leads to", "caused", "causes", "makes her", "makes him",
	"makes them", "made her", "made him", "helps", "helped", "as a result", "thanks to", "therefore", "inspired", "motivated"}

// tastes are the words by which a statement names a preference.
var tastes = []string{"like", "likes", "liked", "love", "loves", "loved", "enjoy", "enjoys", "enjoyed", "prefer", "prefers", "favourite",
	"favorite", "hate", "hates", "dislike", "dislikes", "fan", "fond", "passionate", "interested"}

// cueStems are stems of such words: no subject of an observation.
var cueStems = map[string]bool{"like": true, "love": true, "enjoy": true, "prefer": true, "favourit": true, "favorit": true, "hate": true,
	"dislik": true, "fan": true, "fond": true, "passion": true, "interest": true, "caus": true, "led": true, "lead": true, "help": true,
	"result": true, "inspir": true, "motiv": true, "say": true, "said": true, "want": true, "think": true, "feel": true, "felt": true,
	"find": true, "found": true, "express": true, "see": true, "saw": true, "show": true, "share": true, "mention": true, "talk": true,
	"tell": true, "told": true, "ask": true, "aim": true, "acknowledg": true, "appreci": true, "use": true, "take": true, "took": true,
	"give": true, "gave": true, "keep": true, "kept": true, "need": true, "tri": true, "start": true, "includ": true, "look": true,
	"continu": true, "consid": true, "life": true, "peopl": true, "new": true, "good": true, "great": true,
	"believ": true, "plan": true, "recent": true, "time": true, "thing": true, "year": true, "day": true, "week": true, "month": true}

// shows reports whether a fact is evidence for observations of a type: events
// for a pattern, statements of cause for a causal one, of taste for a
// preference, and other lasting statements for a generalization.
func shows(typ memory.ObservationType, f memory.Fact, r reading) bool {
	taste := f.Type == memory.TypePreference || hasCue(r.plain, tastes)
	episode := f.Type.System() == memory.Episodic || f.Kind == memory.KindExperience
	switch typ {
	case memory.ObservationPattern:
		return episode
	case memory.ObservationCausal:
		return hasCue(r.plain, causes)
	case memory.ObservationPreference:
		return taste && !episode
	case memory.ObservationGeneralization:
		return !taste && !episode
	}
	return false
}

// about reports whether a fact speaks of a person rather than beside them: the
// person is the first it names. What is no person it speaks of by naming it.
func about(e memory.EntityID, r reading) bool {
	typ, name := e.Split()
	if typ != memory.EntityPerson || len(r.names) == 0 {
		return true
	}
	return slices.Contains(strings.Fields(name), r.names[0])
}

// needed is how many facts an observation takes: a sceptical bank asks for more.
func needed(typ memory.ObservationType, skepticism int) int {
	n := 3
	if typ == memory.ObservationPreference || typ == memory.ObservationCausal {
		n = 2
	}
	return n + max(0, skepticism-3)
}

// describe states what a finding shows: what was counted, when, and the latest
// statement word for word. It is false where too few facts are left, or for a
// pattern that was seen on one day alone.
func (ws *workspace) describe(f finding) (memory.Observation, bool) {
	facts := slices.Clone(f.facts)
	if len(facts) < needed(f.typ, ws.bank.Disposition.Skepticism) {
		return memory.Observation{}, false
	}
	slices.SortFunc(facts, rank)
	first, last := facts[0], facts[len(facts)-1]
	from, to := first.Said.Format(time.DateOnly), last.Said.Format(time.DateOnly)
	if f.typ == memory.ObservationPattern && from == to {
		return memory.Observation{}, false
	}
	_, name := f.entity.Split()
	name = written(last.Text, name)
	about := ws.wordOf(f.stem, facts)
	lead := map[memory.ObservationType]string{
		memory.ObservationPattern:        "%s: %q came up in %d events",
		memory.ObservationCausal:         "%s: %q stands in %d statements of cause and effect",
		memory.ObservationGeneralization: "%s: %q is common to %d statements",
		memory.ObservationPreference:     "%s: %q is common to %d statements of liking or disliking",
	}[f.typ]
	span := " between " + from + " and " + to
	if from == to {
		span = " of " + from
	}
	agree, messages := agreement(facts, ws), sourceCount(facts)
	o := memory.Observation{
		ID:   memory.NewObservationID(ws.write.Bank, f.typ, subjectOf(f)),
		Bank: ws.write.Bank, Type: f.typ, Subject: subjectOf(f),
		Text:      fmt.Sprintf(lead, name, about, len(facts)) + span + ", most recently: " + clip(last.Text, 300),
		Reasoning: fmt.Sprintf("%d facts from %d sources share the word %q; %.0f%% of them agree.", len(facts), messages, about, 100*agree),
		Facts:     factIDs(facts), Entities: []memory.EntityID{f.entity}, Said: last.Said,
	}
	o.Confidence = ws.confidence(facts, ws.latestOf(f.entity, last.Said))
	return o, true
}

func subjectOf(f finding) string { return string(f.entity) + " " + f.stem }

// splitSubject reads what subjectOf wrote.
func splitSubject(subject string) (memory.EntityID, string) {
	i := strings.LastIndexByte(subject, ' ')
	if i < 0 {
		return "", ""
	}
	return memory.EntityID(subject[:i]), subject[i+1:]
}

// wordOf is the stem's commonest form in the facts, ties by the alphabet.
func (ws *workspace) wordOf(stem string, facts []memory.Fact) string {
	count := map[string]int{}
	for _, f := range facts {
		for _, w := range ws.readFact(f).words {
			if w.stem == stem {
				count[w.text]++
			}
		}
	}
	best := stem
	for w, n := range count {
		if n > count[best] || n == count[best] && w < best {
			best = w
		}
	}
	return best
}

// latestOf is when an entity was last spoken of, at least said.
func (ws *workspace) latestOf(entity memory.EntityID, said time.Time) time.Time {
	if ws.err != nil {
		return said
	}
	found, err := ws.view.FactsOfEntity(entity, 1)
	if ws.fail(err) {
		return said
	}
	for _, f := range ws.adopt(found) {
		if f.Said.After(said) {
			said = f.Said
		}
	}
	return said
}

// confidence is that of what facts show together:
//
//	n/(n+k) · agreement^(s/3) · (0.7 + 0.3·2^(-age/half-life))
//
// with n distinct sources, s the bank's skepticism (1 to 5), k = s/2, and age
// from the last of the facts to the time up to which the bank has heard.
func (ws *workspace) confidence(facts []memory.Fact, upto time.Time) float64 {
	s := float64(cmp.Or(ws.bank.Disposition.Skepticism, 3))
	n := float64(max(1, sourceCount(facts)))
	agree, recency := 1.0, 1.0
	if len(facts) > 0 {
		agree = agreement(facts, ws)
		age := max(0, upto.Sub(slices.MaxFunc(facts, rank).Said))
		recency = math.Exp2(-age.Hours() / ws.cfg.HalfLife.Hours())
	}
	return round(clamp(n / (n + s/2) * math.Pow(agree, s/3) * (0.7 + 0.3*recency)))
}

// clip shortens a text to n bytes at most, at the end of a character.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + "…"
}

// round keeps four digits, so that a confidence is the same wherever it is computed.
func round(v float64) float64 { return math.Round(v*1e4) / 1e4 }

// agreement is the share of the facts that are on the larger side of affirmed and denied.
func agreement(facts []memory.Fact, ws *workspace) float64 {
	denied := 0
	for _, f := range facts {
		if ws.readFact(f).negated {
			denied++
		}
	}
	return float64(max(denied, len(facts)-denied)) / float64(len(facts))
}

// sourceCount counts the distinct messages the facts rest on; a fact retained
// by hand counts once per operation.
func sourceCount(facts []memory.Fact) int {
	seen := map[string]bool{}
	for _, f := range facts {
		for _, s := range f.Sources {
			seen["m"+string(s.Message)] = true
		}
		if len(f.Sources) == 0 {
			for _, op := range f.Ops {
				seen["o"+op+string(f.ID)] = true
			}
		}
	}
	return len(seen)
}
