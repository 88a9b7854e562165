package consolidate

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// point is one source's word on the value of an attribute.
type point struct {
	fact     memory.FactID
	value    string
	start    time.Time  // from when it holds
	said     time.Time  // decides between points: the later one is believed
	seq      uint64     // decides where said is equal
	recorded time.Time  // decides where both are equal
	until    *time.Time // where its word is taken back, nil = never
}

func orderPoints(a, b point) int {
	return cmp.Or(a.said.Compare(b.said), cmp.Compare(a.seq, b.seq), a.recorded.Compare(b.recorded), a.start.Compare(b.start), cmp.Compare(a.fact, b.fact))
}

// covers reports whether the point speaks of t.
func (p point) covers(t time.Time) bool {
	return !t.Before(p.start) && (p.until == nil || t.Before(*p.until))
}

// opposed reports whether two values of one attribute cannot hold at one time:
// two that are told, or one that is told and that is denied. Where somebody
// lives no longer says nothing of where else.
func opposed(a, b string) bool {
	x, deniesX := strings.CutPrefix(a, deniedValue)
	y, deniesY := strings.CutPrefix(b, deniedValue)
	if deniesX == deniesY {
		return !deniesX && a != b
	}
	return x == y
}

// held gives when the value of one fact holds: each of its points from its
// start on, less what later points give another value. all must be in order.
// The result depends on the set of points alone; it is sorted and disjoint.
func held(own, all []point) []memory.Interval {
	var out []memory.Interval
	for _, p := range own {
		parts := []memory.Interval{{From: p.start, To: p.until}}
		at, _ := slices.BinarySearchFunc(all, p, orderPoints)
		for _, q := range all[at:] {
			if opposed(q.value, p.value) && orderPoints(q, p) > 0 {
				parts = without(parts, q)
			}
		}
		out = append(out, parts...)
	}
	return union(out)
}

// without takes the time that q speaks of out of the parts.
func without(parts []memory.Interval, q point) []memory.Interval {
	var out []memory.Interval
	for _, i := range parts {
		if i.From.Before(q.start) {
			out = append(out, memory.Interval{From: i.From, To: earlier(i.To, &q.start)})
		}
		if q.until != nil && (i.To == nil || i.To.After(*q.until)) {
			from := i.From
			if from.Before(*q.until) {
				from = *q.until
			}
			out = append(out, memory.Interval{From: from, To: i.To})
		}
	}
	return out
}

// union sorts intervals, drops empty ones and joins those that touch.
func union(in []memory.Interval) []memory.Interval {
	in = slices.DeleteFunc(in, func(i memory.Interval) bool { return i.To != nil && !i.To.After(i.From) })
	slices.SortFunc(in, func(a, b memory.Interval) int { return a.From.Compare(b.From) })
	var out []memory.Interval
	for _, i := range in {
		if n := len(out); n > 0 && (out[n-1].To == nil || !i.From.After(*out[n-1].To)) {
			if out[n-1].To != nil && (i.To == nil || i.To.After(*out[n-1].To)) {
				out[n-1].To = i.To
			}
			continue
		}
		out = append(out, i)
	}
	return out
}

// points gives a fact's word on its state, source by source. A fact without
// sources speaks by the intervals it has and by when it was last said. until ends each of them, nil = open;
// a message that was replaced ends its own word.
func points(f memory.Fact, until *time.Time, replaced map[memory.MessageID]memory.Replacement) []point {
	base := point{fact: f.ID, value: f.State.Value, recorded: f.Recorded, until: until}
	var out []point
	for _, s := range f.Sources {
		p := base
		p.start, p.said, p.seq = s.Start, s.Said, s.Seq
		if r, ok := replaced[s.Message]; ok {
			p.until = earlier(until, &r.Time)
		}
		out = append(out, p)
	}
	if len(f.Sources) > 0 {
		return out
	}
	for _, i := range f.Valid {
		p := base
		p.start, p.said = i.From, i.From
		if f.Occurred.From != nil && i.From.Equal(*f.Occurred.From) { // a change of state, told of when it was said
			p.said = f.Said
		}
		out = append(out, p)
	}
	if p := base; len(out) == 0 {
		p.start, p.said = start(f), f.Said
		out = append(out, p)
	} else if f.Said.After(out[len(out)-1].said) {
		p.start, p.said = f.Said, f.Said
		out = append(out, p)
	}
	return out
}

