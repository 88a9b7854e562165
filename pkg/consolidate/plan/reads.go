package plan

import (
	"cmp"
	"slices"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// A TogetherView is a View whose questions can go to the store in common round trips.
type TogetherView interface {
	View
	// Together calls functions, each with a view of the same state. One runs at a time, up to its next question; the
	// questions of all go to the store together. The first error ends all of them.
	Together(fns ...func(View) error) error
}

// together calls functions that read ahead. Each gets a workspace that shares what was read, and changes nothing else.
func (ws *workspace) together(fns ...func(ws *workspace)) {
	if ws.err != nil {
		return
	}
	v, ok := ws.view.(TogetherView)
	if !ok {
		for _, fn := range fns {
			fn(ws)
		}
		return
	}
	asking := make([]func(View) error, len(fns))
	for i, fn := range fns {
		asking[i] = func(v View) error {
			other := *ws
			other.view = v
			fn(&other)
			return other.err
		}
	}
	ws.fail(v.Together(asking...))
}

// readAhead reads what a write with facts asks the store for in any case.
func (ws *workspace) readAhead() {
	w := ws.write
	var facts []memory.FactID
	var entities []memory.EntityID
	var sources []memory.MessageID
	seqs := ws.sourceSeqs()
	for _, f := range w.Facts {
		facts = append(facts, memory.NewFactID(w.Bank, f.Text, cmp.Or(f.Kind, memory.KindWorld)))
		sources = append(sources, f.MessageIDs()...)
		for _, e := range f.Entities {
			id, _, _ := normalEntity(e)
			entities = append(entities, id)
		}
	}
	if len(facts) == 0 || w.Kind != memory.WriteRetain && w.Kind != memory.WriteWindow {
		return
	}
	fns := []func(*workspace){
		func(ws *workspace) { ws.load(facts) },
		func(ws *workspace) { ws.readNamesOf(entities) },
		func(ws *workspace) { ws.replacementsOf(sources) },
	}
	if end := w.Window; end != nil {
		for _, m := range end.New {
			seqs = append(seqs, m.Seq)
		}
		seqs = append(seqs, end.Context...)
		next := memory.NewWindowID(w.Bank, cmp.Or(end.Session, end.SessionID), end.First(), end.Last(), end.Generation+1)
		fns = append(fns, func(ws *workspace) { ws.window(end.ID) }, func(ws *workspace) { ws.window(next) })
	}
	seqs = slices.DeleteFunc(unite(seqs, nil), func(seq uint64) bool { return seq == 0 })
	fns = append(fns, func(ws *workspace) { ws.messages(seqs) }, func(ws *workspace) { ws.forgotten(seqs) })
	ws.together(append(fns, ws.neighbourReads()...)...)
}

// neighbourReads are functions that ask a store of which common round trips save time for the neighbours of the facts, so
// that it has read them when each fact is compared with its own. That is for nothing where a fact is stored already.
func (ws *workspace) neighbourReads() []func(*workspace) {
	if _, ok := ws.view.(TogetherView); !ok {
		return nil
	}
	var fns []func(*workspace)
	for _, f := range ws.write.Facts {
		if f.Vector == nil || f.Vector.Check("vector") != nil {
			continue
		}
		terms, least, limit := ws.reader.Read(f.Text, f.Entities).Terms(), ws.leastCosine(), max(ws.cfg.DedupNearest, ws.cfg.mostNeighbours())
		fns = append(fns, func(ws *workspace) {
			near, err := ws.view.Nearest(0, f.Vector.Unit(), terms, f.Entities, least, limit)
			if ws.fail(err) {
				return
			}
			var compared []memory.FactID
			for _, n := range near {
				if n.Cosine >= min(ws.limits.Dedup, ws.limits.Diameter) {
					compared = append(compared, memory.FactID(n.ID))
				}
			}
			_, err = ws.view.Facts(compared)
			ws.fail(err)
		})
	}
	return fns
}

// window returns how a window ended; nil if it did not.
func (ws *workspace) window(id memory.WindowID) *memory.WindowEnd {
	if _, ok := ws.windows[id]; !ok && ws.err == nil {
		end, err := ws.view.Window(id)
		ws.fail(err)
		ws.windows[id] = end
	}
	return ws.windows[id]
}

// forgotten returns those of the message events that were forgotten.
func (ws *workspace) forgotten(seqs []uint64) map[uint64]bool {
	var unread []uint64
	for _, seq := range seqs {
		if _, ok := ws.tombstones[seq]; !ok {
			unread = append(unread, seq)
		}
	}
	if len(unread) > 0 && ws.err == nil {
		found, err := ws.view.Tombstoned(unite(unread, nil))
		ws.fail(err)
		for _, seq := range unread {
			ws.tombstones[seq] = found[seq]
		}
	}
	out := map[uint64]bool{}
	for _, seq := range seqs {
		if ws.tombstones[seq] {
			out[seq] = true
		}
	}
	return out
}

// readEntities reads entities that were not read yet, at once. They take part in the write when it asks for them.
func (ws *workspace) readEntities(ids []memory.EntityID) {
	var missing []memory.EntityID
	for _, id := range ids {
		if _, ok := ws.storedEntities[id]; !ok && id != "" {
			missing = append(missing, id)
		}
	}
	if len(missing) == 0 || ws.err != nil {
		return
	}
	found, err := ws.view.Entities(unite(missing, nil))
	if ws.fail(err) {
		return
	}
	for _, id := range missing {
		ws.storedEntities[id] = nil
	}
	for _, e := range found {
		ws.storedEntities[e.ID] = &e
	}
}

// readNamesOf reads entities, and for those that are not stored the ones that have their names, where common round trips
// save time.
func (ws *workspace) readNamesOf(ids []memory.EntityID) {
	ws.readEntities(ids)
	v, ok := ws.view.(TogetherView)
	if !ok || ws.err != nil {
		return
	}
	var asking []func(View) error
	for _, id := range unite(ids, nil) {
		if _, name := id.Split(); id != "" && ws.storedEntities[id] == nil && ws.storedNamed[name] == nil {
			asking = append(asking, func(v View) error {
				found, err := v.EntitiesNamed(name)
				ws.storedNamed[name] = append([]memory.Entity{}, found...)
				return err
			})
		}
	}
	ws.fail(v.Together(asking...))
}

// storedNames returns the entities that were stored with this name or alias when the write began.
func (ws *workspace) storedNames(name string) ([]memory.Entity, error) {
	if found := ws.storedNamed[name]; found != nil {
		return found, nil
	}
	return ws.view.EntitiesNamed(name)
}

// parent returns the composite above a node as stored; "" for none.
func (ws *workspace) parent(level int, id string) memory.CompositeID {
	ws.loadParents(level, []string{id})
	return ws.parents[id]
}

// loadParents reads the composites above nodes of a level, of those that were not read yet, at once.
func (ws *workspace) loadParents(level int, ids []string) {
	var missing []string
	for _, id := range ids {
		if _, ok := ws.parents[id]; ok {
			continue
		}
		if ws.isNew(level, id) {
			ws.parents[id] = ""
			continue
		}
		missing = append(missing, id)
	}
	if len(missing) == 0 || ws.err != nil {
		return
	}
	found, err := ws.view.Nodes(level, unite(missing, nil))
	if ws.fail(err) {
		return
	}
	for _, id := range missing {
		ws.parents[id] = ""
	}
	for _, n := range found {
		ws.parents[n.ID] = n.Parent
	}
}

// isNew reports whether the write makes a node of a level, or knows already that it is not stored.
func (ws *workspace) isNew(level int, id string) bool {
	if level == 0 {
		s, ok := ws.facts[memory.FactID(id)]
		return ok && s.before == nil
	}
	s, ok := ws.composites[memory.CompositeID(id)]
	return ok && s.before == nil
}
