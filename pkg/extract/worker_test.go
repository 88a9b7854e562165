package extract_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"

	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/events/natstest"
	"github.com/eunoe-memory/eunoe/pkg/events/ordered"
	"github.com/eunoe-memory/eunoe/pkg/extract"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/provider/hashed"
)

const bank, session = memory.BankID("alice"), memory.SessionID("s1")

// echo is an extractor that makes one fact of each message.
func echo() extract.Func {
	return extract.Func{ID: "echo/1", Do: func(_ context.Context, in extract.Input) ([]extract.Draft, error) {
		var out []extract.Draft
		for _, m := range in.New {
			out = append(out, extract.Draft{Text: m.Speaker + " said " + m.Content, Sources: []memory.MessageID{m.ID}})
		}
		return out, nil
	}}
}

// publish stores messages and returns their sequences.
func publish(t *testing.T, c *events.Conn, bodies ...string) []uint64 {
	t.Helper()
	var seqs []uint64
	for _, b := range bodies {
		seq, err := c.PublishMessage(t.Context(), bank, session, []byte(b))
		if err != nil {
			t.Fatal(err)
		}
		seqs = append(seqs, seq)
	}
	return seqs
}

func window(seqs []uint64, carry ...memory.Carry) memory.Window {
	w := memory.Window{Bank: bank, Session: session, Trigger: memory.TriggerFlush, ID: memory.NewWindowID(bank, session, seqs[0], seqs[len(seqs)-1], 0)}
	for i, s := range seqs {
		m := memory.WindowMessage{Seq: s}
		if i < len(carry) {
			m.Carry = carry[i]
		}
		w.New = append(w.New, m)
	}
	return w
}

// start runs a worker until the test ends.
func start(t *testing.T, c *events.Conn, x extract.Extractor, change func(*extract.Config, *extract.Deps)) *extract.Worker {
	t.Helper()
	config := extract.DefaultConfig()
	config.Backoff = events.Backoff{Min: time.Millisecond, Max: 5 * time.Millisecond}
	deps := extract.Deps{Conn: c, Log: zerolog.Nop(), Now: time.Now, Extractor: x, Embedder: hashed.New()}
	if change != nil {
		change(&config, &deps)
	}
	w, err := extract.NewWorker(config, deps)
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
	return w
}

// writes waits until the log holds n writes and returns them.
func writes(t *testing.T, c *events.Conn, n int) []memory.Write {
	t.Helper()
	var mu sync.Mutex
	var out []memory.Write
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	go func() {
		_ = ordered.Read(ctx, c, ordered.Config{Stream: c.Naming.Writes(), MaxBatch: 100}, func(_ context.Context, batch []events.Event) error {
			mu.Lock()
			defer mu.Unlock()
			for _, e := range batch {
				w, err := e.Write()
				if err != nil {
					return err
				}
				out = append(out, w)
			}
			return nil
		})
	}()
	natstest.Eventually(t, fmt.Sprintf("%d writes", n), func() bool {
		mu.Lock()
		defer mu.Unlock()
		return len(out) >= n
	})
	mu.Lock()
	defer mu.Unlock()
	return append([]memory.Write(nil), out...)
}

func put(t *testing.T, c *events.Conn, w memory.Window) {
	t.Helper()
	if err := c.PublishWindow(t.Context(), w); err != nil {
		t.Fatal(err)
	}
}

