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
	// Asks is 1 if the message holds a question mark: it seeks an answer and seldom is one.
	Asks
	// Length is ln(1 + words in the text): words found in a long message say less.
	Length
	// SaysWhen is 1 if the question asks when and the text holds a word of time.
	SaysWhen
	// InTime is 1 inside the time the question speaks of and falls off with the days outside it, half as fast after as before.
	InTime
	// SaysWhere is the number of names in the text, up to two, if the question asks where.
	SaysWhere
	// Cover is the share, by idf, of the question's terms that the message or a neighbour has.
	Cover
	// CoverOwn is the share, by idf, that the message itself has.
	CoverOwn
	// Names is the number of capitalised words inside its sentences, up to three: a message with names has substance.
	Names
	numSignals
)

var signalNames = [numSignals]string{"words", "before", "speaker", "answer", "session", "nearby", "pair", "told", "asks", "length",
	"says when", "in time", "says where", "cover", "cover own", "names"}

// String returns the name of the signal as explanations show it.
func (s Signal) String() string {
	if s < 0 || s >= numSignals {
		return "unknown"
	}
	return signalNames[s]
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

// DefaultWeights give recall@10 / hit@10 / MRR of 83.3 / 87.9 / .67 on five LoCoMo conversations (plain BM25: 63.3 / 67.8 / .48)
// and 63.3 / 76.9 / .55 on two REALTALK chats (57.7 / 69.9 / .44), the data they were fitted on; with a conversation left out of
// the fit 82.8 / 87.4 / .66 and 64.2 / 76.9 / .53. The field weights are by hand, the signals by a softmax over each
// question's candidates, so a score is near a log-odds. Behind each weight: points of recall@10 that change on LoCoMo and
// on REALTALK when it is 0; REALTALK is small, and moves by a point for nothing.
func DefaultWeights() Weights {
	w := Weights{K1: 0.8, B: 0, Caption: 0.7, Prev: 0.4, Prev2: 0.2, Next: 0.2, Kin: 0.5}
	w.Signals = Signals{
		Words:     0.155,  // -1.7, -0.8
		Before:    -0.18,  // -0.8, -0.4
		Speaker:   0.055,  // -0.8, -0.3
		Answer:    0.314,  // -4.9, -1.0
		Session:   0.138,  // -1.1, +1.3
		Nearby:    0.078,  // -0.4, +0.6
		Pair:      0.1,    // 0.0, 0.0
		Told:      0.624,  // -0.8, -1.5
		Asks:      -0.518, // -0.6, +0.6
		Length:    -0.34,  // -0.6, -0.3
		SaysWhen:  2.5,    // -0.2, -0.7
		InTime:    3,      // -0.8, -1.4
		SaysWhere: 0.56,   // 0.0, 0.0
		Cover:     2.46,   // -1.4, +0.5
		CoverOwn:  1.65,   // -0.9, -1.6
		Names:     0.25,   // -0.7, +0.4
	}
	return w
}
