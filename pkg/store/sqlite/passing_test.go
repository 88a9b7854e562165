package sqlite_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/eunoe-memory/eunoe/pkg/consolidate"
	"github.com/eunoe-memory/eunoe/pkg/consolidate/plan"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/query"
	"github.com/eunoe-memory/eunoe/pkg/query/recall"
	"github.com/eunoe-memory/eunoe/pkg/store/sqlite"
)

// varied stores n messages and n facts, some matching each filter condition, and a second bank with the same words.
func varied(t *testing.T, db *sqlite.DB, n int) {
	t.Helper()
	r := rand.New(rand.NewPCG(5, 9))
	pick := func(list ...string) string { return list[r.IntN(len(list))] }
	moment := func() *time.Time {
		if r.IntN(3) > 0 {
			return nil
		}
		at := benchEpoch.Add(time.Duration(r.IntN(n)) * time.Minute)
		return &at
	}
	var events []consolidate.MessageEvent
	changes := map[memory.BankID]*memory.Changes{"b": {}, "other": {}}
	for i := range n {
		seq, said := uint64(i+1), benchEpoch.Add(time.Duration(i)*time.Minute)
		bank := memory.BankID("b")
		if i%5 == 4 {
			bank = "other"
		}
		session := memory.SessionID(fmt.Sprintf("s%d", i/20))
		m := &memory.Message{Bank: bank, Session: session, Seq: seq, ID: memory.SequenceID(seq), Role: memory.RoleUser, Speaker: pick("Ann", "ann", "Bob", "Cy"),
			Topic: pick("", "Chess", "food"), Content: sentence(r, 8), Time: said}
		if i%9 == 0 && bank == "b" && i > 9 {
			m.Replaces = memory.SequenceID(seq - 9)
		}
		events = append(events, consolidate.MessageEvent{Seq: seq, Bank: bank, Session: session, Stored: said, State: memory.StatePending, Message: m})
		f := benchFact(r, seq)
		f.ID, f.Bank, f.Said = memory.NewFactID(bank, f.Text, f.Kind), bank, said
		f.Valid = []memory.Interval{{From: said}}
		f.Speaker, f.Topic, f.Tags = m.Speaker, m.Topic, []string{pick("red", "green", "blue")}
		f.Type = memory.Type(pick(string(memory.TypeFact), string(memory.TypePreference)))
		f.Kind = memory.Kind(pick(string(memory.KindWorld), string(memory.KindExperience)))
		f.Occurred = memory.Span{From: moment(), To: moment()}
		if f.Occurred.From != nil && f.Occurred.To != nil && f.Occurred.To.Before(*f.Occurred.From) {
			f.Occurred.To = nil
		}
		f.Session = session
		if i%3 == 0 { // known by its messages alone
			f.Session = ""
		}
		f.Sources[0].Said, f.Sources[0].Start = said, said
		if i%7 == 0 && i > 60 && events[i-60].Bank == bank {
			f.Sources = append([]memory.Source{{Message: memory.SequenceID(seq - 60), Seq: seq - 60, Said: said.Add(-time.Hour), Start: said}}, f.Sources...)
		}
		if i%2 == 1 && events[i-1].Bank == bank {
			f.Sources = append([]memory.Source{{Message: memory.SequenceID(seq - 1), Seq: seq - 1, Said: said, Start: said}}, f.Sources...)
		}
		if seq%50 == 7 {
			f.Entities = append(f.Entities, "person:p8")
		}
		if i%13 == 0 { // held before it was said, and not in between
			f.Valid = []memory.Interval{{From: said.Add(-5 * time.Hour), To: ptr(said.Add(-3 * time.Hour))}, {From: said}}
		}
		if i%11 == 0 {
			f.Superseded, f.Valid[len(f.Valid)-1].To = "f_gone", ptr(said.Add(time.Hour))
		}
		changes[bank].Facts = append(changes[bank].Facts, f)
	}
	ctx := context.Background()
	if err := db.ApplyMessages(ctx, 0, uint64(n), events); err != nil {
		t.Fatal(err)
	}
	writes := []memory.Write{{Bank: "b", Kind: memory.WriteWindow, Seq: 1, Op: "b", Time: benchEpoch}, {Bank: "other", Kind: memory.WriteWindow, Seq: 2, Op: "o", Time: benchEpoch}}
	err := db.ApplyWrites(ctx, 0, 2, writes, func(_ plan.View, w memory.Write) (memory.Changes, error) { return *changes[w.Bank], nil })
	if err != nil {
		t.Fatal(err)
	}
}

func ptr[T any](v T) *T { return &v }

