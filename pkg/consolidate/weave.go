package consolidate

import (
	"slices"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// retimeNew is retime for a new fact. It reads what the fact's word may change,
// that is what holds when it begins or later, and what was told after it; what
// ended before is looked over by the store, however often the attribute changed.
func (ws *workspace) retimeNew(f memory.Fact) {
	if now := ws.fact(f.ID); now == nil || !ws.weave(*now) {
		ws.retime(*f.State, f.ID)
	}
}

// weave sets the one word of a new fact between those told before and after it.
// It is false, with nothing done, where the fact has more than one word or one
// that was taken back, or where what it reads does not say all that changes.
func (ws *workspace) weave(f memory.Fact) bool {
	if f.State == nil || len(f.Sources) != 1 || f.Merged != "" || f.Superseded != "" || len(f.Valid) != 1 || f.Valid[0].To != nil {
		return false
	}
	q := points(f, nil, nil)[0]
	if !f.Valid[0].From.Equal(q.start) || len(ws.replacements(f.MessageIDs())) > 0 {
		return false
	}
	others, all := ws.factsOfStateSince(*f.State, q.start, q.said)
	if !all {
		return false
	}
	others = slices.DeleteFunc(others, func(o memory.Fact) bool { return o.ID == f.ID })
	w := ws.wordsOf(others)
	later := slices.DeleteFunc(w.all, func(p point) bool { return orderPoints(p, q) <= 0 })
	since := append([]point{q}, later...)
	f = cloneFact(f)
	f.Valid = held(since[:1], later)
	f.Superseded, _ = successor(f, since[:1], later)
	changed := []memory.Fact{f}
	for _, o := range others {
		mine := w.own[o.ID]
		n := len(o.Valid)
		if mine == nil || orderPoints(slices.MinFunc(mine, orderPoints), q) > 0 || n > 0 && o.Valid[n-1].To != nil && o.Valid[n-1].To.Before(q.start) {
			continue // it was told wholly after, or had ended
		}
		o, known := yield(o, mine, since, !ws.closedByOther(o, w.byID))
		if !known {
			return false
		}
		changed = append(changed, o)
	}
	for _, o := range changed {
		ws.put(o)
	}
	return true
}

// yield takes out of what a fact holds what a new point, the first of since,
// says against it. What the fact's own later points hold, they hold as before.
// mine are the fact's points and since, in order, all from the new one on; free
// says that points alone decide what took the fact's place. It is false where
// points before the new one decide that.
func yield(o memory.Fact, mine, since []point, free bool) (memory.Fact, bool) {
	q := since[0]
	was := o.Valid
	o = cloneFact(o)
	after := slices.DeleteFunc(slices.Clone(mine), func(p point) bool { return orderPoints(p, q) <= 0 })
	if opposed(q.value, o.State.Value) {
		o.Valid = union(append(without(o.Valid, q), held(after, since)...))
	}
	if !free {
		return o, true
	}
	by, decided := successor(o, mine, since)
	if decided || len(after) > 0 {
		o.Superseded = by
		return o, true
	}
	if len(o.Valid) == 0 || len(was) == 0 {
		return o, len(o.Valid) == len(was)
	}
	end := was[len(was)-1].To
	return o, end != nil && end.Equal(*o.Valid[len(o.Valid)-1].To)
}
