package dataset

import (
	"math/rand/v2"
	"regexp"
	"slices"
)

// slippable is a word in which somebody may mistype: five Latin letters or more, in lower case.
var slippable = regexp.MustCompile(`\b[a-z]{5,}\b`)

// WithSlips returns the questions with a slip in one word each, drawn from the seed: two letters swapped, one left out, one
// too many or another one, never the first. A question without a word of five letters in lower case is as it was.
func WithSlips(questions []Question, seed uint64) []Question {
	random := rand.New(rand.NewPCG(seed, 0)) //nolint:gosec // the same seed makes the same slips
	out := slices.Clone(questions)
	for i, q := range out {
		words := slippable.FindAllStringIndex(q.Question, -1)
		if len(words) == 0 {
			continue
		}
		at := words[random.IntN(len(words))]
		out[i].Question = q.Question[:at[0]] + slip(random, q.Question[at[0]:at[1]]) + q.Question[at[1]:]
	}
	return out
}

// slip returns a word of lower-case letters with a slip.
func slip(random *rand.Rand, word string) string {
	i, letter := 1+random.IntN(len(word)-2), string(rune('a'+random.IntN(26)))
	switch random.IntN(4) {
	case 0:
		return word[:i] + word[i+1:i+2] + word[i:i+1] + word[i+2:]
	case 1:
		return word[:i] + word[i+1:]
	case 2:
		return word[:i] + letter + word[i:]
	}
	return word[:i] + letter + word[i+1:]
}
