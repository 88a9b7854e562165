package projection

import "github.com/eunoe-memory/eunoe/pkg/memory"

// known is what the plan of a write read of the records that its changes may be about, as the write found it: what it asked
// for by name need not be looked up again to store it. Nothing of it holds once a change was applied.
type known struct {
	facts    map[memory.FactID]bool // that are not stored
	entities map[memory.EntityID]*memory.Entity
	events   map[uint64]*storedEvent // nil for one that is not stored, as for entities
}

func newKnown() *known {
	return &known{facts: map[memory.FactID]bool{}, entities: map[memory.EntityID]*memory.Entity{}, events: map[uint64]*storedEvent{}}
}

// askedFacts notes which of the facts that were asked for are not stored.
func (k *known) askedFacts(ids []memory.FactID, found map[memory.FactID]bool) {
	if k == nil {
		return
	}
	for _, id := range ids {
		if !found[id] {
			k.facts[id] = true
		}
	}
}

// askedEntities notes what was found of the entities that were asked for.
func (k *known) askedEntities(ids []memory.EntityID, found []memory.Entity) {
	if k == nil {
		return
	}
	for _, id := range ids {
		k.entities[id] = nil
	}
	for i := range found {
		k.entities[found[i].ID] = &found[i]
	}
}

// askedEvents notes what was found of the message events that were asked for.
func (k *known) askedEvents(seqs []uint64, found map[uint64]*storedEvent) {
	if k == nil {
		return
	}
	for _, seq := range seqs {
		k.events[seq] = found[seq]
	}
}

// split returns what is known of the records with these ids, without those that are not stored, and the ids of the others.
func split[K comparable, T any](ids []K, known map[K]*T) (out map[K]T, others []K) {
	out = make(map[K]T, len(ids))
	for _, id := range ids {
		if v, ok := known[id]; !ok {
			others = append(others, id)
		} else if v != nil {
			out[id] = *v
		}
	}
	return out, others
}
