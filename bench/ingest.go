package main

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/rs/zerolog"
	"github.com/spf13/cobra"

	"github.com/eunoe-memory/eunoe/bench/synthetic"
	"github.com/eunoe-memory/eunoe/internal/app/local"
	"github.com/eunoe-memory/eunoe/internal/console"
	"github.com/eunoe-memory/eunoe/internal/natsd"
	"github.com/eunoe-memory/eunoe/pkg/client"
	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

// ingestFigures is what ingest prints with --json.
type ingestFigures struct {
	Bank       synthetic.Filled `json:"bank"`
	Messages   int              `json:"messages"`
	Published  float64          `json:"published_per_second"`
	Settled    float64          `json:"settled_per_second"` // from the first publish on
	Floor      moved            `json:"floor"`
	Ratio      float64          `json:"ratio"` // settled against the floor
	Recallable percentiles      `json:"recallable_at_100"`
	Idle       percentiles      `json:"recall_idle"`
	Busy       percentiles      `json:"recall_at_200"`
	Slower     float64          `json:"recall_p99_ratio"`
}

// sessionCount is how many sessions are published to at a time.
const sessionCount = 20

func (a *cli) ingest(cmd *cobra.Command, f loadFlags) error {
	return f.inDirectory(func(dir string) error {
		settings := map[string]string{"SYNC": "true"}
		cfg, err := a.TempSettings(dir, settings)
		if err != nil {
			return err
		}
		at := cfg.Store
		if f.Store != "" {
			settings["STORE"], cfg.Store = f.Store, f.Store
		}
		bank, err := f.filled(cmd.Context(), at, synthetic.Hashed, cmd.ErrOrStderr())
		if err != nil {
			return err
		}
		if err := streamsFrom(cmd.Context(), filepath.Join(dir, "streams"), *bank); err != nil {
			return err
		}
		out := ingestFigures{Bank: *bank, Messages: f.messages}
		var traffic []volume
		err = a.withLocal(cmd, dir, settings, func(l *local.Local, c *client.Client) error {
			// What is published is made of the same words and is not in the bank.
			other := f.Config
			other.Seed++
			corpus := synthetic.NewCorpus(other, false)
			b := ingestBench{c: c, conn: l.Conn, corpus: corpus, questions: bank.Questions, hold: f.steady}
			if traffic, err = b.sustained(cmd.Context(), f.messages, cfg.Store, &out); err != nil {
				return err
			}
			return b.steady(cmd.Context(), &out)
		})
		if err != nil {
			return err
		}
		if out.Floor, err = moveBare(cmd.Context(), traffic); err != nil {
			return err
		}
		out.Ratio = out.Settled * out.Floor.Seconds / float64(f.messages)
		out.Bank.Questions = nil
		if a.JSON {
			return console.PrintJSON(cmd.OutOrStdout(), out)
		}
		out.print(cmd.OutOrStdout())
		return nil
	})
}

func (r *ingestFigures) print(w io.Writer) {
	pairs(w, "bank", r.Bank.String(), "published", fmt.Sprintf("%.0f messages/s", r.Published),
		"published until settled, synced", fmt.Sprintf("%.0f messages/s", r.Settled),
		"  the same bytes, bare", r.Floor, "  ratio", fmt.Sprintf("%.3f", r.Ratio),
		"published until recallable, at 100/s", r.Recallable, "recall, idle", r.Idle, "recall, at 200 messages/s", r.Busy,
		"  p99 against idle", fmt.Sprintf("%.2f", r.Slower))
}

// streamsFrom makes streams that begin where the log of a filled store ends. A store that was used before continues with
// the streams it has.
func streamsFrom(ctx context.Context, dir string, bank synthetic.Filled) error {
	srv, err := natsd.Start(natsd.Config{Dir: dir, Port: natsd.RandomPort, Log: zerolog.Nop()})
	if err != nil {
		return err
	}
	defer srv.Shutdown()
	conn, err := events.Connect(ctx, events.ConnConfig{URL: srv.ClientURL(), Log: zerolog.Nop()})
	if err != nil {
		return err
	}
	defer conn.NC.Close()
	if err := conn.Reconcile(ctx, events.StreamOptions{}); err != nil {
		return err
	}
	for name, last := range map[string]uint64{conn.Naming.Messages(): uint64(bank.Messages), conn.Naming.Writes(): bank.Writes} {
		s, err := conn.JS.Stream(ctx, name)
		if err != nil {
			return err
		}
		if s.CachedInfo().State.LastSeq > 0 {
			continue
		}
		if err := s.Purge(ctx, jetstream.WithPurgeSequence(last+1)); err != nil {
			return fmt.Errorf("begin stream %s at %d: %w", name, last+1, err)
		}
	}
	return nil
}

// ingestBench publishes to a running pipeline and watches what becomes of it.
type ingestBench struct {
	c         *client.Client
	conn      *events.Conn
	corpus    *synthetic.Corpus
	questions []synthetic.Question
	hold      time.Duration // of a steady rate
}

