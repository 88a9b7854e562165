package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/eunoe-memory/eunoe/bench/dataset"
	"github.com/eunoe-memory/eunoe/bench/score"
	"github.com/eunoe-memory/eunoe/internal/console"
	"github.com/eunoe-memory/eunoe/pkg/client"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

const (
	unanswered       = 5  // the category of questions that have no answer in their conversation
	foreignQuestions = 60 // questions of other sets that each conversation is asked at most
)

// confidenceFigures are how well the confidence of a reply tells questions that have an answer in their conversation from
// others: the share of pairs of which the one with an answer is surer, a tie counting half.
type confidenceFigures struct {
	Set        string  `json:"set"`
	Answerable int     `json:"answerable"`
	Foreign    int     `json:"foreign"` // questions of other sets
	AUC        float64 `json:"auc_foreign"`
	Unanswered int     `json:"unanswered"` // category 5 of its own
	AUCOwn     float64 `json:"auc_unanswered"`
	Median     float64 `json:"median"` // confidence of the answerable
}

func (a *cli) confidenceCommand() *cobra.Command {
	var f retrievalFlags
	cmd := &cobra.Command{
		Use:   "confidence",
		Short: "How well the confidence of a recall tells questions with an answer from those without",
		Long: "Publishes the conversations of the datasets, and asks each its own questions and some of\n" +
			"the other sets, which nobody in it spoke of. Category 5 asks what was never said.",
		Example: "  eunoe-bench confidence --dataset locomo-dev.json --dataset beam-dev.json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			sets, err := a.datasets(f)
			if err != nil {
				return err
			}
			o := runOptions{maxFacts: 10, bankPrefix: f.bankPrefix, settle: f.settle, progress: cmd.ErrOrStderr()}
			var out []confidenceFigures
			err = a.withPipeline(cmd, f, &o, func(c *client.Client) error {
				if err := (&retrievalRun{}).publishAll(cmd.Context(), c, sets, o); err != nil {
					return err
				}
				out, err = askConfidence(cmd.Context(), c, sets, o)
				return err
			})
			if err != nil {
				return err
			}
			if a.JSON {
				return console.PrintJSON(cmd.OutOrStdout(), out)
			}
			var rows [][]string
			for _, x := range out {
				rows = append(rows, []string{x.Set, fmt.Sprint(x.Answerable), fmt.Sprintf("%.2f", x.Median), fmt.Sprint(x.Foreign), fmt.Sprintf("%.3f", x.AUC),
					fmt.Sprint(x.Unanswered), fmt.Sprintf("%.3f", x.AUCOwn)})
			}
			console.Table(cmd.OutOrStdout(), []string{"set", "answerable", "median", "foreign", "AUC", "category 5", "AUC"}, rows)
			return nil
		},
	}
	cmd.Flags().StringArrayVar(&f.datasets, "dataset", nil, "a file to measure with; may be given again")
	cmd.Flags().StringVar(&f.bankPrefix, "bank-prefix", "", "what the banks' names begin with (default with --url: bench-)")
	cmd.Flags().StringVar(&f.dir, "dir", "", "keep streams and store here; conversations that are there are not published again")
	cmd.Flags().DurationVar(&f.settle, "settle", 10*time.Minute, "how long a bank may take to settle")
	return cmd
}

// askConfidence asks every question, and of each conversation some of the other sets; all sets together come last.
func askConfidence(ctx context.Context, c *client.Client, sets []dataset.Conversation, o runOptions) ([]confidenceFigures, error) {
	kinds := map[string]*[3][]float64{"all": {}}
	valid := dataset.TurnIDs(sets)
	bar := console.NewBar(o.progress, len(sets), "asking")
	defer bar.Close() //nolint:errcheck // a bar that cannot be drawn changes nothing
	for _, set := range sets {
		if kinds[set.Set] == nil {
			kinds[set.Set] = &[3][]float64{}
		}
		ask := func(kind int, q dataset.Question) error {
			r, err := c.Recall(ctx, memory.BankID(o.bankPrefix+set.ID), o.request(set, q))
			for _, name := range []string{set.Set, "all"} {
				kinds[name][kind] = append(kinds[name][kind], r.Confidence)
			}
			return err
		}
		for _, q := range set.Questions {
			kind := 0
			if q.Category == unanswered {
				kind = 2
			} else if len(score.CleanEvidence(q.Evidence, valid[set.ID])) == 0 {
				continue
			}
			if err := ask(kind, q); err != nil {
				return nil, fmt.Errorf("question %s: %w", q.QID, err)
			}
		}
		for _, q := range foreignTo(set, sets) {
			if err := ask(1, q); err != nil {
				return nil, fmt.Errorf("question %s: %w", q.QID, err)
			}
		}
		bar.Add(1) //nolint:errcheck // a bar that cannot be drawn changes nothing
	}
	var out []confidenceFigures
	for _, name := range append(setNames(sets), "all") {
		k := kinds[name]
		slices.Sort(k[0])
		f := confidenceFigures{Set: name, Answerable: len(k[0]), Foreign: len(k[1]), AUC: score.AUC(k[0], k[1]), Unanswered: len(k[2]), AUCOwn: score.AUC(k[0], k[2])}
		if len(k[0]) > 0 {
			f.Median = k[0][len(k[0])/2]
		}
		out = append(out, f)
	}
	return out, nil
}

// foreignTo returns questions of other sets, evenly taken; sets that are translations of each other ("x-en", "x-zh") are
// not foreign to each other.
func foreignTo(set dataset.Conversation, sets []dataset.Conversation) []dataset.Question {
	family := func(s string) string { name, _, _ := strings.Cut(s, "-"); return name }
	var all, out []dataset.Question
	for _, other := range sets {
		if family(other.Set) == family(set.Set) {
			continue
		}
		for _, q := range other.Questions {
			if q.Category != unanswered {
				all = append(all, dataset.Question{QID: q.QID, Question: q.Question})
			}
		}
	}
	for i := range min(foreignQuestions, len(all)) {
		out = append(out, all[i*len(all)/foreignQuestions])
	}
	return out
}
