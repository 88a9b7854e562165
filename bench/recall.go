package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"time"

	"github.com/rs/zerolog"
	"github.com/spf13/cobra"

	"github.com/eunoe-memory/eunoe/bench/synthetic"
	"github.com/eunoe-memory/eunoe/internal/console"
	"github.com/eunoe-memory/eunoe/internal/natsd"
	"github.com/eunoe-memory/eunoe/pkg/client"
	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/query"
	"github.com/eunoe-memory/eunoe/pkg/query/recall"
	"github.com/eunoe-memory/eunoe/pkg/store/sqlite"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

// recallFigures is what recall prints with --json.
type recallFigures struct {
	Bank     synthetic.Filled       `json:"bank"`
	Sketches query.Sketches         `json:"sketches"`
	Made     float64                `json:"sketches_made_seconds"`
	Recall   percentiles            `json:"recall"`
	Found    int                    `json:"items"` // of all answers
	Degraded []string               `json:"degraded"`
	Words    percentiles            `json:"recall_without_vectors"`
	Narrowed map[string]percentiles `json:"recall_narrowed"` // by what narrows it
	Vector   percentiles            `json:"vector"`
	RecallAt float64                `json:"vector_recall_at_10"`
	Exact    percentiles            `json:"exact_scan"`
}

func (a *cli) recall(cmd *cobra.Command, f loadFlags) error {
	return f.inDirectory(func(dir string) error {
		ctx, path := cmd.Context(), filepath.Join(dir, "eunoe.db")
		bank, err := f.filled(ctx, path, synthetic.Vectors, cmd.ErrOrStderr())
		if err != nil {
			return err
		}
		out := recallFigures{Bank: *bank}
		if err := out.measure(ctx, dir, path, f, cmd.ErrOrStderr()); err != nil {
			return err
		}
		out.Bank.Questions = nil
		if a.JSON {
			return console.PrintJSON(cmd.OutOrStdout(), out)
		}
		out.print(cmd.OutOrStdout())
		return nil
	})
}

func (r *recallFigures) print(w io.Writer) {
	pairs(w, "bank", r.Bank.String(),
		"recall over NATS, with vectors", r.Recall, "recall over NATS, words alone", r.Words,
		"recall narrowed to one session", r.Narrowed["session"], "  to six hours", r.Narrowed["six hours"], "  to the later half", r.Narrowed["since"],
		"  as of the middle", r.Narrowed["as of"], "  to one of two speakers", r.Narrowed["speaker"], "  to a type", r.Narrowed["type"],
		"nearest 10 facts by sketches", r.Vector, "  recall@10 against comparing all", r.RecallAt, "nearest 10 facts comparing all", r.Exact,
		"sketches", r.Sketches, "  made in seconds", r.Made, "degraded", r.Degraded)
}

func (r *recallFigures) measure(ctx context.Context, dir, path string, f loadFlags, progress io.Writer) error {
	db, err := synthetic.Vectors.Open(f.Config, path, false)
	if err != nil {
		return err
	}
	defer db.Close() //nolint:errcheck // it was read from
	if r.Made, err = warmed(ctx, db); err != nil {
		return err
	}
	r.Sketches = db.Sketches()
	embedder := synthetic.Embedder{}
	for _, q := range r.Bank.Questions {
		embedder[q.Text] = q.Vector
	}
	err = withQuery(ctx, dir, db, embedder, func(c *client.Client) error {
		bar := console.NewBar(progress, 2*len(r.Bank.Questions), "asking")
		defer bar.Close()                                                     //nolint:errcheck // a bar that cannot be drawn changes nothing
		for _, q := range r.Bank.Questions[:min(20, len(r.Bank.Questions))] { // caches
			if _, err := c.Recall(ctx, synthetic.Bank, wire.RecallRequest{Query: q.Text}); err != nil {
				return err
			}
		}
		for _, wordsOnly := range []bool{false, true} {
			var times []time.Duration
			for _, q := range r.Bank.Questions {
				req := wire.RecallRequest{Query: q.Text}
				if wordsOnly {
					req.Strategies = map[string]float64{memory.StrategyKeyword: 1, memory.StrategyEntity: .05, memory.StrategyTemporal: .02, memory.StrategyGraph: .05}
				}
				began := time.Now()
				got, err := c.Recall(ctx, synthetic.Bank, req)
				if err != nil {
					return err
				}
				times = append(times, time.Since(began))
				if !wordsOnly {
					r.Found += len(got.Items)
					r.Degraded = appendNew(r.Degraded, got.Degraded)
				}
				bar.Add(1) //nolint:errcheck // a bar that cannot be drawn changes nothing
			}
			if wordsOnly {
				r.Words = percentilesOf(times)
			} else {
				r.Recall = percentilesOf(times)
			}
		}
		return r.askNarrowed(ctx, c)
	})
	if err != nil {
		return err
	}
	return r.vectors(ctx, db)
}

