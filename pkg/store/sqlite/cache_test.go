package sqlite_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/eunoe-memory/eunoe/pkg/consolidate/plan"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/store/sqlite"
)

// generator generates random writes to a small set of facts and composites.
type generator struct {
	r     *rand.Rand
	facts []memory.Fact
	trees []memory.Composite
}

func (w *generator) text() string {
	return fmt.Sprintf("Ann told of thing%d and place%d with word%d", w.r.IntN(6), w.r.IntN(9), w.r.IntN(40))
}

func (w *generator) vector() memory.Vector {
	v := make(memory.Vector, 8)
	for i := range v {
		v[i] = float32(w.r.NormFloat64())
	}
	return v.Unit()
}

func (w *generator) entities() []memory.EntityID {
	list := []memory.EntityID{"person:ann", "place:oslo", "other:chess", "person:bob", "person:cy", "place:rome"}
	at := w.r.IntN(len(list))
	return list[at:min(at+1+w.r.IntN(2), len(list))]
}

// change returns one random change of what is stored.
func (w *generator) change(seq uint64) memory.Changes {
	var c memory.Changes
	n := len(w.facts)
	switch kind := w.r.IntN(11); {
	case n < 5 || kind < 5:
		f := benchFact(w.r, seq)
		f.Text, f.Vector, f.Entities = w.text(), w.vector(), w.entities()
		w.facts = append(w.facts, f)
		c.Facts = []memory.Fact{f}
	case kind == 5: // ends, or is valid again
		f := &w.facts[w.r.IntN(n)]
		if f.Live() {
			f.Superseded = w.facts[0].ID
			f.Valid = nil
		} else {
			f.Superseded, f.Valid = "", []memory.Interval{{From: f.Said}}
		}
		c.Facts = []memory.Fact{*f}
	case kind == 6: // gets another wording
		f := &w.facts[w.r.IntN(n)]
		f.Text, f.Vector, f.Entities, f.Confidence = w.text(), w.vector(), w.entities(), w.r.Float64()
		f.Said = f.Said.AddDate(0, 0, w.r.IntN(3))
		c.Facts = []memory.Fact{*f}
	case kind == 7 && w.r.IntN(4) == 0:
		i := w.r.IntN(n)
		c.RemovedFacts = []memory.FactID{w.facts[i].ID}
		w.facts = slices.Delete(w.facts, i, i+1)
	case kind == 8 && len(w.trees) > 0:
		i := w.r.IntN(len(w.trees))
		c.RemovedComposites = []memory.CompositeID{w.trees[i].ID}
		w.trees = slices.Delete(w.trees, i, i+1)
	case kind == 9 && len(w.trees) > 0:
		w.renew(&c, w.r.IntN(len(w.trees)), seq)
	default:
		a, b := w.facts[w.r.IntN(n)], w.facts[w.r.IntN(n)]
		t := memory.Composite{ID: memory.CompositeID(fmt.Sprintf("c%d", seq%3)), Level: 1, Text: w.text(), Vector: w.vector(), Entities: w.entities(),
			Children: []string{string(a.ID), string(b.ID)}, Representative: string(a.ID), Said: benchEpoch, Confidence: .5}
		if w.r.IntN(2) == 0 {
			t.Vector = a.Vector
		}
		if above := w.r.IntN(4); above == 0 && len(w.trees) > 0 {
			t.ID, t.Level, t.Children = memory.CompositeID(fmt.Sprintf("d%d", seq%2)), 2, []string{string(w.trees[0].ID)}
		}
		w.trees = append(slices.DeleteFunc(w.trees, func(o memory.Composite) bool { return o.ID == t.ID }), t)
		c.Composites = []memory.Composite{t}
	}
	return c
}

