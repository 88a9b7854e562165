package recall

import (
	"cmp"
	"slices"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/query/recall/rank"
)

// threads are messages in the order of their sessions, as far as their neighbourhoods tell.
type threads struct {
	index map[int64]int // message to its place in the lists below
	no    []int64
	next  []int // the message after it in its session, -1 where none is known
	run   []int // the run it belongs to
	place []int // its place in the run, from 0
	runs  []run
}

// run is a stretch of messages that follow each other in one session.
type run struct {
	messages []int64
	opening  bool // nothing comes before it in its session
}

// newThreads joins neighbourhoods, which have up to three messages before, where they overlap.
func newThreads(around []Neighbourhood) threads {
	most := 8 * len(around)
	t := threads{index: make(map[int64]int, most), no: make([]int64, 0, most), next: make([]int, 0, most)}
	follows, opening := make([]bool, 0, most), make([]bool, 0, most)
	add := func(no int64) int {
		i, ok := t.index[no]
		if !ok {
			i = len(t.no)
			t.index[no] = i
			t.no, t.next = append(t.no, no), append(t.next, -1)
			follows, opening = append(follows, false), append(opening, false)
		}
		return i
	}
	join := func(a, b int) { t.next[a], follows[b] = b, true }
	for _, n := range around {
		first := add(n.No)
		last := first
		for _, b := range n.Before {
			at := add(b)
			join(at, first)
			first = at
		}
		opening[first] = opening[first] || len(n.Before) < 3
		for _, a := range n.After {
			at := add(a)
			join(last, at)
			last = at
		}
	}
	var firsts []int
	for i := range t.no {
		if !follows[i] {
			firsts = append(firsts, i)
		}
	}
	slices.SortFunc(firsts, func(a, b int) int { return cmp.Compare(t.no[a], t.no[b]) })
	t.run, t.place = make([]int, len(t.no)), make([]int, len(t.no))
	for _, first := range firsts {
		r := run{opening: opening[first]}
		for i := first; i >= 0; i = t.next[i] {
			t.run[i], t.place[i] = len(t.runs), len(r.messages)
			r.messages = append(r.messages, t.no[i])
		}
		t.runs = append(t.runs, r)
	}
	return t
}

// adjacent returns messages and those that are ranked by their words: one before each and two after it. Ascending.
func (t threads) adjacent(messages []int64) []int64 {
	seen := map[int64]bool{}
	var out []int64
	for _, no := range messages {
		for _, d := range []int{0, -1, 1, 2} {
			if n := t.neighbour(no, d); n != 0 && !seen[n] {
				seen[n] = true
				out = append(out, n)
			}
		}
	}
	slices.Sort(out)
	return out
}

// neighbour returns the message d places after no (before it if d is negative), 0 if it is not known.
func (t threads) neighbour(no int64, d int) int64 {
	i, ok := t.index[no]
	if !ok {
		return 0
	}
	messages := t.runs[t.run[i]].messages
	if at := t.place[i] + d; at >= 0 && at < len(messages) {
		return messages[at]
	}
	return 0
}

// candidates returns the rows with their neighbours' words, in the rows' order.
func (t threads) candidates(s Searcher, rows []MessageRow) ([]rank.Candidate, error) {
	said := make(map[int64]*rank.Neighbour, 2*len(rows)) // nil = not read
	keep := func(rows []MessageRow) {
		list := make([]rank.Neighbour, len(rows))
		for i, r := range rows {
			list[i] = rank.Neighbour{Speaker: r.Speaker, Machine: machine(r.Role), Text: r.Text, Caption: r.Caption, Time: r.Said}
			said[r.No] = &list[i]
		}
	}
	keep(rows)
	var missing []int64
	for _, r := range rows {
		for _, d := range []int{-2, -1, 1} {
			if no := t.neighbour(r.No, d); no != 0 {
				if _, ok := said[no]; !ok {
					said[no] = nil
					missing = append(missing, no)
				}
			}
		}
	}
	slices.Sort(missing)
	more, err := s.Context(missing)
	if err != nil {
		return nil, err
	}
	keep(more)
	out := make([]rank.Candidate, len(rows))
	for i, r := range rows {
		out[i] = rank.Candidate{ID: string(r.ID), Seq: uint64(r.No), Session: string(r.Session), Pos: t.position(r.No), Speaker: r.Speaker,
			Machine: machine(r.Role), Text: r.Text, Caption: r.Caption, Time: r.Said,
			Prev: said[t.neighbour(r.No, -1)], Prev2: said[t.neighbour(r.No, -2)], Next: said[t.neighbour(r.No, 1)]}
	}
	return out, nil
}

// position returns a place in the session that is right relative to the messages near it; messages of different runs
// are far apart. The first messages of a session have the first places.
func (t threads) position(no int64) int {
	i, ok := t.index[no]
	if !ok {
		return 1000
	}
	if t.runs[t.run[i]].opening {
		return t.place[i]
	}
	return 1000*(t.run[i]+1) + t.place[i]
}

// machine reports whether an agent or a tool says what messages of a role say.
func machine(r memory.Role) bool { return r == memory.RoleAssistant || r == memory.RoleTool }
