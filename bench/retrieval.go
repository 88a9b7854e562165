package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/eunoe-memory/eunoe/bench/dataset"
	"github.com/eunoe-memory/eunoe/bench/score"
	"github.com/eunoe-memory/eunoe/internal/app/local"
	"github.com/eunoe-memory/eunoe/internal/console"
	"github.com/eunoe-memory/eunoe/pkg/client"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/test/scriptedmodel"
)

// retrievalFlags are the flags of retrieval; build has some of them.
type retrievalFlags struct {
	datasets, records       []string
	out, stored, baseline   string
	baselineOut, bankPrefix string
	facts                   string
	maxFacts, conversations int
	earlier                 int
	slips                   uint64
	settle                  time.Duration
	strategies              map[string]string
	compare                 string
	ablate                  bool
	raw, eachSession        bool
	dir                     string
}

func (a *cli) retrievalCommand() *cobra.Command {
	var f retrievalFlags
	cmd := &cobra.Command{
		Use:   "retrieval",
		Short: "Publish labelled conversations, ask their questions, score what is found",
		Long: "Publishes each conversation of a dataset (in the shape of LoCoMo) to a bank of its\n" +
			"own, waits until all is settled, asks each question verbatim (as of the turn it is asked\n" +
			"at, where it names one) and scores what came back by the turns it rests on. No model is needed. With --raw everything is compared with raw\n" +
			"messages alone, question by question; with --facts so is a memory whose facts a language\n" +
			"model wrote.\n\n" +
			"It runs everything in this process in a temporary directory; with --url it uses a\n" +
			"running Eunoe. --dataset defaults to the known sets in EUNOE_BENCH_DIR; several are printed\n" +
			"side by side.",
		Example: "  eunoe-bench retrieval --dataset locomo-dev.json --out run.jsonl --baseline bm25",
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return a.retrieval(cmd, f) },
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
	fl.IntVar(&f.earlier, "earlier", 0, "put so many other questions of the conversation before each, a line each: a talk that ends in the question")
	fl.Uint64Var(&f.slips, "slips", 0, "mistype one word of each question, drawn from this seed; 0 = none")
	fl.StringVar(&f.facts, "facts", "", "facts published of the dataset: a scripted model answers extraction with them; implies --raw")
	fl.BoolVar(&f.raw, "raw", false, "ask for raw messages alone too, and print what facts and tree add to them")
	fl.StringVar(&f.compare, "compare", "", "an older run's --out: print how this one differs, question by question")
	fl.BoolVar(&f.ablate, "ablate", false, "ask again without each strategy and each source of words in turn, and print what each is worth")
	fl.StringVar(&f.bankPrefix, "bank-prefix", "", "what the banks' names begin with (default with --url: bench-)")
	fl.StringVar(&f.dir, "dir", "", "keep streams and store here; conversations that are there are not published again")
	fl.DurationVar(&f.settle, "settle", 10*time.Minute, "how long a bank may take to settle")
	return cmd
}

func (a *cli) retrieval(cmd *cobra.Command, f retrievalFlags) error {
	if f.facts != "" {
		if err := a.defaultFacts(&f); err != nil {
			return err
		}
	}
	sets, err := a.datasets(f)
	if err != nil {
		return err
	}
	if f.baseline != "" && f.baseline != "bm25" {
		return console.Usagef("--baseline: %q is not a baseline; expected bm25", f.baseline)
	}
	f.raw = f.raw || f.facts != ""
	if f.raw && (len(f.records) > 0 || len(f.strategies) > 0) {
		return console.Usagef("--raw and --facts compare everything with raw messages: leave --records and --strategies out")
	}
	if f.ablate && (f.facts != "" || cmd.Flags().Changed("url")) {
		return console.Usagef("--ablate measures a store of its own, without models: leave --url and --facts out")
	}
	var older []score.Line
	if f.compare != "" {
		if older, err = score.ReadFile(f.compare); err != nil {
			return fmt.Errorf("--compare: %w", err)
		}
	}
	o := runOptions{maxFacts: f.maxFacts, bankPrefix: f.bankPrefix, settle: f.settle, progress: cmd.ErrOrStderr()}
	for _, r := range f.records {
		o.records = append(o.records, memory.Record(r))
	}
	if o.strategies, err = weights(f.strategies); err != nil {
		return err
	}
	var run *retrievalRun
	var against *rawRun
	err = a.withPipeline(cmd, f, &o, func(c *client.Client) error {
		run, err = runRetrieval(cmd.Context(), c, sets, o)
		if err == nil && f.raw {
			against, err = runRaw(cmd.Context(), c, sets, o)
		}
		if err == nil && f.ablate {
			run.ablation, err = runAblation(cmd.Context(), sets, o)
		}
		return err
	})
	if err != nil {
		return err
	}
	return a.report(cmd.OutOrStdout(), sets, run, against, older, f)
}