// renew replaces a composite by another one that reuses its row, and then the composites above it.
func (w *generator) renew(c *memory.Changes, i int, seq uint64) {
	was := w.trees[i]
	now := was
	now.ID = memory.CompositeID(fmt.Sprintf("r%d-%d", seq, len(c.Composites)))
	if now.Level == 1 && w.r.IntN(2) == 0 {
		now.Children = []string{was.Children[0], string(w.facts[w.r.IntN(len(w.facts))].ID)}
	}
	if w.r.IntN(2) == 0 {
		now.Text, now.Vector, now.Entities = w.text(), w.vector(), w.entities()
	}
	if w.r.IntN(8) == 0 {
		now.Vector = nil
	}
	if c.Renewed == nil {
		c.Renewed = map[memory.CompositeID]memory.CompositeID{}
	}
	c.Renewed[now.ID] = was.ID
	c.RemovedComposites, c.Composites = append(c.RemovedComposites, was.ID), append(c.Composites, now)
	w.trees[i] = now
	for j, above := range w.trees {
		if above.Level == 2 && slices.Contains(above.Children, string(was.ID)) {
			w.trees[j].Children = []string{string(now.ID)}
			if other := w.trees[w.r.IntN(len(w.trees))]; other.Level == 1 && w.r.IntN(4) == 0 {
				w.trees[j].Children = []string{string(other.ID)}
			}
			w.renew(c, j, seq)
		}
	}
}

// crowd returns changes after which an entity is in more composites than a lookup reads, while old and new ones are
// removed.
func (w *generator) crowd(seq uint64) memory.Changes {
	if seq < 5 {
		return w.change(seq)
	}
	var c memory.Changes
	for i := range 12 {
		n := len(w.trees)
		if seq > 30 && n > 0 && w.r.IntN(10) < 6 {
			at := w.r.IntN(n)
			if w.r.IntN(2) == 0 {
				at = max(0, n-1-w.r.IntN(20))
			}
			c.RemovedComposites = append(c.RemovedComposites, w.trees[at].ID)
			w.trees = slices.Delete(w.trees, at, at+1)
			continue
		}
		f := w.facts[w.r.IntN(len(w.facts))]
		c.Composites = append(c.Composites, memory.Composite{ID: memory.CompositeID(fmt.Sprintf("e%d-%d", seq, i)), Level: 1, Text: w.text(), Vector: w.vector(),
			Entities: []memory.EntityID{"person:ann"}, Children: []string{string(f.ID)}, Representative: string(f.ID), Said: benchEpoch, Confidence: .5})
	}
	w.trees = append(w.trees, c.Composites...)
	return c
}

// repeat returns changes after which facts rest on many messages, gain some and lose some.
func (w *generator) repeat(seq uint64) memory.Changes {
	if seq < 8 || w.r.IntN(4) == 0 {
		return w.change(seq)
	}
	f := &w.facts[w.r.IntN(min(3, len(w.facts)))]
	f.Sources = slices.Clone(f.Sources)
	if w.r.IntN(5) == 0 {
		f.Sources = slices.DeleteFunc(f.Sources, func(memory.Source) bool { return w.r.IntN(2) == 0 })
	}
	for i := range uint64(w.r.IntN(40)) {
		at := seq*100 + i
		said := benchEpoch.Add(time.Duration(at) * time.Second)
		f.Sources = append(f.Sources, memory.Source{Message: memory.SequenceID(at), Seq: at, Said: said, Start: said.Add(-time.Second)})
	}
	return memory.Changes{Facts: []memory.Fact{*f}}
}

// adjust returns a write that changes one of a few facts, and neither its words nor its vector.
func (w *generator) adjust(seq uint64) memory.Changes {
	if len(w.facts) < 8 {
		f := benchFact(w.r, seq)
		f.Text, f.Vector, f.Entities = w.text(), w.vector(), w.entities()
		w.facts = append(w.facts, f)
		return memory.Changes{Facts: []memory.Fact{f}}
	}
	f := &w.facts[w.r.IntN(len(w.facts))]
	f.Vector, f.Confidence = nil, w.r.Float64()
	return memory.Changes{Facts: []memory.Fact{*f}}
}