func TestWorker(t *testing.T) {
	t.Parallel()
	t.Run("a window ends in one write with embedded facts", func(t *testing.T) {
		t.Parallel()
		c := natstest.Start(t)
		seqs := publish(t, c, `{"id":"m1","speaker":"Alice","content":"tea","time":"2023-05-08T10:00:00Z"}`, `{"speaker":"Bob","content":"coffee"}`)
		w := window(seqs)
		put(t, c, w)
		start(t, c, echo(), nil)
		got := writes(t, c, 1)[0]
		if got.Kind != memory.WriteWindow || got.Op != "window:"+string(w.ID) || got.Upto != seqs[1] || got.Bank != bank {
			t.Errorf("write %+v", got)
		}
		if got.Window == nil || got.Window.Outcome != memory.WindowFacts || got.Window.ID != w.ID || got.Window.SessionID != session || got.Window.Extractor != "echo/1" {
			t.Errorf("end %+v", got.Window)
		}
		if len(got.Facts) != 2 || got.Facts[0].Text != "Alice said tea" || got.Facts[1].Sources[0].Message != memory.SequenceID(seqs[1]) {
			t.Fatalf("facts %+v", got.Facts)
		}
		for _, f := range got.Facts {
			if len(f.Vector) != hashed.Dimension || f.Model != hashed.Name || f.Extractor != "echo/1" {
				t.Errorf("fact %q has %d dimensions of %q", f.Text, len(f.Vector), f.Model)
			}
		}
	})
	t.Run("forgotten, malformed and carried messages are left out", func(t *testing.T) {
		t.Parallel()
		c := natstest.Start(t)
		seqs := publish(t, c, `{"id":"gone","content":"secret"}`, `{"content":""}`, `{"id":"r","content":"recalled","recalled":true}`, `{"id":"m","content":"kept","speaker":"Al"}`)
		s, err := c.JS.Stream(t.Context(), c.Naming.Messages())
		if err != nil {
			t.Fatal(err)
		}
		if err := s.SecureDeleteMsg(t.Context(), seqs[0]); err != nil {
			t.Fatal(err)
		}
		put(t, c, window(seqs, "", "", memory.CarryRecalled, ""))
		start(t, c, echo(), nil)
		got := writes(t, c, 1)[0]
		if len(got.Facts) != 1 || got.Facts[0].Text != "Al said kept" {
			t.Fatalf("facts %+v", got.Facts)
		}
	})
	t.Run("a window of carried messages alone ends empty, with no extraction", func(t *testing.T) {
		t.Parallel()
		c := natstest.Start(t)
		put(t, c, window(publish(t, c, `{"content":"x"}`), memory.CarryFiltered))
		var calls atomic.Int32
		start(t, c, extract.Func{ID: "never/1", Do: func(context.Context, extract.Input) ([]extract.Draft, error) {
			calls.Add(1)
			return nil, nil
		}}, nil)
		got := writes(t, c, 1)[0]
		if got.Window.Outcome != memory.WindowEmpty || calls.Load() != 0 {
			t.Errorf("outcome %q after %d calls", got.Window.Outcome, calls.Load())
		}
	})
	t.Run("a fact with a wrong source is refused and reported", func(t *testing.T) {
		t.Parallel()
		c := natstest.Start(t)
		put(t, c, window(publish(t, c, `{"id":"m1","content":"x"}`)))
		start(t, c, extract.Func{ID: "wrong/1", Do: func(context.Context, extract.Input) ([]extract.Draft, error) {
			return []extract.Draft{{Text: "A fact.", Sources: []memory.MessageID{"m2"}}, {Text: "Another.", Sources: []memory.MessageID{"m1"}}}, nil
		}}, nil)
		got := writes(t, c, 1)[0]
		if len(got.Facts) != 1 || len(got.Refused) != 1 || !strings.Contains(got.Refused[0].Reason, "m2") {
			t.Errorf("facts %+v, refused %+v", got.Facts, got.Refused)
		}
	})
	t.Run("context is read only for an extractor that asks", func(t *testing.T) {
		t.Parallel()
		for _, asks := range []bool{false, true} {
			c := natstest.Start(t)
			seqs := publish(t, c, `{"content":"before"}`, `{"content":"now"}`)
			w := window(seqs[1:])
			w.Context = seqs[:1]
			put(t, c, w)
			var context1 atomic.Int32
			x := extract.Func{ID: "c/1", Do: func(_ context.Context, in extract.Input) ([]extract.Draft, error) {
				context1.Store(int32(len(in.Context)))
				return nil, nil
			}}
			if asks {
				start(t, c, curious{x}, nil)
			} else {
				start(t, c, x, nil)
			}
			writes(t, c, 1)
			if want := map[bool]int32{false: 0, true: 1}[asks]; context1.Load() != want {
				t.Errorf("asked %v, got %d messages of context", asks, context1.Load())
			}
		}
	})
	t.Run("of a long message before the window the end is shown, without a secret that begins before it", func(t *testing.T) {
		t.Parallel()
		c := natstest.Start(t)
		key := "-----BEGIN PRIVATE KEY-----\\n" + strings.Repeat("QUJDREVGRw ", 1000) + "\\n-----END PRIVATE KEY----- is it."
		before := publish(t, c, `{"speaker":"Al","content":"`+strings.Repeat("much was said. ", 50_000)+key+`"}`)
		w := window(publish(t, c, `{"speaker":"Al","content":"Thanks."}`))
		w.Context = before
		put(t, c, w)
		var seen atomic.Value
		start(t, c, curious{extract.Func{ID: "see/1", Do: func(_ context.Context, in extract.Input) ([]extract.Draft, error) {
			seen.Store(in.Context[0].Content)
			return nil, nil
		}}}, nil)
		writes(t, c, 1)
		got := seen.Load().(string)
		if len(got) > 10_000 || !strings.HasSuffix(got, "said. [redacted:private_key] is it.") {
			t.Errorf("%d bytes were shown, at the end %q", len(got), got[max(0, len(got)-200):])
		}
	})
	t.Run("the extractor sees no secrets", func(t *testing.T) {
		t.Parallel()
		c := natstest.Start(t)
		put(t, c, window(publish(t, c, `{"speaker":"Al","content":"card 4111 1111 1111 1111","images":[{"caption":"password: hunter22"}]}`)))
		var seen atomic.Value
		start(t, c, extract.Func{ID: "see/1", Do: func(_ context.Context, in extract.Input) ([]extract.Draft, error) {
			seen.Store(in.New[0].Content + " " + in.New[0].Caption())
			return nil, nil
		}}, nil)
		writes(t, c, 1)
		if got, want := seen.Load(), "card [redacted:card] password: [redacted:password]"; got != want {
			t.Errorf("the extractor saw %q, want %q", got, want)
		}
	})
}

