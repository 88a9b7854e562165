package rank

// Signal names one part of a score.
type Signal int

// The signals, each with what it is. What each is worth stands beside its weight in DefaultWeights.
const (
	// Words is the BM25F score of the question's terms over the message's text and caption and its neighbours'.
	Words Signal = iota
	// Before is the BM25 score of the message before alone; its weight is negative: Words counts it in full, and only
	// Answer gives it back where it was a question.
	Before
	// Speaker is Words again if the one participant the question names said the message.
	Speaker
	// Answer is the BM25 score of the message before if another speaker asked it: a reply rarely repeats the question.
	Answer
	// Session is the summed idf of the question's terms that occur anywhere among the session's candidates.
	Session
	// Nearby is the own-words score of the messages two to six places away, each divided by its distance.
	Nearby
	// Pair is the mean idf of each two neighbouring terms of the question that stand together in the text too.
	Pair
	// Told is 1 if the one participant the question names speaks of themselves (I, my, we).
	Told
	// Asks is the share of the message's words that stand in questions: who asks seeks an answer and seldom gives one.
	Asks
	// Length is ln(1 + words in the text): words found in a long message say less.
	Length
	// SaysWhen is 1 if the question asks when and the text holds a word of time.
	SaysWhen
	// InTime is 1 inside the time the question speaks of and falls off with the days outside it, half as fast after as before.
	InTime
	// Cover is the share, by idf, of the question's terms that the message or a neighbour has.
	Cover
	// CoverOwn is the share, by idf, that the message itself has.
	CoverOwn
	// Names is the number of capitalised words inside its sentences, up to three: a message with names has substance.
	Names
	// Things is the number of words outside its questions, up to two, for things of a class the question asks for ("cat" for
	// pets); all of a caption's count as 0.7 of one.
	Things
	// Deeds is how often, up to two times, "I" or "we" did something, unless the question names another than the speaker.
	Deeds
	numSignals
)

var signalNames = [numSignals]string{"words", "before", "speaker", "answer", "session", "nearby", "pair", "told", "asks", "length",
	"says when", "in time", "cover", "cover own", "names", "things", "deeds"}

// String returns the name of the signal as explanations show it.
func (s Signal) String() string {
	if s < 0 || s >= numSignals {
		return "unknown"
	}
	return signalNames[s]
}

// AllSignals gives every signal, in order.
func AllSignals() []Signal {
	out := make([]Signal, numSignals)
	for i := range out {
		out[i] = Signal(i)
	}
	return out
}

// Signals holds one number for each Signal.
type Signals [numSignals]float64

// Weights are the constants of the ranking.
type Weights struct {
	K1      float64 // saturation of a term's frequency, above 0
	B       float64 // 0: length does not matter, 1: own frequencies are divided by the message's relative length
	Caption float64 // a word in the caption, against 1 in the text
	Prev    float64 // a word in the message before
	Prev2   float64 // a word in the one before that
	Next    float64 // a word in the message after
	Kin     float64 // a word of a term's family ("mentor" for "mentorship"), against 1 for the term itself

	Signals Signals // what one unit of each signal adds
}

// DefaultWeights give recall@10 / hit@10 / MRR of 84.0 / 88.9 / .68 on five LoCoMo conversations (plain BM25: 61.8 / 66.4 / .46)
// and 67.6 / 80.4 / .57 on two REALTALK chats (55.1 / 67.1 / .43), the data they were fitted on: expect less on others. The
// field weights are by hand, the signals by a softmax over each question's candidates, so a score is near a log-odds. Behind
// each weight: points of recall@10 that change on LoCoMo and on REALTALK when it is 0, as `eunoe bench retrieval --ablate`
// prints them; REALTALK is small, and moves by a point for nothing. What changes no recall@10 lifts the MRR of one or both.
func DefaultWeights() Weights {
	w := Weights{K1: 0.8, B: 0, Caption: 0.7, Prev: 0.4, Prev2: 0.2, Next: 0.2, Kin: 0.5}
	w.Signals = Signals{
		Words:    0.28,   // -2.4, -2.3
		Before:   -0.155, // -0.2, -2.3
		Speaker:  0.02,   // 0.0, -0.3
		Answer:   0.287,  // -2.9, -1.0
		Session:  0.132,  // -0.6, +0.8
		Nearby:   0.093,  // -0.1, -1.4
		Pair:     0.016,  // +0.2, 0.0
		Told:     0.9,    // -0.7, -3.2
		Asks:     -1.2,   // -0.2, -0.5
		Length:   -0.42,  // -0.4, -1.3
		SaysWhen: 2.2,    // +0.2, 0.0
		InTime:   4.4,    // -0.4, -0.7
		Cover:    1.7,    // -1.1, -1.2
		CoverOwn: 0.93,   // -0.4, -0.3
		Names:    0.21,   // -0.2, -0.1
		Things:   0.6,    // -0.3, -3.0
		Deeds:    0.28,   // +0.1, -0.8
	}
	return w
}
