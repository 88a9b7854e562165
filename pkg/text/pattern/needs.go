package pattern

import (
	"regexp/syntax"
	"slices"
)

const (
	maxExact = 128 // strings that one part of an expression may stand for, else it counts as any text
	maxClass = 4   // runes of a class that counts as so many strings
	minWord  = 2   // bytes of the shortest string that is worth looking for
)

// matches is what is known of the texts that a part of an expression matches, all of them folded.
type matches struct {
	exact []string   // all of them; nil = there are others, or too many
	needs [][]string // of each, every match contains one
}

// neededBy returns of what every match of an expression contains one, the rarest first, as far as that is to be seen.
func neededBy(expr string) []*Words {
	parsed, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		return nil
	}
	var out []*Words
	for _, words := range matchesOf(parsed.Simplify()).all() {
		if shortest(words) >= minWord {
			out = append(out, NewWords(words...))
		}
	}
	slices.SortStableFunc(out, func(a, b *Words) int { return rarer(a.words, b.words) })
	return out
}

// rarer orders sets of words by how seldom a text contains one: long words are rarer, and so are few.
func rarer(a, b []string) int {
	if d := min(shortest(b), 6) - min(shortest(a), 6); d != 0 {
		return d
	}
	return len(a) - len(b)
}

func shortest(words []string) int {
	n := len(words[0])
	for _, w := range words {
		n = min(n, len(w))
	}
	return n
}

// all returns what a match needs, where it can only be one of a few texts also that.
func (m matches) all() [][]string {
	if len(m.exact) == 0 || slices.Contains(m.exact, "") {
		return m.needs
	}
	return append(slices.Clip(m.needs), m.exact)
}

func matchesOf(re *syntax.Regexp) matches {
	switch re.Op {
	case syntax.OpLiteral:
		return matches{exact: []string{folded(string(re.Rune))}}
	case syntax.OpCharClass:
		return matches{exact: runesOf(re.Rune)}
	case syntax.OpEmptyMatch, syntax.OpBeginLine, syntax.OpEndLine, syntax.OpBeginText, syntax.OpEndText, syntax.OpWordBoundary, syntax.OpNoWordBoundary:
		return matches{exact: []string{""}}
	case syntax.OpCapture:
		return matchesOf(re.Sub[0])
	case syntax.OpPlus:
		return matches{needs: matchesOf(re.Sub[0]).all()}
	case syntax.OpQuest:
		if m := matchesOf(re.Sub[0]); m.exact != nil {
			return matches{exact: bounded(append([]string{""}, m.exact...))}
		}
	case syntax.OpConcat:
		return concat(re.Sub)
	case syntax.OpAlternate:
		return alternate(re.Sub)
	}
	return matches{} // any text
}

// runesOf returns the runes of a class, given as pairs of bounds, each as a string; nil if they are many.
func runesOf(bounds []rune) (out []string) {
	for i := 0; i+1 < len(bounds); i += 2 {
		for r := bounds[i]; r <= bounds[i+1]; r++ {
			if len(out) == maxClass {
				return nil
			}
			out = append(out, folded(string(r)))
		}
	}
	return bounded(out)
}

// concat joins the texts of neighbours that stand for few of them. Where they become too many, what was joined so far is
// needed as it is.
func concat(parts []*syntax.Regexp) matches {
	var out matches
	run, whole := []string{""}, true
	end := func() {
		if !slices.Contains(run, "") {
			out.needs = append(out.needs, run)
		}
		run, whole = []string{""}, false
	}
	for _, p := range parts {
		m := matchesOf(p)
		out.needs = append(out.needs, m.needs...)
		if m.exact == nil {
			end()
			continue
		}
		joined := crossed(run, m.exact)
		if joined == nil {
			end()
			joined = m.exact
		}
		run = joined
	}
	if whole {
		out.exact = run
		return out
	}
	end()
	return out
}

// crossed returns each string of a with each of b behind it, nil if they are too many.
func crossed(a, b []string) (out []string) {
	if len(a)*len(b) > maxExact {
		return nil
	}
	for _, x := range a {
		for _, y := range b {
			out = append(out, x+y)
		}
	}
	return bounded(out)
}

// alternate needs one of what its branches need, the rarest of each.
func alternate(branches []*syntax.Regexp) matches {
	var out matches
	var exact, need []string
	isExact, isNeeded := true, true
	for _, b := range branches {
		m := matchesOf(b)
		isExact = isExact && m.exact != nil
		exact = append(exact, m.exact...)
		all := m.all()
		if len(all) == 0 {
			isNeeded = false
			continue
		}
		need = append(need, slices.MinFunc(all, rarer)...)
	}
	if isExact {
		out.exact = bounded(exact)
	}
	if need = bounded(need); out.exact == nil && isNeeded && need != nil {
		out.needs = [][]string{need}
	}
	return out
}

// bounded returns the distinct strings, nil if they are too many.
func bounded(words []string) []string {
	slices.Sort(words)
	if words = slices.Compact(words); len(words) > maxExact {
		return nil
	}
	return words
}
