package sqlite_test

import (
	"database/sql"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/eunoe-memory/eunoe/pkg/consolidate/plan"
	"github.com/eunoe-memory/eunoe/pkg/events/natstest"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/query/recall"
	"github.com/eunoe-memory/eunoe/pkg/store/sketch"
	"github.com/eunoe-memory/eunoe/pkg/store/sqlite"
)

// large is a store with more vectors than the exact search handles without sketches.
type large struct {
	t      *testing.T
	db     *sqlite.DB
	path   string
	rng    *rand.Rand
	topics []memory.Vector
	lean   float64 // how strong a direction all vectors share
	seq    uint64
	write  uint64
}

const dimensions = 128

func newLarge(t *testing.T, lean float64) *large {
	t.Helper()
	l := &large{t: t, path: filepath.Join(t.TempDir(), "eunoe.db"), rng: rand.New(rand.NewPCG(7, uint64(lean*10))), lean: lean}
	l.db = l.open(false)
	for range 60 {
		l.topics = append(l.topics, l.random())
	}
	return l
}

func (l *large) open(readOnly bool) *sqlite.DB {
	l.t.Helper()
	c := sqlite.DefaultConfig(l.path)
	c.SketchFrom, c.ReadOnly = 1000, readOnly
	db, err := sqlite.Open(c)
	l.must(err)
	l.t.Cleanup(func() { l.must(db.Close()) })
	return db
}

func (l *large) must(err error) {
	l.t.Helper()
	if err != nil {
		l.t.Fatal(err)
	}
}

func (l *large) random() memory.Vector {
	v := make(memory.Vector, dimensions)
	for i := range v {
		v[i] = float32(l.rng.NormFloat64())
	}
	return v
}

// vector returns a vector near a topic, like the embedding of a text.
func (l *large) vector() memory.Vector {
	v, topic := l.random(), l.topics[l.rng.IntN(len(l.topics))]
	for i := range v {
		v[i] += topic[i] + float32(l.lean)
	}
	return v.Unit()
}

// fact returns a fact without sources; i decides which filters it passes.
func (l *large) fact(bank memory.BankID, i int) memory.Fact {
	l.write++
	said := benchEpoch.Add(time.Duration(i) * time.Minute)
	f := memory.Fact{Bank: bank, Text: fmt.Sprintf("Fact %d of %s.", i, bank), Kind: memory.KindWorld, Type: memory.TypeFact, Speaker: "Ann", Said: said, Recorded: said,
		Session: memory.SessionID(fmt.Sprintf("s%d", i%500)), Valid: []memory.Interval{{From: said}}, Version: l.write, Confidence: .7, Vector: l.vector()}
	if i%2 == 0 {
		f.Type = memory.TypePreference
	}
	if i%7 == 0 {
		end := said.Add(time.Hour)
		f.Valid[0].To = &end
	}
	f.ID = memory.NewFactID(bank, f.Text, f.Kind)
	return f
}

// apply stores changes of a bank as one write.
func (l *large) apply(bank memory.BankID, c memory.Changes) {
	l.t.Helper()
	l.seq++
	w := memory.Write{Bank: bank, Kind: memory.WriteRetain, Seq: l.seq, Op: fmt.Sprintf("op-%d", l.seq), Time: benchEpoch}
	l.must(l.db.ApplyWrites(l.t.Context(), l.seq-1, l.seq, []memory.Write{w}, func(plan.View, memory.Write) (memory.Changes, error) { return c, nil }))
}

func (l *large) fill(bank memory.BankID, n int) []memory.Fact {
	l.t.Helper()
	facts := make([]memory.Fact, n)
	for i := range facts {
		facts[i] = l.fact(bank, i)
	}
	l.apply(bank, memory.Changes{Facts: facts})
	return facts
}

// turned returns a rotated vector of the same length.
func turned(v memory.Vector) memory.Vector {
	out := slices.Clone(v)
	slices.Reverse(out)
	return out
}

