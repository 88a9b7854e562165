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

// retime recomputes the validity of every fact that gives one attribute of one
// subject a value, so that it follows event time whatever the order of arrival.
// A fact that something else closed (an edit, its key, a conflict) stays closed.
func (ws *workspace) retime(state memory.State) {
	facts := ws.factsOfState(state)
	byID := map[memory.FactID]memory.Fact{}
	for _, f := range facts {
		byID[f.ID] = f
	}
	var all []point
	own := map[memory.FactID][]point{}
	for _, f := range facts {
		var until *time.Time
		if ws.closedByOther(f, byID) {
			if len(f.Valid) == 0 {
				continue
			}
			until = f.Valid[len(f.Valid)-1].To
		}
		own[f.ID] = points(f, until, ws.replacements(f.MessageIDs()))
		all = append(all, own[f.ID]...)
	}
	slices.SortFunc(all, orderPoints)
	for _, f := range facts {
		mine := own[f.ID]
		if mine == nil {
			continue
		}
		f = cloneFact(f)
		f.Valid = held(mine, all)
		if !ws.closedByOther(f, byID) {
			f.Superseded = successor(f, mine, all)
		}
		ws.put(f)
	}
}

// retimeNew is retime for a new fact. Told behind all others of its attribute it
// changes only what holds when it begins: what ended before is looked over by
// the store and not read, however often the attribute changed.
func (ws *workspace) retimeNew(f memory.Fact) {
	if now := ws.fact(f.ID); now == nil || !ws.toldLast(*now) {
		ws.retime(*f.State)
	}
}

// toldLast ends what a new fact takes the place of; false, with nothing done,
// where more than what holds when it begins may change.
func (ws *workspace) toldLast(f memory.Fact) bool {
	if f.State == nil || len(f.Sources) != 1 || f.Merged != "" || f.Superseded != "" || len(f.Valid) != 1 || f.Valid[0].To != nil {
		return false
	}
	q := points(f, nil, nil)[0]
	if !f.Valid[0].From.Equal(q.start) || q.start.After(q.said) || !f.Said.Equal(q.said) || len(ws.replacements(f.MessageIDs())) > 0 {
		return false
	}
	var open []memory.Fact
	for _, o := range ws.factsOfStateSince(*f.State, q.start, q.said) {
		n := len(o.Valid)
		switch {
		case o.ID == f.ID:
		case !o.Said.Before(q.said), n == 0 && slices.ContainsFunc(points(o, nil, nil), func(p point) bool { return !p.start.Before(q.start) }):
			return false
		case n > 0 && o.Valid[n-1].To == nil:
			if o.Superseded != "" || !o.Valid[n-1].From.Before(q.start) {
				return false
			}
			open = append(open, o)
		case n > 0 && !o.Valid[n-1].To.Before(q.start):
			return false
		}
	}
	for _, o := range open {
		o = cloneFact(o)
		if opposed(q.value, o.State.Value) {
			o.Valid, o.Superseded = union(without(o.Valid, q)), f.ID
		}
		ws.put(o)
	}
	return true
}

// closedByOther reports a fact that was superseded by something else than
// another value of its state, whatever that was merged into since.
func (ws *workspace) closedByOther(f memory.Fact, states map[memory.FactID]memory.Fact) bool {
	if f.Superseded == "" {
		return false
	}
	by, ok := states[f.Superseded]
	for id, hops := f.Superseded, 0; !ok && hops < 64; hops++ {
		merged := ws.fact(id)
		if merged == nil || merged.Merged == "" {
			break
		}
		id = merged.Merged
		by, ok = states[id]
	}
	return !ok || by.State.Value == f.State.Value || f.Key != "" && by.Key == f.Key
}

// successor gives the fact whose value took the place of one that no longer
// holds: the one believed at the end of its last interval. It is "" where the
// fact still holds or nothing took its place.
func successor(f memory.Fact, own, all []point) memory.FactID {
	n := len(f.Valid)
	if n > 0 && f.Valid[n-1].To == nil {
		return ""
	}
	last := slices.MaxFunc(own, orderPoints)
	at := last.start
	if n > 0 {
		at = *f.Valid[n-1].To
	}
	for _, q := range slices.Backward(all) {
		if orderPoints(q, last) <= 0 {
			return ""
		}
		switch {
		case !q.covers(at):
		case q.value == f.State.Value:
			return ""
		case opposed(q.value, f.State.Value):
			return q.fact
		}
	}
	return ""
}

func earlier(a, b *time.Time) *time.Time {
	if a == nil || b != nil && b.Before(*a) {
		return b
	}
	return a
}
