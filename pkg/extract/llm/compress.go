package llm

import (
	"math"
	"slices"
	"strings"

	"github.com/eunoe-memory/eunoe/pkg/analysis"
)

// Compress shortens a text to at most ⌈rate × n⌉ of its n tokens by leaving
// words out: fillers first, then words without content, then the rest from the
// end; numbers, names and negations go last. The words left stand in their order. The
// result is never empty unless the text is; a text that already fits, or a rate
// outside (0, 1), leaves it as it is.
func Compress(text string, rate float64) string {
	if !(rate > 0 && rate < 1) || strings.TrimSpace(text) == "" {
		return text
	}
	n := analysis.CountTokens(text)
	budget := int(math.Ceil(rate * float64(n)))
	if n <= budget {
		return text
	}
	all := strings.Fields(text)
	order := byWorth(all)
	// Each word is counted alone, which is at least what it takes beside the others
	// but for a token here and there: what is left is counted as a whole.
	kept := make([]bool, len(all))
	held := 0
	for _, i := range order {
		if t := analysis.CountTokens(" " + all[i]); held+t <= budget {
			kept[i], held = true, held+t
		}
	}
	for {
		out := left(all, kept)
		if out != "" && analysis.CountTokens(out) <= budget {
			return out
		}
		i := lastKept(order, kept)
		if i < 0 {
			return beginning(all[order[0]], budget)
		}
		kept[i] = false
	}
}

// byWorth orders the places of words by how much they say, most first.
func byWorth(all []string) []int {
	order := make([]int, len(all))
	worth := make([]int, len(all))
	for i, w := range all {
		order[i], worth[i] = i, worthOf(w)
	}
	slices.SortStableFunc(order, func(a, b int) int { return worth[b] - worth[a] })
	return order
}

// worthOf ranks a word from 0, a filler, to 3, one that changes what is said.
func worthOf(word string) int {
	bare := strings.ToLower(strings.Trim(word, ".,;:!?\"'()[]…"))
	if _, ok := fillers[bare]; ok {
		return 0
	}
	if _, ok := negations[bare]; ok || strings.HasSuffix(bare, "n't") || strings.HasSuffix(bare, "n’t") {
		return 3
	}
	terms := analysis.Terms("x " + word) // not at the beginning, where all are capitals
	worth := 0
	for _, t := range terms[min(1, len(terms)):] {
		switch {
		case t.Number || t.Name:
			return 3
		case t.Stop:
			worth = max(worth, 1)
		default:
			worth = max(worth, 2)
		}
	}
	return worth
}

var (
	fillers   = setOf("um uh erm hmm well like just really very actually basically literally honestly so oh ah haha lol hey hi hello okay ok yeah yep wow please thanks")
	negations = setOf("not no never none nobody nothing neither nor without cannot")
)

func setOf(list string) map[string]struct{} {
	out := map[string]struct{}{}
	for _, w := range strings.Fields(list) {
		out[w] = struct{}{}
	}
	return out
}

func left(all []string, kept []bool) string {
	var out []string
	for i, w := range all {
		if kept[i] {
			out = append(out, w)
		}
	}
	return strings.Join(out, " ")
}

// lastKept gives the kept word of least worth; -1 for none.
func lastKept(order []int, kept []bool) int {
	for j := len(order) - 1; j >= 0; j-- {
		if kept[order[j]] {
			return order[j]
		}
	}
	return -1
}

// beginning is as much of a word as fits; where not one character does, an ellipsis.
func beginning(word string, budget int) string {
	runes := []rune(word)
	low, high := 0, len(runes)
	for low < high { // size grows with length, but for a token here and there
		if middle := (low + high + 1) / 2; analysis.CountTokens(string(runes[:middle])) <= budget {
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