func near(t *testing.T, db *sqlite.DB, bank memory.BankID, f memory.Filter, v memory.Vector, k int, exact bool) []recall.Near {
	t.Helper()
	var out []recall.Near
	err := db.Search(t.Context(), bank, f, func(s recall.Searcher) (err error) {
		if out, err = s.Nearest(t.Context(), v, k, exact); err != nil || exact {
			return err
		}
		// Prefetching for this or another vector changes nothing.
		for _, expected := range []memory.Vector{v, turned(v)} {
			if err := s.Prefetch(expected, k, k); err != nil {
				return err
			}
			again, err := s.Nearest(t.Context(), v, k, exact)
			if err != nil {
				return err
			}
			if diff := cmp.Diff(out, again); diff != "" {
				t.Errorf("near to what was expected:\n%s", diff)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// sketch waits until searches of the bank's facts use sketches.
func (l *large) sketch(db *sqlite.DB, bank memory.BankID, rows int) {
	l.t.Helper()
	near(l.t, db, bank, memory.Filter{}, l.vector(), 1, false)
	natstest.Eventually(l.t, "the vectors are sketched", func() bool { return db.Sketches().Rows >= rows && db.Sketches().Building == 0 })
}

func numbers(list []recall.Near) (nos []int64) {
	for _, n := range list {
		nos = append(nos, n.No)
	}
	return nos
}

func TestSketches(t *testing.T) {
	t.Parallel()
	for _, lean := range []float64{0, 3} {
		t.Run(fmt.Sprintf("find the ten nearest that an exact search finds, vectors leaning by %v", lean), func(t *testing.T) {
			t.Parallel()
			l := newLarge(t, lean)
			l.fill("b", 4000)
			l.sketch(l.db, "b", 4000)
			found, all := 0, 0
			for range 60 {
				q := l.vector()
				want := numbers(near(t, l.db, "b", memory.Filter{}, q, 10, true))
				got := numbers(near(t, l.db, "b", memory.Filter{}, q, 10, false))
				if len(got) != 10 {
					t.Fatalf("found %d", len(got))
				}
				for _, no := range want {
					all++
					if slices.Contains(got, no) {
						found++
					}
				}
			}
			if recall := float64(found) / float64(all); recall < .98 {
				t.Errorf("recall@10 is %.3f", recall)
			}
		})
	}
	t.Run("return no row that a filter excludes", func(t *testing.T) {
		t.Parallel()
		l := newLarge(t, 1)
		facts := l.fill("b", 4000)
		l.fill("c", 1500)
		l.sketch(l.db, "b", 4000)
		early, late, never := benchEpoch.Add(50*time.Minute), benchEpoch.Add(3600*time.Minute), benchEpoch.Add(-time.Hour)
		for name, f := range map[string]memory.Filter{
			"none": {}, "half": {Types: []memory.Type{memory.TypePreference}}, "few": {Session: "s77"}, "few by time": {To: &early}, "most by time": {To: &late},
			"none of all": {To: &never}, "then": {AsOf: &late}, "early": {AsOf: &early}, "two": {Types: []memory.Type{memory.TypePreference}, To: &early},
		} {
			for range 8 {
				q := l.vector()
				if l.rng.IntN(2) == 0 {
					q = facts[l.rng.IntN(len(facts))].Vector
				}
				want, got := near(t, l.db, "b", f, q, 10, true), near(t, l.db, "b", f, q, 10, false)
				passing := numbers(near(t, l.db, "b", f, q, 10000, true))
				if len(got) != len(want) {
					t.Fatalf("%s: found %d; %d pass", name, len(got), len(passing))
				}
				for i, n := range got {
					if !slices.Contains(passing, n.No) {
						t.Fatalf("%s: row %d is left out by the filter and was found", name, n.No)
					}
					if i > 0 && n.Cosine > got[i-1].Cosine {
						t.Fatalf("%s: %v is out of order", name, got)
					}
				}
				if len(want) > 0 && got[0] != want[0] {
					t.Errorf("%s: the nearest is %v; want %v", name, got[0], want[0])
				}
			}
		}
	})
	t.Run("see in every process what was committed before the search, and nothing that was erased", func(t *testing.T) {
		t.Parallel()
		l := newLarge(t, 1)
		facts := l.fill("b", 3000)
		other := l.open(true)
		l.sketch(other, "b", 3000)
		for i := range 30 {
			f := l.fact("b", 3000+i)
			f.Valid[0].To = nil
			l.apply("b", memory.Changes{Facts: []memory.Fact{f}})
			first := near(t, other, "b", memory.Filter{}, f.Vector, 1, false)
			if len(first) != 1 || first[0].Cosine < .9999 {
				t.Fatalf("the fact was not found at once: %v", first)
			}
			f.Vector = l.vector()
			l.apply("b", memory.Changes{Facts: []memory.Fact{f}})
			if again := near(t, other, "b", memory.Filter{}, f.Vector, 1, false); len(again) != 1 || again[0].No != first[0].No || again[0].Cosine < .9999 {
				t.Fatalf("the other vector of the fact was not found at once: %v", again)
			}
			l.apply("b", memory.Changes{Forgotten: &memory.Forgotten{Facts: []memory.FactID{f.ID}}})
			if gone := near(t, other, "b", memory.Filter{}, f.Vector, 1, false); len(gone) != 1 || gone[0].Cosine > .9999 {
				t.Fatalf("the fact was found after it was forgotten: %v", gone)
			}
		}
		if n := other.Sketches().Rows; n != 3000 {
			t.Errorf("%d vectors are sketched; want 3000", n)
		}
		f := facts[1]
		to := f.Said.Add(time.Hour)
		f.Valid[0].To, f.Version = &to, f.Version+100000
		l.apply("b", memory.Changes{Facts: []memory.Fact{f}})
		held := f.Said.Add(time.Minute)
		if now := near(t, other, "b", memory.Filter{}, f.Vector, 1, false); now[0].Cosine > .9999 {
			t.Error("a fact that ended is found")
		}
		if then := near(t, other, "b", memory.Filter{AsOf: &held}, f.Vector, 1, false); len(then) != 1 || then[0].Cosine < .9999 {
			t.Errorf("as of then the fact is not found: %v", then)
		}
		l.apply("b", memory.Changes{Forgotten: &memory.Forgotten{Bank: true}})
		natstest.Eventually(t, "the sketches are as they should be", func() bool { return other.Sketches().Rows == 0 })
	})
	t.Run("are rebuilt by a process that fell behind", func(t *testing.T) {
		t.Parallel()
		l := newLarge(t, 1)
		l.fill("b", 2000)
		l.sketch(l.db, "b", 2000)
		raw, err := sql.Open("sqlite3", l.path)
		l.must(err)
		defer raw.Close() //nolint:errcheck // it was read from
		f := l.fact("b", 2001)
		f.ID = "a row that nobody knows"
		// A commit, and the truncation of the list that others missed.
		_, err = raw.Exec(`BEGIN IMMEDIATE; UPDATE fact_vectors SET vector = ?1 WHERE fact = 5;
INSERT INTO vector_changes (bank, record, no) SELECT bank, 'fact', fact FROM fact_vectors WHERE fact IN (5, 6);
DELETE FROM vector_changes WHERE seq < (SELECT max(seq) FROM vector_changes); COMMIT`, sketch.Pack(f.Vector))
		l.must(err)
		if got := near(t, l.db, "b", memory.Filter{}, f.Vector, 1, false); len(got) != 1 || got[0].No != 5 {
			t.Errorf("found %v", got)
		}
		natstest.Eventually(t, "the sketches are as they should be", func() bool { return l.db.Sketches().Rows == 2000 })
		if got := near(t, l.db, "b", memory.Filter{}, f.Vector, 1, false); len(got) != 1 || got[0].No != 5 {
			t.Errorf("found %v", got)
		}
	})
	t.Run("are built at startup when requested, for large banks only", func(t *testing.T) {
		t.Parallel()
		l := newLarge(t, 1)
		l.fill("b", 1200)
		l.fill("c", 900)
		other := l.open(true)
		other.Warm()
		natstest.Eventually(t, "the sketches are as they should be", func() bool {
			s := other.Sketches()
			return s.Rows == 1200 && s.Banks == 1 && s.Bytes > 1200*dimensions/8
		})
		near(t, other, "c", memory.Filter{}, l.vector(), 5, false)
		if s := other.Sketches(); s.Rows != 1200 || s.Building != 0 {
			t.Errorf("there are %+v", s)
		}
	})
}
