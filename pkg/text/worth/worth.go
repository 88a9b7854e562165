// Package worth tells which sentences of a talk deserve a fact, and what they are: a state, a plan, small talk, advice.
//
// It is a classifier that was fitted to labelled sentences in 29 languages (generate/corpus). It knows words only by the
// sentences that have them, so a sentence that is judged wrongly is mended by adding some like it to the corpus.
package worth

import (
	_ "embed"
	"encoding/binary"
	"math"
	"slices"
	"sync"
)

// Class is what a sentence is.
type Class int

// The classes; those up to Outcome deserve a fact.
const (
	State        Class = iota // what is so, or is a habit: "My sister lives in Porto."
	Liking                    // what somebody likes, avoids or wishes for
	Event                     // what happened or was done
	Plan                      // what is to happen
	Constraint                // what somebody cannot have or do
	Decision                  // what was agreed or decided
	Instruction               // how an assistant is to behave from now on
	Outcome                   // what a work or a search resulted in
	Continuation              // says something only together with the sentence before
	SmallTalk                 // greetings, thanks, reactions, moods
	Question
	Joke
	Condition // what would be so, if
	Worked    // a task for once, or the text that it is about
	Advice    // advice, explanations and general truths
	Process   // talk about the work at hand: "Let me check."
	Rumour    // hearsay
	classes
)

// Worth reports whether a sentence of the class deserves a fact.
func (c Class) Worth() bool { return c <= Outcome }

// Sentence is a sentence of a message.
type Sentence struct {
	Text          string
	Assistant     bool // an assistant said it
	Index, Count  int  // its place in the message, and how many sentences that has
	Listed        bool // it stood in a list or a heading
	Dated         bool // it names a time
	Answers       bool // the message before, by somebody else, ends with a question
	AfterQuestion bool // the sentence before it in the message is a question
}

// Verdict is what a sentence is.
type Verdict struct {
	Worth float32 // the probability that it deserves a fact by itself
	Goes  float32 // the probability that it does so only together with what was said before it
	Class Class   // the likeliest of the classes that deserve a fact
	Sure  float32 // the probability of Class
	Best  Class   // the likeliest of all
}

// Judge tells what a sentence is.
func Judge(s Sentence) Verdict { return model().Judge(s) }

//go:generate go run ./generate

//go:embed weights.bin
var weights []byte

// model reads the weights, once.
var model = sync.OnceValue(func() *Model { return decode(weights) })

// Model has the weights of the classes, a row a bucket.
type Model struct {
	w    [][classes]float32
	bias [classes]float32
}

// Judge is Judge by this model.
func (m *Model) Judge(s Sentence) Verdict {
	p := m.scores(features(s))
	v := Verdict{Goes: p[Continuation]}
	for c := range p {
		if Class(c).Worth() {
			if v.Worth += p[c]; p[c] > p[v.Class] {
				v.Class = Class(c)
			}
		}
		if p[c] > p[v.Best] {
			v.Best = Class(c)
		}
	}
	v.Sure = p[v.Class]
	return v
}

// scores returns the probability of each class.
func (m *Model) scores(fs []feature) (out [classes]float32) {
	out = m.bias
	for _, f := range fs {
		w := &m.w[f.bucket]
		for c := range out {
			out[c] += w[c] * f.value
		}
	}
	most, sum := slices.Max(out[:]), float32(0)
	for c := range out {
		out[c] = float32(math.Exp(float64(out[c] - most)))
		sum += out[c]
	}
	for c := range out {
		out[c] /= sum
	}
	return out
}

// Encode returns the weights in one byte each, as decode reads them.
func (m *Model) Encode() []byte {
	most := float32(0)
	for _, row := range m.w {
		for _, w := range row {
			most = max(most, float32(math.Abs(float64(w))))
		}
	}
	step := min(most, mostWeight) / 127
	out := binary.LittleEndian.AppendUint32(nil, math.Float32bits(step))
	for _, b := range m.bias {
		out = binary.LittleEndian.AppendUint32(out, math.Float32bits(b))
	}
	for _, row := range m.w {
		for _, w := range row {
			out = append(out, byte(int8(max(-127, min(127, math.Round(float64(w/step)))))))
		}
	}
	return out
}

// mostWeight is the largest weight that is kept as it is.
const mostWeight = 4

func decode(b []byte) *Model {
	m := &Model{w: make([][classes]float32, buckets)}
	step := math.Float32frombits(binary.LittleEndian.Uint32(b))
	b = b[4:]
	for c := range m.bias {
		m.bias[c], b = math.Float32frombits(binary.LittleEndian.Uint32(b)), b[4:]
	}
	for i := range m.w {
		for c := range m.w[i] {
			m.w[i][c] = step * float32(int8(b[i*int(classes)+c]))
		}
	}
	return m
}
