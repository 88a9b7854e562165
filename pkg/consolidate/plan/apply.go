package plan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// curator makes the changes of one apply, each on what those before it left.
type curator struct {
	*workspace
	at      int               // the change at work
	made    map[string]string // what earlier changes made, by their names
	stored  storedSources
	results []memory.WriteResult
}

// applyChanges makes all changes of a curation, or refuses all of them for one that cannot be made. What a forget left of
// a curation goes on past changes whose records are gone.
func (ws *workspace) applyChanges(changes []memory.CurationWrite) {
	c := &curator{workspace: ws, made: map[string]string{}, stored: ws.sourcesOf(ws.write.Facts)}
	for i, change := range changes {
		c.at = i
		ws.out.Outcome.Results = nil
		r := c.change(change)
		if ws.err != nil {
			return
		}
		if ws.out.Outcome.Code != 0 {
			if ws.write.RestOf == nil {
				ws.out.Outcome.Results = nil
				ws.out.Stale = true // it changes nothing, and no record tells of its words
				return
			}
			ws.out.Outcome.Code, ws.out.Outcome.Field, ws.out.Outcome.Message = 0, "", ""
			r = memory.WriteResult{Outcome: memory.OutcomeRefused}
		}
		if change.As != "" {
			c.made[change.As] = r.ID
		}
		c.results = append(c.results, r)
	}
	for i := range c.results {
		if op := changes[i].Op; op == memory.CurateRemember || op == memory.CurateEdit {
			c.results[i].Collides = ws.collisions(memory.FactID(c.results[i].ID))
		}
	}
	ws.out.Outcome.Results, ws.out.Outcome.Version = c.results, ws.write.Seq
	if ws.write.RestOf != nil { // the forget left no result of a record that is gone
		ws.dropRefused()
	}
	ws.out.Derived = unite(ws.out.Derived, nil)
}

// refuse refuses the apply for a field of the change at work.
func (c *curator) refuse(code int, field, format string, args ...any) memory.WriteResult {
	c.workspace.refuse(code, c.field(field), format, args...)
	return memory.WriteResult{}
}

func (c *curator) field(name string) string {
	return strings.TrimSuffix(fmt.Sprintf("changes.%d.%s", c.at, name), ".")
}

// change makes one change.
func (c *curator) change(w memory.CurationWrite) memory.WriteResult {
	switch w.Op {
	case memory.CurateRemember:
		return c.remember(w.Facts)
	case memory.CurateEdit, memory.CuratePin:
		return c.editOne(w)
	case memory.CurateSupersede:
		return c.supersedeOne(w.Curation)
	case memory.CurateMerge:
		return c.mergeAll(w.Curation)
	case memory.CurateSplit:
		return c.split(w)
	case memory.CurateConflict:
		return c.contradict(w.Curation)
	case memory.CurateResolve, memory.CurateDismiss:
		return c.decide(w.Curation)
	case memory.CurateLink, memory.CurateUnlink:
		return c.link(w.Curation)
	case memory.CurateTopic:
		return c.topic(w.Curation)
	case memory.CurateAlias, memory.CurateEntities:
		return c.names(w.Curation)
	}
	return c.refuse(400, "op", "%.40q is no change that is known here", w.Op)
}

// ref returns the id that a field names, itself or by a reference; "" when it was refused.
func (c *curator) ref(field, s string) string {
	if !strings.HasPrefix(s, "$") {
		return s
	}
	id, ok := c.made[s]
	if !ok || id == "" {
		c.refuse(400, field, "%.60q is what no change before it made", s)
	}
	return id
}

// live returns the live fact that a field names; nil when it was refused.
func (c *curator) live(field, s string) *factState {
	id := c.ref(field, s)
	if c.out.Outcome.Code != 0 {
		return nil
	}
	f := c.loaded(memory.FactID(id))
	switch {
	case f == nil:
		c.refuse(404, field, "no fact %.60q", id)
		return nil
	case !f.now.Live():
		c.refuse(409, field, "the fact no longer holds; name %q instead", c.heir(f.now))
		return nil
	}
	c.out.Derived = append(c.out.Derived, f.id())
	return f
}

// given returns a fact of the write in its stored form; false when it was refused. Part of another fact, it rests on the
// messages of that one, and was said when that was.
func (c *curator) given(index int, of *memory.Fact) (memory.Fact, bool) {
	if index < 0 || index >= len(c.write.Facts) {
		c.refuse(400, "", "the write does not hold its fact")
		return memory.Fact{}, false
	}
	f, reason := cloneFact(c.write.Facts[index]), ""
	if of != nil {
		f.Sources, f.Said, f.Kind = slices.Clone(of.Sources), of.Said, of.Kind
	} else {
		f, reason = c.stored.check(f)
	}
	if reason == "" {
		reason = c.unfit(f)
	}
	if reason == "" {
		reason = c.overQuota()
	}
	if reason != "" {
		code := 400
		if c.overQuota() != "" {
			code = 429
		}
		c.refuse(code, "text", "%s", reason)
		return f, false
	}
	c.addParticipant(f.Speaker)
	f = c.normalize(f)
	f.Ops = []string{c.write.Op}
	return f, true
}

