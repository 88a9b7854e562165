package query

import (
	"slices"

	"github.com/eunoe-memory/eunoe/pkg/query/rank"
)

// thread is a set of messages with what stands around each in its session.
type thread struct {
	runs    [][]int64        // neighbouring messages in order, overlapping ones joined
	at      map[int64][2]int // run and place in it
	rows    []int64
	opening map[int64]bool // nothing stands before it
}

// newThread joins the neighbourhoods of rows.
func newThread(rows []int64, around []Neighbourhood) thread {
	t := thread{at: map[int64][2]int{}, rows: rows, opening: map[int64]bool{}}
	next := map[int64]int64{}
	member := map[int64]bool{}
	follows := map[int64]bool{}
	join := func(a, b int64) {
		next[a], follows[b] = b, true
		member[a], member[b] = true, true
	}
	for _, n := range around {
		member[n.No] = true
		at := n.No
		for _, b := range n.Before {
			join(b, at)
			at = b
		}
		if len(n.Before) < 3 {
			t.opening[at] = true
		}
		at = n.No
		for _, a := range n.After {
			join(at, a)
			at = a
		}
	}
	all := make([]int64, 0, len(member))
	for no := range member {
		all = append(all, no)
	}
	slices.Sort(all)
	for _, first := range all {
		if follows[first] {
			continue
		}
		run := []int64{first}
		for no, ok := next[first]; ok; no, ok = next[no] {
			run = append(run, no)
		}
		for i, no := range run {
			t.at[no] = [2]int{len(t.runs), i}
		}
		t.runs = append(t.runs, run)
	}
	return t
}

// beside gives the rows and the messages whose neighbours lend them words: one
// before each row and two after it. Sorted.
func (t thread) beside() []int64 {
	seen := map[int64]bool{}
	var out []int64
	for _, no := range t.rows {
		for _, d := range []int{0, -1, 1, 2} {
			if b := t.neighbour(no, d); b != 0 && !seen[b] {
				seen[b] = true
				out = append(out, b)
			}
		}
	}
	slices.Sort(out)
	return out
}

// neighbour gives the message d places after no (before it if negative), 0 if it is not known.
func (t thread) neighbour(no int64, d int) int64 {
	at, ok := t.at[no]
	if !ok {
		return 0
	}
	run := t.runs[at[0]]
	if i := at[1] + d; i >= 0 && i < len(run) {
		return run[i]
	}
	return 0
}

// candidates gives the rows with their neighbours' words, in the rows' order.
func (t thread) candidates(s Searcher, rows []MessageRow) ([]rank.Candidate, error) {
	known := make(map[int64]MessageRow, 2*len(rows))
	for _, r := range rows {
		known[r.No] = r
	}
	var missing []int64
	for _, r := range rows {
		for _, d := range []int{-2, -1, 1} {
			if no := t.neighbour(r.No, d); no != 0 {
				if _, ok := known[no]; !ok {
					known[no] = MessageRow{}
					missing = append(missing, no)
				}
			}
		}
	}
	more, err := s.Context(missing)
	if err != nil {
		return nil, err
	}
	for _, r := range more {
		known[r.No] = r
	}
	out := make([]rank.Candidate, len(rows))
	for i, r := range rows {
		out[i] = rank.Candidate{ID: string(r.ID), Seq: uint64(r.No), Session: string(r.Session), Pos: t.place(r.No), Speaker: r.Speaker,
			Text: r.Text, Caption: r.Caption, Time: r.Said,
			Prev: t.words(known, r.No, -1), Prev2: t.words(known, r.No, -2), Next: t.words(known, r.No, 1)}
	}
	return out, nil
}

func (t thread) words(known map[int64]MessageRow, no int64, d int) *rank.Neighbour {
	n, ok := known[t.neighbour(no, d)]
	if !ok || n.No == 0 {
		return nil
	}
	return &rank.Neighbour{Speaker: n.Speaker, Text: n.Text, Caption: n.Caption}
}

// place gives a place in the session that is right relative to the rows near
// it; rows of different runs are far apart. The first messages of a session
// have the first places.
func (t thread) place(no int64) int {
	at := t.at[no]
	base := 1000 * (at[0] + 1)
	if t.opening[t.runs[at[0]][0]] {
		base = 0
	}
	return base + at[1]
}
