package rules

import "strings"

// marks is which lists of phrases a sentence holds, a bit a list.
type marks uint64

func (m marks) has(list marks) bool { return m&list != 0 }

// phrases finds the phrases of many lists in one walk over the words.
type phrases map[string][]entry // by first word

type entry struct {
	rest string // the words behind the first, with a space before each; "" for one word
	list marks
}

// add puts the phrases of a list in.
func (p phrases) add(list marks, all []string) {
	for _, s := range all {
		head, rest, more := strings.Cut(s, " ")
		if more {
			rest = " " + rest
		}
		p[head] = append(p[head], entry{rest, list})
	}
}

// in gives the lists that have a phrase in low (of phrase), words whole.
func (p phrases) in(low string) marks {
	var found marks
	for i := 0; i < len(low)-1; {
		n := strings.IndexByte(low[i+1:], ' ')
		if n < 0 {
			break
		}
		word, behind := low[i+1:i+1+n], low[i+1+n:]
		for _, e := range p[word] {
			if found&e.list != e.list && strings.HasPrefix(behind, e.rest) && behind[len(e.rest)] == ' ' {
				found |= e.list
			}
		}
		i += 1 + n
	}
	return found
}

// The lists of phrases by their bit; the cues of the types follow, then the
// cues of the states.
const (
	markChatter marks = 1 << iota
	markHedge
	markUnreal
	markTag
	markCues
	markStates = markCues << 16
)

// all holds every list.
var all = func() phrases {
	p := make(phrases)
	p.add(markChatter, chatter)
	p.add(markHedge, hedges)
	p.add(markUnreal, unreal)
	p.add(markTag, tags)
	for i, c := range cues {
		p.add(markCues<<i, c.phrases)
	}
	for i, f := range stateForms {
		p.add(markStates<<i, lines(f.cues))
	}
	return p
}()
