package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/pprof"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/eunoe-memory/eunoe/bench/delayed"
	"github.com/eunoe-memory/eunoe/bench/synthetic"
	"github.com/eunoe-memory/eunoe/internal/console"
)

// loadFlags are the flags of the commands on synthetic banks.
type loadFlags struct {
	synthetic.Config
	messages     int
	dir, profile string
	steady       time.Duration
	roundTrip    time.Duration
}

// loadCommands returns the commands on synthetic banks.
func (a *cli) loadCommands() []*cobra.Command {
	return []*cobra.Command{
		a.loadCommand("recall", "Measure how fast recall is in a large bank", 100_000, a.recall,
			"Fills a store with a seeded bank of so many facts and as many messages, with vectors,\n"+
				"entities and composites, and asks questions over NATS. Then it asks for nearest\n"+
				"vectors alone, by sketches and by comparing all, and says how alike they are."),
		a.loadCommand("ingest", "Measure how fast messages become memory", 100_000, a.ingest,
			"Fills a store with a seeded bank, then publishes messages to it with every write\n"+
				"flushed to disk, extraction by rules: as fast as it goes until all is settled; at 100 a\n"+
				"second until each is recalled; and recalls at 200 a second and without. Beside it a bare\n"+
				"JetStream and a bare SQLite move the same bytes."),
		a.loadCommand("mem", "Measure what a fact takes on disk and in memory", 100_000, a.mem,
			"Fills two stores with a seeded bank, one with vectors and one without, and\n"+
				"says what they take on disk, and in memory while they answer."),
		a.shardsCommand(),
	}
}

func (a *cli) loadCommand(use, short string, facts int, run func(*cobra.Command, loadFlags) error, long string) *cobra.Command {
	var f loadFlags
	cmd := &cobra.Command{Use: use, Short: short, Long: long, Args: cobra.NoArgs, RunE: func(cmd *cobra.Command, _ []string) error {
		if f.Facts < 200 || f.Questions < 1 || f.messages < 100 {
			return console.Usagef("--facts must be at least 200, --questions 1 and --messages 100")
		}
		return f.further(cmd.Context(), func(f loadFlags) error {
			return f.profiled(func() error { return run(cmd, f) })
		})
	}}
	fl := cmd.Flags()
	fl.IntVar(&f.Facts, "facts", facts, "facts, and as many messages, in the bank")
	fl.Uint64Var(&f.Seed, "seed", 1, "what the bank is made from: the same gives the same bank")
	fl.StringVar(&f.dir, "dir", "", "keep the store here, and use it again where it is made already (default: a temporary directory)")
	fl.StringVar(&f.Store, "store", "", "keep the store on a PostgreSQL server: postgres://user@host/database, with a schema that no run but that of --dir filled")
	fl.DurationVar(&f.roundTrip, "round-trip", 0, "put the server of --store so much further away, 300us for example")
	fl.StringVar(&f.profile, "cpuprofile", "", "write a CPU profile of the whole run here, for go tool pprof")
	fl.IntVar(&f.Questions, "questions", 300, "questions asked")
	fl.DurationVar(&f.steady, "steady", 10*time.Second, "how long 100 messages a second are published (ingest)")
	fl.IntVar(&f.messages, "messages", 10_000, "messages published (ingest)")
	return cmd
}

// percentiles are those of N times, in milliseconds.
type percentiles struct {
	P50 float64 `json:"p50_ms"`
	P95 float64 `json:"p95_ms"`
	P99 float64 `json:"p99_ms"`
	N   int     `json:"n"`
}

func percentilesOf(times []time.Duration) percentiles {
	if len(times) == 0 {
		return percentiles{}
	}
	times = slices.Sorted(slices.Values(times))
	at := func(share float64) float64 {
		return float64(times[min(len(times)-1, int(share*float64(len(times))))].Microseconds()) / 1000
	}
	return percentiles{P50: at(.5), P95: at(.95), P99: at(.99), N: len(times)}
}

func (s percentiles) String() string {
	return fmt.Sprintf("p50 %.2f ms, p95 %.2f ms, p99 %.2f ms (%d)", s.P50, s.P95, s.P99, s.N)
}

// filled makes a store of the bank that the flags describe, or takes the one that an earlier run left.
func (f loadFlags) filled(ctx context.Context, path string, kind synthetic.Kind, progress io.Writer) (*synthetic.Filled, error) {
	bar := console.NewBar(progress, f.Facts, "filling")
	defer bar.Close() //nolint:errcheck // a bar that cannot be drawn changes nothing
	return synthetic.Fill(ctx, f.Config, path, kind, func(messages int) {
		bar.Add(messages) //nolint:errcheck // a bar that cannot be drawn changes nothing
	})
}

// inDirectory calls fn with a directory that is kept (--dir), or removed afterwards.
func (f loadFlags) inDirectory(fn func(dir string) error) error {
	if f.dir != "" {
		return fn(f.dir)
	}
	dir, remove, err := console.TempDir()
	if err != nil {
		return err
	}
	defer remove()
	return fn(dir)
}

// further calls fn with flags by which a round trip to the server takes longer, where that is asked for.
func (f loadFlags) further(ctx context.Context, fn func(loadFlags) error) error {
	if f.roundTrip <= 0 {
		return fn(f)
	}
	s, dsn, err := delayed.Listen(ctx, f.Store, f.roundTrip)
	if err != nil {
		return fmt.Errorf("--round-trip: %w", err)
	}
	f.Store = dsn
	return errors.Join(fn(f), s.Close())
}

// profiled calls fn, under a CPU profile where one is asked for.
func (f loadFlags) profiled(fn func() error) (err error) {
	if f.profile == "" {
		return fn()
	}
	file, err := os.Create(f.profile)
	if err != nil {
		return fmt.Errorf("--cpuprofile: %w", err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	if err := pprof.StartCPUProfile(file); err != nil {
		return fmt.Errorf("--cpuprofile: %w", err)
	}
	defer pprof.StopCPUProfile()
	return fn()
}
