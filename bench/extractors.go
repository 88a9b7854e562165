package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/eunoe-memory/eunoe/internal/console"
)

// leastRatio is how many times as fast as one extractor four have to be.
const leastRatio = 3.6

// extractorFlags are the flags of extractors.
type extractorFlags struct {
	latency time.Duration
	windows int
	counts  []int
	binary  string
}

func (a *cli) extractorsCommand() *cobra.Command {
	var f extractorFlags
	cmd := &cobra.Command{
		Use:   "extractors",
		Short: "Measure how extraction grows with the number of extractor processes",
		Long: "Runs a broker, the other stages and a scripted model that takes --latency for an answer, then\n" +
			"1, 2 and 4 extractors beside them, each with a connection of its own and one window at a time,\n" +
			"and measures how many windows a second they complete.\n\n" +
			"The extractors are processes of the extractor binary next to this one, or --binary; without\n" +
			"either they run in this process.",
		Example: "  eunoe-bench extractors --latency 200ms",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if f.windows < 1 || f.latency < 0 || len(f.counts) == 0 || slices.Min(f.counts) < 1 {
				return console.Usagef("--windows and every number of --extractors must be 1 or more, and --latency must not be negative")
			}
			if f.binary == "" {
				f.binary = sibling("extractor")
			} else if _, err := os.Stat(f.binary); err != nil {
				return console.Usagef("--binary: %w", err)
			}
			out, err := a.runExtractors(cmd.Context(), f, cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			if a.JSON {
				return console.PrintJSON(cmd.OutOrStdout(), out)
			}
			out.show(cmd.OutOrStdout())
			return nil
		},
	}
	fl := cmd.Flags()
	fl.DurationVar(&f.latency, "latency", 200*time.Millisecond, "how long the model takes for an answer")
	fl.IntVar(&f.windows, "windows", 40, "windows for each extractor")
	fl.IntSliceVar(&f.counts, "extractors", []int{1, 2, 4}, "how many extractors to run, one after another")
	fl.StringVar(&f.binary, "binary", "", "the extractor binary (default: the one next to this program)")
	return cmd
}

// sibling returns the path of a program in this program's folder; "" where there is none.
func sibling(name string) string {
	self, err := os.Executable()
	if err != nil {
		return ""
	}
	path := filepath.Join(filepath.Dir(self), name)
	if info, err := os.Stat(path); err != nil || info.IsDir() {
		return ""
	}
	return path
}

// extractorFigures is what extractors prints with --json.
type extractorFigures struct {
	Latency   string          `json:"latency"`
	Processes bool            `json:"processes"` // of the binary; false = in this process
	Runs      []extractorRate `json:"runs"`
}

// extractorRate is what a number of extractors achieved.
type extractorRate struct {
	Extractors int     `json:"extractors"`
	Windows    int     `json:"windows"`
	Took       string  `json:"took"`
	PerSecond  float64 `json:"windows_per_second"`
	Ratio      float64 `json:"ratio"` // to the first
}

func (f extractorFigures) show(w io.Writer) {
	var rows [][]string
	for _, r := range f.Runs {
		rows = append(rows, []string{strconv.Itoa(r.Extractors), strconv.Itoa(r.Windows), r.Took, fmt.Sprintf("%.1f", r.PerSecond), fmt.Sprintf("%.2f", r.Ratio)})
	}
	console.Table(w, []string{"extractors", "windows", "took", "windows/s", "ratio"}, rows)
	where := "processes of their own"
	if !f.Processes {
		where = "in this process, for there is no extractor binary next to it"
	}
	fmt.Fprintf(w, "\na model of %s; extractors: %s; four at least %.1f times as fast as one are expected\n", f.Latency, where, leastRatio)
}
