package query_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/provider/hashed"
	"github.com/eunoe-memory/eunoe/pkg/query"
)

// reads returns what a model with the disposition reads about the piano.
func reads(t *testing.T, d memory.Disposition) (system, user string) {
	t.Helper()
	m := &told{steps: []step{done("Yes [1].", 1)}}
	w := piano(t, d)
	w.service = serviceOf(t, w, query.DefaultConfig(), withModel(m))
	q := question("What about the piano?")
	q.MaxFacts = ptr(20)
	mustReflect(t, w, q)
	p := m.prompt(t, 1)
	return p.System, p.User
}

func TestTraitsWithAModelConformance(t *testing.T) {
	t.Parallel()
	t.Run("skepticism shapes what a model is told and shown", func(t *testing.T) {
		t.Parallel()
		for s := 1; s <= 5; s++ {
			system, user := reads(t, memory.Disposition{Skepticism: s, Literalism: 3, Empathy: 3})
			if has := strings.Contains(user, "Bob dislikes"); has != (s <= 3) {
				t.Errorf("skepticism %d shows a belief of confidence .4: %t", s, has)
			}
			if has := strings.Contains(user, "; disputed)"); has != (s >= 3) {
				t.Errorf("skepticism %d marks disputed facts: %t", s, has)
			}
			if has := strings.Contains(user, "because: "); has != (s >= 3 && s <= 4) { // at 5 what rests on one message is left out
				t.Errorf("skepticism %d returns reasons: %t\n%s", s, has, user)
			}
			if first := strings.HasPrefix(user[strings.Index(user, "<memory>")+9:], "Conflicts"); first != (s >= 4) {
				t.Errorf("skepticism %d puts conflicts first: %t\n%s", s, first, user)
			}
			if asks := strings.Contains(system, "both sides"); asks != (s >= 4) {
				t.Errorf("skepticism %d asks for both sides: %t", s, asks)
			}
		}
	})
	t.Run("literalism shows the words that were said, and asks to quote them", func(t *testing.T) {
		t.Parallel()
		for l := 1; l <= 5; l++ {
			system, user := reads(t, memory.Disposition{Skepticism: 3, Literalism: l, Empathy: 3})
			if quoted := strings.Contains(user, `in the words of "Alice": "Honestly my piano`); quoted != (l >= 4) {
				t.Errorf("literalism %d quotes: %t\n%s", l, quoted, user)
			}
			if raw := strings.Contains(user, "The piano shop closes at six."); raw != (l >= 3) {
				t.Errorf("literalism %d shows raw messages beside facts: %t", l, raw)
			}
			if asks := strings.Contains(system, "verbatim"); asks != (l >= 4) {
				t.Errorf("literalism %d asks for verbatim words: %t", l, asks)
			}
		}
	})
	t.Run("empathy shows feelings first, and asks for them", func(t *testing.T) {
		t.Parallel()
		for e := 1; e <= 5; e++ {
			system, user := reads(t, memory.Disposition{Skepticism: 3, Literalism: 3, Empathy: e})
			if first := strings.HasPrefix(user[strings.Index(user, "<memory>")+9:], "Feelings and opinions\n"); first != (e >= 4) {
				t.Errorf("empathy %d puts feelings first: %t\n%s", e, first, user)
			}
			if last := strings.LastIndex(user, "Opinions\n") > strings.LastIndex(user, "Messages\n"); last != (e <= 2) {
				t.Errorf("empathy %d puts opinions last: %t", e, last)
			}
			if asks := strings.Contains(system, "how those concerned feel"); asks != (e >= 4) {
				t.Errorf("empathy %d asks for feelings: %t", e, asks)
			}
		}
	})
}

// meeting is an embedder whose calls wait until a given number are in flight.
type meeting struct {
	memory.Embedder
	want int

	mu  sync.Mutex
	met int
	all chan struct{}
}

func (m *meeting) Thresholds() memory.SimilarityThresholds {
	th := m.Embedder.Thresholds()
	th.RankWeight = 1
	return th
}

func (m *meeting) EmbedQuery(ctx context.Context, text string) (memory.Vector, error) {
	if strings.HasPrefix(text, "meet ") {
		m.mu.Lock()
		if m.met++; m.met == m.want {
			close(m.all)
		}
		m.mu.Unlock()
		select {
		case <-m.all:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	v, err := m.Embed(ctx, []string{text})
	if err != nil {
		return nil, err
	}
	return v[0], nil
}

func TestReflectInParallel(t *testing.T) {
	t.Parallel()
	t.Run("calls of one turn run at once and are answered in their order", func(t *testing.T) {
		t.Parallel()
		m := &told{steps: []step{calls(call("search_memory", `{"query":"meet Lisbon"}`), call("search_memory", `{"query":"meet Porto"}`), call("search_memory", `{"query":"meet weather"}`)), done("Lisbon.", 1)}}
		e := &meeting{Embedder: hashed.New(), want: 3, all: make(chan struct{})}
		w := newFixtureWith(t, query.DefaultConfig(), func(d *query.Deps) { withModel(m)(d); d.Embedder = e })
		furnish(w)
		q := question("Alice?")
		q.Deadline = ptr(memory.Duration(5 * time.Second))
		r := mustReflect(t, w, q)
		if r.Mode != "answer" {
			t.Fatalf("got %+v", r)
		}
		for i, want := range []string{"meet Lisbon", "meet Porto", "meet weather"} {
			if got := m.prompt(t, 2).Turns[0].Results[i]; !strings.HasPrefix(got, "<memory>\n\""+want+"\"\n") {
				t.Errorf("call %d was answered %q", i, got)
			}
		}
	})
}
