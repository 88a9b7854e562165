package rank

import (
	"math"
	"slices"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/text/date"
)

// Signal is one part of a score. What one unit of it adds is mixed of two weights, as far as the candidates are a talk.
type Signal struct {
	Name  string              // as figures show it
	Talk  float64             // what it adds where people talk: short messages, soon one after the other
	Else  float64             // elsewhere: answers of an agent, long messages, notes and notices far apart
	Value func(*View) float64 // the signal of one candidate; it must not keep the View
}

// Weights are the constants of the ranking.
type Weights struct {
	K1       float64       // saturation of a term's frequency, above 0
	Long     float64       // words of a text from which on its words count less, in proportion; 0 = none do
	LongNear float64       // the same of the messages next to it
	Apart    time.Duration // the time between two messages at which the words of one count half for the other; 0 = time does not matter
	Caption  float64       // a word in the caption, against 1 in the text
	Prev     float64       // a word in the message before
	Prev2    float64       // a word in the one before that
	Next     float64       // a word in the message after
	Family   float64       // a word of a term's family ("mentor" for "mentorship"), against 1 for the term itself
	StandIn  float64       // a word that stands for a term ("married" for "wedding"), against 1 for the term itself

	Signals []Signal
}

// Scaled returns the weights with those of one signal multiplied by a factor: by 0 the signal counts no more.
func (w Weights) Scaled(name string, factor float64) Weights {
	w.Signals = slices.Clone(w.Signals)
	for i := range w.Signals {
		if w.Signals[i].Name == name {
			w.Signals[i].Talk *= factor
			w.Signals[i].Else *= factor
		}
	}
	return w
}

