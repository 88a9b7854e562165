package postgres_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/eunoe-memory/eunoe/pkg/consolidate"
	"github.com/eunoe-memory/eunoe/pkg/consolidate/plan"
	"github.com/eunoe-memory/eunoe/pkg/events/natstest"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/query/recall"
	"github.com/eunoe-memory/eunoe/pkg/store/postgres"
)

// writing applies random messages and writes to a store.
type writing struct {
	t          *testing.T
	db         *postgres.DB
	rng        *rand.Rand
	seq, write uint64
	facts      []memory.Fact // that are stored
	messages   []uint64      // likewise
	keeps      bool          // no message replaces another
}

var rowWords = strings.Fields("amber anvil barley basalt bellows birch cinder clover copper drifting drifts fathom flint 硝子 硝子細工 gable harbour hazel lantern")

func (w *writing) text() string {
	words := make([]string, 2+w.rng.IntN(5))
	for i := range words {
		words[i] = rowWords[min(w.rng.IntN(len(rowWords)), w.rng.IntN(len(rowWords)))]
	}
	return strings.Join(words, " ")
}

func (w *writing) change(bank memory.BankID, c memory.Changes) {
	w.t.Helper()
	w.write++
	one := memory.Write{Bank: bank, Kind: memory.WriteRetain, Seq: w.write, Op: fmt.Sprint("op ", w.write), Time: said}
	err := w.db.ApplyWrites(w.t.Context(), w.write-1, w.write, []memory.Write{one}, func(plan.View, memory.Write) (memory.Changes, error) { return c, nil })
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *writing) say(bank memory.BankID) {
	w.t.Helper()
	w.sayMany(bank, 1)
}

// sayMany applies n messages at once.
func (w *writing) sayMany(bank memory.BankID, n int) {
	w.t.Helper()
	before := w.seq
	var events []consolidate.MessageEvent
	for range n {
		events = append(events, w.event(bank))
	}
	if err := w.db.ApplyMessages(w.t.Context(), before, w.seq, events); err != nil {
		w.t.Fatal(err)
	}
}

// event is a message with the next number.
func (w *writing) event(bank memory.BankID) consolidate.MessageEvent {
	w.seq++
	at := said.Add(time.Duration(w.seq) * time.Minute)
	session := memory.SessionID(fmt.Sprint("s", w.rng.IntN(3)))
	m := &memory.Message{ID: memory.SequenceID(w.seq), Bank: bank, Session: session, Seq: w.seq, Stored: at, Time: at, Role: memory.RoleUser,
		Speaker: "Ida", Content: w.text()}
	if bank == "b" {
		if n := len(w.messages); n > 0 && w.rng.IntN(8) == 0 && !w.keeps {
			m.Replaces = memory.SequenceID(w.messages[w.rng.IntN(n)])
		}
		w.messages = append(w.messages, w.seq)
	}
	return consolidate.MessageEvent{Seq: w.seq, Bank: bank, Session: session, Stored: at, State: memory.StatePending, Message: m}
}

func (w *writing) retain(bank memory.BankID) {
	f := memory.Fact{Bank: bank, Text: fmt.Sprintf("%s %d", w.text(), w.write), Kind: memory.KindWorld, Type: memory.TypeFact, Speaker: "Ida",
		Said: said, Recorded: said, Session: "s0", Valid: []memory.Interval{{From: said}}, Version: 1, Confidence: .6}
	if n := len(w.messages); n > 0 && bank == "b" {
		seq := w.messages[w.rng.IntN(n)]
		f.Sources = []memory.Source{{Message: memory.SequenceID(seq), Seq: seq, Said: said, Start: said}}
	}
	if end := said.Add(time.Hour); w.rng.IntN(3) == 0 {
		f.Valid[0].To = &end
	}
	if w.rng.IntN(2) == 0 {
		f.Vector = memory.Vector{float32(w.rng.NormFloat64()), 1, 2}.Unit()
	}
	f.ID = memory.NewFactID(bank, f.Text, f.Kind)
	w.change(bank, memory.Changes{Facts: []memory.Fact{f}})
	if bank == "b" {
		w.facts = append(w.facts, f)
	}
}

