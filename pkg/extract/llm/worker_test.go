package llm_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/events/deadletter"
	"github.com/eunoe-memory/eunoe/pkg/events/natstest"
	"github.com/eunoe-memory/eunoe/pkg/events/ordered"
	"github.com/eunoe-memory/eunoe/pkg/extract"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/provider"
	"github.com/eunoe-memory/eunoe/pkg/provider/hashed"
	"github.com/eunoe-memory/eunoe/test/scriptedmodel"
)

const bank, session = memory.BankID("alice"), memory.SessionID("s1")

// put publishes messages and a window of them.
func put(t *testing.T, c *events.Conn, texts ...string) memory.Window {
	t.Helper()
	w := memory.Window{Bank: bank, Session: session, Trigger: memory.TriggerFlush}
	for _, text := range texts {
		body, err := json.Marshal(map[string]any{"speaker": "Ana", "content": text, "time": day})
		if err != nil {
			t.Fatal(err)
		}
		seq, err := c.PublishMessage(t.Context(), bank, session, body)
		if err != nil {
			t.Fatal(err)
		}
		w.New = append(w.New, memory.WindowMessage{Seq: seq})
	}
	w.ID = memory.NewWindowID(bank, session, w.First(), w.Last(), 0)
	if err := c.PublishWindow(t.Context(), w); err != nil {
		t.Fatal(err)
	}
	return w
}

// work runs a worker with a model until the test ends.
func work(t *testing.T, c *events.Conn, m memory.LanguageModel, attempts int) {
	t.Helper()
	config := extract.DefaultConfig()
	config.Concurrency, config.MaxAttempts, config.Backoff = 1, attempts, events.Backoff{Min: time.Millisecond, Max: 2 * time.Millisecond}
	w, err := extract.NewWorker(config, extract.Deps{Conn: c, Log: zerolog.Nop(), Extractor: extractor(t, m, nil), Embedder: hashed.New()})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- w.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("the worker ended with %v", err)
		}
	})
}

// logged reads the log until it holds n ends of windows, and returns them and the sum of all usage.
func logged(t *testing.T, c *events.Conn, n int) (ends []memory.Write, usage memory.Usage) {
	t.Helper()
	natstest.Eventually(t, fmt.Sprintf("%d ends of windows", n), func() bool {
		ends, usage = nil, memory.Usage{}
		_, err := ordered.Scan(t.Context(), c, c.Naming.Writes(), nil, 0, func(e events.Event) error {
			w, err := e.Write()
			if err != nil {
				return err
			}
			if w.Kind == memory.WriteWindow {
				ends = append(ends, w)
			}
			for _, u := range w.Usage {
				usage = usage.Plus(u.Usage)
			}
			return nil
		})
		return err == nil && len(ends) >= n
	})
	return ends, usage
}

func letters(t *testing.T, c *events.Conn, n int) (out []memory.DeadLetter) {
	t.Helper()
	natstest.Eventually(t, fmt.Sprintf("%d dead letters", n), func() bool {
		var err error
		out, err = deadletter.List(t.Context(), c, deadletter.Filter{})
		return err == nil && len(out) == n
	})
	return out
}

