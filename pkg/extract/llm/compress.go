package llm

import (
	"math"
	"slices"
	"strings"

	"github.com/eunoe-memory/eunoe/pkg/text"
)

// Compress shortens a text to at most ⌈rate × n⌉ of its n tokens by dropping words: fillers first, then words without
// content, then the rest from the end; numbers, names and negations go last. The kept words stay in order. The result is
// empty only for an empty text. A rate outside (0, 1) changes nothing.
func Compress(s string, rate float64) string {
	if !(rate > 0 && rate < 1) || strings.TrimSpace(s) == "" {
		return s
	}
	n := text.CountTokens(s)
	budget := int(math.Ceil(rate * float64(n)))
	if n <= budget {
		return s
	}
	all := strings.Fields(s)
	order := byImportance(all)
	// A word on its own takes at least as many tokens as among others, with rare exceptions, so the result is counted again.
	kept := make([]bool, len(all))
	used := 0
	for _, i := range order {
		if t := text.CountTokens(" " + all[i]); used+t <= budget {
			kept[i], used = true, used+t
		}
	}
	for {
		out := keptWords(all, kept)
		if out != "" && text.CountTokens(out) <= budget {
			return out
		}
		i := leastImportant(order, kept)
		if i < 0 {
			return beginning(all[order[0]], budget)
		}
		kept[i] = false
	}
}

// byImportance returns the indices of words by descending importance.
func byImportance(all []string) []int {
	order := make([]int, len(all))
	rank := make([]int, len(all))
	for i, w := range all {
		order[i], rank[i] = i, importance(w)
	}
	slices.SortStableFunc(order, func(a, b int) int { return rank[b] - rank[a] })
	return order
}

// importance ranks a word from 0, a filler, to 3, one that changes what is said.
func importance(word string) int {
	bare := strings.ToLower(strings.Trim(word, ".,;:!?\"'()[]…"))
	if fillers.Has(bare) {
		return 0
	}
	if negations.Has(bare) || strings.HasSuffix(bare, "n't") || strings.HasSuffix(bare, "n’t") {
		return 3
	}
	terms := text.Terms("x " + word) // not as the first word, whose capital says nothing
	rank := 0
	for _, t := range terms[min(1, len(terms)):] {
		switch {
		case t.Number || t.Name:
			return 3
		case t.Stop:
			rank = max(rank, 1)
		default:
			rank = max(rank, 2)
		}
	}
	return rank
}

var (
	fillers = text.NewWordSet(`um uh erm hmm well like just really very actually basically literally honestly so oh ah haha
		lol hey hi hello okay ok yeah yep wow please thanks`)
	negations = text.NewWordSet("not no never none nobody nothing neither nor without cannot")
)

// keptWords joins the words that are kept.
func keptWords(all []string, kept []bool) string {
	var out []string
	for i, w := range all {
		if kept[i] {
			out = append(out, w)
		}
	}
	return strings.Join(out, " ")
}

// leastImportant returns the index of the least important word that is kept, -1 for none.
func leastImportant(order []int, kept []bool) int {
	for j := len(order) - 1; j >= 0; j-- {
		if kept[order[j]] {
			return order[j]
		}
	}
	return -1
}

// beginning returns as much of a word as fits; an ellipsis where not one character does.
func beginning(word string, budget int) string {
	runes := []rune(word)
	low, high := 0, len(runes)
	for low < high { // tokens grow with length, with rare exceptions
		if middle := (low + high + 1) / 2; text.CountTokens(string(runes[:middle])) <= budget {
			low = middle
		} else {
			high = middle - 1
		}
	}
	if low == 0 {
		return "…"
	}
	return string(runes[:low])
}