// step applies something.
func (w *writing) step() {
	w.t.Helper()
	n, end := len(w.facts), said.Add(time.Hour)
	switch k := w.rng.IntN(16); {
	case k < 3 || n == 0 || len(w.messages) == 0:
		w.retain("b")
		w.say("b")
	case k < 5:
		w.say("b")
	case k < 7:
		w.retain("b")
	case k < 9:
		w.retain("c")
		w.say("c")
	case k < 12: // ends, or holds again
		f := &w.facts[w.rng.IntN(n)]
		if f.Version++; f.Valid[0].To == nil && w.rng.IntN(5) > 0 {
			f.Valid = []memory.Interval{{From: said, To: &end}}
		} else {
			f.Valid = []memory.Interval{{From: said}}
		}
		if seq := w.messages[w.rng.IntN(len(w.messages))]; len(f.Sources) == 0 || f.Sources[len(f.Sources)-1].Seq < seq {
			f.Sources = append(slices.Clone(f.Sources), memory.Source{Message: memory.SequenceID(seq), Seq: seq, Said: said, Start: said})
		}
		w.change("b", memory.Changes{Facts: []memory.Fact{*f}})
	case k == 12:
		f := &w.facts[w.rng.IntN(n)]
		f.Version++
		f.Text = w.text()
		w.change("b", memory.Changes{Facts: []memory.Fact{*f}})
	case k == 13:
		i := w.rng.IntN(n)
		w.change("b", memory.Changes{Forgotten: &memory.Forgotten{Facts: []memory.FactID{w.facts[i].ID}}})
		w.facts = slices.Delete(w.facts, i, i+1)
	case k == 14:
		i := w.rng.IntN(len(w.messages))
		w.change("b", memory.Changes{Forgotten: &memory.Forgotten{Messages: []uint64{w.messages[i]}}})
		w.messages = slices.Delete(w.messages, i, i+1)
	default:
		w.retain("b")
	}
}

