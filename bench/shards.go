package main

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"github.com/eunoe-memory/eunoe/bench/synthetic"
	"github.com/eunoe-memory/eunoe/internal/app/local"
	"github.com/eunoe-memory/eunoe/internal/console"
	"github.com/eunoe-memory/eunoe/pkg/client"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

// shardsFigures is what shards prints with --json.
type shardsFigures struct {
	Shards     int         `json:"shards"`
	Banks      int         `json:"banks"`
	Messages   int         `json:"messages"`
	Published  float64     `json:"published_per_second"`
	Settled    float64     `json:"settled_per_second"` // from the first publish on
	Idle       percentiles `json:"recall_idle"`
	Flooded    percentiles `json:"recall_flooded"`
	Recallable percentiles `json:"recallable_idle"`
	Late       percentiles `json:"recallable_flooded"`
}

// shardsFlags are the flags of shards.
type shardsFlags struct {
	shards, banks, messages, flood int
	store, profile                 string
	zipf                           float64
}

func (a *cli) shardsCommand() *cobra.Command {
	var f shardsFlags
	cmd := &cobra.Command{
		Use:   "shards",
		Short: "Measure how fast many banks settle in several stores, and what a flooded bank costs the others",
		Long: "Publishes messages to many banks, the busiest of which get the most (Zipf), with every write\n" +
			"flushed to disk, and waits until all are settled. Then it publishes to small banks and recalls\n" +
			"from them, first alone and then while the busiest bank is flooded.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if f.banks < 2 || f.messages < f.banks || f.zipf <= 1 {
				return console.Usagef("--banks must be at least 2, --messages as many as --banks, and --zipf more than 1")
			}
			return loadFlags{profile: f.profile}.profiled(func() error { return a.shards(cmd, f) })
		},
	}
	fl := cmd.Flags()
	fl.IntVar(&f.shards, "shards", 4, "stores: 1, 2, 4, 8 or 16")
	fl.IntVar(&f.banks, "banks", 1000, "banks")
	fl.IntVar(&f.messages, "messages", 5000, "messages published to all banks")
	fl.IntVar(&f.flood, "flood", 5000, "messages published to the busiest bank while others are asked")
	fl.Float64Var(&f.zipf, "zipf", 1.2, "exponent of the law by which banks get messages")
	fl.StringVar(&f.store, "store", "", "keep the stores on a PostgreSQL server: postgres://user@host/database")
	fl.StringVar(&f.profile, "cpuprofile", "", "write a CPU profile of the whole run here, for go tool pprof")
	return cmd
}

func (a *cli) shards(cmd *cobra.Command, f shardsFlags) error {
	dir, remove, err := console.TempDir()
	if err != nil {
		return err
	}
	defer remove()
	set := map[string]string{"SYNC": "true", "SHARDS": fmt.Sprint(f.shards)}
	if f.store != "" {
		set["STORE"] = f.store
	}
	out := shardsFigures{Shards: f.shards, Banks: f.banks, Messages: f.messages}
	err = a.withLocal(cmd, dir, set, func(l *local.Local, c *client.Client) error {
		b := shardsBench{c: c, l: l, corpus: synthetic.NewCorpus(synthetic.Config{Facts: 1000, Seed: 7, Questions: 1}, false), flags: f}
		if err := b.settle(cmd.Context(), &out); err != nil {
			return err
		}
		return b.flood(cmd.Context(), &out)
	})
	if err != nil {
		return err
	}
	if a.JSON {
		return console.PrintJSON(cmd.OutOrStdout(), out)
	}
	out.print(cmd.OutOrStdout())
	return nil
}

func (r *shardsFigures) print(w io.Writer) {
	pairs(w, "stores", fmt.Sprint(r.Shards), "messages", fmt.Sprintf("%d to %d banks", r.Messages, r.Banks),
		"published", fmt.Sprintf("%.0f messages/s", r.Published), "published until settled, synced", fmt.Sprintf("%.0f messages/s", r.Settled),
		"recall of a small bank", r.Idle, "  while another is flooded", r.Flooded,
		"published until recallable", r.Recallable, "  while another is flooded", r.Late)
}

