package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// recallFlags are the flags that recall and reflect share.
type recallFlags struct {
	filterFlags
	maxFacts, maxTokens int
	now                 string
	strategies          map[string]string
	after, afterWrite   uint64
	wait, deadline      time.Duration
	minScore            float64
	explain             bool
	judge               string
	adequacy            int
}

func (f *recallFlags) add(cmd *cobra.Command) {
	f.filterFlags.add(cmd, true)
	fl := cmd.Flags()
	fl.IntVar(&f.maxFacts, "max-facts", 10, "at most so many items")
	fl.IntVar(&f.maxTokens, "max-tokens", 2000, "at most so many tokens")
	fl.StringVar(&f.now, "now", "", "the present, for expressions like \"last week\" (default: the server's)")
	fl.StringToStringVar(&f.strategies, "strategies", nil, "weights that replace the defaults, as keyword=1,entity=0.5")
	fl.Uint64Var(&f.after, "after", 0, "wait until this message sequence is seen")
	fl.Uint64Var(&f.afterWrite, "after-write", 0, "wait until this write sequence is seen")
	fl.DurationVar(&f.wait, "wait", 2*time.Second, "how long to wait for --after and --after-write")
	fl.DurationVar(&f.deadline, "deadline", 0, "answer within this time with what is ready; 0 = none")
	fl.Float64Var(&f.minScore, "min-score", 0, "leave out items below this score")
	fl.StringVar(&f.judge, "judge", "", "a language model keeps what bears on the question; a number is the score it needs (0.6)")
	fl.Lookup("judge").NoOptDefVal = "true"
	fl.IntVar(&f.adequacy, "adequacy", 0, "rounds, 0 to 2, in which a language model asks for what is missing")
}

// request builds the request; what nobody set is left to the server.
func (f *recallFlags) request(cmd *cobra.Command, args []string) (memory.RecallRequest, error) {
	filter, err := f.filter()
	if err != nil {
		return memory.RecallRequest{}, err
	}
	req := memory.RecallRequest{Query: strings.Join(args, " "), Filter: filter, After: f.after, AfterWrite: f.afterWrite, MinScore: f.minScore, Explain: f.explain, Adequacy: f.adequacy}
	if f.judge != "" {
		req.Judge = &memory.Judge{Off: f.judge == "false"}
		if threshold, err := strconv.ParseFloat(f.judge, 64); err == nil {
			req.Judge.Threshold = &threshold
		} else if f.judge != "true" && f.judge != "false" {
			return req, usagef("--judge: %s is no score; expected a number from 0 to 1, or nothing", f.judge)
		}
	}
	set := cmd.Flags().Changed
	if set("max-facts") {
		req.MaxFacts = &f.maxFacts
	}
	if set("max-tokens") {
		req.MaxTokens = &f.maxTokens
	}
	if set("wait") {
		req.Wait = (*memory.Duration)(&f.wait)
	}
	if f.deadline != 0 {
		req.Deadline = (*memory.Duration)(&f.deadline)
	}
	if req.Now, err = timeFlag("--now", f.now, false); err != nil {
		return req, err
	}
	for _, name := range slices.Sorted(maps.Keys(f.strategies)) {
		value := f.strategies[name]
		w, err := strconv.ParseFloat(value, 64)
		if err != nil || !slices.Contains(memory.Strategies, name) {
			return req, usagef("--strategies: %s=%s is no weight; expected names of %s with a number", name, value, strings.Join(memory.Strategies, ", "))
		}
		if req.Strategies == nil {
			req.Strategies = map[string]float64{}
		}
		req.Strategies[name] = w
	}
	return req, nil
}

func (a *cli) recallCommand() *cobra.Command {
	var f recallFlags
	cmd := &cobra.Command{
		Use:     "recall QUERY…",
		Short:   "Find what bears on a question",
		Example: "  eunoe recall what is Alice allergic to\n  eunoe recall --explain --max-facts 5 where does Alice live",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			req, err := f.request(cmd, args)
			if err != nil {
				return err
			}
			return ask(a, cmd, "recall", req, func(w io.Writer, r memory.RecallReply) { showRecall(w, r, f.explain) })
		},
	}
	f.add(cmd)
	cmd.Flags().BoolVar(&f.explain, "explain", false, "show what each strategy gave each item, and the ids")
	return cmd
}

func showRecall(w io.Writer, r memory.RecallReply, explain bool) {
	if len(r.Items) == 0 {
		fmt.Fprintln(w, "Nothing found.")
	} else {
		rows := make([][]string, 0, len(r.Items))
		for i, it := range r.Items {
			rows = append(rows, []string{strconv.Itoa(i + 1), fmt.Sprintf("%.3f", it.Score), string(it.Record), day(it.Said),
				short(spoken(it), textWidth), short(join(it.Sources), 40)})
		}
		table(w, []string{"#", "SCORE", "RECORD", "SAID", "TEXT", "SOURCES"}, rows)
	}
	if explain {
		explainTable(w, r.Items)
	}
	fresh := ""
	if !r.Fresh {
		fresh = ", not yet fresh"
	}
	fmt.Fprintf(w, "\n%s, %s, %s%s\n", count(len(r.Items), "item"), count(r.Tokens, "token"), time.Duration(r.Took).Round(10*time.Microsecond), fresh)
	if r.Judged != nil {
		fmt.Fprintf(w, "judged: %d kept, %d dropped\n", r.Judged.Kept, r.Judged.Dropped)
	}
	if explain && r.Recall != "" {
		fmt.Fprintf(w, "recall %s\n", oneLine(r.Recall))
	}
	degraded(w, r.Degraded)
}

// explainTable shows what each strategy gave: its rank and score, a column each.
func explainTable(w io.Writer, items []memory.Item) {
	var names []string
	for _, it := range items {
		for name := range it.Explain {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	if len(items) == 0 {
		return
	}
	slices.Sort(names)
	rows := make([][]string, 0, len(items))
	for i, it := range items {
		row := []string{strconv.Itoa(i + 1)}
		for _, name := range names {
			c, ok := it.Explain[name]
			switch {
			case !ok:
				row = append(row, "·")
			case c.Rank == 0:
				row = append(row, fmt.Sprintf("%.3f", c.Score))
			default:
				row = append(row, fmt.Sprintf("%.3f (%d.)", c.Score, c.Rank))
			}
		}
		rows = append(rows, append(row, it.ID))
	}
	fmt.Fprintln(w)
	head := []string{"#"}
	for _, n := range names {
		head = append(head, strings.ToUpper(n))
	}
	table(w, append(head, "ID"), rows)
}

// spoken is an item's text, with who said it where it is a message.
func spoken(it memory.Item) string {
	if it.Record == memory.RecordMessage && it.Speaker != "" {
		return it.Speaker + ": " + it.Text
	}
	return it.Text
}
