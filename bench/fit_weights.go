package main

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/rs/zerolog"
	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"github.com/eunoe-memory/eunoe/bench/dataset"
	"github.com/eunoe-memory/eunoe/bench/fit"
	"github.com/eunoe-memory/eunoe/bench/score"
	"github.com/eunoe-memory/eunoe/internal/console"
	"github.com/eunoe-memory/eunoe/pkg/client"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/query"
	"github.com/eunoe-memory/eunoe/pkg/query/recall/rank"
	"github.com/eunoe-memory/eunoe/pkg/store"
)

// rankedQuestion is one question with what the signals say of its candidates.
type rankedQuestion struct {
	fit.Example
	line   score.Line        // without what was retrieved
	ids    []string          // of the candidates
	groups map[string]string // what it is left out with, by the kinds of leaves
}

// leaves are the kinds of groups that are left out of a fit in turn.
var leaves = []string{"set", "conversation", "speaker"}

// fitFigures are what weights find in a dataset: recall@10.
type fitFigures struct {
	Set       string             `json:"set"`
	Questions int                `json:"questions"`
	BM25      float64            `json:"bm25"`
	Shipped   float64            `json:"shipped"`  // by rank.DefaultWeights
	All       float64            `json:"fit"`      // by weights fitted on all of it
	LeftOut   map[string]leftOut `json:"left_out"` // by kind
}

// leftOut is what weights find that were fitted without what is left out together.
type leftOut struct {
	Recall     float64          `json:"recall@10"`
	Difference score.Difference `json:"difference"` // to BM25
}

func (a *cli) fitCommand() *cobra.Command {
	var f retrievalFlags
	var leave []string
	var ridge float64
	cmd := &cobra.Command{
		Use:   "fit",
		Short: "Fit the weights of the ranking, and say what they find where they were not fitted",
		Long: "Publishes the conversations of the datasets, fits the weights of every signal on all of them, and then\n" +
			"again without each dataset, each conversation and each speaker of evidence in turn. Prints recall@10 over\n" +
			"messages in the order of the ranking alone, question by question against plain BM25, the weights, and what\n" +
			"each signal is worth. What a signal is, and whether it has a weight in a talk or elsewhere,\n" +
			"stays as it is: a weight of 0 is not fitted.",
		Example: "  eunoe-bench fit --dir stores --leave set,speaker",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			for _, kind := range leave {
				if !slices.Contains(leaves, kind) {
					return console.Usagef("--leave: %q is nothing to leave out; expected set, conversation or speaker", kind)
				}
			}
			if cmd.Flags().Changed("url") {
				return console.Usagef("fit reads the signals in this process: leave --url out")
			}
			sets, err := a.datasets(f)
			if err != nil {
				return err
			}
			o := runOptions{maxFacts: 10, settle: f.settle, progress: cmd.ErrOrStderr(), records: []memory.Record{memory.RecordMessage}}
			var questions []rankedQuestion
			err = a.withPipeline(cmd, f, &o, func(c *client.Client) error {
				if err := (&retrievalRun{}).publishAll(cmd.Context(), c, sets, o); err != nil {
					return err
				}
				questions, err = readSignals(cmd.Context(), sets, o)
				return err
			})
			if err != nil {
				return err
			}
			return a.reportFit(cmd.OutOrStdout(), sets, questions, leave, ridge)
		},
	}
	fl := cmd.Flags()
	fl.StringArrayVar(&f.datasets, "dataset", nil, "a file to fit on; may be given again")
	fl.StringVar(&f.dir, "dir", "", "keep streams and store here; conversations that are there are not published again")
	fl.DurationVar(&f.settle, "settle", 10*time.Minute, "how long a bank may take to settle")
	fl.StringSliceVar(&leave, "leave", leaves, "what is left out in turn")
	fl.Float64Var(&ridge, "ridge", .03, "how much large weights are charged")
	return cmd
}

// signalReader is a ranking that notes what its signals say.
type signalReader struct {
	ids    []string
	values [][]float64
}