// furnish returns a change of a fact that has some of all that a fact can have, also what is stored otherwise than it was
// given.
func (w *generator) furnish(seq uint64) memory.Changes {
	c := w.adjust(seq)
	f := &w.facts[slices.IndexFunc(w.facts, func(f memory.Fact) bool { return f.ID == c.Facts[0].ID })]
	texts := []string{"", "tea", "a\x00b", "Zürich", "日本"}
	text := func() string { return texts[w.r.IntN(len(texts))] }
	at := f.Said.Add(time.Duration(w.r.IntN(5)) * 100 * time.Nanosecond)
	later := at.Add(time.Hour).In(time.FixedZone("", 3600))
	f.Key, f.Topic, f.Speaker, f.Session = fmt.Sprint(text(), seq), text(), text(), memory.SessionID(text())
	f.Tags, f.Ops = []string{}, []string{text(), "op"}
	if w.r.IntN(2) == 0 {
		f.Tags = []string{text()}
	}
	f.Recorded, f.Occurred = later, memory.Span{}
	if w.r.IntN(2) == 0 {
		f.Occurred = memory.Span{From: &at, To: &later}
	}
	f.Valid = []memory.Interval{{From: at, To: &later}, {From: later.Add(time.Hour)}}
	if w.r.IntN(3) == 0 {
		f.Valid = []memory.Interval{{From: f.Said}}
	}
	f.State, f.Metadata, f.Outcome, f.Bounds = nil, nil, nil, nil
	switch w.r.IntN(6) {
	case 0:
		f.Metadata = map[string]any{"n": 3, "said": later}
	case 1:
		f.Bounds = &memory.Bounds{From: at, To: &later, Said: at}
	case 2, 3:
		f.State = &memory.State{Subject: "person:ann", Attribute: text(), Value: text()}
	}
	if w.r.IntN(3) == 0 {
		f.Vector = w.vector()
	}
	if w.r.IntN(3) == 0 {
		f.Sources = append(f.Sources[:1:1], memory.Source{Message: memory.MessageID(text()), Seq: seq + 1000, Said: at, Start: later})
	}
	return memory.Changes{Facts: []memory.Fact{*f}}
}

// TestTheCacheAnswersAsTheTablesDo compares a store that stays open, with a warm cache, with one that is reopened for
// every write.
func TestTheCacheAnswersAsTheTablesDo(t *testing.T) {
	t.Parallel()
	t.Run("of a few of everything", func(t *testing.T) {
		t.Parallel()
		compareAnswers(t, (*generator).change)
	})
	t.Run("of an entity in many composites", func(t *testing.T) {
		t.Parallel()
		compareAnswers(t, (*generator).crowd)
	})
	t.Run("of facts that change in little", func(t *testing.T) {
		t.Parallel()
		compareAnswers(t, (*generator).adjust)
	})
	t.Run("of facts with all that a fact can have", func(t *testing.T) {
		t.Parallel()
		compareAnswers(t, (*generator).furnish)
	})
	t.Run("of a statement that is repeated again and again", func(t *testing.T) {
		t.Parallel()
		compareAnswers(t, (*generator).repeat)
	})
}