// conformWork holds what is promised of failing models.
func conformWork(t *testing.T) {
	t.Helper()
	t.Run("a failing or nonsensical model means retry, then a dead letter, never no facts", func(t *testing.T) {
		t.Parallel()
		for name, c := range map[string]struct {
			answer memory.Completion
			err    error
		}{
			"no JSON":        {memory.Completion{Text: "Certainly!"}, nil},
			"sources of air": {memory.Completion{Text: `{"facts":[{"s":[4],"f":"A."}]}`}, nil},
			"cut off":        {memory.Completion{Text: `{"facts":[{"s"`, Truncated: true}, nil},
		} {
			conn := natstest.Start(t)
			m := &scripted{answer: func(int, memory.Prompt) (memory.Completion, error) { return c.answer, c.err }}
			w := put(t, conn, "I moved to Porto.")
			work(t, conn, m, 3)
			d := letters(t, conn, 1)[0]
			ends, usage := logged(t, conn, 1)
			end := ends[0]
			if end.Window.Outcome != memory.WindowDead || end.Window.ID != w.ID || len(ends) != 1 || end.By == nil || end.By.Prompt != "extract/1" {
				t.Errorf("%s: ends %+v", name, ends)
			}
			if d.Output != c.answer.Text || d.Prompt != "extract/1" || d.Attempts != 3 || strings.Contains(d.Reason, "Porto") || !slices.Equal(d.Messages(conn.Naming.Messages()), []uint64{w.First()}) {
				t.Errorf("%s: letter %+v", name, d)
			}
			if n := len(m.prompts()); usage.Calls != n || usage.PromptTokens != 100*n {
				t.Errorf("%s: usage %+v after %d calls", name, usage, n)
			}
		}
	})
	t.Run("a model that is away is waited for, and publishing goes on", func(t *testing.T) {
		t.Parallel()
		conn := natstest.Start(t)
		var up atomic.Bool
		m := &scripted{answer: func(int, memory.Prompt) (memory.Completion, error) {
			if !up.Load() {
				return memory.Completion{}, fmt.Errorf("breaker open: %w", memory.ErrUnavailable)
			}
			return memory.Completion{Text: `{"facts":[{"s":[1],"f":"Ana moved to Porto."}]}`}, nil
		}}
		put(t, conn, "I moved to Porto.")
		work(t, conn, m, 2)
		natstest.Eventually(t, "more tries than attempts", func() bool { return len(m.prompts()) > 6 })
		put(t, conn, "I like it here.")
		if n, err := deadletter.Count(t.Context(), conn, bank); n != 0 || err != nil {
			t.Errorf("%d dead, %v", n, err)
		}
		up.Store(true)
		ends, usage := logged(t, conn, 2)
		for _, e := range ends {
			if e.Window.Outcome != memory.WindowFacts || len(e.Facts) != 1 {
				t.Errorf("end %+v", e)
			}
		}
		if n := len(m.prompts()); usage.Calls != n || usage.Failed != n-2 {
			t.Errorf("usage %+v after %d calls", usage, n)
		}
	})
}

func TestWorker(t *testing.T) {
	t.Parallel()
	t.Run("a window that fails while others are answered does not wait", func(t *testing.T) {
		t.Parallel()
		conn := natstest.Start(t)
		m := &scripted{answer: func(_ int, p memory.Prompt) (memory.Completion, error) {
			if strings.Contains(p.User, "poison") {
				return memory.Completion{}, memory.ErrUnavailable
			}
			return memory.Completion{Text: `{"facts":[]}`}, nil
		}}
		put(t, conn, "poison")
		work(t, conn, m, 2)
		natstest.Eventually(t, "its dead letter", func() bool {
			put(t, conn, "well")
			n, err := deadletter.Count(t.Context(), conn, bank)
			return err == nil && n == 1
		})
	})
	t.Run("a retry that succeeds is in the log once, together with the first try's usage", func(t *testing.T) {
		t.Parallel()
		conn := natstest.Start(t)
		m := saying("bad", "worse", `{"facts":[{"s":[1],"f":"Ana works at Casa.","r":[["Ana","part of","organization:Casa"],["Ana","befriends","person:Bo"]]}]}`)
		put(t, conn, "I work at Casa.")
		work(t, conn, m, 3)
		ends, usage := logged(t, conn, 1)
		w := ends[0]
		if len(ends) != 1 || len(w.Usage) != 1 || w.Usage[0].Calls != 1 || usage.Calls != 3 || w.By == nil || *w.By != (memory.Stamp{Model: "test:scripted", Prompt: "extract/1"}) {
			t.Errorf("writes %+v, usage %+v", ends, usage)
		}
		want := []memory.Relation{
			{From: "person:ana", To: "organization:casa", Type: memory.RelPartOf, Strength: 1, Facts: []memory.FactID{w.Facts[0].ID}},
			{From: "person:ana", To: "person:bo", Type: "befriends", Strength: 1, Facts: []memory.FactID{w.Facts[0].ID}},
		}
		if fmt.Sprint(w.Relations) != fmt.Sprint(want) || !slices.Contains(w.Facts[0].Entities, "organization:casa") || !strings.HasSuffix(w.Facts[0].Extractor, "/extract-1") {
			t.Errorf("relations %+v of %+v", w.Relations, w.Facts)
		}
	})
	t.Run("a window that comes twice is extracted once in effect, and both tries are counted", func(t *testing.T) {
		t.Parallel()
		conn := natstest.Start(t)
		m := saying(`{"facts":[{"s":[1],"f":"A."}]}`)
		w := put(t, conn, "x")
		body, err := json.Marshal(w)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := conn.JS.Publish(t.Context(), conn.Naming.WindowSubject(bank, session), body); err != nil {
			t.Fatal(err)
		}
		work(t, conn, m, 3)
		natstest.Eventually(t, "both tries to be counted", func() bool {
			ends, usage := logged(t, conn, 1)
			return len(ends) == 1 && usage.Calls == 2
		})
	})
}

