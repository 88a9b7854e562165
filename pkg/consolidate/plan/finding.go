package plan

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/eunoe-memory/eunoe/pkg/consolidate/plan/statement"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/text"
)

// finding is a word that facts of one entity have in common.
type finding struct {
	typ    memory.ObservationType
	entity memory.EntityID
	stem   string
	facts  []memory.Fact
}

// causes are the words by which a statement names a cause or an effect.
var causes = statement.NewPhrases("because", "because of", "due to", "so that", "led to", "leads to", "caused", "causes", "makes her", "makes him",
	"makes them", "made her", "made him", "helps", "helped", "as a result", "thanks to", "therefore", "inspired", "motivated")

// tastes are the words by which a statement names a preference.
var tastes = statement.NewPhrases("like", "likes", "liked", "love", "loves", "loved", "enjoy", "enjoys", "enjoyed", "prefer", "prefers", "favourite",
	"favorite", "hate", "hates", "dislike", "dislikes", "fan", "fond", "passionate", "interested")

// commonStems are stems of such words and of other common ones, which make no subject of an observation.
var commonStems = map[string]bool{"like": true, "love": true, "enjoy": true, "prefer": true, "favourit": true, "favorit": true, "hate": true,
	"dislik": true, "fan": true, "fond": true, "passion": true, "interest": true, "caus": true, "led": true, "lead": true, "help": true,
	"result": true, "inspir": true, "motiv": true, "say": true, "said": true, "want": true, "think": true, "feel": true, "felt": true,
	"find": true, "found": true, "express": true, "see": true, "saw": true, "show": true, "share": true, "mention": true, "talk": true,
	"tell": true, "told": true, "ask": true, "aim": true, "acknowledg": true, "appreci": true, "use": true, "take": true, "took": true,
	"give": true, "gave": true, "keep": true, "kept": true, "need": true, "tri": true, "start": true, "includ": true, "look": true,
	"continu": true, "consid": true, "life": true, "peopl": true, "new": true, "good": true, "great": true,
	"believ": true, "plan": true, "recent": true, "time": true, "thing": true, "year": true, "day": true, "week": true, "month": true}

// shows reports whether a fact is evidence for observations of a type: events for a pattern, statements of cause for a
// causal one, of taste for a preference, and other lasting statements for a generalization.
func shows(typ memory.ObservationType, f memory.Fact, r statement.Reading) bool {
	taste := f.Type == memory.TypePreference || r.HasPhrase(tastes)
	episode := f.Type.System() == memory.Episodic || f.Kind == memory.KindExperience
	switch typ {
	case memory.ObservationPattern:
		return episode
	case memory.ObservationCausal:
		return r.HasPhrase(causes)
	case memory.ObservationPreference:
		return taste && !episode
	case memory.ObservationGeneralization:
		return !taste && !episode
	}
	return false
}

// about reports whether a fact is about an entity that it names. It is about a person only if it names them first.
func about(e memory.EntityID, r statement.Reading) bool {
	typ, name := e.Split()
	if typ != memory.EntityPerson || len(r.Names) == 0 {
		return true
	}
	return slices.Contains(strings.Fields(name), r.Names[0])
}

// topics returns the stems of what a fact speaks of. Words that the program adds (who said it, the date in brackets, the
// photo of a caption), names of months and days, and the function words of the fact's language are no topics.
func topics(f memory.Fact, r statement.Reading) map[string]bool {
	lang := text.LanguageOf(f.Text)
	photo := slices.Contains(f.Tags, "image")
	out := make(map[string]bool, len(r.Stems))
	for _, w := range r.Words {
		_, month := text.Month(w.Text)
		_, day := text.Weekday(w.Text)
		_, unit := text.TimeUnit(w.Text)
		switch {
		case !r.Stems[w.Stem], commonStems[w.Stem], month, day, unit, photo && w.Stem == "photo":
		case utf8.RuneCountInString(w.Text) < 2, lang != text.English && lang.Has(w.Text):
		default:
			out[w.Stem] = true
		}
	}
	return out
}

// minSources and minDays are the distinct sources an observation by rules takes, and the days on which they were said:
// what somebody says twice in one evening is no habit.
const (
	minSources = 3
	minDays    = 2
)

// needed is how many facts and sources an observation takes: a sceptical bank asks for more.
func needed(skepticism int) int { return minSources + max(0, skepticism-3) }

// saidDays counts the days on which facts were said.
func saidDays(facts []memory.Fact) int {
	days := map[string]bool{}
	for _, f := range facts {
		for _, s := range f.Sources {
			days[s.Said.Format(time.DateOnly)] = true
		}
		if len(f.Sources) == 0 {
			days[f.Said.Format(time.DateOnly)] = true
		}
	}
	return len(days)
}

