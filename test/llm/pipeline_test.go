package llm_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/eunoe-memory/eunoe/internal/app/local"
	"github.com/eunoe-memory/eunoe/internal/app/settings"
	"github.com/eunoe-memory/eunoe/pkg/client"
	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/events/natstest"
	"github.com/eunoe-memory/eunoe/pkg/events/ordered"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

// pipeline is a complete pipeline with a model at an address.
type pipeline struct {
	local  *local.Local
	client *client.Client

	mu    sync.Mutex
	banks []memory.BankID // looked at by the watch
}

// start runs the pipeline until the test ends, and continuously checks that the messages of its banks are accounted
// for.
func start(t *testing.T, url string, overrides map[string]string, change ...func(*settings.Config)) *pipeline {
	t.Helper()
	set := map[string]string{
		"DATA": t.TempDir(), "PORT": "-1", "LOG": "fatal", "SYNC": "false", "IDLE_AFTER": "10m", "EXTRACTORS": "8",
		"MODEL": "openai:scripted", "MODEL_URL": url + "/v1", "MODEL_KEY": "none", "EMBED": "openai:scripted-embed", "EMBED_DIM": "256",
		"RERANK_URL": url, "MODEL_TIMEOUT": "2s",
		// One model for each stage, so that failures of one do not affect the others.
		"MODEL_DECIDE": "openai:scripted-decide", "MODEL_SUMMARISE": "openai:scripted-summarise",
		"MODEL_REFLECT": "openai:scripted-reflect", "MODEL_JUDGE": "openai:scripted-judge",
	}
	for k, v := range overrides {
		set[k] = v
	}
	c, _, err := settings.Load(nil, set)
	if err != nil {
		t.Fatal(err)
	}
	c.SummariseMin, c.ModelRetries = 2, 0
	for _, f := range change {
		f(&c)
	}
	if _, ok := overrides["MAX_ATTEMPTS"]; ok {
		c.ModelPatience = 0 // attempts count at once
	}
	l, err := local.Start(context.Background(), c, os.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	settings := client.DefaultConfig()
	settings.Timeout = 2 * natstest.Patience // the time is no promise: the machine may be busy with other tests
	cl, err := client.New(settings, client.Deps{Conn: l.Conn})
	if err != nil {
		t.Fatal(err)
	}
	w := &pipeline{local: l, client: cl}
	watching, stop := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); w.watch(watching, t) }()
	t.Cleanup(func() {
		stop()
		<-done
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		if err := l.Close(ctx); err != nil {
			t.Error(err)
		}
	})
	return w
}

// watch checks every bank in turn: each message must be accounted for exactly once at every moment.
func (w *pipeline) watch(ctx context.Context, t *testing.T) {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	looks := 0
	for n := 0; ; n++ {
		select {
		case <-tick.C:
		case <-ctx.Done():
			if looks == 0 {
				t.Error("no bank was ever checked")
			}
			return
		}
		w.mu.Lock()
		banks := slices.Clone(w.banks)
		w.mu.Unlock()
		if len(banks) == 0 {
			continue
		}
		bank := banks[n%len(banks)]
		s, err := w.client.Status(ctx, bank)
		if ctx.Err() != nil || errors.Is(err, memory.ErrNotFound) {
			continue
		}
		looks++
		if c := s.Conservation; err != nil || c.Sum() != c.Published {
			t.Errorf("the accounts of %s: %+v, %v", bank, c, err)
		}
	}
}

// keep adds a bank to the watched banks.
func (w *pipeline) keep(bank memory.BankID) memory.BankID {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.banks = append(w.banks, bank)
	return bank
}

func (w *pipeline) status(t *testing.T, bank memory.BankID) wire.Status {
	t.Helper()
	s, err := w.client.Status(t.Context(), bank)
	if err != nil && !errors.Is(err, memory.ErrNotFound) {
		t.Fatalf("status of %s: %v", bank, err)
	}
	return s
}

// say publishes sentences of one speaker to a session, and flushes it.
func (w *pipeline) say(t *testing.T, bank memory.BankID, session memory.SessionID, speaker string, texts ...string) {
	t.Helper()
	var list []memory.Message
	for i, text := range texts {
		list = append(list, memory.Message{ID: memory.MessageID(fmt.Sprintf("%s-%d", session, i+1)), Speaker: speaker, Content: text,
			Time: time.Date(2026, 3, 2, 18, 30+i, 0, 0, time.UTC)})
	}
	if _, err := w.client.PublishAll(t.Context(), bank, session, list); err != nil {
		t.Fatal(err)
	}
	if _, err := w.client.Flush(t.Context(), bank, session); err != nil {
		t.Fatal(err)
	}
}

// ended waits until no message of a bank is pending.
func (w *pipeline) ended(t *testing.T, bank memory.BankID, messages int) wire.Status {
	t.Helper()
	var s wire.Status
	eventually(t, "every message of "+string(bank)+" ends", func() bool {
		s = w.status(t, bank)
		return s.Conservation.Published == messages && s.Conservation.Pending == 0 && s.Writes.Pending == 0
	})
	return s
}

// facts returns the live facts of a bank, oldest first.
func (w *pipeline) facts(t *testing.T, bank memory.BankID) []memory.Item {
	t.Helper()
	var out []memory.Item
	for it, err := range w.client.All(t.Context(), bank, wire.ListRequest{Record: memory.RecordFact, Order: "oldest", Limit: 200}) {
		if errors.Is(err, memory.ErrNotFound) {
			return nil
		}
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, it)
	}
	return out
}

// factTexts returns the sorted texts of facts with their sources, to compare banks by.
func factTexts(items []memory.Item) []string {
	out := make([]string, 0, len(items))
	for _, it := range items {
		var from []string
		for _, m := range it.Sources {
			from = append(from, string(m))
		}
		slices.Sort(from)
		out = append(out, it.Text+" ← "+strings.Join(from, ","))
	}
	slices.Sort(out)
	return out
}

// letters returns the dead letters of a bank.
func (w *pipeline) letters(t *testing.T, bank memory.BankID) []memory.DeadLetter {
	t.Helper()
	var out []memory.DeadLetter
	for l, err := range w.client.Admin().DeadLetters(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if l.Bank == string(bank) {
			out = append(out, l)
		}
	}
	return out
}

// writes returns the writes of a bank.
func (w *pipeline) writes(t *testing.T, bank memory.BankID) []memory.Write {
	t.Helper()
	var out []memory.Write
	conn := w.local.Conn
	_, err := ordered.Scan(t.Context(), conn, conn.Naming.Writes(), nil, 0, func(e events.Event) error {
		if e.Bank != bank && bank != "" {
			return nil
		}
		wr, err := e.Write()
		if err == nil {
			out = append(out, wr)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// metrics returns the metrics of the process.
func (w *pipeline) metrics(t *testing.T) string {
	t.Helper()
	r, err := http.Get("http://" + w.local.HTTP + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

// used returns the total usage of a stage for a bank.
func used(s wire.Status, stage string) memory.Usage {
	var out memory.Usage
	for _, u := range s.Usage {
		if u.Stage == stage {
			out = out.Plus(u.Usage)
		}
	}
	return out
}

// eventually waits up to two minutes until cond holds: longer than the pause after failures, on a busy machine.
func eventually(t *testing.T, what string, cond func() bool) {
	t.Helper()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(2 * time.Minute); !cond(); <-tick.C {
		if time.Now().After(end) {
			t.Fatalf("waited two minutes in vain: %s", what)
		}
	}
}
