package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/eunoe-memory/eunoe/bench/doors"
	"github.com/eunoe-memory/eunoe/bench/synthetic"
	"github.com/eunoe-memory/eunoe/internal/console"
)

// doorFigures is what doors prints with --json.
type doorFigures struct {
	Bank      synthetic.Filled `json:"bank"`
	NATS      percentiles      `json:"recall_nats"`
	HTTP      percentiles      `json:"recall_http"`
	MCP       percentiles      `json:"recall_mcp_stdio"`
	Direct    percentiles      `json:"first_token_direct"`
	Proxy     percentiles      `json:"first_token_proxy"`
	Published float64          `json:"published_per_second"`
	Batches   percentiles      `json:"batch"`
	Streams   int              `json:"streams"`
	Memory    int64            `json:"streams_bytes"` // that the process of Eunoe grew by
	Changes   int              `json:"changes"`
	Late      int              `json:"late"`      // deliveries that did not come within ten seconds of the last change
	Delivered percentiles      `json:"delivered"` // from before the publish until a stream has the change
}

// doorFlags are the flags of doors beside those of a synthetic bank.
type doorFlags struct {
	loadFlags
	eunoe                  string
	streams, banks, perSec int
}

func (a *cli) doorsCommand() *cobra.Command {
	f := doorFlags{}
	cmd := a.loadCommand("doors", "Measure HTTP, MCP and the chat proxy against NATS", 100_000, func(cmd *cobra.Command, l loadFlags) error {
		f.loadFlags = l
		return a.doors(cmd, f)
	}, "Fills a store with a seeded bank and runs `eunoe up` on it in a process of its own, with\n"+
		"every write flushed to disk. Each question is asked over NATS, over HTTP, by MCP on\n"+
		"standard input and output, and through the chat proxy, in turns; then messages are\n"+
		"published by HTTP in batches of 100, and event streams are held open while changes come.")
	fl := cmd.Flags()
	fl.StringVar(&f.eunoe, "eunoe", "bin/eunoe", "the program eunoe")
	fl.IntVar(&f.streams, "streams", 1000, "event streams held open")
	fl.IntVar(&f.banks, "stream-banks", 100, "banks that the streams are spread over")
	fl.IntVar(&f.perSec, "changes", 100, "changes a second while they are open")
	return cmd
}

func (a *cli) doors(cmd *cobra.Command, f doorFlags) error {
	if _, err := os.Stat(f.eunoe); err != nil {
		return console.Usagef("--eunoe: %v; `make build` makes the program", err)
	}
	if f.streams < 1 || f.banks < 1 || f.banks > f.streams || f.perSec < 1 {
		return console.Usagef("--streams, --stream-banks and --changes must be at least 1, and no bank without a stream")
	}
	return f.inDirectory(func(dir string) error {
		cfg, err := a.TempSettings(dir, nil)
		if err != nil {
			return err
		}
		bank, err := f.filled(cmd.Context(), cfg.Store, synthetic.Hashed, cmd.ErrOrStderr())
		if err != nil {
			return err
		}
		if err := streamsFrom(cmd.Context(), filepath.Join(dir, "streams"), *bank); err != nil {
			return err
		}
		out, err := f.measured(cmd, dir, bank)
		if err != nil {
			return err
		}
		if a.JSON {
			return console.PrintJSON(cmd.OutOrStdout(), out)
		}
		out.print(cmd.OutOrStdout())
		return nil
	})
}

// measured measures the doors on a filled store.
func (f doorFlags) measured(cmd *cobra.Command, dir string, bank *synthetic.Filled) (doorFigures, error) {
	other := f.Config
	other.Seed++
	corpus := synthetic.NewCorpus(other, false) // what is published is made of the same words and is not in the bank
	cfg := doors.Config{Eunoe: f.eunoe, Dir: dir, Messages: f.messages, Message: func() any { return corpus.Message() },
		Streams: f.streams, Banks: f.banks, Changes: f.perSec}
	for _, q := range bank.Questions {
		cfg.Questions = append(cfg.Questions, q.Text)
	}
	bar := console.NewBar(cmd.ErrOrStderr(), 2*len(cfg.Questions), "asking")
	defer bar.Close()                                                  //nolint:errcheck // a bar that cannot be drawn changes nothing
	r, err := doors.Measure(cmd.Context(), cfg, func() { bar.Add(1) }) //nolint:errcheck // the same
	out := doorFigures{
		Bank: *bank, NATS: percentilesOf(r.NATS), HTTP: percentilesOf(r.HTTP), MCP: percentilesOf(r.MCP),
		Direct: percentilesOf(r.Direct), Proxy: percentilesOf(r.Proxy), Published: r.Published, Batches: percentilesOf(r.Batches),
		Streams: f.streams, Memory: r.Streams.Memory, Changes: r.Streams.Changes, Late: r.Streams.Late,
		Delivered: percentilesOf(r.Streams.Delivered),
	}
	out.Bank.Questions = nil
	return out, err
}

func (r *doorFigures) print(w io.Writer) {
	beyond := func(a, b percentiles) string {
		return fmt.Sprintf("p50 %+.2f ms, p99 %+.2f ms", a.P50-b.P50, a.P99-b.P99)
	}
	pairs(w, "bank", r.Bank.String(), "recall over NATS", r.NATS, "recall over HTTP", r.HTTP, "  beyond NATS", beyond(r.HTTP, r.NATS),
		"memory_recall by MCP, stdio", r.MCP, "  beyond NATS", beyond(r.MCP, r.NATS),
		"first token of the model", r.Direct, "first token through the proxy", r.Proxy, "  added", beyond(r.Proxy, r.Direct),
		"published by HTTP, batches of 100", fmt.Sprintf("%.0f messages/s", r.Published), "  a batch", r.Batches, "event streams open", r.Streams,
		"  memory that they take", fmt.Sprintf("%.0f MiB", float64(r.Memory)/(1<<20)),
		"  published until delivered", r.Delivered, "  changes", r.Changes, "  deliveries that did not come in time", r.Late)
}
