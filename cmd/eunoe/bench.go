package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/eunoe-memory/eunoe/internal/app"
	"github.com/eunoe-memory/eunoe/pkg/client"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/provider/providertest"
)

func (a *cli) benchCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "bench",
		Short: "Measure what recall finds",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.loadCommands()...)
	cmd.AddCommand(a.benchRetrievalCommand(), a.benchBuildCommand(), a.benchExtractorsCommand(), a.benchChangeCommand())
	return cmd
}

// benchFlags are the flags of bench retrieval.
type benchFlags struct {
	datasets, records       []string
	out, stored, baseline   string
	baselineOut, bankPrefix string
	facts                   string
	maxFacts, conversations int
	settle                  time.Duration
	strategies              map[string]string
	compare                 string
	ablate                  bool
	raw, eachSession        bool
}

func (a *cli) benchRetrievalCommand() *cobra.Command {
	var f benchFlags
	cmd := &cobra.Command{
		Use:   "retrieval",
		Short: "Publish labelled conversations, ask their questions, score what is found",
		Long: "Publishes each conversation of a dataset (in the shape of LoCoMo) to a bank of its\n" +
			"own, waits until all is settled, asks each question word by word and scores what\n" +
			"came back by the turns it rests on. No model is needed. With --raw everything is held\n" +
			"against raw messages alone, question by question; with --facts so is a memory whose\n" +
			"facts a language model wrote.\n\n" +
			"It runs everything in this process in a temporary directory; with --url it uses a\n" +
			"running Eunoe. --dataset defaults to locomo-dev.json in EUNOE_BENCH_DIR.",
		Example: "  eunoe bench retrieval --dataset locomo-dev.json --out run.jsonl --baseline bm25",
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return a.benchRetrieval(cmd, f) },
	}
	fl := cmd.Flags()
	fl.StringArrayVar(&f.datasets, "dataset", nil, "a file to measure with; may be given again")
	fl.StringVar(&f.out, "out", "", "write one JSON line a question here")
	fl.StringVar(&f.stored, "stored", "", "write the ids that are a source of anything stored here")
	fl.StringVar(&f.baseline, "baseline", "", "bm25: answer by plain BM25 too, and print the paired difference")
	fl.StringVar(&f.baselineOut, "baseline-out", "", "write the baseline's lines here")
	fl.StringSliceVar(&f.records, "records", nil, "ask for these records only: fact, composite, observation, message")
	fl.StringToStringVar(&f.strategies, "strategies", nil, "weights that replace the defaults, as keyword=1,entity=0.5")
	fl.IntVar(&f.maxFacts, "max-facts", 50, "items asked for")
	fl.IntVar(&f.conversations, "conversations", 0, "only the first so many; 0 = all")
	fl.StringVar(&f.facts, "facts", "", "facts published of the dataset: a scripted model answers extraction with them; implies --raw")
	fl.BoolVar(&f.raw, "raw", false, "ask for raw messages alone too, and print what facts and tree add to them")
	fl.StringVar(&f.compare, "compare", "", "an older run's --out: print how this one differs, question by question")
	fl.BoolVar(&f.ablate, "ablate", false, "ask again without each strategy and each signal in turn, and print what each is worth")
	fl.StringVar(&f.bankPrefix, "bank-prefix", "", "what the banks' names begin with (default with --url: bench-)")
	fl.DurationVar(&f.settle, "settle", 10*time.Minute, "how long a bank may take to settle")
	return cmd
}

func (a *cli) benchRetrieval(cmd *cobra.Command, f benchFlags) error {
	if f.facts != "" {
		if err := a.benchFacts(&f); err != nil {
			return err
		}
	}
	sets, err := a.benchDatasets(f)
	if err != nil {
		return err
	}
	if f.baseline != "" && f.baseline != "bm25" {
		return usagef("--baseline: %q is no baseline; expected bm25", f.baseline)
	}
	f.raw = f.raw || f.facts != ""
	if f.raw && (len(f.records) > 0 || len(f.strategies) > 0) {
		return usagef("--raw and --facts hold everything against raw messages; --records and --strategies do not go with them")
	}
	if f.ablate && (f.facts != "" || cmd.Flags().Changed("url")) {
		return usagef("--ablate measures a store of its own, without models: leave --url and --facts out")
	}
	var older []runLine
	if f.compare != "" {
		if older, err = readRun(f.compare); err != nil {
			return err
		}
	}
	o := benchOptions{maxFacts: f.maxFacts, records: typed[memory.Record](f.records), bankPrefix: f.bankPrefix, settle: f.settle, progress: cmd.ErrOrStderr()}
	if o.strategies, err = weights(f.strategies); err != nil {
		return err
	}
	var run *benchRun
	var against *rawRun
	err = a.withPipeline(cmd, f, &o, func(c *client.Client) error {
		run, err = runRetrieval(cmd.Context(), c, sets, o)
		if err == nil && f.raw {
			against, err = runRaw(cmd.Context(), c, sets, o)
		}
		if err == nil && f.ablate {
			run.ablation, err = runAblation(cmd.Context(), o.dir, sets, o, o.progress)
		}
		return err
	})
	if err != nil {
		return err
	}
	return a.reportBench(cmd.OutOrStdout(), sets, run, against, older, f)
}