func TestOverHTTP(t *testing.T) {
	t.Parallel()
	// served returns the model of a scripted server.
	served := func(t *testing.T, s *scriptedmodel.Script) memory.LanguageModel {
		t.Helper()
		srv := scriptedmodel.Start(t, s)
		c := provider.DefaultConfig()
		c.Stages, c.Retries, c.Wait = map[string]provider.Model{memory.StageExtract: {Name: "openai:testmodel", URL: srv.URL}}, 0, time.Millisecond
		set, err := provider.New(c, provider.Deps{Log: zerolog.Nop()})
		if err != nil {
			t.Fatal(err)
		}
		return set.Language(memory.StageExtract)
	}
	in := input("Ana: I moved to Lisbon last Friday.", "Bo: My sister Carla loves chess.", "Ana: Thanks, bye!")
	var mu sync.Mutex
	var usual []string
	t.Run("facts come with sources, times and states", func(t *testing.T) {
		x := extractor(t, served(t, nil), nil)
		meter := &memory.Meter{}
		drafts, err := x.Extract(memory.WithMeter(t.Context(), meter), in)
		if err != nil {
			t.Fatal(err)
		}
		facts, refused := extract.Validate(in, x.Name(), drafts, plain{})
		if len(facts) < 2 || len(refused) != 0 || facts[0].Occurred.From == nil || facts[0].Occurred.From.Format(time.DateOnly) != "2023-05-05" || facts[0].State == nil || facts[0].Sources[0].Message != "m1" {
			t.Errorf("facts %+v, refused %+v", facts, refused)
		}
		if u := meter.Take(); len(u) != 1 || u[0].Calls != 1 || u[0].Stage != memory.StageExtract || u[0].PromptTokens == 0 {
			t.Errorf("usage %+v", u)
		}
		for _, f := range facts {
			usual = append(usual, f.Text)
		}
	})
	for kind, whole := range map[scriptedmodel.Kind]bool{
		scriptedmodel.Fences: true, scriptedmodel.Prose: true, scriptedmodel.BareList: true, scriptedmodel.SingleQuotes: true, scriptedmodel.Duplicates: true,
		scriptedmodel.BadItem: false, scriptedmodel.WrongTypes: false, scriptedmodel.MissingIDs: false, scriptedmodel.InventedIDs: false,
		scriptedmodel.Refusal: false, scriptedmodel.Truncated: true, scriptedmodel.Length: true, scriptedmodel.InvalidUTF8: false,
	} {
		t.Run("one answer spoilt by "+string(kind)+" costs nothing that stands", func(t *testing.T) {
			t.Parallel()
			mu.Lock()
			want := slices.Clone(usual)
			mu.Unlock()
			x := extractor(t, served(t, new(scriptedmodel.Script).Fault(memory.StageExtract, kind, 1)), nil)
			drafts, err := x.Extract(t.Context(), in)
			if err != nil {
				t.Fatal(err)
			}
			facts, _ := extract.Validate(in, x.Name(), drafts, plain{})
			var got []string
			for _, f := range facts {
				got = append(got, f.Text)
			}
			if whole && !slices.Equal(got, want) {
				t.Errorf("got %q, want %q", got, want)
			}
			if len(facts) == 0 {
				t.Error("nothing was kept")
			}
		})
	}
	for _, kind := range []scriptedmodel.Kind{scriptedmodel.ServerError, scriptedmodel.Reset, scriptedmodel.RateLimit, scriptedmodel.Unauthorised} {
		t.Run("a provider's "+string(kind)+" may be tried again", func(t *testing.T) {
			t.Parallel()
			x := extractor(t, served(t, new(scriptedmodel.Script).Fault(memory.StageExtract, kind, 1)), nil)
			if _, err := x.Extract(t.Context(), in); !errors.Is(err, memory.ErrUnavailable) {
				t.Fatalf("got %v", err)
			}
		})
	}
}
