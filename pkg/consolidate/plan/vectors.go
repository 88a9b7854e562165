package plan

import (
	"slices"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// Compares reports whether a vector can be compared with the others of this memory: it is of the configured model and
// size. Where its model is not given, the size alone decides.
func (c Config) Compares(v memory.Vector, model string) bool {
	return v != nil && (c.Dimension == 0 || len(v) == c.Dimension) && (c.Model == "" || model == "" || model == c.Model) &&
		v.Check("vector") == nil
}

// withoutForeignVectors returns a write without the vectors of another model or size, which an extractor of an older
// configuration made, or which were appended before the model changed. What they belong to is stored without a vector,
// is found by its words, and gets a vector later.
func (c Config) withoutForeignVectors(w memory.Write) memory.Write {
	clean := func(v *memory.Vector, model *string) {
		if !c.Compares(*v, *model) {
			*v, *model = nil, ""
		}
	}
	w.Facts = slices.Clone(w.Facts)
	for i := range w.Facts {
		clean(&w.Facts[i].Vector, &w.Facts[i].Model)
	}
	if w.Edit != nil {
		e := *w.Edit
		clean(&e.Vector, &e.Model)
		w.Edit = &e
	}
	w.Decide = slices.Clone(w.Decide)
	for i := range w.Decide {
		w.Decide[i].Targets = slices.Clone(w.Decide[i].Targets)
		for j := range w.Decide[i].Targets {
			clean(&w.Decide[i].Targets[j].Vector, &w.Decide[i].Targets[j].Model)
		}
	}
	w.Summaries = slices.Clone(w.Summaries)
	for i := range w.Summaries {
		clean(&w.Summaries[i].Vector, &w.Summaries[i].Model)
	}
	return w
}

// addVectors adds the vectors that the write brings for records stored without one. A record that has a vector keeps
// it. One that is gone was forgotten while its vector was on the way: the event is stale.
func (ws *workspace) addVectors() {
	var ids []memory.FactID
	var seqs []uint64
	for _, v := range ws.write.Vectors {
		if v.Record == memory.RecordFact {
			ids = append(ids, memory.FactID(v.ID))
		} else {
			seqs = append(seqs, v.Seq)
		}
	}
	ws.load(ids)
	stored := ws.messages(seqs)
	seen := map[uint64]bool{}
	for _, v := range ws.write.Vectors {
		if v.Record == memory.RecordFact {
			ws.addFactVector(v)
			continue
		}
		m, ok := stored[v.Seq]
		switch {
		case !ok || m.State == memory.StateForgotten:
			ws.out.Stale = true
		case m.Seq != m.Canonical || seen[v.Seq] || !ws.cfg.Compares(v.Vector, v.Model):
		default:
			seen[v.Seq] = true
			v.Vector = v.Vector.Unit()
			ws.out.MessageVectors = append(ws.out.MessageVectors, v)
		}
	}
}

// addFactVector sets the vector of a fact and compares it with its neighbours, as if it had come with the vector.
func (ws *workspace) addFactVector(v memory.LateVector) {
	s := ws.loaded(memory.FactID(v.ID))
	if s == nil {
		ws.out.Stale = true
		return
	}
	if s.now.Vector != nil || !ws.cfg.Compares(v.Vector, v.Model) {
		return
	}
	s.now.Vector, s.now.Model, s.dirty = v.Vector.Unit(), v.Model, true
	if s.now.Live() {
		ws.compareWithNeighbours(s)
	}
}

// onlyEmbedded reports whether the write changed nothing of a fact but gave it its vector: its version stays, because
// whoever read it has read the same.
func (s *factState) onlyEmbedded() bool {
	if s.gone || s.before == nil || s.before.Vector != nil || s.now.Vector == nil {
		return false
	}
	bare := s.now
	bare.Vector, bare.Model = nil, s.before.Model
	return sameFact(*s.before, bare)
}