// TestHeldRowsAreThoseOfTheStateThatIsRead asks two processes the same, one of which holds the rows of words and the neighbours
// of messages, while a third one stores, ends, rewords, replaces and forgets. Some searches go on while that happens.
func TestHeldRowsAreThoseOfTheStateThatIsRead(t *testing.T) {
	t.Parallel()
	dsn := newSchema(t)
	w := &writing{t: t, db: open(t, postgres.DefaultConfig(dsn)), rng: rand.New(rand.NewPCG(3, 11))}
	for range 40 {
		w.retain("b")
		w.say("b")
	}
	holding, bare := openReader(t, dsn, 1), openReader(t, dsn, 1<<40)
	in := func(db *postgres.DB, fn func(recall.Searcher)) {
		t.Helper()
		if err := db.Search(t.Context(), "b", memory.Filter{}, func(s recall.Searcher) error { fn(s); return nil }); err != nil {
			t.Fatal(err)
		}
	}
	type found struct {
		Nos    []int64
		All    int
		Known  bool
		Around []recall.Neighbourhood
		Rows   []recall.MessageRow
		Shown  []recall.MessageRow
		Ended  []int64
	}
	ask := func(s recall.Searcher, rec memory.Record, term recall.Term, limit int, near []int64) (f found) {
		t.Helper()
		var err error
		if f.Nos, f.All, err = s.Matching(rec, term, limit); err != nil {
			t.Fatal(err)
		}
		if f.Known, err = s.Known(term); err != nil {
			t.Fatal(err)
		}
		if f.Around, err = s.Around(near, 3, 4); err != nil {
			t.Fatal(err)
		}
		if f.Rows, err = s.Messages(near); err != nil {
			t.Fatal(err)
		}
		if f.Shown, err = s.Context(near); err != nil {
			t.Fatal(err)
		}
		if f.Ended, err = s.EndedMessages(near); err != nil {
			t.Fatal(err)
		}
		return f
	}
	some, ended := 0, 0
	check := func(when string, a, b recall.Searcher) {
		t.Helper()
		all := make([]int64, w.seq)
		for i := range all {
			all[i] = int64(i + 1)
		}
		got, err := a.EndedMessages(all)
		if err != nil {
			t.Fatal(err)
		}
		want, err := b.EndedMessages(all)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("%s, the messages whose facts ended differ where rows are held:\n%s", when, diff)
		}
		ended += len(got)
		for range 8 {
			word := rowWords[w.rng.IntN(len(rowWords))]
			term := []recall.Term{{Forms: []string{word}}, {Forms: []string{word, rowWords[w.rng.IntN(len(rowWords))]}}, {Forms: []string{word}, Prefix: "drift"},
				{Forms: []string{"硝子"}, Grams: true}, {Forms: []string{word + " " + rowWords[3]}}}[w.rng.IntN(5)]
			limit := []int{1, 3, 8, 1000}[w.rng.IntN(4)]
			near := make([]int64, 4)
			for i := range near {
				near[i] = w.rng.Int64N(int64(w.seq)) + 1 //nolint:gosec // few
			}
			slices.Sort(near)
			near = slices.Compact(near)
			for _, rec := range []memory.Record{memory.RecordFact, memory.RecordMessage} {
				got, want := ask(a, rec, term, limit, near), ask(b, rec, term, limit, near)
				if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
					t.Fatalf("%s, %ss by %+v, %d at most, differ where rows are held:\n%s", when, rec, term, limit, diff)
				}
				some += len(got.Nos)
			}
		}
	}
	both := func(fn func(a, b recall.Searcher)) {
		in(holding, func(a recall.Searcher) { in(bare, func(b recall.Searcher) { fn(a, b) }) })
	}
	for range 90 {
		w.step()
		both(func(a, b recall.Searcher) {
			check("now", a, b)
			if w.rng.IntN(3) > 0 {
				return
			}
			for range 1 + w.rng.IntN(4) {
				w.step()
				both(func(a, b recall.Searcher) { check("later", a, b) })
			}
			check("before", a, b)
		})
	}
	for range 15 {
		w.retain("b")
	}
	both(func(a, b recall.Searcher) { check("before the bank is erased", a, b) })
	w.change("b", memory.Changes{Forgotten: &memory.Forgotten{Bank: true, Upto: w.seq}})
	w.facts, w.messages = nil, nil
	for n := range 60 { // facts have numbers that others had
		if n < 20 {
			w.retain("b")
			w.say("b")
		} else {
			w.step()
		}
		both(func(a, b recall.Searcher) { check("made anew", a, b) })
	}
	for range 80 {
		w.say("b")
	}
	in(holding, func(s recall.Searcher) {
		var nos []int64
		for _, seq := range w.messages {
			nos = append(nos, int64(seq)) //nolint:gosec // few
		}
		if _, err := s.Context(nos); err != nil {
			t.Fatal(err)
		}
	})
	const numbers = 12_000 // bytes at most, of the facts that words find
	if held := holding.Sketches().Bytes; held < 2*numbers {
		t.Errorf("%d bytes are held", held)
	}
	w.change("b", memory.Changes{Forgotten: &memory.Forgotten{Messages: w.messages[:1]}})
	natstest.Eventually(t, "no text is held of messages of which one was forgotten", func() bool { return holding.Sketches().Bytes < numbers })
	if some < 10_000 || ended < 100 {
		t.Errorf("all that was asked found %d rows, and %d messages whose facts ended", some, ended)
	}
}

// openReader opens a store for reading that holds rows of banks from a size on.
func openReader(t *testing.T, dsn string, from int) *postgres.DB {
	t.Helper()
	cfg := postgres.DefaultConfig(dsn)
	cfg.SketchFrom, cfg.ReadOnly = from, true
	return open(t, cfg)
}