func compareAnswers(t *testing.T, change func(*generator, uint64) memory.Changes) {
	ctx := context.Background()
	open := func(name, dir string) *sqlite.DB {
		c := sqlite.DefaultConfig(filepath.Join(dir, name))
		c.Unsynced = true // hundreds of commits and closings, none of which a power cut can meet
		db, err := sqlite.Open(c)
		if err != nil {
			t.Fatal(err)
		}
		return db
	}
	dir := t.TempDir()
	stays := open("stays.db", dir)
	defer stays.Close() //nolint:errcheck // its content was compared already
	w := &generator{r: rand.New(rand.NewPCG(7, 11))}
	const writes, batch = 200, 10
	type asked struct {
		near     memory.Vector
		terms    []string
		entities []memory.EntityID
	}
	ids := []string{"c0", "c1", "c2", "d0", "d1", "none"}
	var log []memory.Write
	changes, questions := map[uint64]memory.Changes{}, map[uint64][]asked{}
	for seq := uint64(1); seq <= writes; seq++ {
		log = append(log, memory.Write{Bank: "b", Kind: memory.WriteWindow, Seq: seq, Op: fmt.Sprintf("op-%d", seq), Time: benchEpoch})
		changes[seq] = change(w, seq)
		for _, c := range changes[seq].Composites {
			if !slices.Contains(ids, string(c.ID)) {
				ids = append(ids, string(c.ID))
			}
		}
		near, terms, entities := w.vector(), strings.Fields(w.text()), w.entities()
		questions[seq] = []asked{{near, terms[len(terms)-3:], nil}, {near, nil, entities}, {near, nil, []memory.EntityID{"person:ann"}}, {near, terms, entities}}
	}
	answers := func(db *sqlite.DB, from, to uint64) (out []any) {
		err := db.ApplyWrites(ctx, from, to, log[from:to], func(v plan.View, wr memory.Write) (memory.Changes, error) {
			var named []string
			var factIDs []memory.FactID
			var composites []memory.CompositeID
			for _, f := range w.facts { // also those that are told later
				named, factIDs = append(named, string(f.ID)), append(factIDs, f.ID)
			}
			for _, id := range ids {
				composites = append(composites, memory.CompositeID(id))
			}
			for level := range 3 {
				nodes, err := v.Nodes(level, append(named, ids...))
				if err != nil {
					return memory.Changes{}, err
				}
				out = append(out, nodes)
			}
			whole, err := v.Composites(composites)
			if err != nil {
				return memory.Changes{}, err
			}
			facts, err := v.Facts(factIDs)
			if err != nil {
				return memory.Changes{}, err
			}
			out = append(out, whole, facts)
			for _, e := range []memory.EntityID{"person:ann", "other:chess", "place:rome"} {
				about, err := v.FactsOfEntity(e, 20)
				if err != nil {
					return memory.Changes{}, err
				}
				out = append(out, about)
			}
			for _, q := range questions[wr.Seq] {
				for level := range 3 {
					found, err := v.Nearest(level, q.near, q.terms, q.entities, -1, 120)
					if err != nil {
						return memory.Changes{}, err
					}
					out = append(out, found)
				}
			}
			return changes[wr.Seq], nil
		})
		if err != nil {
			t.Fatalf("writes %d to %d: %v", from, to, err)
		}
		return out
	}
	for from := uint64(0); from < writes; from += batch {
		remembered := answers(stays, from, from+batch)
		var read []any
		for at := from; at < from+batch; at++ {
			fresh := open("fresh.db", dir)
			read = append(read, answers(fresh, at, at+1)...)
			if err := fresh.Close(); err != nil {
				t.Fatal(err)
			}
		}
		if reflect.DeepEqual(read, remembered) {
			continue // what cmp.Diff would find too, after half of the time of this test
		}
		if diff := cmp.Diff(read, remembered); diff != "" {
			t.Fatalf("in the writes after %d, the tables say - and the writer's memory +:\n%s", from, diff)
		}
	}
}

func TestAFailedWriteLeavesNothingInTheCache(t *testing.T) {
	t.Parallel()
	ctx, db, r := context.Background(), openBench(t), rand.New(rand.NewPCG(1, 2))
	f := benchFact(r, 1)
	f.Entities = []memory.EntityID{"person:ann"}
	count := 0
	ask := func(v plan.View, w memory.Write) (memory.Changes, error) {
		found, err := v.Nearest(0, f.Vector, strings.Fields(f.Text), f.Entities, -1, 5)
		if count = len(found); w.Seq == 2 && err == nil {
			err = fmt.Errorf("stop: %w", memory.ErrInvalid)
		}
		return memory.Changes{Facts: []memory.Fact{f}}, err
	}
	write := func(seq uint64) memory.Write {
		return memory.Write{Bank: "b", Kind: memory.WriteWindow, Seq: seq, Op: fmt.Sprint(seq), Time: benchEpoch}
	}
	if err := db.ApplyWrites(ctx, 0, 2, []memory.Write{write(1), write(2)}, ask); err == nil || count != 1 {
		t.Fatalf("found %d and %v; expected the fact of the first write, and an error", count, err)
	}
	if err := db.ApplyWrites(ctx, 0, 1, []memory.Write{write(1)}, ask); err != nil || count != 0 {
		t.Fatalf("found %d and %v; expected nothing of what was rolled back", count, err)
	}
}
