package recall

import (
	"math"
	"slices"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// signs are the features of the confidence, each about 0 to 1.
type signs struct {
	top    float64 // the score of the first entry
	tenth  float64 // the score of the tenth entry, or of the last; 0 for a single one. Much is said of what was spoken of
	known  float64 // the share, by rarity, of the question's words that the bank knows at all
	rarity float64 // how rare the question's words are in the bank: 1 for words of one text each
	own    float64 // the share of the first three scores, to the fourth power, that is of the person asked about
}

// noPerson is the sign "own" of a question that names nobody, or several.
const noPerson = .8

// confidence returns the probability that the items contain an answer: the logistic function of a weighted sum of the
// signs. It was fitted on questions of LoCoMo, REALTALK, BEAM, RealMem and LifeBench with an answer in their
// conversation, and as many without: about topics nobody mentioned, about acts of the other person, and about matters
// left open. eunoe-bench confidence prints how well it separates them.
func (s signs) confidence() float64 {
	return 1 / (1 + math.Exp(8.15-2.3*s.top-2.3*s.tenth-3.3*s.known-1.9*s.rarity-3.7*s.own))
}

// confidence returns the probability that the entries, best first, contain an answer; 0 for no entries.
func (g *gatherer) confidence(entries []entry) float64 {
	if len(entries) == 0 {
		return 0
	}
	return g.signs(entries).confidence()
}

func (g *gatherer) signs(entries []entry) signs {
	s := signs{top: entries[0].score, own: g.ownShare(entries)}
	if len(entries) > 1 {
		s.tenth = entries[min(9, len(entries)-1)].score
	}
	s.known, s.rarity = g.knownWords()
	return s
}

// knownWords returns the signs known and rarity. With an embedding model, which finds texts with other words, an
// unknown word weighs less.
func (g *gatherer) knownWords() (known, rarity float64) {
	size, words, total, unknown := 1, 0, 0.0, 0.0
	for _, l := range g.lookups {
		size = max(size, l.size)
	}
	for _, t := range g.question.Terms {
		if p := g.question.person; p != nil && slices.Contains(p.words, t.Word) {
			continue
		}
		df := 0
		for _, l := range g.lookups {
			df = max(df, l.df[t.Stem])
		}
		words++
		total += idf(size, df)
		if df == 0 {
			unknown += idf(size, df)
		}
	}
	if words == 0 {
		return 1, 0
	}
	keyword, semantic := g.req.weights[memory.StrategyKeyword], g.req.weights[memory.StrategySemantic]
	if keyword+semantic > 0 {
		unknown *= keyword / (keyword + semantic)
	}
	return 1 - unknown/total, total / float64(words) / idf(size, 0)
}

// ownShare returns the sign own: the share of items said by the person asked about, or about them if that person never
// speaks or the speaker is unknown.
func (g *gatherer) ownShare(entries []entry) float64 {
	p := g.question.person
	if p == nil {
		return noPerson
	}
	own, all := 0.0, 0.0
	for _, e := range entries[:min(3, len(entries))] {
		var said, speaker string
		var about []memory.EntityID
		switch e.record {
		case memory.RecordFact:
			f := g.facts[e.no]
			said, speaker, about = f.Text, f.Speaker, f.Entities
		case memory.RecordMessage:
			m := g.messages[e.no]
			said, speaker = m.Text, m.Speaker
		}
		weight := math.Pow(e.score, 4)
		all += weight
		is := slices.Contains(p.entities, memory.NewEntityID(memory.EntityPerson, speaker))
		if len(g.question.Speakers) == 0 || speaker == "" {
			is = !ofAnother(said, speaker, about, p)
		}
		if is {
			own += weight
		}
	}
	if all == 0 {
		return 0
	}
	return own / all
}
