package rank

import "time"

// Candidate is one message that may answer the question.
type Candidate struct {
	ID      string    // unique in the bank
	Seq     uint64    // its place in the log: breaks ties, lower first
	Session string    // messages of one session are neighbours of each other only
	Pos     int       // its place in the session, from 0, counting every message
	Speaker string    // as ParseQuestion was given it
	Text    string    // what was said; may be empty
	Caption string    // what its image shows; empty without one
	Time    time.Time // when it was said; the zero time is never inside a range

	Prev, Prev2, Next *Neighbour // the message before, the one before that and the one after in the session; nil if none
}

// Neighbour is a message beside a candidate.
type Neighbour struct {
	Speaker, Text, Caption string
}

// Stats describes the bank the candidates come from.
type Stats struct {
	N  int                   // messages in the bank; 0 is read as the number of candidates
	DF func(term string) int // messages whose text or caption has the term (a Term's Stem); nil counts in the candidates
	// AvgLen is the mean number of words of a message, caption included; used only if Weights.B is above 0, and 0 is read as
	// the mean of the candidates.
	AvgLen float64
}

// Scored is a candidate with its score.
type Scored struct {
	Index int     // of the candidate in the input
	ID    string  // its ID
	Score float64 // sum of Parts; comparable within one question only
	Parts Signals // what each signal added, weight included
}
