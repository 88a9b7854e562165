package consolidate

import (
	"slices"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// compares reports whether a vector can be compared with the others of this
// memory: it is of the configured model and size. Where its model is not said,
// the size alone decides.
func (c Config) compares(v memory.Vector, model string) bool {
	return v != nil && (c.Dimension == 0 || len(v) == c.Dimension) && (c.Model == "" || model == "" || model == c.Model) &&
		v.Check("vector") == nil
}

// fitting gives a write without the vectors of another model or size, which an
// extractor of an older configuration made, or which stand in the log from
// before a change of the model. Nothing else is lost: what they belong to is
// taken in without, is found by its words, and waits for a vector of its own.
func (c Config) fitting(w memory.Write) memory.Write {
	fit := func(v *memory.Vector, model *string) {
		if *v == nil || !c.compares(*v, *model) {
			*v, *model = nil, ""
		}
	}
	w.Facts = slices.Clone(w.Facts)
	for i := range w.Facts {
		fit(&w.Facts[i].Vector, &w.Facts[i].Model)
	}
	if w.Edit != nil {
		e := *w.Edit
		fit(&e.Vector, &e.Model)
		w.Edit = &e
	}
	w.Decide = slices.Clone(w.Decide)
	for i := range w.Decide {
		w.Decide[i].Targets = slices.Clone(w.Decide[i].Targets)
		for j := range w.Decide[i].Targets {
			fit(&w.Decide[i].Targets[j].Vector, &w.Decide[i].Targets[j].Model)
		}
	}
	w.Summaries = slices.Clone(w.Summaries)
	for i := range w.Summaries {
		fit(&w.Summaries[i].Vector, &w.Summaries[i].Model)
	}
	return w
}

// takeVectors gives records that were stored without a vector the ones that the
// write brings. A fact is then held against its neighbours, and takes its place
// in the tree, as one that came with its vector. A record that has a vector
// keeps it. One that is gone was forgotten while its vector was on the way: the
// event is stale.
func (ws *workspace) takeVectors() {
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
			ws.takeFactVector(v)
			continue
		}
		m, ok := stored[v.Seq]
		switch {
		case !ok || m.State == memory.StateForgotten:
			ws.out.Stale = true
		case m.Seq != m.Canonical || seen[v.Seq] || !ws.cfg.compares(v.Vector, v.Model):
		default:
			seen[v.Seq] = true
			v.Vector = v.Vector.Unit()
			ws.out.MessageVectors = append(ws.out.MessageVectors, v)
		}
	}
}

func (ws *workspace) takeFactVector(v memory.LateVector) {
	f := ws.fact(memory.FactID(v.ID))
	if f == nil {
		ws.out.Stale = true
		return
	}
	if f.Vector != nil || !ws.cfg.compares(v.Vector, v.Model) {
		return
	}
	f.Vector, f.Model = v.Vector.Unit(), v.Model
	ws.put(*f)
	if !f.Live() {
		return
	}
	near := ws.nearFacts(*f)
	root, _ := ws.mergeNear(*f, near)
	ws.oppose(root, near)
}

// embedded reports whether the write changed nothing of a fact but gave it its
// vector: its version stays, for nobody who read it has read anything else.
func (s *factState) embedded() bool {
	if s.gone || s.before == nil || s.before.Vector != nil || s.now.Vector == nil {
		return false
	}
	bare := s.now
	bare.Vector, bare.Model = nil, s.before.Model
	return sameFact(*s.before, bare)
}
