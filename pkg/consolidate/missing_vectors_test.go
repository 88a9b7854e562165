package consolidate_test

import (
	"bytes"
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rs/zerolog"

	"github.com/eunoe-memory/eunoe/pkg/consolidate"
	"github.com/eunoe-memory/eunoe/pkg/consolidate/consolidatetest"
	"github.com/eunoe-memory/eunoe/pkg/consolidate/rebuild"
	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/events/natstest"
	"github.com/eunoe-memory/eunoe/pkg/events/ordered"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/query/recall"
	"github.com/eunoe-memory/eunoe/pkg/store/sqlite"
	"github.com/eunoe-memory/eunoe/pkg/text/secret"
)

// embedding is a stage whose consolidator embeds what comes without a vector.
type embedding struct {
	*stage
	model *consolidatetest.Embedder
}

func newEmbedding(t *testing.T) *embedding {
	t.Helper()
	e := &embedding{model: consolidatetest.NewEmbedder("test:model"), stage: &stage{T: t, conn: natstest.Start(t), path: filepath.Join(t.TempDir(), "eunoe.db")}}
	e.db = e.open(e.path, e.model)
	return e
}

// open opens a store of a model.
func (e *embedding) open(path string, model *consolidatetest.Embedder) *sqlite.DB {
	e.Helper()
	cfg := sqlite.DefaultConfig(path)
	cfg.Embedder, cfg.Dimension = model.Name(), model.Dimension()
	db, err := sqlite.Open(cfg)
	if err != nil {
		e.Fatal(err)
	}
	e.Cleanup(func() { _ = db.Close() })
	return db
}

func (e *embedding) over(conn *events.Conn, db *sqlite.DB, model *consolidatetest.Embedder) *consolidate.Consolidator {
	e.Helper()
	redactor, err := secret.NewRedactor(nil)
	if err != nil {
		e.Fatal(err)
	}
	c, err := consolidate.New(settingsOf(model), consolidate.Deps{Conn: conn, Store: db, Redactor: redactor, Embedder: model, Log: zerolog.Nop()})
	if err != nil {
		e.Fatal(err)
	}
	return c
}

// rebuilder rebuilds into a store of a model from the log of the stage.
func (e *embedding) rebuilder(db *sqlite.DB, model *consolidatetest.Embedder) *rebuild.Rebuilder {
	e.Helper()
	return newRebuilder(e.T, settingsOf(model), consolidate.Deps{Conn: e.conn, Store: db, Embedder: model, Log: zerolog.Nop()})
}

// run starts the consolidator and returns what stops it.
func (e *embedding) run() (stop func()) {
	e.Helper()
	c := e.over(natstest.Another(e.T, e.conn), e.db, e.model)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- c.Run(ctx) }()
	stopped := false
	stop = func() {
		if stopped {
			return
		}
		stopped = true
		cancel()
		if err := <-done; err != nil {
			e.Errorf("the consolidator ended: %v", err)
		}
	}
	e.Cleanup(stop)
	return stop
}

// bare appends the end of the window of one message, with statements without vectors.
func (e *embedding) bare(seq uint64, id string, statements ...string) uint64 {
	e.Helper()
	return e.with(seq, id, nil, statements...)
}

// with is bare with vectors of a model.
func (e *embedding) with(seq uint64, id string, model *consolidatetest.Embedder, statements ...string) uint64 {
	e.Helper()
	e.ops++
	w := memory.Window{ID: memory.NewWindowID("alice", "s1", seq, seq, 0), Trigger: memory.TriggerFlush, New: []memory.WindowMessage{{Seq: seq}}}
	var facts []memory.Fact
	for _, text := range statements {
		f := consolidatetest.FactWithoutVector(text)
		f.ID = memory.NewFactID("alice", text, f.Kind)
		f.Sources = []memory.Source{{Message: memory.MessageID(id), Seq: seq, Said: at(e.ops), Start: at(e.ops)}}
		if model != nil {
			f.Vector, f.Model = model.Vector(e.T, text), model.Name()
		}
		facts = append(facts, f)
	}
	return e.append(memory.Write{Kind: memory.WriteWindow, Op: string(w.ID), Upto: seq, Facts: facts,
		Window: &memory.WindowEnd{Window: w, SessionID: "s1", Outcome: memory.WindowFacts}})
}

