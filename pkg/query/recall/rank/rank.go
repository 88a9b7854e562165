// Package rank orders chat messages, and other short texts, by how likely they hold the answer to a question. It asks no
// model.
//
// ParseQuestion reads the question once: its terms, what it asks for, the time and the participants it names. The store
// then looks the terms up (Term.Forms, Term.Prefix) and brings a few hundred candidates with the messages around each.
// Rank reads their words again, with their neighbours' words, and adds up the Signals of the Weights: each is a name, a
// weight and a function of one candidate, and all of them stand in signals.go. To add one, add an entry there.
//
// Everything here is a pure function: no I/O, no clock, no state. The same input gives the same order.
package rank

import (
	"cmp"
	"slices"
	"time"
)

// Candidate is one message that may answer the question.
type Candidate struct {
	ID      string    // unique in the bank
	Seq     uint64    // its place in the log: breaks ties, lower first
	Session string    // only messages of one session are neighbours
	Pos     int       // its place in the session, from 0, counting every message
	Speaker string    // spelled as ParseQuestion was given it
	Machine bool      // an agent or a tool said it, not a person
	Text    string    // what was said; may be empty
	Caption string    // what its image shows; empty without one
	Time    time.Time // when it was said; the zero time is never inside a range

	Prev, Prev2, Next *Neighbour // the message before, the one before that and the one after in the session; nil if none
}

// Neighbour is a message next to a candidate.
type Neighbour struct {
	Speaker, Text, Caption string
	Machine                bool      // an agent or a tool said it
	Time                   time.Time // when it was said; the zero time is as near as can be
}

// Stats describes the bank the candidates come from.
type Stats struct {
	N  int                   // messages in the bank; 0 is read as the number of candidates
	DF func(stem string) int // messages that have a term, by Term.Stem; nil counts in the candidates
}

// Scored is a candidate with its score.
type Scored struct {
	Index    int       // of the candidate in the input
	ID       string    // its ID
	Score    float64   // sum of Parts; comparable within one question only
	Full     float64   // about the score of a message that has each term of the question once and no other word
	Talk     float64   // the share of a talk among people that the candidates are, 0 to 1
	Parts    []float64 // what each signal added, in the order of Weights.Signals
	OwnCover float64   // share, by idf, of the question's terms that its own text and caption have, 0 to 1
	Passage  Passage   // the part of the text that answers best; zero where that is all of it
}

// Passage is a part of a text, as byte offsets. It begins and ends with words, and at sentences where it can.
type Passage struct{ Start, End int }

// Rank scores every candidate and returns them best first, ties by Seq and then ID. The input is not changed. The result
// has as many items as c, empty for none. It depends on the arguments alone, and on the order of c only where two
// candidates share both Seq and ID. A question without terms is ranked by the signals that need none. Each distinct text
// is read once, which takes about 15 ns a byte.
func Rank(q Question, c []Candidate, stats Stats, w Weights) []Scored {
	s := newScorer(q, c, stats, w)
	weights, full := s.weights(), s.full()
	all, order, parts := make([]Scored, len(c)), make([]int, len(c)), make([]float64, len(c)*len(w.Signals))
	for i := range c {
		order[i] = i
		v := s.view(i)
		all[i] = Scored{Index: i, ID: c[i].ID, Full: full, Talk: s.talk, OwnCover: v.ownCover, Passage: v.passage}
		all[i].Parts, parts = parts[:len(w.Signals):len(w.Signals)], parts[len(w.Signals):]
		for k, weight := range weights {
			all[i].Parts[k] = w.Signals[k].Value(v) * weight
			all[i].Score += all[i].Parts[k]
		}
	}
	slices.SortFunc(order, func(a, b int) int {
		if by := cmp.Compare(all[b].Score, all[a].Score); by != 0 {
			return by
		}
		return cmp.Or(cmp.Compare(c[a].Seq, c[b].Seq), cmp.Compare(c[a].ID, c[b].ID), cmp.Compare(a, b))
	})
	out := make([]Scored, len(c))
	for i, at := range order {
		out[i] = all[at]
	}
	return out
}
