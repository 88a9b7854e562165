package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/pprof"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

// loadFlags are the flags of the benches on synthetic banks.
type loadFlags struct {
	facts, questions, messages int
	dir, profile               string
	seed                       uint64
	steady                     time.Duration
}

// loadCommands are the benches on synthetic banks.
func (a *cli) loadCommands() []*cobra.Command {
	return []*cobra.Command{
		a.loadCommand("recall", "Measure how fast recall is in a large bank", 100_000, a.benchRecall,
			"Fills a store with a seeded bank of so many facts and as many messages, with vectors,\n"+
				"entities and composites, and asks questions over NATS. Then it asks for nearest\n"+
				"vectors alone, by sketches and by comparing all, and says how alike they are."),
		a.loadCommand("ingest", "Measure how fast messages become memory", 100_000, a.benchIngest,
			"Fills a store with a seeded bank, then publishes messages to it with every write\n"+
				"flushed to disk, extraction by rules: as fast as it goes until all is settled; at 100 a\n"+
				"second until each is recalled; and recalls at 200 a second and without. Beside it a bare\n"+
				"JetStream and a bare SQLite move the same bytes."),
		a.loadCommand("mem", "Measure what a fact takes on disk and in memory", 100_000, a.benchMem,
			"Fills two stores with a seeded bank, one with vectors and one without, and\n"+
				"says what they take on disk, and in memory while they answer."),
	}
}

func (a *cli) loadCommand(use, short string, facts int, run func(*cobra.Command, loadFlags) error, long string) *cobra.Command {
	var f loadFlags
	cmd := &cobra.Command{Use: use, Short: short, Long: long, Args: cobra.NoArgs, RunE: func(cmd *cobra.Command, _ []string) error {
		if f.facts < 1000 || f.questions < 1 || f.messages < 100 {
			return usagef("--facts must be at least 1000, --questions 1 and --messages 100")
		}
		return f.profiled(func() error { return run(cmd, f) })
	}}
	fl := cmd.Flags()
	fl.IntVar(&f.facts, "facts", facts, "facts, and as many messages, in the bank")
	fl.Uint64Var(&f.seed, "seed", 1, "what the bank is made from: the same gives the same bank")
	fl.StringVar(&f.dir, "dir", "", "keep the store here, and use it again where it is made already (default: a temporary directory)")
	fl.StringVar(&f.profile, "cpuprofile", "", "write a CPU profile of the whole run here, for go tool pprof")
	fl.IntVar(&f.questions, "questions", 300, "questions asked")
	fl.DurationVar(&f.steady, "steady", 10*time.Second, "how long 100 messages a second are published (ingest)")
	fl.IntVar(&f.messages, "messages", 10_000, "messages published (ingest)")
	return cmd
}

// spread are percentiles of times, in milliseconds.
type spread struct {
	P50 float64 `json:"p50_ms"`
	P95 float64 `json:"p95_ms"`
	P99 float64 `json:"p99_ms"`
	N   int     `json:"n"`
}

func spreadOf(times []time.Duration) spread {
	if len(times) == 0 {
		return spread{}
	}
	times = slices.Sorted(slices.Values(times))
	at := func(share float64) float64 {
		return float64(times[min(len(times)-1, int(share*float64(len(times))))].Microseconds()) / 1000
	}
	return spread{P50: at(.5), P95: at(.95), P99: at(.99), N: len(times)}
}

func (s spread) String() string {
	return fmt.Sprintf("p50 %.2f ms, p95 %.2f ms, p99 %.2f ms (%d)", s.P50, s.P95, s.P99, s.N)
}

// lines prints names and values in two columns.
func lines(w io.Writer, pairs ...any) {
	width := 0
	for i := 0; i < len(pairs); i += 2 {
		width = max(width, len(pairs[i].(string)))
	}
	for i := 0; i < len(pairs); i += 2 {
		fmt.Fprintf(w, "%s%s  %v\n", pairs[i], strings.Repeat(" ", width-len(pairs[i].(string))), pairs[i+1])
	}
}

// within gives a directory that is kept (--dir) or goes away.
func (f loadFlags) within(fn func(dir string) error) error {
	if f.dir != "" {
		return fn(f.dir)
	}
	dir, remove, err := tempDir()
	if err != nil {
		return err
	}
	defer remove()
	return fn(dir)
}

// profiled runs fn, under a profile if one is asked for.
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
