package secret

import (
	"encoding/binary"
	"regexp"
	"regexp/syntax"
	"slices"
	"sync"
	"unicode"
	"unicode/utf8"
)

// A part in which a rule's words crowd is searched by an automaton whose states are made as they are met: the package
// regexp follows every word of the crowd anew for tens of bytes, which takes a microsecond a byte. The automaton says
// where a match may end, and regexp reads the surroundings.

// maxStates bounds the states of an automaton. A text that meets more of them is left to regexp from there on.
const maxStates = 4000

// automaton is a regular expression's program with the states that one text has met.
type automaton struct {
	prog   *syntax.Prog
	states map[string]*state
	seen   []uint32 // by instruction: the run of follow that was there
	run    uint32
	stack  []uint32
}

// state is the set of instructions that wait for the next rune, and what the last rune was.
type state struct {
	at    []uint32
	last  rune // -1 at the beginning, else one that stands for its kind
	next  [utf8.RuneSelf + 1]*state
	other map[rune]*state
	match bool // a match ends before the rune that led here
}

// program returns the program of a regular expression as regexp has it, made when it is first needed.
func program(re *regexp.Regexp) func() *syntax.Prog {
	return sync.OnceValue(func() *syntax.Prog {
		parsed, err := syntax.Parse(re.String(), syntax.Perl)
		if err != nil {
			return nil
		}
		prog, err := syntax.Compile(parsed.Simplify())
		if err != nil {
			return nil
		}
		return prog
	})
}

// matches returns parts of p that hold every match of a program that is no longer than reach, spaces not counted.
func matches(prog *syntax.Prog, text string, p part, reach int) []part {
	if prog == nil {
		return []part{p}
	}
	a := &automaton{prog: prog, states: map[string]*state{}, seen: make([]uint32, len(prog.Inst))}
	var out []part
	first, last := -1, -1 // where matches end that have no part yet
	flush := func(to int) {
		if first < 0 {
			return
		}
		from := max(p.from, backwards(text, first, reach))
		if n := len(out); n > 0 && out[n-1].to >= from {
			out[n-1].to = max(out[n-1].to, to)
		} else {
			out = append(out, part{from, to})
		}
		first = -1
	}
	s := a.state(nil, -1, false)
	for i := p.from; ; {
		r, n := rune(-1), 0
		if i < p.to {
			r, n = utf8.DecodeRuneInString(text[i:p.to])
		}
		if s = a.step(s, r); s.match {
			if first >= 0 && i > last+reach {
				flush(min(p.to, forwards(text, last, reach)))
			}
			if first < 0 {
				first = i
			}
			last = i
		}
		if n == 0 {
			flush(min(p.to, forwards(text, max(last, 0), reach)))
			return out
		}
		if i += n; len(a.states) > maxStates {
			if first < 0 {
				first = i
			}
			flush(p.to)
			return out
		}
	}
}

// step returns the state behind a rune, or behind the end of the text if r is -1.
func (a *automaton) step(s *state, r rune) *state {
	slot := r
	switch {
	case r < 0:
		slot = utf8.RuneSelf
	case r >= utf8.RuneSelf:
		if t, ok := s.other[r]; ok {
			return t
		}
		t := a.follow(s, r)
		if s.other == nil {
			s.other = map[rune]*state{}
		}
		s.other[r] = t
		return t
	}
	if s.next[slot] == nil {
		s.next[slot] = a.follow(s, r)
	}
	return s.next[slot]
}

// follow computes a step: a match may also begin before the rune.
func (a *automaton) follow(s *state, r rune) *state {
	a.run++
	holds := syntax.EmptyOpContext(s.last, r)
	match := false
	var out []uint32
	a.stack = append(append(a.stack[:0], s.at...), uint32(a.prog.Start))
	for len(a.stack) > 0 {
		pc := a.stack[len(a.stack)-1]
		a.stack = a.stack[:len(a.stack)-1]
		if a.seen[pc] == a.run {
			continue
		}
		a.seen[pc] = a.run
		switch in := &a.prog.Inst[pc]; in.Op {
		case syntax.InstAlt, syntax.InstAltMatch:
			a.stack = append(a.stack, in.Out, in.Arg)
		case syntax.InstCapture, syntax.InstNop:
			a.stack = append(a.stack, in.Out)
		case syntax.InstEmptyWidth:
			if syntax.EmptyOp(in.Arg)&^holds == 0 {
				a.stack = append(a.stack, in.Out)
			}
		case syntax.InstMatch:
			match = true
		case syntax.InstRune, syntax.InstRune1, syntax.InstRuneAny, syntax.InstRuneAnyNotNL:
			if r >= 0 && in.MatchRune(r) {
				out = append(out, in.Out)
			}
		case syntax.InstFail:
		}
	}
	slices.Sort(out)
	return a.state(slices.Compact(out), r, match)
}

// state returns the state of a set of instructions behind a rune; match says that one ends before the rune.
func (a *automaton) state(at []uint32, r rune, match bool) *state {
	last := r
	switch {
	case r < 0 || r == '\n':
	case syntax.IsWordChar(r):
		last = 'a'
	default:
		last = unicode.ReplacementChar
	}
	key := binary.AppendVarint(nil, int64(last))
	if match {
		key = append(key, 1)
	} else {
		key = append(key, 0)
	}
	for _, pc := range at {
		key = binary.AppendUvarint(key, uint64(pc))
	}
	if s := a.states[string(key)]; s != nil {
		return s
	}
	s := &state{at: at, last: last, match: match}
	a.states[string(key)] = s
	return s
}