type curious struct{ extract.Func }

func (curious) NeedsContext() bool { return true }

func TestWorkerFailures(t *testing.T) {
	t.Parallel()
	t.Run("an extractor's error is retried", func(t *testing.T) {
		t.Parallel()
		c := natstest.Start(t)
		put(t, c, window(publish(t, c, `{"content":"x"}`)))
		var calls atomic.Int32
		start(t, c, extract.Func{ID: "flaky/1", Do: func(context.Context, extract.Input) ([]extract.Draft, error) {
			if calls.Add(1) < 3 {
				return nil, fmt.Errorf("model: %w", memory.ErrUnavailable)
			}
			return nil, nil
		}}, nil)
		if got := writes(t, c, 1)[0]; got.Window.Outcome != memory.WindowEmpty || calls.Load() != 3 {
			t.Errorf("outcome %q after %d calls", got.Window.Outcome, calls.Load())
		}
	})
	for name, x := range map[string]extract.Func{
		"an error that stays ends the window dead": {ID: "down/1", Do: func(context.Context, extract.Input) ([]extract.Draft, error) {
			return nil, errors.New("model is down")
		}},
		"an invalid answer ends the window dead at once": {ID: "bad/1", Do: func(context.Context, extract.Input) ([]extract.Draft, error) {
			return nil, memory.Invalid("output", "model is down")
		}},
		"a panic ends the window dead": {ID: "panic/1", Do: func(context.Context, extract.Input) ([]extract.Draft, error) { panic("model is down") }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := natstest.Start(t)
			w := window(publish(t, c, `{"content":"x"}`))
			put(t, c, w)
			start(t, c, x, nil)
			got := writes(t, c, 1)[0]
			if got.Op != "dead:"+string(w.ID) || got.Window.Outcome != memory.WindowDead || !strings.Contains(got.Window.Reason, "model is down") || len(got.Facts) != 0 {
				t.Errorf("write %+v, end %+v", got, got.Window)
			}
			natstest.Eventually(t, "a dead letter", func() bool {
				s, err := c.JS.Stream(t.Context(), c.Naming.Dead())
				return err == nil && s.CachedInfo().State.Msgs == 1
			})
		})
	}
	t.Run("a window that cannot be read is a dead letter", func(t *testing.T) {
		t.Parallel()
		c := natstest.Start(t)
		if _, err := c.JS.Publish(t.Context(), c.Naming.WindowSubject(bank, session), []byte(`{"new":[]}`)); err != nil {
			t.Fatal(err)
		}
		start(t, c, echo(), nil)
		natstest.Eventually(t, "a dead letter", func() bool {
			s, err := c.JS.Stream(t.Context(), c.Naming.Dead())
			return err == nil && s.CachedInfo().State.Msgs == 1
		})
	})
	t.Run("while the embedder is away facts go without vectors, and are counted", func(t *testing.T) {
		t.Parallel()
		c := natstest.Start(t)
		put(t, c, window(publish(t, c, `{"content":"x"}`)))
		w := start(t, c, echo(), func(_ *extract.Config, d *extract.Deps) { d.Embedder = &flaky{Embedder: hashed.New()} })
		if got := writes(t, c, 1)[0]; len(got.Facts) != 1 || got.Facts[0].Vector != nil || got.Facts[0].Model != "" {
			t.Errorf("facts %+v", got.Facts)
		}
		natstest.Eventually(t, "the metric", func() bool { return counted(t, w.Metrics(), "eunoe_extract_unembedded_total") == 1 })
		put(t, c, window(publish(t, c, `{"content":"y"}`)))
		if got := writes(t, c, 2)[1]; len(got.Facts) != 1 || got.Facts[0].Vector == nil || got.Facts[0].Model != hashed.Name {
			t.Errorf("facts %+v", got.Facts)
		}
	})
	t.Run("an embedder that refuses the facts ends the window dead", func(t *testing.T) {
		t.Parallel()
		c := natstest.Start(t)
		put(t, c, window(publish(t, c, `{"content":"x"}`)))
		start(t, c, echo(), func(_ *extract.Config, d *extract.Deps) { d.Embedder = refusing{hashed.New()} })
		if got := writes(t, c, 1)[0]; got.Window.Outcome != memory.WindowDead || !strings.Contains(got.Window.Reason, "too long") {
			t.Errorf("end %+v", got.Window)
		}
	})
}

