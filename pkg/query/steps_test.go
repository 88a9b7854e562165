package query_test

import (
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
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

// newRepetitiveStore returns a fixture of 120 messages and facts made of few words, some of
// which ended, and a function that says n of those words.
func newRepetitiveStore(t *testing.T) (m meaning, say func(n int) string) {
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

// TestTwoConnectionsFindWhatOneFinds compares a service that reads through two connections with one that uses a single
// connection. With -race it also shows that steps of different connections share no data.
func TestTwoConnectionsFindWhatOneFinds(t *testing.T) {
	t.Parallel()
	m, say := newRepetitiveStore(t)
	deps := query.Deps{Embedder: m.model, Log: zerolog.Nop(), Now: func() time.Time { return noon }}
	var services []*query.Service
	for _, secondReaders := range []int{0, 1} {
		c := sqlite.DefaultConfig(m.path)
		c.ReadOnly, c.SecondReaders = true, secondReaders
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
		ask := wire.RecallRequest{Query: "Who " + say(3) + "?", Explain: true}
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
		var replies []wire.RecallReply
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
			t.Fatalf("%q is answered otherwise by two connections:\n%s", ask.Query, diff)
		}
	}
	if found < 500 {
		t.Errorf("only %d items were compared", found)
	}
}
