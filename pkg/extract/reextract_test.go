package extract_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/events/deadletter"
	"github.com/eunoe-memory/eunoe/pkg/events/natstest"
	"github.com/eunoe-memory/eunoe/pkg/events/ordered"
	"github.com/eunoe-memory/eunoe/pkg/extract"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

// version is an extractor that words what was said in its own way.
func version(name string) extract.Func {
	return extract.Func{ID: name, Do: func(_ context.Context, in extract.Input) ([]extract.Draft, error) {
		var out []extract.Draft
		for _, m := range in.New {
			out = append(out, extract.Draft{Text: name + " heard " + m.Content, Sources: []memory.MessageID{m.ID}})
		}
		return out, nil
	}}
}

func (p *pipeline) reextract(bank memory.BankID, session memory.SessionID) int {
	p.Helper()
	n, err := p.client.Admin().Reextract(p.Context(), bank, session)
	if err != nil {
		p.Fatal(err)
	}
	return n
}

func TestReextract(t *testing.T) {
	t.Parallel()
	t.Run("facts of another extractor take the place of the first one's, and those by hand stay", func(t *testing.T) {
		t.Parallel()
		p := newPipeline(t)
		stop := p.extractor(version("v1"), nil)
		p.say("alice", "s1", "tea", "boats", "maps")
		p.say("alice", "s2", "rain")
		p.until("alice", "the first extraction", settled(4))
		if _, err := p.client.Retain(t.Context(), "alice", wire.RetainRequest{Facts: []memory.FactInput{{Text: "Alice is tall."}}}); err != nil {
			t.Fatal(err)
		}
		pin, pinned := true, memory.NewFactID("alice", "v1 heard maps", memory.KindWorld)
		if _, err := p.client.Edit(t.Context(), "alice", memory.EditRequest{ID: pinned, Pin: &pin}); err != nil {
			t.Fatal(err)
		}
		stop()
		if n := p.reextract("alice", "s1"); n != 3 {
			t.Fatalf("%d windows of a session of 3", n)
		}
		st := p.until("alice", "three windows are under way", func(s wire.Status) bool { return s.Windows.Pending == 3 })
		if st.Settled || st.Conservation.Committed != 4 || st.Conservation.Pending != 0 {
			t.Errorf("in flight the status is %+v", st)
		}
		if n := p.reextract("alice", "s1"); n != 0 {
			t.Errorf("asked again in flight, %d windows more are extracted", n)
		}
		stop = p.extractor(version("v2"), nil)
		st = p.until("alice", "the second extraction", settled(4))
		if st.Conservation.Committed != 4 {
			t.Errorf("afterwards: %+v", st.Conservation)
		}
		want := []string{"Alice is tall.", "v1 heard maps", "v1 heard rain", "v2 heard boats", "v2 heard maps", "v2 heard tea"}
		got := p.facts("alice")
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("facts %q, want %q", got, want)
		}
		stop()
		p.extractor(version("v3"), nil)
		if n := p.reextract("alice", ""); n != 4 {
			t.Fatalf("%d windows of a bank of 4", n)
		}
		p.until("alice", "the third extraction", settled(4))
		if got := p.facts("alice"); slices.ContainsFunc(got, func(f string) bool { return strings.HasPrefix(f, "v2") }) || !slices.Contains(got, "v3 heard rain") {
			t.Errorf("facts %q", got)
		}
	})
	t.Run("what was forgotten, carried or never there is left alone", func(t *testing.T) {
		t.Parallel()
		p := newPipeline(t)
		p.extractor(version("v1"), nil)
		gone := p.say("alice", "s1", "secrets")[0]
		p.say("alice", "s1", "tea")
		seq, err := p.conn.PublishMessage(t.Context(), "alice", "s2", []byte(`{"content":"recalled words","recalled":true}`))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.conn.PublishFlush(t.Context(), "alice", "s2", memory.Flush{Upto: seq}); err != nil {
			t.Fatal(err)
		}
		p.until("alice", "the first extraction", settled(3))
		if _, err := p.client.Forget(t.Context(), "alice", memory.ForgetRequest{ID: string(memory.SequenceID(gone))}); err != nil {
			t.Fatal(err)
		}
		natstest.Eventually(t, "the message is gone from the log", func() bool {
			_, err := p.conn.EventAt(t.Context(), p.conn.Naming.Messages(), gone)
			return errors.Is(err, memory.ErrNotFound)
		})
		if n := p.reextract("alice", ""); n != 1 {
			t.Errorf("%d windows, want the one that has something left", n)
		}
		st := p.until("alice", "the second extraction", settled(3))
		if c := st.Conservation; c.Forgotten != 1 || c.Skipped != 1 || c.Committed != 1 {
			t.Errorf("afterwards: %+v", c)
		}
		if _, err := p.client.Admin().Reextract(t.Context(), "nobody", ""); !errors.Is(err, memory.ErrNotFound) {
			t.Errorf("an unknown bank: %v", err)
		}
		if _, err := p.client.Admin().Reextract(t.Context(), "", ""); !errors.Is(err, memory.ErrInvalid) {
			t.Errorf("no bank: %v", err)
		}
	})
	t.Run("a later generation that dies takes nothing back, and a retry after the repair yields its facts", func(t *testing.T) {
		t.Parallel()
		p := newPipeline(t)
		var broken atomic.Bool
		v2 := version("v2")
		stop := p.extractor(version("v1"), nil)
		p.say("alice", "s1", "tea")
		p.until("alice", "the first extraction", settled(1))
		stop()
		broken.Store(true)
		p.extractor(extract.Func{ID: "v2", Do: func(ctx context.Context, in extract.Input) ([]extract.Draft, error) {
			if broken.Load() {
				return nil, deadletter.Permanent("the model is broken")
			}
			return v2.Do(ctx, in)
		}}, nil)
		p.reextract("alice", "")
		st := p.until("alice", "the second generation is dead", func(s wire.Status) bool { return s.Dead == 1 && s.Settled })
		if st.Conservation.Committed != 1 || !slices.Equal(p.facts("alice"), []string{"v1 heard tea"}) {
			t.Errorf("after a dead second generation: %+v, facts %q", st.Conservation, p.facts("alice"))
		}
		p.say("alice", "s1", "boats")
		p.until("alice", "a first generation is dead", func(s wire.Status) bool { return s.Dead == 2 && s.Conservation.Dead == 1 && s.Settled })
		broken.Store(false)
		for d, err := range p.client.Admin().DeadLetters(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			if err := p.client.Admin().RetryDead(t.Context(), d.ID); err != nil {
				t.Fatal(err)
			}
		}
		st = p.until("alice", "the letters are extracted", func(s wire.Status) bool { return s.Dead == 0 && s.Settled && s.Conservation.Dead == 0 })
		if st.Conservation.Committed != 2 {
			t.Errorf("after the retry: %+v", st.Conservation)
		}
		got := p.facts("alice")
		slices.Sort(got)
		if want := []string{"v2 heard boats", "v2 heard tea"}; !slices.Equal(got, want) {
			t.Errorf("facts %q, want %q", got, want)
		}
	})
	t.Run("a retry behind a later generation is void, and a forget finds its words", func(t *testing.T) {
		t.Parallel()
		p := newPipeline(t)
		stop := p.extractor(extract.Func{ID: "v1", Do: func(context.Context, extract.Input) ([]extract.Draft, error) {
			return nil, deadletter.Permanent("the model is broken")
		}}, nil)
		seq := p.say("alice", "s1", "zanzibar")[0]
		p.until("alice", "the window is dead", func(s wire.Status) bool { return s.Conservation.Dead == 1 && s.Settled })
		stop()
		stop = p.extractor(version("v2"), nil)
		p.reextract("alice", "")
		p.until("alice", "the second generation", func(s wire.Status) bool { return s.Conservation.Committed == 1 && s.Settled })
		stop()
		p.extractor(version("v3"), nil)
		for d, err := range p.client.Admin().DeadLetters(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			if err := p.client.Admin().RetryDead(t.Context(), d.ID); err != nil {
				t.Fatal(err)
			}
		}
		words := func(what string) (n int) {
			t.Helper()
			_, err := ordered.Scan(t.Context(), p.conn, p.conn.Naming.Writes(), nil, 0, func(e events.Event) error {
				n += strings.Count(string(e.Data), what)
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
		natstest.Eventually(t, "the first generation ends after all", func() bool { return words("v3 heard") > 0 })
		p.until("alice", "it is applied", settled(1))
		if got := p.facts("alice"); !slices.Equal(got, []string{"v2 heard zanzibar"}) {
			t.Errorf("facts %q", got)
		}
		if _, err := p.client.Forget(t.Context(), "alice", memory.ForgetRequest{ID: string(memory.SequenceID(seq))}); err != nil {
			t.Fatal(err)
		}
		natstest.Eventually(t, "its words are gone from the log", func() bool { return words("zanzibar") == 0 })
	})
	t.Run("a dead window is extracted anew too", func(t *testing.T) {
		t.Parallel()
		p := newPipeline(t)
		stop := p.extractor(extract.Func{ID: "v1", Do: func(context.Context, extract.Input) ([]extract.Draft, error) {
			return nil, deadletter.Permanent("the model is broken")
		}}, nil)
		p.say("alice", "s1", "tea")
		p.until("alice", "the window is dead", func(s wire.Status) bool { return s.Conservation.Dead == 1 && s.Settled })
		stop()
		p.extractor(version("v2"), nil)
		if n := p.reextract("alice", ""); n != 1 {
			t.Fatalf("%d windows", n)
		}
		p.until("alice", "the message is committed", func(s wire.Status) bool { return s.Conservation.Committed == 1 && s.Settled })
		if got := p.facts("alice"); !slices.Equal(got, []string{"v2 heard tea"}) {
			t.Errorf("facts %q", got)
		}
	})
}