// withPipeline calls fn with a client of a running Eunoe (--url) or of one of
// its own that ends with it.
func (a *cli) withPipeline(cmd *cobra.Command, f benchFlags, o *benchOptions, fn func(*client.Client) error) (err error) {
	if f.facts != "" {
		if cmd.Flags().Changed("url") {
			return usagef("--facts brings a model of its own, which a running Eunoe does not ask: leave --url out")
		}
		o.consolidate = true
		script, err := publishedScript(f.facts, f.datasets)
		if err != nil {
			return err
		}
		return a.withScripted(cmd, script, func(_ *providertest.Server, c *client.Client) error { return fn(c) })
	}
	if cmd.Flags().Changed("url") {
		if o.bankPrefix == "" {
			o.bankPrefix = "bench-"
		}
		c, err := a.connect(cmd.Context())
		if err != nil {
			return err
		}
		defer c.Close() //nolint:errcheck // nothing is left to send
		return fn(c)
	}
	dir, remove, err := tempDir()
	if err != nil {
		return err
	}
	defer remove()
	o.dir = dir
	return a.withLocal(cmd, dir, nil, func(_ *app.Local, c *client.Client) error { return fn(c) })
}

func (a *cli) benchDatasets(f benchFlags) ([]conversation, error) {
	if len(f.datasets) == 0 {
		dir, ok := a.env("EUNOE_BENCH_DIR")
		if !ok {
			return nil, usagef("name a dataset with --dataset, or the folder of locomo-dev.json with EUNOE_BENCH_DIR")
		}
		f.datasets = []string{filepath.Join(dir, "locomo-dev.json")}
	}
	var out []conversation
	for _, path := range f.datasets {
		sets, err := loadDataset(path)
		if err != nil {
			return nil, err
		}
		out = append(out, sets...)
	}
	if f.conversations > 0 && f.conversations < len(out) {
		out = out[:f.conversations]
	}
	return out, nil
}

// benchFacts fills in the dataset and its published facts from EUNOE_BENCH_DIR
// where they are not named.
func (a *cli) benchFacts(f *benchFlags) error {
	if dir, ok := a.env("EUNOE_BENCH_DIR"); ok && len(f.datasets) == 0 {
		f.datasets = []string{filepath.Join(dir, "locomo-dev.json")}
		if f.facts == "" {
			f.facts = filepath.Join(dir, "locomo-dev-facts.jsonl")
		}
	}
	if len(f.datasets) != 1 || f.facts == "" {
		return usagef("name one dataset with --dataset and its published facts with --facts, or their folder with EUNOE_BENCH_DIR")
	}
	return nil
}

func weights(given map[string]string) (map[string]float64, error) {
	out := map[string]float64{}
	for _, name := range memory.Strategies {
		value, ok := given[name]
		if !ok {
			continue
		}
		w, err := strconv.ParseFloat(value, 64)
		if err != nil {
			return nil, usagef("--strategies: %s=%s is no weight", name, value)
		}
		out[name] = w
		delete(given, name)
	}
	if len(given) > 0 {
		return nil, usagef("--strategies: %v is none of %v", given, memory.Strategies)
	}
	if len(out) == 0 {
		return nil, nil
	}
	return out, nil
}

// reportBench writes the files and prints the figures.
func (a *cli) reportBench(w io.Writer, sets []conversation, run *benchRun, against *rawRun, older []runLine, f benchFlags) error {
	valid, turns := turnIDs(sets), 0
	for _, ids := range valid {
		turns += len(ids)
	}
	if err := writeRun(f.out, run.lines); err != nil {
		return err
	}
	if f.stored != "" {
		data, err := json.Marshal(run.stored)
		if err == nil {
			err = os.WriteFile(f.stored, data, 0o600)
		}
		if err != nil {
			return fmt.Errorf("--stored: %w", err)
		}
	}
	own, skipped := scoreRun(run.lines, valid)
	var base []scored
	if f.baseline != "" {
		lines := baselineRun(sets, f.maxFacts)
		if err := writeRun(f.baselineOut, lines); err != nil {
			return err
		}
		base, _ = scoreRun(lines, valid)
	}
	found, total := storedShare(run.lines, run.stored, valid)
	packing := packings(run.lines, valid, f.maxFacts)
	var compared *comparison
	if older != nil {
		c := CompareRuns(older, run.lines, valid)
		compared = &c
	}
	if a.json {
		return printJSON(w, figures(run, own, base, benchFigures{Skipped: skipped, Turns: turns, Stored: float64(found) / float64(max(1, total)), Raw: against.figures(own, valid),
			Packing: packing, Compared: compared, Ablation: run.ablation}))
	}
	scoreTable(w, "eunoe", own)
	if base != nil {
		scoreTable(w, "plain BM25", base)
		differenceTable(w, "eunoe − plain BM25, paired by question", base, own)
	}
	if against != nil {
		against.figures(own, valid).show(w)
	}
	if compared != nil {
		compared.show(w, f.compare)
	}
	ablationTable(w, run.ablation)
	packingTable(w, packing)
	fmt.Fprintf(w, "R@inf %.4f (%d of %d evidence turns are a source of something stored); %d questions without usable evidence are not scored\n",
		float64(found)/float64(max(1, total)), found, total, skipped)
	speeds(w, run, turns)
	return nil
}

func writeRun(path string, lines []runLine) error {
	if path == "" {
		return nil
	}
	file, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("write the run: %w", err)
	}
	if err := errors.Join(writeLines(file, lines), file.Close()); err != nil {
		return fmt.Errorf("write the run: %w", err)
	}
	return nil
}