// words is what the facts of one attribute of one subject say of it.
type words struct {
	byID map[memory.FactID]memory.Fact
	own  map[memory.FactID][]point // by fact; none for one that something else closed before it began
	all  []point                   // in order
}

// wordsOf reads what facts say. A fact that something else closed says nothing
// of the time after.
func (ws *workspace) wordsOf(facts []memory.Fact) words {
	w := words{byID: make(map[memory.FactID]memory.Fact, len(facts)), own: make(map[memory.FactID][]point, len(facts))}
	var messages []memory.MessageID
	for _, f := range facts {
		w.byID[f.ID] = f
		messages = append(messages, f.MessageIDs()...)
	}
	replaced := ws.replacements(messages)
	for _, f := range facts {
		var until *time.Time
		if ws.closedByOther(f, w.byID) {
			if len(f.Valid) == 0 {
				continue
			}
			until = f.Valid[len(f.Valid)-1].To
		}
		w.own[f.ID] = points(f, until, replaced)
		w.all = append(w.all, w.own[f.ID]...)
	}
	slices.SortFunc(w.all, orderPoints)
	return w
}

// retime recomputes the validity of every fact that gives one attribute of one
// subject a value, so that it follows event time whatever the order of arrival.
// A fact that something else closed (an edit, its key, a conflict) stays closed.
// Of a long history it computes what was told last, and those among it whatever
// was told after them.
func (ws *workspace) retime(state memory.State, among ...memory.FactID) {
	facts := ws.factsOfState(state)
	for _, id := range among {
		known := slices.ContainsFunc(facts, func(f memory.Fact) bool { return f.ID == id })
		if f := ws.fact(id); !known && f != nil && f.Merged == "" {
			facts = append(facts, *f)
		}
	}
	w := ws.wordsOf(facts)
	for _, f := range facts {
		mine := w.own[f.ID]
		if mine == nil {
			continue
		}
		f = cloneFact(f)
		f.Valid = held(mine, w.all)
		if !ws.closedByOther(f, w.byID) {
			f.Superseded, _ = successor(f, mine, w.all)
		}
		ws.put(f)
	}
}

// closedByOther reports a fact that was superseded by something else than
// another value of its state, whatever that was merged into since.
func (ws *workspace) closedByOther(f memory.Fact, states map[memory.FactID]memory.Fact) bool {
	if f.Superseded == "" {
		return false
	}
	by, ok := states[f.Superseded]
	for id, hops := f.Superseded, 0; !ok && hops < 64; hops++ {
		next := ws.fact(id)
		switch {
		case next == nil:
			return true
		case next.Merged != "":
			id = next.Merged
			by, ok = states[id]
			continue
		case f.State == nil || next.State == nil || next.State.Subject != f.State.Subject || next.State.Attribute != f.State.Attribute:
			return true
		}
		by, ok = *next, true
	}
	return !ok || by.State.Value == f.State.Value || f.Key != "" && by.Key == f.Key
}

// successor gives the fact whose value took the place of one that no longer
// holds: the one believed at the end of its last interval. It is "" where the
// fact still holds or nothing took its place, and decided is false where no
// point of all says so.
func successor(f memory.Fact, own, all []point) (by memory.FactID, decided bool) {
	n := len(f.Valid)
	if n > 0 && f.Valid[n-1].To == nil {
		return "", true
	}
	last := slices.MaxFunc(own, orderPoints)
	at := last.start
	if n > 0 {
		at = *f.Valid[n-1].To
	}
	for _, q := range slices.Backward(all) {
		if orderPoints(q, last) <= 0 {
			break
		}
		switch {
		case !q.covers(at):
		case q.value == f.State.Value:
			return "", true
		case opposed(q.value, f.State.Value):
			return q.fact, true
		}
	}
	return "", false
}

func earlier(a, b *time.Time) *time.Time {
	if a == nil || b != nil && b.Before(*a) {
		return b
	}
	return a
}