// shardsBench publishes to many banks of a running pipeline.
type shardsBench struct {
	c      *client.Client
	l      *local.Local
	corpus *synthetic.Corpus
	flags  shardsFlags
}

func bankAt(i int) memory.BankID { return memory.BankID(fmt.Sprintf("bank-%d", i)) }

// settle publishes to all banks as fast as it can and waits until they are settled.
func (b shardsBench) settle(ctx context.Context, out *shardsFigures) error {
	rng := rand.New(rand.NewPCG(11, 3))
	zipf := rand.NewZipf(rng, b.flags.zipf, 1, uint64(b.flags.banks-1)) //nolint:gosec // not negative
	talks := make([][]memory.Message, b.flags.banks)
	for range b.flags.messages {
		i := zipf.Uint64()
		talks[i] = append(talks[i], b.corpus.Message())
	}
	ctx, cancel := context.WithTimeout(ctx, 15*time.Minute)
	defer cancel()
	began := time.Now()
	if err := b.publish(ctx, talks); err != nil {
		return err
	}
	out.Published = float64(b.flags.messages) / time.Since(began).Seconds()
	for i, talk := range talks {
		if len(talk) == 0 {
			continue
		}
		if err := (ingestBench{c: b.c}).settledBank(ctx, bankAt(i)); err != nil {
			return err
		}
	}
	out.Settled = float64(b.flags.messages) / time.Since(began).Seconds()
	return nil
}

// publish publishes the talks of banks, many at a time.
func (b shardsBench) publish(ctx context.Context, talks [][]memory.Message) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(sessionCount)
	for i, talk := range talks {
		if len(talk) == 0 {
			continue
		}
		group.Go(func() error {
			_, err := b.c.PublishAll(ctx, bankAt(i), "talk", talk)
			if err == nil {
				_, err = b.c.Flush(ctx, bankAt(i), "talk")
			}
			return err
		})
	}
	return group.Wait()
}

// flood asks small banks, alone and while the busiest bank is published to.
func (b shardsBench) flood(ctx context.Context, out *shardsFigures) (err error) {
	const rounds = 100
	if _, _, err = b.ask(ctx, rounds); err != nil { // fills caches
		return err
	}
	if out.Idle, out.Recallable, err = b.ask(ctx, rounds); err != nil {
		return err
	}
	flood := make([][]memory.Message, 1)
	for range b.flags.flood {
		flood[0] = append(flood[0], b.corpus.Message())
	}
	if err := b.publish(ctx, flood); err != nil {
		return err
	}
	out.Flooded, out.Late, err = b.ask(ctx, rounds)
	return err
}

// ask publishes to small banks, one after the other, and recalls what was published, and then something else.
func (b shardsBench) ask(ctx context.Context, rounds int) (recall, recallable percentiles, err error) {
	var asked, seen []time.Duration
	for i := range rounds {
		bank := bankAt(b.flags.banks - 1 - i%min(b.flags.banks-1, 20))
		began, m := time.Now(), b.corpus.Message()
		seq, err := b.c.Publish(ctx, bank, "small", m)
		if err != nil {
			return recall, recallable, err
		}
		r, err := b.c.Recall(ctx, bank, wire.RecallRequest{Query: m.Content[:40], After: seq})
		if err == nil && !r.Fresh {
			err = fmt.Errorf("message %d was not recallable within its time: %w", seq, memory.ErrDeadline)
		}
		if err != nil {
			return recall, recallable, err
		}
		seen = append(seen, time.Since(began))
		began = time.Now()
		if _, err := b.c.Recall(ctx, bank, wire.RecallRequest{Query: "what does the friend like"}); err != nil {
			return recall, recallable, err
		}
		asked = append(asked, time.Since(began))
	}
	return percentilesOf(asked), percentilesOf(seen), nil
}