// warmed waits until sketches are made, and returns the seconds it took.
func warmed(ctx context.Context, db *sqlite.DB) (float64, error) {
	began := time.Now()
	db.Warm()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	// A bank too small for sketches has none to wait for.
	for s := db.Sketches(); s.Building > 0 || s.Rows == 0 && time.Since(began) < time.Second; s = db.Sketches() {
		select {
		case <-ctx.Done():
			return 0, ctx.Err()
		case <-tick.C:
		}
	}
	return time.Since(began).Seconds(), nil
}

// withQuery runs the query service on a broker of its own while fn asks it.
func withQuery(ctx context.Context, dir string, db *sqlite.DB, e memory.Embedder, fn func(*client.Client) error) (err error) {
	srv, err := natsd.Start(natsd.Config{Dir: filepath.Join(dir, "streams"), Port: natsd.RandomPort, Log: zerolog.Nop()})
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
	s, err := query.New(query.DefaultConfig(), query.Deps{Conn: conn, Log: zerolog.Nop(), Now: time.Now, Store: db, Embedder: e})
	if err != nil {
		return err
	}
	running, stop := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() { done <- s.Run(running) }()
	defer func() { stop(); err = errors.Join(err, <-done) }()
	select {
	case <-s.Ready():
	case err := <-done:
		done <- nil
		return err
	}
	c, err := client.Connect(ctx, client.Config{URL: srv.ClientURL(), Timeout: client.DefaultConfig().Timeout})
	if err != nil {
		return err
	}
	defer c.Close() //nolint:errcheck // nothing is left to send
	return fn(c)
}

// vectors measures the search for the nearest facts alone.
func (r *recallFigures) vectors(ctx context.Context, db *sqlite.DB) error {
	nearest := func(q synthetic.Question, exact bool) (nos []int64, took time.Duration, err error) {
		err = db.Search(ctx, synthetic.Bank, memory.Filter{}, func(s recall.Searcher) error {
			began := time.Now()
			near, err := s.Nearest(ctx, q.Vector, 10, exact)
			took = time.Since(began)
			for _, n := range near {
				nos = append(nos, n.No)
			}
			return err
		})
		return nos, took, err
	}
	var quick, full []time.Duration
	found, all := 0, 0
	compared := max(30, min(len(r.Bank.Questions), 5_000_000/max(1, r.Bank.Facts)))
	for i, q := range r.Bank.Questions {
		got, took, err := nearest(q, false)
		if err != nil {
			return err
		}
		if quick = append(quick, took); i >= compared {
			continue
		}
		want, took, err := nearest(q, true)
		if err != nil {
			return err
		}
		full = append(full, took)
		for _, no := range want {
			all++
			if slices.Contains(got, no) {
				found++
			}
		}
	}
	r.Vector, r.Exact, r.RecallAt = percentilesOf(quick), percentilesOf(full), float64(found)/float64(max(1, all))
	return nil
}

// narrowings returns filters as bots use them, over a bank of n messages: the session and the six hours are in the
// middle.
func narrowings(n int) map[string]memory.Filter {
	middle := synthetic.Epoch.Add(time.Duration(n/2) * synthetic.Interval)
	from, to := middle.Add(-3*time.Hour), middle.Add(3*time.Hour)
	return map[string]memory.Filter{
		"session":   {Session: synthetic.Session(n / 2)},
		"six hours": {From: &from, To: &to},
		"since":     {From: &middle},
		"as of":     {AsOf: &middle},
		"speaker":   {Speakers: []string{"Ann"}},
		"type":      {Types: []memory.Type{memory.TypePreference}},
	}
}

// askNarrowed asks the first questions under each filter.
func (r *recallFigures) askNarrowed(ctx context.Context, c *client.Client) error {
	r.Narrowed = map[string]percentiles{}
	for name, f := range narrowings(r.Bank.Messages) {
		var times []time.Duration
		for _, q := range r.Bank.Questions[:min(50, len(r.Bank.Questions))] {
			began := time.Now()
			got, err := c.Recall(ctx, synthetic.Bank, wire.RecallRequest{Query: q.Text, Filter: f})
			if err != nil {
				return fmt.Errorf("recall narrowed to %s: %w", name, err)
			}
			if len(got.Items) == 0 {
				return fmt.Errorf("recall narrowed to %s found nothing for %q: %w", name, q.Text, memory.ErrNotFound)
			}
			times = append(times, time.Since(began))
		}
		r.Narrowed[name] = percentilesOf(times)
	}
	return nil
}