// describe returns the observation of a finding: what was counted, when, and the latest statement word for word. ok is
// false where too few facts, sources or days are left.
func (ws *workspace) describe(f finding) (_ memory.Observation, ok bool) {
	facts := slices.Clone(f.facts)
	if least := needed(ws.bank.Disposition.Skepticism); len(facts) < least || sourceCount(facts) < least || saidDays(facts) < minDays {
		return memory.Observation{}, false
	}
	slices.SortFunc(facts, compareAge)
	first, last := facts[0], facts[len(facts)-1]
	_, name := f.entity.Split()
	name = writtenName(last.Text, name)
	word := ws.wordOf(f.stem, facts)
	lead := map[memory.ObservationType]string{
		memory.ObservationPattern:        "With %s, %s comes up again and again: %d times",
		memory.ObservationCausal:         "When it is about %s, %s is often the reason or the result: %d times",
		memory.ObservationGeneralization: "Much that is said of %s is about %s: %d statements",
		memory.ObservationPreference:     "What %s likes or dislikes often has to do with %s: %d statements",
	}[f.typ]
	span := " between " + first.Said.Format(spokenDate) + " and " + last.Said.Format(spokenDate)
	if first.Said.Format(spokenDate) == last.Said.Format(spokenDate) {
		span = ""
	}
	agree, messages := ws.agreement(facts), sourceCount(facts)
	o := memory.Observation{
		ID:   memory.NewObservationID(ws.write.Bank, f.typ, subjectOf(f)),
		Bank: ws.write.Bank, Type: f.typ, Subject: subjectOf(f),
		Text:      fmt.Sprintf(lead, name, word, len(facts)) + span + ", most recently: " + clip(last.Text, 300),
		Reasoning: fmt.Sprintf("%d facts from %d sources share the word %q; %.0f%% of them agree.", len(facts), messages, word, 100*agree),
		Facts:     factIDs(facts), Entities: []memory.EntityID{f.entity}, Said: last.Said,
	}
	o.Confidence = ws.confidence(facts, ws.latestOf(f.entity, last.Said))
	return o, true
}

// spokenDate is how an observation writes a day.
const spokenDate = "2 January 2006"

func subjectOf(f finding) string { return string(f.entity) + " " + f.stem }

// splitSubject returns the parts that subjectOf joined.
func splitSubject(subject string) (memory.EntityID, string) {
	i := strings.LastIndexByte(subject, ' ')
	if i < 0 {
		return "", ""
	}
	return memory.EntityID(subject[:i]), subject[i+1:]
}

// wordOf returns the stem's commonest form in the facts, ties by the alphabet.
func (ws *workspace) wordOf(stem string, facts []memory.Fact) string {
	count := map[string]int{}
	for _, f := range facts {
		for _, w := range ws.readFact(f).Words {
			if w.Stem == stem {
				count[w.Text]++
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

// latestOf returns when an entity was last spoken of, or said if that is later.
func (ws *workspace) latestOf(entity memory.EntityID, said time.Time) time.Time {
	if ws.err != nil {
		return said
	}
	found, err := ws.view.FactsOfEntity(entity, 1)
	if ws.fail(err) {
		return said
	}
	for _, s := range ws.adopt(found) {
		if s.now.Said.After(said) {
			said = s.now.Said
		}
	}
	return said
}

// confidence returns the confidence of what facts show together:
//
//	n/(n+k) · agreement^(s/3) · (0.7 + 0.3·2^(-age/half-life))
//
// with n distinct sources, s the bank's skepticism (1 to 5), k = s/2, and age from the last of the facts to upto.
func (ws *workspace) confidence(facts []memory.Fact, upto time.Time) float64 {
	s := float64(cmp.Or(ws.bank.Disposition.Skepticism, 3))
	n := float64(max(1, sourceCount(facts)))
	agree, recency := 1.0, 1.0
	if len(facts) > 0 {
		agree = ws.agreement(facts)
		age := max(0, upto.Sub(slices.MaxFunc(facts, compareAge).Said))
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

// agreement returns the share of the facts on the larger side of affirmed and denied.
func (ws *workspace) agreement(facts []memory.Fact) float64 {
	denied := 0
	for _, f := range facts {
		if ws.readFact(f).Negated {
			denied++
		}
	}
	return float64(max(denied, len(facts)-denied)) / float64(len(facts))
}

// sourceCount counts the distinct messages the facts rest on; a fact retained by hand counts once per operation.
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
