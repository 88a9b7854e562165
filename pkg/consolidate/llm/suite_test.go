package llm_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/eunoe-memory/eunoe/pkg/consolidate"
	"github.com/eunoe-memory/eunoe/pkg/consolidate/llm"
	"github.com/eunoe-memory/eunoe/pkg/consolidate/plan"
	"github.com/eunoe-memory/eunoe/pkg/consolidate/rebuild"
	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/events/natstest"
	"github.com/eunoe-memory/eunoe/pkg/events/ordered"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/provider/hashed"
	"github.com/eunoe-memory/eunoe/pkg/query"
	"github.com/eunoe-memory/eunoe/pkg/store/sqlite"
	"github.com/eunoe-memory/eunoe/pkg/text/secret"
)

var day = time.Date(2026, 5, 1, 9, 0, 0, 0, time.UTC)

// model is a language model that answers by a script, stage by stage. It counts one call of ten and five tokens for
// every question, failed ones too.
type model struct {
	mu      sync.Mutex
	scripts map[string]func(memory.Prompt) (string, error)
	calls   map[string]int
}

func newModel() *model {
	return &model{scripts: map[string]func(memory.Prompt) (string, error){}, calls: map[string]int{}}
}

// on sets what is answered to a stage.
func (m *model) on(stage string, script func(memory.Prompt) (string, error)) *model {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.scripts[stage] = script
	return m
}

func (m *model) count(stage string) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.calls[stage]
}

func (m *model) Name() string { return "fake:model" }

func (m *model) Complete(ctx context.Context, p memory.Prompt) (memory.Completion, error) {
	stage := strings.TrimPrefix(strings.SplitN(p.System, "\n", 2)[0], "Task: ")
	m.mu.Lock()
	m.calls[stage]++
	script := m.scripts[stage]
	m.mu.Unlock()
	u := memory.StageUsage{Stage: stage, Model: m.Name(), Usage: memory.Usage{Calls: 1, PromptTokens: 10, CompletionTokens: 5}}
	text, err := `{"`+p.SchemaName+`":[]}`, error(nil)
	if script != nil {
		text, err = script(p)
	}
	if err != nil {
		u.Failed = 1
	}
	memory.MeterOf(ctx).Add(u)
	return memory.Completion{Text: text}, err
}

// lines returns the data of a prompt.
func lines(p memory.Prompt) []map[string]any {
	var out []map[string]any
	for _, l := range strings.Split(p.User, "\n") {
		var m map[string]any
		if json.Unmarshal([]byte(l), &m) == nil {
			out = append(out, m)
		}
	}
	return out
}

// numberOf returns the number of the first line whose text begins so.
func numberOf(p memory.Prompt, text string) int {
	for _, l := range lines(p) {
		if t, _ := l["text"].(string); strings.HasPrefix(t, text) {
			return int(l["n"].(float64))
		}
	}
	return 0
}

func answer(key string, items ...any) string {
	if items == nil {
		items = []any{}
	}
	b, _ := json.Marshal(map[string]any{key: items})
	return string(b)
}

// stage is a consolidator with a model, over a real log and a real store.
type stage struct {
	*testing.T
	conn    *events.Conn
	db      *sqlite.DB
	model   *model
	dir     string
	cfg     consolidate.Config
	llm     llm.Config
	service *query.Service
	now     func() time.Time          // of the loop; nil = time.Now
	reads   func(llm.Store) llm.Store // what the loop reads through; nil = the store itself
	n       int
}

func newStage(t *testing.T, m *model) *stage {
	t.Helper()
	s := &stage{T: t, conn: natstest.Start(t), model: m, dir: t.TempDir(), cfg: consolidate.DefaultConfig(), llm: llm.DefaultConfig()}
	s.cfg.Thresholds = memory.SimilarityThresholds{Dedup: .97, Cluster: .3, Diameter: .2}
	s.cfg.Decide, s.cfg.Summarise, s.cfg.Observe, s.cfg.DecideCosine, s.cfg.DecideWords = true, true, true, .3, 1
	s.cfg.MinConfidence, s.cfg.SummariseMin = 0.1, 2
	s.llm.Poll, s.llm.DecideBatch, s.llm.SummariseBatch = 2*time.Millisecond, 1, 1000
	s.llm.Backoff, s.llm.BackoffTo, s.llm.Timeout = time.Millisecond, 2*time.Millisecond, 20*time.Second
	s.db = s.open(filepath.Join(s.dir, "eunoe.db"))
	cfg := query.DefaultConfig()
	cfg.Observer = true
	var err error
	if s.service, err = query.New(cfg, query.Deps{Conn: s.conn, Store: s.db, Embedder: hashed.New(), Log: zerolog.Nop()}); err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *stage) open(path string) *sqlite.DB {
	s.Helper()
	db, err := sqlite.Open(sqlite.DefaultConfig(path))
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() {
		if err := db.Close(); err != nil {
			s.Error(err)
		}
	})
	return db
}

// run starts the consolidator with a Worker and returns what stops both, once the store has applied what they
// left in the log.
func (s *stage) run() (stop func()) {
	s.Helper()
	redact, err := secret.NewRedactor(nil)
	if err != nil {
		s.Fatal(err)
	}
	conn := natstest.Another(s.T, s.conn)
	var st llm.Store = s.db
	if s.reads != nil {
		st = s.reads(st)
	}
	w, err := llm.New(s.llm, llm.Deps{Store: st, Log: conn, Stream: conn.Naming.Writes(), Redactor: redact, Embedder: hashed.New(),
		Decide: s.model, Summarise: s.model, Observe: s.model, Logger: zerolog.Nop(), Now: s.now})
	if err != nil {
		s.Fatal(err)
	}
	end := s.consolidate(conn, w.Run)
	return sync.OnceFunc(func() {
		end()
		end = s.consolidate(natstest.Another(s.T, s.conn), nil)
		s.quiet()
		end()
	})
}

