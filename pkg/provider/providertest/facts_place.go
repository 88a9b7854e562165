package providertest

import (
	"slices"
	"strings"
)

// place finds which turn each message is; 0 for none. All are of one session,
// the one that holds most of them; of several that hold equally many the first in
// which a fact is still to be given.
func (f *Facts) place(items []item) []int {
	best := make([]int, len(items))
	most, open := 0, false
	for _, session := range f.sessions {
		for found, n := range alignments(items, session) {
			if n == 0 || n < most {
				continue
			}
			if left := f.open(found); n > most || left && !open {
				best, most, open = slices.Clone(found), n, left
			}
		}
	}
	return best
}

// alignments gives the ways in which messages may stand in a session, with how
// many of them are found: in a row, from each turn on, and last in their order
// with turns between them.
func alignments(items []item, session []turn) func(func([]int, int) bool) {
	return func(yield func([]int, int) bool) {
		texts := make([]string, len(items))
		for i, it := range items {
			texts[i] = folded(it.text)
		}
		found := make([]int, len(items))
		for from := 1 - len(items); from < len(session); from++ {
			n := 0
			for i, text := range texts {
				found[i] = 0
				if k := from + i; k >= 0 && k < len(session) && same(text, session[k].text) {
					found[i] = session[k].number
					n++
				}
			}
			if n > 0 && !yield(found, n) {
				return
			}
		}
		n, from := 0, 0
		for i, text := range texts {
			found[i] = 0
			for k := from; k < len(session); k++ {
				if same(text, session[k].text) {
					found[i], from = session[k].number, k+1
					n++
					break
				}
			}
		}
		yield(found, n)
	}
}

// open reports whether one of the turns ends a fact that was not given yet.
func (f *Facts) open(turns []int) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i, p := range f.facts {
		if _, given := f.given[i]; !given && slices.Contains(turns, p.last()) {
			return true
		}
	}
	return false
}

// same reports whether a shown text is a turn's, with or without a caption behind it.
func same(shown, turn string) bool {
	rest, ok := strings.CutPrefix(shown, turn)
	return ok && (rest == "" || strings.HasPrefix(rest, " [image:"))
}