// counts returns the rows of the tables of vectors and of the tree.
func (e *embedding) counts(db *sqlite.DB) (facts, messages, composites int) {
	e.Helper()
	n, err := db.Counts(e.Context())
	if err != nil {
		e.Fatal(err)
	}
	return n["fact_vectors"], n["message_vectors"], n["composites"]
}

// embedded waits until the store has so many vectors, and nothing waits for one.
func (e *embedding) embedded(facts, messages int) {
	e.Helper()
	natstest.Eventually(e.T, "the vectors are there", func() bool {
		f, m, _ := e.counts(e.db)
		last, err := e.conn.LastSeq(e.Context(), e.conn.Naming.Writes())
		_, writes, again := e.db.Applied(e.Context())
		return err == nil && again == nil && f == facts && m == messages && writes == last
	})
}

func dumpOf(t *testing.T, db *sqlite.DB) string {
	t.Helper()
	var b bytes.Buffer
	if err := db.Dump(t.Context(), &b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// same fails where two dumps differ.
func same(t *testing.T, what, a, b string) {
	t.Helper()
	if d := cmp.Diff(strings.Split(a, "\n"), strings.Split(b, "\n")); d != "" {
		t.Errorf("%s (-before +after):\n%.4000s", what, d)
	}
}

func (e *embedding) rebuilt(model *consolidatetest.Embedder) string {
	e.Helper()
	db := e.open(filepath.Join(e.TempDir(), "again.db"), model)
	if err := e.rebuilder(db, model).Rebuild(e.Context(), nil); err != nil {
		e.Fatal(err)
	}
	return dumpOf(e.T, db)
}

func TestTheEmbedderIsDown(t *testing.T) {
	t.Parallel()
	e := newEmbedding(t)
	e.model.Down(true)
	stop := e.run()
	first := e.say("m1", "I drive a red car.")
	second := e.say("m2", "It is a red automobile, my password is hunter2hunter2.")
	e.bare(first, "m1", "Alice drives a red car.")
	last := e.bare(second, "m2", "Alice drives a red automobile.", "Alice hides from dogs.")
	e.applied(last)
	natstest.Eventually(t, "the embedder was asked", func() bool { calls, _ := e.model.Calls(); return calls > 0 })
	if f, m, c := e.counts(e.db); f+m+c != 0 {
		t.Errorf("there are %d, %d vectors and %d composites while the embedder is down", f, m, c)
	}
	err := e.db.Search(t.Context(), "alice", memory.Filter{}, func(s recall.Searcher) error {
		nos, _, err := s.Matching(memory.RecordFact, recall.Term{Forms: []string{"red"}}, 10)
		if len(nos) != 2 {
			t.Errorf("%d facts are found by a word", len(nos))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	e.model.Down(false)
	e.embedded(3, 2)
	if _, _, c := e.counts(e.db); c != 1 {
		t.Errorf("the late facts make %d composites; want 1", c)
	}
	stop()
	if err := e.db.Check(t.Context()); err != nil {
		t.Error(err)
	}
	same(t, "a rebuild returns another store", dumpOf(t, e.db), e.rebuilt(e.model))

	var usage memory.Usage
	var sent string
	_, err = ordered.Scan(t.Context(), e.conn, e.conn.Naming.Writes(), nil, 0, func(ev events.Event) error {
		w, err := ev.Write()
		for _, u := range w.Usage {
			usage = usage.Plus(u.Usage)
		}
		if w.Kind == memory.WriteVectors {
			sent += string(ev.Data)
			if w.Early {
				t.Error("late vectors pass for early ones")
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if usage.Calls < 3 || usage.Failed < 1 || usage.Failed >= usage.Calls {
		t.Errorf("the log tells of %+v; the embedder failed at first and then answered", usage)
	}
	if strings.Contains(sent, "hunter2") || strings.Contains(sent, "red") {
		t.Error("events of vectors hold words")
	}
}

func TestARecordTheEmbedderRefuses(t *testing.T) {
	t.Parallel()
	e := newEmbedding(t)
	e.model.Refuse("bees")
	e.run()
	seq := e.say("m1", "I keep bees.")
	e.bare(seq, "m1", "Alice keeps bees.", "Alice drives a car.", "Alice has a dog.", "Alice is long-winded about "+strings.Repeat("words and ", 40)+"bees.")
	e.embedded(3, 0) // of the long one the beginning is embedded
	calls, _ := e.model.Calls()
	next := e.say("m2", "I have a cat.")
	e.bare(next, "m2", "Alice has a cat.")
	e.embedded(4, 1)
	if after, _ := e.model.Calls(); after > calls+4 {
		t.Errorf("%d calls for two records more: what is refused is asked again", after-calls)
	}
}

func TestForgettingWhatWasEmbeddedLate(t *testing.T) {
	t.Parallel()
	e := newEmbedding(t)
	e.run()
	first, second := e.say("m1", "I keep bees."), e.say("m2", "I drive a car.")
	e.bare(first, "m1", "Alice keeps bees.")
	e.bare(second, "m2", "Alice drives a car.")
	e.embedded(2, 2)
	seq := e.append(memory.Write{Kind: memory.WriteForget, Op: "forget", Upto: second, Forget: &memory.ForgetRequest{ID: "m1"}})
	e.applied(seq)
	gone := []memory.Vector{e.model.Vector(t, "I keep bees."), e.model.Vector(t, "Alice keeps bees.")}
	stays := []memory.Vector{e.model.Vector(t, "I drive a car."), e.model.Vector(t, "Alice drives a car.")}
	held := func(v memory.Vector) (n int) {
		raw, _ := v.MarshalJSON()
		_, err := ordered.Scan(t.Context(), e.conn, e.conn.Naming.Writes(), nil, 0, func(ev events.Event) error {
			n += bytes.Count(ev.Data, raw)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	natstest.Eventually(t, "the log holds no vector of the forgotten", func() bool {
		list, err := e.db.Erasures(t.Context(), "", 1)
		return err == nil && len(list) == 0 && held(gone[0])+held(gone[1]) == 0
	})
	for _, v := range stays {
		if held(v) != 1 {
			t.Errorf("the log holds what stays %d times", held(v))
		}
	}
	if f, m, _ := e.counts(e.db); f != 1 || m != 1 {
		t.Errorf("the store has %d and %d vectors", f, m)
	}

	// Vectors that were on the way when their records were forgotten go too.
	late := e.model.LateVector(t, "Alice keeps bees.")
	e.append(memory.Write{Kind: memory.WriteVectors, Op: "in flight", Vectors: []memory.LateVector{late,
		{Record: memory.RecordMessage, ID: "m1", Seq: first, Model: e.model.Name(), Vector: gone[0]}}})
	natstest.Eventually(t, "the event in flight is erased", func() bool {
		last, err := e.conn.LastSeq(t.Context(), e.conn.Naming.Writes())
		_, writes, again := e.db.Applied(t.Context())
		return err == nil && again == nil && writes == last && held(gone[0])+held(gone[1]) == 0
	})
}

func TestAChangeOfTheEmbeddingModel(t *testing.T) {
	t.Parallel()
	e := newEmbedding(t)
	old, next := e.model, consolidatetest.NewEmbedder("test:next")
	stop := e.run()
	first, second := e.say("m1", "I drive a red car."), e.say("m2", "I keep bees.")
	e.with(first, "m1", old, "Alice drives a red car.")
	e.with(second, "m2", old, "Alice drives a red automobile.", "Alice keeps bees.")
	e.embedded(3, 2)
	bees := memory.NewFactID("alice", "Alice keeps bees.", memory.KindWorld)
	e.append(memory.Write{Kind: memory.WriteEdit, Op: "edit", Edit: &memory.EditWrite{EditRequest: memory.EditRequest{ID: bees, Text: "Alice keeps many bees."}}})
	e.embedded(4, 2)
	stop()
	before := dumpOf(t, e.db)

	cfg := sqlite.DefaultConfig(e.path)
	cfg.Embedder, cfg.Dimension = next.Name(), next.Dimension()
	if _, err := sqlite.Open(cfg); !errors.Is(err, memory.ErrConflict) || !strings.Contains(err.Error(), old.Name()) || !strings.Contains(err.Error(), next.Name()) ||
		!strings.Contains(err.Error(), "eunoe rebuild --embed") {
		t.Errorf("opening with another embedder gave %v", err)
	}

	t.Run("an interrupted run leaves the store of the old model unchanged", func(t *testing.T) {
		next.Refuse("automobile")
		ctx, cancel := context.WithCancel(t.Context())
		part := e.open(filepath.Join(t.TempDir(), "part.db"), next)
		err := e.rebuilder(part, next).Reembed(ctx, func(p rebuild.Progress) {
			if p.Embedded > 0 {
				cancel()
			}
		})
		if err == nil {
			t.Error("it was not broken off")
		}
		next.Refuse("")
		stop := e.run() // of the old model, over a log with vectors of the new one
		last, err := e.conn.LastSeq(t.Context(), e.conn.Naming.Writes())
		if err != nil {
			t.Fatal(err)
		}
		e.applied(last)
		stop()
		for _, table := range []string{`"fact_vectors"`, `"message_vectors"`, `"facts"`, `"composites"`} {
			same(t, "vectors of another model changed "+table, rows(before, table), rows(dumpOf(t, e.db), table))
		}
	})
	var live string
	t.Run("everything is embedded anew and found by the new model", func(t *testing.T) {
		db := e.open(filepath.Join(t.TempDir(), "new.db"), next)
		var last rebuild.Progress
		if err := e.rebuilder(db, next).Reembed(t.Context(), func(p rebuild.Progress) { last = p }); err != nil {
			t.Fatal(err)
		}
		if f, m, c := e.counts(db); f != 4 || m != 2 || c != 1 {
			t.Errorf("there are %d and %d vectors and %d composites", f, m, c)
		}
		if last.Writes < last.LastWrite || last.Embedded == 0 {
			t.Errorf("it ended at %+v", last)
		}
		if err := db.Check(t.Context()); err != nil {
			t.Error(err)
		}
		nearest := func(q string) (text string) {
			err := db.Search(t.Context(), "alice", memory.Filter{}, func(s recall.Searcher) error {
				near, err := s.Nearest(t.Context(), next.Vector(t, q), 1, false)
				if err != nil || len(near) != 1 {
					t.Errorf("nearest are %v, %v", near, err)
					return err
				}
				facts, err := s.Facts([]int64{near[0].No})
				text = facts[0].Text
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			return text
		}
		if got := nearest("vehicle red"); got != "Alice drives a red car." && got != "Alice drives a red automobile." {
			t.Errorf("the nearest is %q", got)
		}
		live = dumpOf(t, db)
	})
	t.Run("a plain rebuild from the resulting log makes the same store", func(t *testing.T) {
		calls, _ := next.Calls()
		same(t, "a plain rebuild differs", live, e.rebuilt(next))
		if after, _ := next.Calls(); after != calls {
			t.Errorf("a plain rebuild called the model %d times", after-calls)
		}
	})
	t.Run("a second run embeds nothing", func(t *testing.T) {
		_, texts := next.Calls()
		db := e.open(filepath.Join(t.TempDir(), "twice.db"), next)
		if err := e.rebuilder(db, next).Reembed(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		if _, after := next.Calls(); after != texts {
			t.Errorf("%d texts were embedded again", after-texts)
		}
		same(t, "a second run differs", live, dumpOf(t, db))
	})
}

// rows returns the lines of a dump that are of one table.
func rows(dump, table string) string {
	var out []string
	for _, l := range strings.Split(dump, "\n") {
		if strings.HasPrefix(l, "["+table) {
			out = append(out, l)
		}
	}
	return strings.Join(out, "\n")
}
