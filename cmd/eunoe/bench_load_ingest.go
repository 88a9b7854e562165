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

	"github.com/eunoe-memory/eunoe/internal/app"
	"github.com/eunoe-memory/eunoe/internal/natsd"
	"github.com/eunoe-memory/eunoe/pkg/client"
	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// loadIngest are the figures of bench ingest.
type loadIngest struct {
	Bank       loaded  `json:"bank"`
	Messages   int     `json:"messages"`
	Published  float64 `json:"published_per_second"`
	Settled    float64 `json:"settled_per_second"` // from the first publish on
	Floor      moved   `json:"floor"`
	Ratio      float64 `json:"ratio"` // settled against the floor
	Recallable spread  `json:"recallable_at_100"`
	Idle       spread  `json:"recall_idle"`
	Busy       spread  `json:"recall_at_200"`
	Slower     float64 `json:"recall_p99_ratio"`
}

// loadSessions are talked in at a time.
const loadSessions = 20

func (a *cli) benchIngest(cmd *cobra.Command, f loadFlags) error {
	return f.within(func(dir string) error {
		settings := map[string]string{"SYNC": "true"}
		cfg, err := a.tempSettings(dir, settings)
		if err != nil {
			return err
		}
		bank, err := f.filled(cmd.Context(), cfg.Store, loadHashed, cmd.ErrOrStderr())
		if err != nil {
			return err
		}
		if err := streamsFrom(cmd.Context(), filepath.Join(dir, "streams"), *bank); err != nil {
			return err
		}
		out := loadIngest{Bank: *bank, Messages: f.messages}
		var traffic []volume
		err = a.withLocal(cmd, dir, settings, func(l *app.Local, c *client.Client) error {
			// What is published is made of the same words, and is not in the bank.
			talk := newCorpus(loadFlags{facts: f.facts, questions: f.questions, seed: f.seed + 1}, false)
			b := ingestBench{c: c, conn: l.Conn, talk: talk, questions: bank.Questions, hold: f.steady}
			if traffic, err = b.sustained(cmd.Context(), f.messages, cfg.Store, &out); err != nil {
				return err
			}
			return b.steady(cmd.Context(), &out)
		})
		if err != nil {
			return err
		}
		if out.Floor, err = floor(cmd.Context(), traffic); err != nil {
			return err
		}
		out.Ratio = out.Settled * out.Floor.Seconds / float64(f.messages)
		out.Bank.Questions = nil
		if a.json {
			return printJSON(cmd.OutOrStdout(), out)
		}
		out.print(cmd.OutOrStdout())
		return nil
	})
}

func (r *loadIngest) print(w io.Writer) {
	lines(w, "bank", r.Bank.String(), "published", fmt.Sprintf("%.0f messages/s", r.Published),
		"published until settled, synced", fmt.Sprintf("%.0f messages/s", r.Settled),
		"  the same bytes, bare", r.Floor, "  ratio", fmt.Sprintf("%.3f", r.Ratio),
		"published until recallable, at 100/s", r.Recallable, "recall, idle", r.Idle, "recall, at 200 messages/s", r.Busy,
		"  p99 against idle", fmt.Sprintf("%.2f", r.Slower))
}

// streamsFrom makes streams that begin where the log of a filled store ends. A
// store that was used before goes on with the streams it has.
func streamsFrom(ctx context.Context, dir string, bank loaded) error {
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
	talk      *corpus
	questions []loadQuestion
	hold      time.Duration // of a steady rate
}

func (b ingestBench) message() memory.Message {
	t := b.talk.thread(loadBank)
	return memory.Message{Speaker: []string{"Ann", "Ben"}[b.talk.rng.IntN(2)],
		Content: "My friend " + t.name + " likes " + b.talk.say(4+b.talk.rng.IntN(6), t.own) + ". I " + b.talk.say(6+b.talk.rng.IntN(10), t.own) + "."}
}

// sustained publishes as fast as it goes and waits until all is settled. It
// gives what each part of the pipeline had to keep for it.
func (b ingestBench) sustained(ctx context.Context, n int, store string, out *loadIngest) ([]volume, error) {
	sessions := make([][]memory.Message, loadSessions)
	for i := range n {
		sessions[i%loadSessions] = append(sessions[i%loadSessions], b.message())
	}
	before, err := volumes(ctx, b.conn, store)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, 15*time.Minute)
	defer cancel()
	began := time.Now()
	var wg sync.WaitGroup
	failed := make(chan error, loadSessions)
	for i, messages := range sessions {
		wg.Go(func() {
			session := memory.SessionID(fmt.Sprintf("sustained-%d-%d", i, began.UnixNano()))
			_, err := b.c.PublishAll(ctx, loadBank, session, messages)
			if err == nil {
				_, err = b.c.Flush(ctx, loadBank, session)
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

// settled asks every 200 ms: asking counts, and takes its time.
func (b ingestBench) settled(ctx context.Context) error {
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for {
		st, err := b.c.Status(ctx, loadBank)
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
func (b ingestBench) steady(ctx context.Context, out *loadIngest) error {
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

func (b ingestBench) recalls(ctx context.Context) (spread, error) {
	var times []time.Duration
	for _, q := range b.questions {
		began := time.Now()
		if _, err := b.c.Recall(ctx, loadBank, memory.RecallRequest{Query: q.Text}); err != nil {
			return spread{}, err
		}
		times = append(times, time.Since(began))
	}
	return spreadOf(times), nil
}

// at publishes so many messages a second, for a time or until beside is done,
// and measures, if asked to, from publish until a recall has seen the message.
func (b ingestBench) at(ctx context.Context, rate int, measure bool, beside func(context.Context) error) (spread, error) {
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
	if beside != nil {
		over = nil
		go func() { done <- beside(ctx) }()
	}
	tick := time.NewTicker(time.Second / time.Duration(rate))
	defer tick.Stop()
	var wg sync.WaitGroup
	for i := 0; ; i++ {
		select {
		case <-ctx.Done():
			return spread{}, ctx.Err()
		case err := <-done:
			wg.Wait()
			return spreadOf(times), err
		case <-over:
			wg.Wait()
			return spreadOf(times), first
		case <-tick.C:
		}
		m, session := b.message(), memory.SessionID(fmt.Sprintf("steady-%d-%d", rate, i%loadSessions))
		wg.Go(func() { note(b.published(ctx, session, m, measure)) })
	}
}

// published publishes a message and, if asked to, waits until it can be recalled.
func (b ingestBench) published(ctx context.Context, session memory.SessionID, m memory.Message, wait bool) (time.Duration, error) {
	began := time.Now()
	seq, err := b.c.Publish(ctx, loadBank, session, m)
	if err != nil || !wait {
		return time.Since(began), err
	}
	r, err := b.c.Recall(ctx, loadBank, memory.RecallRequest{Query: m.Content[:40], After: seq, Strategies: map[string]float64{memory.StrategyKeyword: 1},
		Filter: memory.Filter{Records: []memory.Record{memory.RecordMessage}, Session: session}})
	if err == nil && !r.Fresh {
		err = fmt.Errorf("message %d was not recallable within its time: %w", seq, memory.ErrDeadline)
	}
	return time.Since(began), err
}