// matched is what a search finds by a term.
type matched struct {
	Nos []int64
	All int
}

// matching returns the facts that each of some terms finds, and then the messages.
func matching(s recall.Searcher, terms []recall.Term) (out []matched, err error) {
	for _, rec := range []memory.Record{memory.RecordFact, memory.RecordMessage} {
		for _, term := range terms {
			nos, all, err := s.Matching(rec, term, 1000)
			if err != nil {
				return nil, err
			}
			out = append(out, matched{nos, all})
		}
	}
	return out, nil
}

// TestRowsThatAreHeldAreNotLookedForAgain counts the bytes that the server answers with.
func TestRowsThatAreHeldAreNotLookedForAgain(t *testing.T) {
	t.Parallel()
	server, dsn := count(t, newSchema(t))
	w := &writing{t: t, db: open(t, postgres.DefaultConfig(dsn)), rng: rand.New(rand.NewPCG(4, 9))}
	for range 150 {
		w.retain("b")
		w.say("b")
	}
	reader := openReader(t, dsn, 100)
	var terms []recall.Term
	for _, word := range rowWords {
		terms = append(terms, recall.Term{Forms: []string{word}})
	}
	search := func() int64 {
		before := server.answered.Load()
		err := reader.Search(t.Context(), "b", memory.Filter{}, func(s recall.Searcher) error {
			if _, err := matching(s, terms); err != nil {
				return err
			}
			_, err := s.Around([]int64{10, 20, 30, 40, 50}, 3, 4)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return server.answered.Load() - before
	}
	first, held, since := search(), int64(1<<40), int64(1<<40)
	for range 6 { // background reads go by the same connections
		held = min(held, search())
		w.say("b")
		w.retain("b")
		since = min(since, search())
	}
	t.Logf("the server answers with %d bytes, with %d again, and with %d when a message and a fact came", first, held, since)
	if held*20 > first || since*2 > first {
		t.Errorf("the server answers with %d bytes, with %d where rows are held, and with %d when some came", first, held, since)
	}
}

// TestWordsOfALargeBankAreNotLookedForInTheDatabase counts the bytes that are sent to the server by searches for words that nobody
// searched for before, in a bank that was searched for others.
func TestWordsOfALargeBankAreNotLookedForInTheDatabase(t *testing.T) {
	t.Parallel()
	dsn := newSchema(t)
	server, counted := count(t, dsn)
	w := &writing{t: t, db: open(t, postgres.DefaultConfig(dsn)), rng: rand.New(rand.NewPCG(6, 7)), keeps: true}
	for range 150 {
		w.retain("b")
		w.say("b")
	}
	indexing, bare := openReader(t, counted, 100), openReader(t, dsn, 1<<40)
	search := func(db *postgres.DB, terms ...recall.Term) (out []matched, trips int64) {
		before := server.trips.Load()
		err := db.Search(t.Context(), "b", memory.Filter{}, func(s recall.Searcher) (err error) {
			out, err = matching(s, terms)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return out, server.trips.Load() - before
	}
	next, none := 0, int64(math.MaxInt64) // background reads go by the same connections
	natstest.Eventually(t, "a word that nobody searched for is not looked for", func() bool {
		next++
		_, some := search(indexing, recall.Term{Forms: []string{fmt.Sprint("unheard", next)}})
		_, nothing := search(indexing)
		none = min(none, nothing)
		return some <= none
	})
	var terms []recall.Term
	for _, word := range rowWords {
		terms = append(terms, recall.Term{Forms: []string{word}, Prefix: word}, recall.Term{Forms: []string{word, "anvil"}})
	}
	for _, when := range []string{"first", "after a message and a fact came", "after more came", "after a thousand came", "again"} {
		got, some := search(indexing, terms...)
		want, _ := search(bare, terms...)
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s, what is found by words that nobody searched for differs:\n%s", when, diff)
		}
		if some > 8 && when != "after a thousand came" {
			t.Errorf("%s, %d searches take %d round trips", when, 2*len(terms), some)
		}
		switch when {
		case "after more came":
			w.sayMany("b", 1100)
		case "after a thousand came":
		default:
			w.say("b")
			w.retain("b")
		}
	}
}

// TestManyHiddenRowsAreReadApart asks a bank of which thousands of facts ended: they are read while searches go on.
func TestManyHiddenRowsAreReadApart(t *testing.T) {
	t.Parallel()
	const ended = 2100
	dsn := newSchema(t)
	w := &writing{t: t, db: open(t, postgres.DefaultConfig(dsn)), rng: rand.New(rand.NewPCG(8, 2))}
	w.say("b")
	var c memory.Changes
	to := said.Add(time.Hour)
	for i := range ended + 10 {
		f := memory.Fact{Bank: "b", Text: fmt.Sprintf("lantern %d", i), Kind: memory.KindWorld, Type: memory.TypeFact, Said: said, Recorded: said,
			Valid: []memory.Interval{{From: said, To: &to}}, Version: 1, Confidence: .6}
		if i >= ended {
			f.Valid[0].To = nil
		}
		f.ID = memory.NewFactID("b", f.Text, f.Kind)
		c.Facts = append(c.Facts, f)
	}
	w.change("b", c)
	reader := openReader(t, dsn, 1)
	lanterns := func() {
		t.Helper()
		err := reader.Search(t.Context(), "b", memory.Filter{}, func(s recall.Searcher) error {
			nos, all, err := s.Matching(memory.RecordFact, recall.Term{Forms: []string{"lantern"}}, 1000)
			if len(nos) != 10 || all != 10 {
				t.Errorf("%d of %d lanterns are found; expected 10, the others ended", len(nos), all)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	lanterns()
	natstest.Eventually(t, "the hidden facts are held", func() bool { return reader.Sketches().Bytes >= 8*ended })
	lanterns()
	lanterns()
}

// TestAFactWithTheNumberOfAnErasedOneIsFound erases a bank whose facts ended, and makes it anew with facts of the same numbers.
func TestAFactWithTheNumberOfAnErasedOneIsFound(t *testing.T) {
	t.Parallel()
	dsn := newSchema(t)
	w := &writing{t: t, db: open(t, postgres.DefaultConfig(dsn)), rng: rand.New(rand.NewPCG(1, 5))}
	reader := openReader(t, dsn, 1)
	to := said.Add(time.Hour)
	lanterns := func(name string, version uint64, ended bool) {
		var c memory.Changes
		for i := range 3 {
			f := memory.Fact{Bank: "b", Text: fmt.Sprintf("%s lantern %d", name, i), Kind: memory.KindWorld, Type: memory.TypeFact, Said: said, Recorded: said,
				Valid: []memory.Interval{{From: said}}, Version: version, Confidence: .6}
			if ended {
				f.Valid[0].To = &to
			}
			f.ID = memory.NewFactID("b", f.Text, f.Kind)
			c.Facts = append(c.Facts, f)
		}
		w.change("b", c)
	}
	found := func(want int, when string) {
		t.Helper()
		err := reader.Search(t.Context(), "b", memory.Filter{}, func(s recall.Searcher) error {
			nos, _, err := s.Matching(memory.RecordFact, recall.Term{Forms: []string{"lantern"}}, 1000)
			if len(nos) != want {
				t.Errorf("%d lanterns are found %s; expected %d", len(nos), when, want)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	w.say("b")
	lanterns("old", 1, true)
	found(0, "when they ended")
	w.change("b", memory.Changes{Forgotten: &memory.Forgotten{Bank: true, Upto: w.seq}})
	w.say("b")
	lanterns("new", 1, false)
	found(3, "when others were made")
	lanterns("new", 2, true)
	found(0, "when those ended too")
}