// weights returns the default weights with signals that note their values: twice each, in a talk and elsewhere.
func (r *signalReader) weights() rank.Weights {
	w := rank.DefaultWeights()
	w.Signals = slices.Clone(w.Signals)
	for i := range w.Signals {
		value := w.Signals[i].Value
		w.Signals[i].Value = func(v *rank.View) float64 {
			x := value(v)
			if i == 0 {
				r.ids = append(r.ids, v.Candidate.ID)
				r.values = append(r.values, make([]float64, 2*len(w.Signals)))
			}
			at := r.values[len(r.values)-1]
			at[2*i], at[2*i+1] = v.Talk()*x, (1-v.Talk())*x
			return x
		}
	}
	return w
}

// readSignals asks every question that has evidence for messages, some conversations at a time, and notes what the signals
// say of each candidate.
func readSignals(ctx context.Context, sets []dataset.Conversation, o runOptions) ([]rankedQuestion, error) {
	db, err := store.Open(store.Config{DSN: filepath.Join(o.dir, "eunoe.db"), ReadOnly: true})
	if err != nil {
		return nil, err
	}
	defer db.Close() //nolint:errcheck // it was only read
	bar := console.NewBar(o.progress, len(sets), "asking")
	defer bar.Close() //nolint:errcheck // a bar that cannot be drawn changes nothing
	read := make([][]rankedQuestion, len(sets))
	work, ctx := errgroup.WithContext(ctx)
	work.SetLimit(runtime.GOMAXPROCS(0))
	for i, set := range sets {
		work.Go(func() (err error) {
			read[i], err = readSignalsOf(ctx, db, set, o)
			bar.Add(1) //nolint:errcheck // a bar that cannot be drawn changes nothing
			return err
		})
	}
	err = work.Wait()
	return slices.Concat(read...), err
}

// readSignalsOf is readSignals of one conversation.
func readSignalsOf(ctx context.Context, db store.Store, set dataset.Conversation, o runOptions) ([]rankedQuestion, error) {
	var reader signalReader
	cfg := query.DefaultConfig()
	cfg.Recall.Ranking = reader.weights()
	service, err := query.New(cfg, query.Deps{Store: db, Log: zerolog.Nop(), Now: time.Now})
	if err != nil {
		return nil, err
	}
	speakers, valid := map[string]string{}, map[string]bool{}
	for _, m := range set.Turns() {
		speakers[string(m.ID)], valid[string(m.ID)] = m.Speaker, true
	}
	var out []rankedQuestion
	for _, q := range set.Questions {
		evidence := score.CleanEvidence(q.Evidence, valid)
		if len(evidence) == 0 {
			continue
		}
		reader.ids, reader.values = nil, nil
		if _, err := service.Recall(ctx, memory.BankID(o.bankPrefix+set.ID), o.request(set, q)); err != nil {
			return nil, fmt.Errorf("question %s: %w", q.QID, err)
		}
		one := rankedQuestion{line: score.NewLine(set, q), ids: reader.ids,
			groups:  map[string]string{"set": set.Set, "conversation": set.ID, "speaker": set.ID + " " + speakers[evidence[0]]},
			Example: fit.Example{Set: set.Set, Values: reader.values, Relevant: make([]bool, len(reader.ids))}}
		for i, id := range one.ids {
			one.Relevant[i] = slices.Contains(evidence, id)
		}
		out = append(out, one)
	}
	return out, nil
}

// fitAll fits on all questions, and without each group of a kind in turn.
func fitAll(questions []rankedQuestion, leave []string, allowed []bool, ridge float64) (all []float64, without map[[2]string][]float64) {
	groups := map[[2]string][]fit.Example{} // what is left when a group of a kind is left out
	for _, kind := range leave {
		for _, q := range questions {
			groups[[2]string{kind, q.groups[kind]}] = nil
		}
	}
	everything := make([]fit.Example, len(questions))
	for i, q := range questions {
		everything[i] = q.Example
		for g := range groups {
			if q.groups[g[0]] != g[1] {
				groups[g] = append(groups[g], q.Example)
			}
		}
	}
	var work errgroup.Group
	work.SetLimit(runtime.GOMAXPROCS(0))
	work.Go(func() error { all = fit.Softmax(everything, allowed, ridge); return nil })
	var mu sync.Mutex
	without = map[[2]string][]float64{}
	for g, examples := range groups {
		work.Go(func() error {
			fitted := fit.Softmax(examples, allowed, ridge)
			mu.Lock()
			defer mu.Unlock()
			without[g] = fitted
			return nil
		})
	}
	work.Wait() //nolint:errcheck // nothing fails
	return all, without
}