// sustained publishes as fast as it can and waits until all is settled. It returns what each part of the pipeline kept
// for it.
func (b ingestBench) sustained(ctx context.Context, n int, store string, out *ingestFigures) ([]volume, error) {
	sessions := make([][]memory.Message, sessionCount)
	for i := range n {
		sessions[i%sessionCount] = append(sessions[i%sessionCount], b.corpus.Message())
	}
	before, err := volumes(ctx, b.conn, store)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, 15*time.Minute)
	defer cancel()
	began := time.Now()
	var wg sync.WaitGroup
	failed := make(chan error, sessionCount)
	for i, messages := range sessions {
		wg.Go(func() {
			session := memory.SessionID(fmt.Sprintf("sustained-%d-%d", i, began.UnixNano()))
			_, err := b.c.PublishAll(ctx, synthetic.Bank, session, messages)
			if err == nil {
				_, err = b.c.Flush(ctx, synthetic.Bank, session)
			}
			failed <- err
		})
	}
	wg.Wait()
	for range sessions {
		if err := <-failed; err != nil {
			return nil, err
		}
	}
	out.Published = float64(n) / time.Since(began).Seconds()
	if err := b.settled(ctx); err != nil {
		return nil, err
	}
	out.Settled = float64(n) / time.Since(began).Seconds()
	after, err := volumes(ctx, b.conn, store)
	for i := range after {
		after[i].count -= before[i].count
		after[i].bytes -= before[i].bytes
	}
	after[len(after)-1].count = 2 * n // rows of messages and of facts
	return after, err
}

// settled waits until the bank is settled. It asks every 200 ms, for asking takes time of the machine that is measured.
func (b ingestBench) settled(ctx context.Context) error { return b.settledBank(ctx, synthetic.Bank) }

func (b ingestBench) settledBank(ctx context.Context, bank memory.BankID) error {
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for {
		st, err := b.c.Status(ctx, bank)
		if err != nil || st.Settled {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}

// steady publishes at a rate and recalls meanwhile.
func (b ingestBench) steady(ctx context.Context, out *ingestFigures) error {
	var err error
	if out.Idle, err = b.recalls(ctx); err != nil { // also fills caches
		return err
	}
	if out.Idle, err = b.recalls(ctx); err != nil {
		return err
	}
	if out.Recallable, err = b.at(ctx, 100, true, nil); err != nil {
		return err
	}
	if err := b.settled(ctx); err != nil {
		return err
	}
	_, err = b.at(ctx, 200, false, func(ctx context.Context) error {
		var err error
		out.Busy, err = b.recalls(ctx)
		return err
	})
	if out.Idle.P99 > 0 {
		out.Slower = out.Busy.P99 / out.Idle.P99
	}
	return err
}

func (b ingestBench) recalls(ctx context.Context) (percentiles, error) {
	var times []time.Duration
	for _, q := range b.questions {
		began := time.Now()
		if _, err := b.c.Recall(ctx, synthetic.Bank, wire.RecallRequest{Query: q.Text}); err != nil {
			return percentiles{}, err
		}
		times = append(times, time.Since(began))
	}
	return percentilesOf(times), nil
}

// at publishes rate messages a second, for the time of --steady or until meanwhile returns. With measure it takes the
// times from publish until a recall has seen the message.
func (b ingestBench) at(ctx context.Context, rate int, measure bool, meanwhile func(context.Context) error) (percentiles, error) {
	var mu sync.Mutex
	var times []time.Duration
	var first error
	note := func(d time.Duration, err error) {
		mu.Lock()
		defer mu.Unlock()
		times = append(times, d)
		if err != nil && first == nil {
			first = err
		}
	}
	done := make(chan error, 1)
	over := time.After(b.hold)
	if meanwhile != nil {
		over = nil
		go func() { done <- meanwhile(ctx) }()
	}
	tick := time.NewTicker(time.Second / time.Duration(rate))
	defer tick.Stop()
	var wg sync.WaitGroup
	for i := 0; ; i++ {
		select {
		case <-ctx.Done():
			return percentiles{}, ctx.Err()
		case err := <-done:
			wg.Wait()
			return percentilesOf(times), err
		case <-over:
			wg.Wait()
			return percentilesOf(times), first
		case <-tick.C:
		}
		m, session := b.corpus.Message(), memory.SessionID(fmt.Sprintf("steady-%d-%d", rate, i%sessionCount))
		wg.Go(func() { note(b.published(ctx, session, m, measure)) })
	}
}

// published publishes a message, with wait until it can be recalled, and returns the time that took.
func (b ingestBench) published(ctx context.Context, session memory.SessionID, m memory.Message, wait bool) (time.Duration, error) {
	began := time.Now()
	seq, err := b.c.Publish(ctx, synthetic.Bank, session, m)
	if err != nil || !wait {
		return time.Since(began), err
	}
	r, err := b.c.Recall(ctx, synthetic.Bank, wire.RecallRequest{Query: m.Content[:40], After: seq, Strategies: map[string]float64{memory.StrategyKeyword: 1},
		Filter: memory.Filter{Records: []memory.Record{memory.RecordMessage}, Session: session}})
	if err == nil && !r.Fresh {
		err = fmt.Errorf("message %d was not recallable within its time: %w", seq, memory.ErrDeadline)
	}
	return time.Since(began), err
}