// narrowed returns a random filter with one to three conditions.
func narrowed(r *rand.Rand, n int) memory.Filter {
	at := func() *time.Time { return ptr(benchEpoch.Add(time.Duration(r.IntN(n)) * time.Minute)) }
	var f memory.Filter
	for range 1 + r.IntN(3) {
		switch r.IntN(11) {
		case 0, 1:
			f.Session = memory.SessionID(fmt.Sprintf("s%d", r.IntN(n/20+2)))
		case 2:
			f.Speakers = []string{"ANN", "nobody"}[:1+r.IntN(2)]
		case 3:
			f.Topics = []string{"chess"}
		case 4:
			f.From = at()
		case 5:
			f.To = at()
		case 6:
			f.From = at()
			f.To = ptr(f.From.Add(time.Hour))
		case 7:
			f.Entities = []string{fmt.Sprintf("person:p%d", 8+r.IntN(3)), "person:p7"}[:1+r.IntN(2)]
		case 8:
			f.AsOf = at()
		case 9:
			f.Tags = []string{"red"}
		case 10:
			f.Kinds = []memory.Kind{memory.KindExperience}
		}
	}
	return f
}

// TestListingWhatPassesAFilterChangesNoAnswer compares stores that list all rows passing a filter, only a few, and
// none.
func TestListingWhatPassesAFilterChangesNoAnswer(t *testing.T) {
	t.Parallel()
	const size, filters = 600, 150
	ctx, path := context.Background(), filepath.Join(t.TempDir(), "eunoe.db")
	filled := sqlite.DefaultConfig(path)
	filled.Unsynced = true
	varied(t, openStore(t, filled), size)
	var stores []*sqlite.DB
	for _, listed := range []int{0, 20, 5000} {
		config := sqlite.DefaultConfig(path)
		config.ReadOnly, config.ListUpTo = true, listed
		stores = append(stores, openStore(t, config))
	}
	r := rand.New(rand.NewPCG(3, 8))
	found := 0
	for range filters {
		f := narrowed(r, size)
		v := benchFact(r, 1).Vector
		from := benchEpoch.Add(time.Duration(r.IntN(size)) * time.Minute)
		oldest := r.IntN(2) == 0
		term := recall.Term{Forms: []string{fmt.Sprintf("word%d", r.IntN(200)), "word3", "word9"}}
		var answers [][]any
		for _, db := range stores {
			var out []any
			err := db.Search(ctx, "b", f, func(s recall.Searcher) error {
				for _, rec := range []memory.Record{memory.RecordFact, memory.RecordMessage} {
					nos, all, err := s.Matching(rec, term, 30)
					if err != nil {
						return err
					}
					recent, err := s.Recent(rec, 25)
					if err != nil {
						return err
					}
					within, err := s.Within(rec, from, from.Add(3*time.Hour), 25)
					if err != nil {
						return err
					}
					found += len(nos) + len(recent) + len(within)
					out = append(out, slices.Clip(nos), all, recent, within)
				}
				each, err := s.NamingEach([]memory.EntityID{"person:p7", "person:p8", "person:none"}, 5)
				if err != nil {
					return err
				}
				for e, nos := range each {
					one, err := s.Naming([]memory.EntityID{e}, 5)
					if err != nil || !slices.Equal(nos, one) {
						return fmt.Errorf("%s is named by %v and, asked alone, by %v: %w", e, nos, one, err)
					}
				}
				for _, exact := range []bool{false, true} {
					facts, err := s.Nearest(ctx, v, 25, exact)
					if err != nil {
						return err
					}
					found += len(facts)
					out = append(out, facts)
				}
				return nil
			})
			if err == nil {
				err = db.Read(ctx, "b", func(v query.Reader) error {
					for _, rec := range []memory.Record{memory.RecordFact, memory.RecordMessage} {
						first, place, err := v.List(rec, f, oldest, query.Position{}, 7)
						if err != nil {
							return err
						}
						more, _, err := v.List(rec, f, oldest, place, 7)
						if err != nil {
							return err
						}
						out = append(out, first, more)
					}
					return nil
				})
			}
			if err != nil {
				t.Fatalf("%+v: %v", f, err)
			}
			answers = append(answers, out)
		}
		for i, other := range answers[1:] {
			if diff := cmp.Diff(answers[0], other); diff != "" {
				t.Fatalf("%+v: looking through all says -, and store %d +:\n%s", f, i+1, diff)
			}
		}
	}
	if found < 20*filters {
		t.Errorf("%d rows found in all: the filters let too little through to say anything", found)
	}
}