// reportFit fits, and prints the figures of each dataset and the weights.
func (a *cli) reportFit(w io.Writer, sets []dataset.Conversation, questions []rankedQuestion, leave []string, ridge float64) error {
	signals := rank.DefaultWeights().Signals
	var shipped []float64
	for _, s := range signals {
		shipped = append(shipped, s.Talk, s.Else)
	}
	allowed := make([]bool, len(shipped))
	for i := range shipped {
		allowed[i] = shipped[i] != 0
	}
	all, without := fitAll(questions, leave, allowed, ridge)
	plain := baselineRun(sets, 10)
	have := map[string]bool{}
	for _, q := range questions {
		have[q.line.QID] = true
	}
	plain = slices.DeleteFunc(plain, func(l score.Line) bool { return !have[l.QID] })
	valid := dataset.TurnIDs(sets)
	byShipped := byWeights(questions, func(rankedQuestion) []float64 { return shipped })
	byAll := byWeights(questions, func(rankedQuestion) []float64 { return all })
	byLeft := map[string][]score.Line{}
	for _, kind := range leave {
		byLeft[kind] = byWeights(questions, func(q rankedQuestion) []float64 { return without[[2]string{kind, q.groups[kind]}] })
	}
	var out []fitFigures
	for _, name := range setNames(sets) {
		of := func(lines []score.Line) []score.Scored {
			s, _ := score.Run(linesOf(lines, sets, name), valid)
			return s
		}
		base := of(plain)
		f := fitFigures{Set: name, Questions: len(base), BM25: score.Means(base)["recall@10"], LeftOut: map[string]leftOut{},
			Shipped: score.Means(of(byShipped))["recall@10"], All: score.Means(of(byAll))["recall@10"]}
		for _, kind := range leave {
			left := of(byLeft[kind])
			f.LeftOut[kind] = leftOut{score.Means(left)["recall@10"], score.Differences(base, left)["recall@10"]}
		}
		out = append(out, f)
	}
	worth := signalsWorth(sets, questions, shipped)
	if a.JSON {
		return console.PrintJSON(w, struct {
			Sets    []fitFigures  `json:"sets"`
			Signals []signalWorth `json:"signals"`
		}{out, worth})
	}
	header := []string{"set", "n", "BM25", "shipped", "fit on all"}
	for _, kind := range leave {
		header = append(header, "without "+kind, "− BM25")
	}
	var rows [][]string
	for _, f := range out {
		row := []string{f.Set, fmt.Sprint(f.Questions), metric("", f.BM25), metric("", f.Shipped), metric("", f.All)}
		for _, kind := range leave {
			l := f.LeftOut[kind]
			row = append(row, metric("", l.Recall), fmt.Sprintf("%+.1f (%+.1f to %+.1f)", 100*l.Difference[0], 100*l.Difference[1], 100*l.Difference[2]))
		}
		rows = append(rows, row)
	}
	fmt.Fprintln(w, "recall@10 over messages, in the order of the ranking alone")
	console.Table(w, header, rows)
	rows = nil
	for i, s := range signals {
		rows = append(rows, []string{s.Name, fmt.Sprintf("%.4g", s.Talk), fmt.Sprintf("%.3g", all[2*i]), fmt.Sprintf("%.4g", s.Else), fmt.Sprintf("%.3g", all[2*i+1])})
	}
	fmt.Fprintln(w)
	console.Table(w, []string{"signal", "in a talk", "fitted", "elsewhere", "fitted"}, rows)
	worthTable(w, setNames(sets), worth)
	return nil
}
