package extract_test

import (
	"context"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/eunoe-memory/eunoe/pkg/client"
	"github.com/eunoe-memory/eunoe/pkg/consolidate"
	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/events/kv"
	"github.com/eunoe-memory/eunoe/pkg/events/natstest"
	"github.com/eunoe-memory/eunoe/pkg/extract"
	"github.com/eunoe-memory/eunoe/pkg/ingest"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/query"
	"github.com/eunoe-memory/eunoe/pkg/store/sqlite"
	"github.com/eunoe-memory/eunoe/pkg/text/secret"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

// pipeline is every stage but the extractor, on a real broker and store.
type pipeline struct {
	*testing.T
	conn   *events.Conn
	client *client.Client
	path   string
	stages func() // stops them and waits
}

func newPipeline(t *testing.T) *pipeline {
	t.Helper()
	p := &pipeline{T: t, conn: natstest.Start(t), path: filepath.Join(t.TempDir(), "eunoe.db")}
	p.start()
	t.Cleanup(func() { p.stages() })
	c, err := client.New(client.DefaultConfig(), client.Deps{Conn: p.conn})
	if err != nil {
		t.Fatal(err)
	}
	p.client = c
	return p
}

// start runs ingest, the consolidator and the query service.
func (p *pipeline) start() {
	p.Helper()
	db, err := sqlite.Open(sqlite.DefaultConfig(p.path))
	if err != nil {
		p.Fatal(err)
	}
	redactor, err := secret.NewRedactor(nil)
	if err != nil {
		p.Fatal(err)
	}
	log := zerolog.Nop()
	in, err := ingest.New(ingest.DefaultConfig(), ingest.Deps{Conn: p.conn, Log: log, Now: time.Now})
	if err != nil {
		p.Fatal(err)
	}
	con, err := consolidate.New(consolidate.DefaultConfig(), consolidate.Deps{Conn: p.conn, Store: db, Redactor: redactor, Log: log,
		Profile: func(ctx context.Context, bank memory.BankID) (b memory.Bank, err error) {
			err = db.Read(ctx, bank, func(r query.Reader) error { b, err = r.Bank(); return err })
			return b, err
		}})
	if err != nil {
		p.Fatal(err)
	}
	q, err := query.New(query.DefaultConfig(), query.Deps{Conn: p.conn, Store: db, Log: log, Now: time.Now})
	if err != nil {
		p.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var group sync.WaitGroup
	for _, run := range []func(context.Context) error{in.Run, con.Run, q.Run} {
		group.Go(func() {
			if err := run(ctx); err != nil {
				p.Errorf("a stage ended: %v", err)
			}
		})
	}
	<-q.Ready()
	p.stages = func() {
		cancel()
		group.Wait()
		if err := db.Close(); err != nil {
			p.Error(err)
		}
	}
}

// restart stops the stages and starts them on the same store.
func (p *pipeline) restart() {
	p.Helper()
	p.stages()
	p.start()
}

// profile reads a bank's profile as an extractor does.
func (p *pipeline) profile(ctx context.Context, bank memory.BankID) (memory.Bank, error) {
	b, _, err := kv.Profile(ctx, p.conn, bank)
	return b, err
}

// clock is a time that a test moves.
type clock struct{ at atomic.Int64 }

func newClock(t time.Time) *clock { c := &clock{}; c.at.Store(t.UnixNano()); return c }

func (c *clock) now() time.Time       { return time.Unix(0, c.at.Load()).UTC() }
func (c *clock) move(d time.Duration) { c.at.Add(int64(d)) }

// budget makes the budget of one extractor process.
func (p *pipeline) budget(c *clock, perDay int64) *extract.Budget {
	p.Helper()
	cfg := extract.DefaultBudgetConfig()
	cfg.TokensPerDay, cfg.Metered, cfg.Tick = perDay, true, 10*time.Millisecond
	b, err := extract.NewBudget(cfg, extract.BudgetDeps{Conn: p.conn, Log: zerolog.Nop(), Now: c.now, Profile: p.profile})
	if err != nil {
		p.Fatal(err)
	}
	return b
}

// extractor runs a worker on its own connection, one window at a time, until the test ends or stop is called.
func (p *pipeline) extractor(x extract.Extractor, b *extract.Budget, change ...func(*extract.Deps)) (stop func()) {
	p.Helper()
	config := extract.DefaultConfig()
	config.Concurrency, config.MaxAttempts = 1, 2
	config.Backoff = events.Backoff{Min: time.Millisecond, Max: 5 * time.Millisecond}
	deps := extract.Deps{Conn: natstest.Another(p.T, p.conn), Log: zerolog.Nop(), Extractor: x, Profile: p.profile, Budget: b}
	for _, f := range change {
		f(&deps)
	}
	w, err := extract.NewWorker(config, deps)
	if err != nil {
		p.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- w.Run(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			p.Errorf("the extractor ended: %v", err)
		}
	})
	p.Cleanup(stop)
	return stop
}

// say publishes messages of a session, each ended by a flush: a window each.
func (p *pipeline) say(bank memory.BankID, session memory.SessionID, contents ...string) []uint64 {
	p.Helper()
	var seqs []uint64
	for _, c := range contents {
		seq, err := p.conn.PublishMessage(p.Context(), bank, session, []byte(fmt.Sprintf(`{"speaker":"Alice","content":%q}`, c)))
		if err != nil {
			p.Fatal(err)
		}
		if _, err := p.conn.PublishFlush(p.Context(), bank, session, memory.Flush{}); err != nil {
			p.Fatal(err)
		}
		seqs = append(seqs, seq)
	}
	return seqs
}

// until waits for a state of a bank and returns it. In every state conservation holds.
func (p *pipeline) until(bank memory.BankID, what string, cond func(wire.Status) bool) wire.Status {
	p.Helper()
	var st wire.Status
	natstest.Eventually(p.T, what, func() bool {
		var err error
		st, err = p.client.Status(p.Context(), bank)
		if err != nil {
			return false
		}
		if st.Conservation.Sum() != st.Conservation.Published {
			p.Errorf("%s: %+v does not add up", what, st.Conservation)
		}
		return cond(st)
	})
	return st
}

func settled(n int) func(wire.Status) bool {
	return func(s wire.Status) bool { return s.Settled && s.Conservation.Published == n }
}

// facts returns the texts of a bank's live facts, oldest first.
func (p *pipeline) facts(bank memory.BankID) []string {
	p.Helper()
	page, err := p.client.List(p.Context(), bank, wire.ListRequest{Order: "oldest", Limit: 1000})
	if err != nil {
		p.Fatal(err)
	}
	out := []string{}
	for _, f := range page.Items {
		out = append(out, f.Text)
	}
	return out
}