// consolidate runs a consolidator until the returned function is called.
func (s *stage) consolidate(conn *events.Conn, whileActive func(context.Context) error) func() {
	s.Helper()
	redact, err := secret.NewRedactor(nil)
	if err != nil {
		s.Fatal(err)
	}
	c, err := consolidate.New(s.cfg, consolidate.Deps{Conn: conn, Store: s.db, Redactor: redact, Log: zerolog.Nop(), WhileActive: whileActive})
	if err != nil {
		s.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- c.Run(ctx) }()
	end := sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			s.Errorf("the consolidator ended: %v", err)
		}
	})
	s.Cleanup(end)
	return end
}

// tell publishes a message and the end of its window, with these statements.
func (s *stage) tell(id string, statements ...string) uint64 {
	s.Helper()
	s.n++
	said := day.AddDate(0, 0, s.n)
	body, _ := json.Marshal(memory.Message{ID: memory.MessageID(id), Speaker: "Alice", Content: strings.Join(statements, " "), Time: said})
	seq, err := s.conn.PublishMessage(s.Context(), "alice", "s1", body)
	if err != nil {
		s.Fatal(err)
	}
	w := memory.Window{ID: memory.NewWindowID("alice", "s1", seq, seq, 0), Trigger: memory.TriggerFlush, New: []memory.WindowMessage{{Seq: seq}}}
	vectors, err := hashed.New().Embed(s.Context(), statements)
	if err != nil {
		s.Fatal(err)
	}
	var facts []memory.Fact
	for i, text := range statements {
		facts = append(facts, memory.Fact{ID: memory.NewFactID("alice", text, memory.KindWorld), Text: text, Kind: memory.KindWorld, Type: memory.TypeConstraint,
			Speaker: "Alice", Confidence: .8, Vector: vectors[i], Entities: []memory.EntityID{"person:alice"}, Topic: "life",
			Sources: []memory.Source{{Message: memory.MessageID(id), Seq: seq, Said: said, Start: said}}})
	}
	return s.append(memory.Write{Kind: memory.WriteWindow, Op: string(w.ID), Upto: seq, Facts: facts,
		Window: &memory.WindowEnd{Window: w, SessionID: "s1", Outcome: memory.WindowFacts}})
}

func (s *stage) append(w memory.Write) uint64 {
	s.Helper()
	w.Bank = "alice"
	seq, err := s.conn.AppendWrite(s.Context(), w)
	if err != nil {
		s.Fatal(err)
	}
	return seq
}

// look looks at the bank.
func (s *stage) look(fn func(plan.View) error) {
	s.Helper()
	if err := s.db.Look(s.Context(), "alice", fn); err != nil && !errors.Is(err, memory.ErrNotFound) {
		s.Fatal(err)
	}
}

func (s *stage) fact(text string) (f memory.Fact) {
	s.Helper()
	s.look(func(v plan.View) error {
		found, err := v.Facts([]memory.FactID{memory.NewFactID("alice", text, memory.KindWorld)})
		if len(found) > 0 {
			f = found[0]
		}
		return err
	})
	return f
}

func (s *stage) waiting(kind memory.PendingKind) (n int) {
	s.Helper()
	s.look(func(v plan.View) error {
		list, err := v.Pending(kind, 1000)
		n = len(list)
		return err
	})
	return n
}

func (s *stage) eventually(what string, cond func() bool) {
	s.Helper()
	natstest.Eventually(s.T, what, cond)
}

// quiet waits until the store has applied the log.
func (s *stage) quiet() {
	s.Helper()
	s.eventually("the store has applied the log", func() bool {
		end, err := s.conn.LastSeq(s.Context(), s.conn.Naming.Writes())
		_, applied, err2 := s.db.Applied(s.Context())
		return err == nil && err2 == nil && applied >= end
	})
}

// rebuilt makes the store anew from the log alone.
func (s *stage) rebuilt() *sqlite.DB {
	s.Helper()
	redact, _ := secret.NewRedactor(nil)
	db := s.open(filepath.Join(s.TempDir(), "again.db"))
	r, err := rebuild.New(s.cfg, consolidate.Deps{Conn: s.conn, Store: db, Redactor: redact, Log: zerolog.Nop()})
	if err != nil {
		s.Fatal(err)
	}
	if err := r.Rebuild(s.Context(), nil); err != nil {
		s.Fatal(err)
	}
	return db
}

func (s *stage) dump(db *sqlite.DB) string {
	s.Helper()
	var b bytes.Buffer
	if err := db.Dump(s.Context(), &b); err != nil {
		s.Fatal(err)
	}
	return b.String()
}

// written returns the writes of a kind that stand in the log.
func (s *stage) written(kind memory.WriteKind) (out []memory.Write) {
	s.Helper()
	_, err := ordered.Scan(s.Context(), s.conn, s.conn.Naming.Writes(), nil, 0, func(e events.Event) error {
		w, err := e.Write()
		if err == nil && (kind == "" || w.Kind == kind) {
			out = append(out, w)
		}
		return err
	})
	if err != nil {
		s.Fatal(err)
	}
	return out
}

func equal[T any](t testing.TB, what string, got, want T) {
	t.Helper()
	if g, w := fmt.Sprint(got), fmt.Sprint(want); g != w {
		t.Errorf("%s: got %s, want %s", what, g, w)
	}
}