type refusing struct{ memory.Embedder }

func (refusing) Embed(context.Context, []string) ([]memory.Vector, error) {
	return nil, memory.Invalid("input", "too long")
}

type flaky struct {
	memory.Embedder
	calls atomic.Int32
}

func (f *flaky) Embed(ctx context.Context, texts []string) ([]memory.Vector, error) {
	if f.calls.Add(1) == 1 {
		return nil, memory.ErrUnavailable
	}
	return f.Embedder.Embed(ctx, texts)
}

// counted returns the sum of a counter.
func counted(t *testing.T, c prometheus.Collector, name string) (sum float64) {
	t.Helper()
	reg := prometheus.NewRegistry()
	if err := reg.Register(c); err != nil {
		t.Fatal(err)
	}
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() == name {
			for _, m := range f.GetMetric() {
				sum += m.GetCounter().GetValue()
			}
		}
	}
	return sum
}

func TestWorkerExtract(t *testing.T) {
	t.Parallel()
	t.Run("the same window yields the same write", func(t *testing.T) {
		t.Parallel()
		c := natstest.Start(t)
		w := window(publish(t, c, `{"id":"m1","speaker":"Alice","content":"tea"}`))
		worker, err := extract.NewWorker(extract.DefaultConfig(), extract.Deps{Conn: c, Log: zerolog.Nop(), Extractor: echo(), Embedder: hashed.New()})
		if err != nil {
			t.Fatal(err)
		}
		var bodies []string
		for range 2 {
			got, err := worker.Extract(t.Context(), w)
			if err != nil {
				t.Fatal(err)
			}
			body, err := json.Marshal(got)
			if err != nil {
				t.Fatal(err)
			}
			bodies = append(bodies, string(body))
		}
		if bodies[0] != bodies[1] {
			t.Errorf("writes differ:\n%s\n%s", bodies[0], bodies[1])
		}
	})
	t.Run("the extractor goes on without known entities that arrive late", func(t *testing.T) {
		t.Parallel()
		c := natstest.Start(t)
		w := window(publish(t, c, `{"content":"tea"}`))
		worker, err := extract.NewWorker(extract.DefaultConfig(), extract.Deps{Conn: c, Log: zerolog.Nop(), Extractor: echo(),
			Entities: func(ctx context.Context, _ memory.BankID) ([]memory.Entity, error) {
				<-ctx.Done()
				return nil, ctx.Err()
			}})
		if err != nil {
			t.Fatal(err)
		}
		if got, err := worker.Extract(t.Context(), w); err != nil || len(got.Facts) != 1 {
			t.Errorf("got %+v, %v", got.Facts, err)
		}
	})
}

func TestNewWorker(t *testing.T) {
	t.Parallel()
	if _, err := extract.NewWorker(extract.Config{}, extract.Deps{}); !errors.Is(err, memory.ErrInvalid) || !strings.Contains(err.Error(), "grace") || !strings.Contains(err.Error(), "concurrency") {
		t.Errorf("settings of zero gave %v", err)
	}
	if _, err := extract.NewWorker(extract.DefaultConfig(), extract.Deps{}); !errors.Is(err, memory.ErrInvalid) {
		t.Errorf("no collaborators gave %v", err)
	}
}
