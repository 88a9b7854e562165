package query_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rs/zerolog"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/query"
	"github.com/eunoe-memory/eunoe/pkg/store/sqlite"
)

// newHearsay gives a world of 120 messages and facts made of few words, some of
// which ended, and what says n of those words.
func newHearsay(t *testing.T) (m meaning, say func(n int) string) {
	t.Helper()
	m = newMeaning(t)
	r := rand.New(rand.NewPCG(11, 5))
	words := strings.Fields("cat car bees roof garden Ann Ben Lisbon chess violin red blue old concert ticket yesterday moved kept broke bought")
	say = func(n int) string {
		out := make([]string, n)
		for i := range out {
			out[i] = words[r.IntN(len(words))]
		}
		return strings.Join(out, " ")
	}
	for i := range 120 {
		m.hear(memory.Message{ID: memory.MessageID(fmt.Sprintf("m%d", i)), Session: memory.SessionID(fmt.Sprintf("s%d", i%7)), Speaker: words[5+r.IntN(2)],
			Content: "I " + say(4+r.IntN(6)) + ".", Time: noon.Add(-time.Duration(r.IntN(4000)) * time.Minute)})
		text := "Ann " + say(5) + "."
		f := memory.Fact{Text: text, Entities: []memory.EntityID{memory.EntityID("thing:" + words[r.IntN(len(words))])}, Said: noon.Add(-time.Duration(i) * time.Hour),
			Sources: m.from(alice, fmt.Sprintf("m%d", i)), Vector: m.vector(text), Model: m.model.Name()}
		if i%9 == 0 {
			end := f.Said.Add(time.Hour)
			f.Valid = []memory.Interval{{From: f.Said, To: &end}}
		}
		m.know(alice, f)
	}
	return m, say
}

// TestTwoLinesFindWhatOneFinds asks the same of a service that reads by two
// connections at a time and of one that does not. Run with -race it also shows
// that no step of one line touches what a step of the other works on.
func TestTwoLinesFindWhatOneFinds(t *testing.T) {
	t.Parallel()
	m, say := newHearsay(t)
	deps := query.Deps{Embedder: m.model, Log: zerolog.Nop(), Now: func() time.Time { return noon }}
	var services []*query.Service
	for _, beside := range []int{0, 1} {
		c := sqlite.DefaultConfig(m.path)
		c.ReadOnly, c.Beside = true, beside
		db, err := sqlite.Open(c)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = db.Close() })
		deps.Store = db
		s, err := query.New(query.DefaultConfig(), deps)
		if err != nil {
			t.Fatal(err)
		}
		services = append(services, s)
	}
	found := 0
	for i := range 60 {
		ask := memory.RecallRequest{Query: "Who " + say(3) + "?", Explain: true}
		early := noon.Add(-24 * time.Hour)
		switch i % 6 {
		case 1:
			ask.Filter.Session = "s3"
		case 2:
			ask.Filter.AsOf = &early
		case 3:
			ask.Query = "What happened yesterday with the " + say(1) + "?"
		case 4:
			ask.Filter.Speakers = []string{"ann"}
		case 5:
			ask.Filter.Entities = []string{"thing:cat", "thing:chess"}
		}
		var replies []memory.RecallReply
		for _, s := range services {
			reply, err := s.Recall(t.Context(), alice, ask)
			if err != nil {
				t.Fatal(err)
			}
			found += len(reply.Items)
			reply.Recall, reply.Took = "", 0
			replies = append(replies, reply)
		}
		if diff := cmp.Diff(replies[0], replies[1]); diff != "" {
			t.Fatalf("%q is answered otherwise in two lines:\n%s", ask.Query, diff)
		}
	}
	if found < 500 {
		t.Errorf("only %d items were compared", found)
	}
}

// TestWhatWasNotReadAheadIsReadLater fuses what a recall found with all that was
// read ahead for it, with a part, with nothing and with more than was found.
func TestWhatWasNotReadAheadIsReadLater(t *testing.T) {
	t.Parallel()
	m, say := newHearsay(t)
	s := serviceOf(t, m.world, query.DefaultConfig(), func(d *query.Deps) { d.Embedder = m.model })
	early := noon.Add(-24 * time.Hour)
	filters := []memory.Filter{{}, {Session: "s3"}, {AsOf: &early}, {Speakers: []string{"ann"}}}
	ended, links := 0, 0
	for i := range 20 {
		ask := memory.RecallRequest{Query: "Who " + say(3) + "?", Filter: filters[i%len(filters)]}
		fused, e, l, err := query.FuseReadAhead(t.Context(), s, alice, ask, 200)
		if err != nil {
			t.Fatal(err)
		}
		ended, links = ended+e, links+l
		if strings.Contains(strings.Join(fused[0], "\n"), `""`) {
			t.Fatalf("%q gives what is not there:\n%s", ask.Query, strings.Join(fused[0], "\n"))
		}
		for k, name := range []string{"a part", "nothing", "more than was found"} {
			if diff := cmp.Diff(fused[0], fused[k+1]); diff != "" {
				t.Fatalf("%q, with %s read ahead:\n%s", ask.Query, name, diff)
			}
		}
	}
	if ended == 0 || links == 0 {
		t.Errorf("%d messages whose facts ended and %d sources of facts were read ahead, want some", ended, links)
	}
}

// TestALineThatFailsHoldsUpNothing lets one line of a recall fail while the other
// waits for it.
func TestALineThatFailsHoldsUpNothing(t *testing.T) {
	t.Parallel()
	well := func() error { return nil }
	broken := errors.New("the disk is gone")
	fails := func() error { return broken }
	for name, lines := range map[string][2]func() error{"first": {fails, well}, "second": {well, fails}, "both": {fails, fails}} {
		if err := query.RunLines(t.Context(), lines[0], lines[1]); !errors.Is(err, broken) {
			t.Errorf("%s line failed, and the error is %v", name, err)
		}
	}
	if err := query.RunLines(t.Context(), well, well); err != nil {
		t.Errorf("no line failed, and the error is %v", err)
	}
	for name, lines := range map[string][2]func() error{"first": {func() error { panic("lost") }, well}, "second": {well, func() error { panic("lost") }}} {
		func() {
			defer func() {
				if got := recover(); got != "lost" {
					t.Errorf("%s line panicked, and its caller saw %v", name, got)
				}
			}()
			err := query.RunLines(t.Context(), lines[0], lines[1])
			t.Errorf("%s line panicked, and the error is %v", name, err)
		}()
	}
}