func (c *curator) remember(facts []int) memory.WriteResult {
	if len(facts) != 1 {
		return c.refuse(400, "text", "the write does not hold its fact")
	}
	f, ok := c.given(facts[0], nil)
	if !ok {
		return memory.WriteResult{}
	}
	r := c.merge(f, c.factByKey(f.Key))
	r.Key = ""
	return r
}

// editOne makes a new version of a fact, by an edit or a pin.
func (c *curator) editOne(w memory.CurationWrite) memory.WriteResult {
	f := c.live("id", w.ID)
	if f == nil {
		return memory.WriteResult{}
	}
	if w.Version != nil && f.now.Version > *w.Version {
		return c.refuse(409, "version", "the fact is at version %d", f.now.Version)
	}
	e := memory.EditWrite{EditRequest: memory.EditRequest{ID: f.id(), Type: w.Type, Pin: w.Pin}}
	if w.Tags != nil {
		e.Tags = &w.Tags
	}
	if len(w.Facts) > 0 && w.Facts[0] < len(c.write.Facts) {
		given := c.write.Facts[w.Facts[0]]
		e.Text, e.Vector, e.Model = given.Text, given.Vector, given.Model
	}
	c.edit(e)
	if r := c.out.Outcome.Results; len(r) > 0 {
		return memory.WriteResult{ID: r[0].ID, Outcome: r[0].Outcome}
	}
	c.out.Outcome.Field = c.field(c.out.Outcome.Field)
	return memory.WriteResult{}
}

func (c *curator) supersedeOne(w memory.Curation) memory.WriteResult {
	old, by := c.live("id", w.ID), (*factState)(nil)
	if old != nil {
		by = c.live("by", w.By)
	}
	switch {
	case old == nil || by == nil:
		return memory.WriteResult{}
	case old == by:
		return c.refuse(400, "by", "a fact does not supersede itself")
	}
	c.supersede(old, by.now)
	if old.now.Superseded != by.id() || old.now.Live() {
		return c.refuse(409, "by", "begins at no time at which the other could end")
	}
	return memory.WriteResult{ID: string(old.id()), Outcome: memory.OutcomeSuperseded, Reason: "superseded by " + string(by.id())}
}

// mergeAll makes one fact of several that say the same: the others are absorbed by the one that stays.
func (c *curator) mergeAll(w memory.Curation) memory.WriteResult {
	facts := make([]*factState, 0, len(w.IDs))
	for i, id := range w.IDs {
		f := c.live(fmt.Sprintf("ids.%d", i), id)
		switch {
		case f == nil:
			return memory.WriteResult{}
		case slices.Contains(facts, f):
			return c.refuse(400, fmt.Sprintf("ids.%d", i), "is named twice")
		}
		facts = append(facts, f)
	}
	if len(facts) < 2 {
		return c.refuse(400, "ids", "names %d facts; a merge takes two or more", len(facts))
	}
	stays := facts[0]
	if w.Into != "" {
		if stays = c.live("into", w.Into); stays == nil {
			return memory.WriteResult{}
		}
		if !slices.Contains(facts, stays) {
			return c.refuse(400, "into", "is none of ids")
		}
	}
	for _, f := range facts {
		if f != stays {
			c.absorb(stays, f)
		}
	}
	return memory.WriteResult{ID: string(stays.id()), Outcome: memory.OutcomeMerged}
}

// split makes several facts of one: they rest on its messages and hold from when it began; it held at no time.
func (c *curator) split(w memory.CurationWrite) memory.WriteResult {
	old := c.live("id", w.ID)
	if old == nil {
		return memory.WriteResult{}
	}
	if w.Version != nil && old.now.Version > *w.Version {
		return c.refuse(409, "version", "the fact is at version %d", old.now.Version)
	}
	var out memory.WriteResult
	for i, index := range w.Facts {
		f, ok := c.given(index, &old.now)
		if !ok {
			c.out.Outcome.Field = c.field(fmt.Sprintf("parts.%d", i))
			return memory.WriteResult{}
		}
		if f.ID == old.id() {
			return c.refuse(400, fmt.Sprintf("parts.%d.text", i), "is what the fact says as a whole")
		}
		if f.State == nil && len(f.Valid) > 0 && len(old.now.Valid) > 0 {
			f.Valid[0].From = old.now.Valid[0].From
		}
		out.IDs = append(out.IDs, c.merge(f, "").ID)
	}
	if len(out.IDs) < 2 {
		return c.refuse(400, "parts", "holds %d; a split takes two or more", len(out.IDs))
	}
	old.now.Valid, old.now.Superseded, old.dirty = nil, memory.FactID(out.IDs[0]), true
	c.retimeAll(old.now)
	out.ID, out.Outcome = out.IDs[0], memory.OutcomeSuperseded
	return out
}