// withPipeline calls fn with a client of a running Eunoe (--url) or of one of its own, which ends with it.
func (a *cli) withPipeline(cmd *cobra.Command, f retrievalFlags, o *runOptions, fn func(*client.Client) error) (err error) {
	if f.facts != "" {
		if cmd.Flags().Changed("url") {
			return console.Usagef("--facts brings a model of its own, which a running Eunoe does not ask: leave --url out")
		}
		o.consolidate = true
		script, err := publishedScript(f.facts, f.datasets)
		if err != nil {
			return err
		}
		return a.withScripted(cmd, script, func(_ *scriptedmodel.Server, c *client.Client) error { return fn(c) })
	}
	if cmd.Flags().Changed("url") {
		if o.bankPrefix == "" {
			o.bankPrefix = "bench-"
		}
		c, err := client.Connect(cmd.Context(), a.Config(program))
		if err != nil {
			return err
		}
		defer c.Close() //nolint:errcheck // nothing is left to send
		return fn(c)
	}
	return loadFlags{dir: f.dir}.inDirectory(func(dir string) error {
		o.dir, o.kept = dir, f.dir != ""
		return a.withLocal(cmd, dir, nil, func(_ *local.Local, c *client.Client) error { return fn(c) })
	})
}

// benchSets are the files that retrieval measures with where none is named, as far as EUNOE_BENCH_DIR has them.
var benchSets = []string{"locomo-dev.json", "realtalk-dev.json", "beam-dev.json", "realmem-dev.json", "lifebench-en-dev.json", "lifebench-zh-dev.json"}

// datasets reads the conversations of the datasets that are named, or of benchSets.
func (a *cli) datasets(f retrievalFlags) ([]dataset.Conversation, error) {
	if len(f.datasets) == 0 {
		dir, _ := a.Env("EUNOE_BENCH_DIR")
		for _, name := range benchSets {
			if _, err := os.Stat(filepath.Join(dir, name)); dir != "" && err == nil {
				f.datasets = append(f.datasets, filepath.Join(dir, name))
			}
		}
		if len(f.datasets) == 0 {
			return nil, console.Usagef("name a dataset with --dataset, or the folder of locomo-dev.json and others with EUNOE_BENCH_DIR")
		}
	}
	var out []dataset.Conversation
	for _, path := range f.datasets {
		sets, err := dataset.Load(path)
		if err != nil {
			return nil, err
		}
		out = append(out, sets...)
	}
	for i := range out {
		if f.slips > 0 {
			out[i].Questions = dataset.WithSlips(out[i].Questions, f.slips)
		}
		out[i].Questions = afterOthers(out[i].Questions, f.earlier)
	}
	if f.conversations > 0 && f.conversations < len(out) {
		out = out[:f.conversations]
	}
	return out, nil
}

// afterOthers returns the questions, each with n others as the lines before it: those that come before it in the list, the
// first ones after the last.
func afterOthers(questions []dataset.Question, n int) []dataset.Question {
	out := slices.Clone(questions)
	for i := range out {
		var lines []string
		for k := min(n, len(questions)-1); k >= 0; k-- {
			lines = append(lines, questions[(i-k+len(questions))%len(questions)].Question)
		}
		out[i].Question = strings.Join(lines, "\n")
	}
	return out
}

// defaultFacts fills in the dataset and its published facts from EUNOE_BENCH_DIR where they are not named.
func (a *cli) defaultFacts(f *retrievalFlags) error {
	if dir, ok := a.Env("EUNOE_BENCH_DIR"); ok && len(f.datasets) == 0 {
		f.datasets = []string{filepath.Join(dir, "locomo-dev.json")}
		if f.facts == "" {
			f.facts = filepath.Join(dir, "locomo-dev-facts.jsonl")
		}
	}
	if len(f.datasets) != 1 || f.facts == "" {
		return console.Usagef("name one dataset with --dataset and its published facts with --facts, or their folder with EUNOE_BENCH_DIR")
	}
	return nil
}

// weights reads the weights of --strategies; nil where none is set.
func weights(given map[string]string) (map[string]float64, error) {
	out := map[string]float64{}
	for _, name := range memory.Strategies {
		value, ok := given[name]
		if !ok {
			continue
		}
		w, err := strconv.ParseFloat(value, 64)
		if err != nil {
			return nil, console.Usagef("--strategies: %s=%s is not a weight", name, value)
		}
		out[name] = w
		delete(given, name)
	}
	if len(given) > 0 {
		return nil, console.Usagef("--strategies: %v are not among %v", given, memory.Strategies)
	}
	if len(out) == 0 {
		return nil, nil
	}
	return out, nil
}

// report writes the files and prints the figures.
func (a *cli) report(w io.Writer, sets []dataset.Conversation, run *retrievalRun, against *rawRun, older []score.Line, f retrievalFlags) error {
	if err := score.WriteFile(f.out, run.lines); err != nil {
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
	var base []score.Line
	if f.baseline != "" {
		base = baselineRun(sets, f.maxFacts)
		if err := score.WriteFile(f.baselineOut, base); err != nil {
			return err
		}
	}
	out := newFigures(sets, run, against, base, older, f.maxFacts)
	if a.JSON {
		return console.PrintJSON(w, out)
	}
	out.comparedWith = f.compare
	out.show(w)
	return nil
}