// DefaultWeights returns the weights Eunoe ranks by. Those of a talk were fitted on five LoCoMo conversations and two
// REALTALK chats, those elsewhere on ten chats with an agent of BEAM, three of RealMem, and a phone's chats, notices
// and notes of LifeBench in English and Chinese, each by a softmax over each question's candidates, so a score is near
// a log-odds. The field weights were set by hand. The benchmark (eunoe-bench fit) prints what each signal is worth on
// each set. On sets that were left out of the fit they find less: BENCHMARKS has both.
//
// A share of the question is divided by the summed idf of its terms, so that a long question weighs no more than a
// short one.
func DefaultWeights() Weights {
	return Weights{K1: 0.8, Long: 60, LongNear: 40, Apart: 10 * time.Minute, Caption: 0.7, Prev: 0.4, Prev2: 0.2, Next: 0.2, Family: 0.5, StandIn: 0.3, Signals: []Signal{
		// The BM25F score of the question's terms over the message's text and caption and its neighbours', and its share.
		{"words", 0.28, 0, func(v *View) float64 { return v.words }},
		{"words share", 0, 2.14, func(v *View) float64 { return v.share(v.words) }},
		// The share of the question that the message itself has, by BM25.
		{"own share", 0, 1.95, func(v *View) float64 { return v.share(v.score) }},
		// The BM25 score of the part of a long message that scores best, and its share.
		{"best part", 0, 0.0677, func(v *View) float64 { return v.best }},
		{"best part share", 0, 1.3, func(v *View) float64 { return v.share(v.best) }},
		// The BM25 score of the message before alone. The weight is negative: "words" counts it in full, and only "answer"
		// gives it back where it was a question.
		{"before", -0.155, 0, func(v *View) float64 { return v.before }},
		// "words" again if the one participant the question names said the message.
		{"speaker", 0.02, 0, func(v *View) float64 { return when(v.byNamed, v.words) }},
		// The BM25 score of the message before if another speaker asked it: a reply rarely repeats the question.
		{"answer", 0.287, 0, func(v *View) float64 { return when(v.replies, v.before) }},
		// The summed idf of the question's terms that occur anywhere among the session's candidates, and its share.
		{"session", 0.132, 0, func(v *View) float64 { return v.session }},
		{"session share", 0, 3.37, func(v *View) float64 { return v.share(v.session) }},
		// The own-words score of the messages two to six places away, each divided by its distance, and its share.
		{"nearby", 0.093, 0, func(v *View) float64 { return v.nearby }},
		{"nearby share", 0, 2.01, func(v *View) float64 { return v.share(v.nearby) }},
		// The BM25 score of the messages up to eight places away, whose words count less with the places and the time
		// between. It is no share: of a long question more terms are found around its answer.
		{"around", 0, 0.01, func(v *View) float64 { return v.around }},
		// The mean idf of each two neighbouring terms of the question that stand together in the text too.
		{"pair", 0.016, 0, (*View).pairs},
		// 1 if the one participant the question names speaks of themselves (I, my, we).
		{"told", 0.9, 0, func(v *View) float64 { return when(v.byNamed && v.own.text.cues&cueFirstPerson != 0, 1) }},
		// 1 if a person speaks of themselves.
		{"first person", 0, 0.488, func(v *View) float64 {
			return when(!v.Candidate.Machine && v.own.text.cues&cueFirstPerson != 0, 1)
		}},
		// The share of the message's words that stand in questions: who asks a person seeks an answer and seldom gives one.
		// Who asks an agent states facts on the way, so it counts in a talk alone.
		{"asks", -1.2, 0, func(v *View) float64 {
			return when(v.own.text.words > 0, float64(v.own.text.asked)/float64(max(v.own.text.words, 1)))
		}},
		// The share of an agent's words that stand in questions: "Do you have kids?" answers nobody.
		{"agent asks", -2.4, -2.4, func(v *View) float64 {
			return when(v.Candidate.Machine && v.own.text.words > 0, float64(v.own.text.asked)/float64(max(v.own.text.words, 1)))
		}},
		// 1 if an agent or a tool said it. The weight is small: what was recommended is found, behind what people said.
		{"agent", 0, -0.139, func(v *View) float64 { return when(v.Candidate.Machine, 1) }},
		// ln(1 + words in the text): words found in a long message say less.
		{"length", -0.42, -1.0046, func(v *View) float64 { return math.Log1p(float64(v.own.text.words)) }},
		// 1 for an image without text, which "length" does not charge.
		{"image alone", 0, -3.19, func(v *View) float64 { return when(v.own.text.words == 0, 1) }},
		// 1 if the question asks when and the text holds a word of time.
		{"says when", 2.2, 0, func(v *View) float64 { return when(v.Question.Kind == KindWhen && v.own.text.cues&cueTime != 0, 1) }},
		// 1 inside the time the question speaks of; falls off with the days outside it, half as fast after as before.
		{"in time", 4.4, 4.55, func(v *View) float64 { return closeness(v.Question.When, v.Candidate.Time) }},
		// The share, by idf, of the question's terms that the message or a neighbour has.
		{"cover", 1.7, 0.892, func(v *View) float64 { return v.cover }},
		// The share, by idf, that the message itself has.
		{"cover own", 0.93, 2.18, func(v *View) float64 { return v.ownCover }},
		// Capitalised words inside its sentences, up to three: a message with names has substance.
		{"names", 0.21, 0, func(v *View) float64 { return math.Min(float64(v.own.text.names), 3) }},
		// Words outside its questions, up to two, for things of a class the question asks for ("cat" for pets); all words of
		// a caption together count as 0.7 of one.
		{"things", 0.6, 0.31, func(v *View) float64 {
			return math.Min(float64(v.own.text.things)+when(v.own.caption.things > 0, captionThings), 2)
		}},
		// How often, up to two times, "I" or "we" did something, unless the question names another than the speaker.
		{"deeds", 0.28, 0, func(v *View) float64 { return when(v.byNamed || v.namesNoOne, math.Min(float64(v.own.text.deeds), 2)) }},
	}}
}

const (
	// The score of a message that has each term once and no other word: in a talk what it gets for having all terms and
	// for each unit of their idf; elsewhere about what a message of that kind can get at all.
	fullTalk, fullTalkIDF, fullElse = 2.6, .44, 5.0

	earlierShare = .5 // of the idf of a term that only lines before the last one have

	talkWords       = 60     // words from which on a message counts less as talk
	noTalk, allTalk = .1, .6 // of messages that count as talk, the share up to which it is none, and from which on all of it is
	captionThings   = 0.7    // the worth of an image of things, however many they are
	daysAfter       = 10.0   // days after a time in which the worth of a message falls to 1/e: people tell what happened
	daysBefore      = 5.0    // the same before it: less far ahead they tell what they plan
)

// when returns value if is holds, else 0.
func when(is bool, value float64) float64 {
	if is {
		return value
	}
	return 0
}

// closeness is 1 inside a range and falls off exponentially with the days outside it; 0 without a range or a time.
func closeness(r date.Range, t time.Time) float64 {
	if r.IsZero() || t.IsZero() {
		return 0
	}
	if after := t.Sub(r.To).Hours() / 24; after >= 0 {
		return math.Exp(-after / daysAfter)
	}
	if before := r.From.Sub(t).Hours() / 24; before > 0 {
		return math.Exp(-before / daysBefore)
	}
	return 1
}
