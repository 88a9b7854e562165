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

	"github.com/eunoe-memory/eunoe/internal/console"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

// recallFlags are the flags that recall and reflect share.
type recallFlags struct {
	filterFlags
	req            wire.RecallRequest // without what the fields below say
	now, judge     string
	strategies     map[string]string
	wait, deadline time.Duration
}

func (f *recallFlags) add(cmd *cobra.Command) {
	f.filterFlags.add(cmd, true)
	fl := cmd.Flags()
	console.Optional(fl, fl.IntVar, &f.req.MaxFacts, "max-facts", 10, "maximum number of items")
	console.Optional(fl, fl.IntVar, &f.req.MaxTokens, "max-tokens", 2000, "maximum number of tokens")
	fl.StringVar(&f.now, "now", "", "the present, for expressions like \"last week\" (default: the server's)")
	fl.StringToStringVar(&f.strategies, "strategies", nil, "weights that replace the defaults, as keyword=1,entity=0.5")
	fl.Uint64Var(&f.req.After, "after", 0, "wait until this message sequence is applied")
	fl.Uint64Var(&f.req.AfterWrite, "after-write", 0, "wait until this write sequence is applied")
	fl.DurationVar(&f.wait, "wait", 2*time.Second, "how long to wait for --after and --after-write")
	fl.DurationVar(&f.deadline, "deadline", 0, "answer within this time with what is available; 0 = no deadline")
	fl.Float64Var(&f.req.MinScore, "min-score", 0, "confidence that the answer must have (0 to 1); below it nothing is returned")
	fl.StringVar(&f.judge, "judge", "", "let a language model drop irrelevant items; a number sets the score to keep one (default 0.6)")
	fl.Lookup("judge").NoOptDefVal = "true"
	fl.IntVar(&f.req.Adequacy, "adequacy", 0, "rounds (0 to 2) in which a language model may search for missing information")
}

// request builds the request; a flag that is not given is left to the server's default.
func (f *recallFlags) request(cmd *cobra.Command, args []string) (wire.RecallRequest, error) {
	filter, err := f.filter()
	if err != nil {
		return wire.RecallRequest{}, err
	}
	query, err := argsOrInput(cmd.InOrStdin(), args)
	if err != nil {
		return wire.RecallRequest{}, err
	}
	req := f.req
	req.Query, req.Filter = query, filter
	if f.judge != "" {
		req.Judge = &wire.Judge{Off: f.judge == "false"}
		if threshold, err := strconv.ParseFloat(f.judge, 64); err == nil {
			req.Judge.Threshold = &threshold
		} else if f.judge != "true" && f.judge != "false" {
			return req, console.Usagef("--judge: %s is no score; expected a number from 0 to 1, or nothing", f.judge)
		}
	}
	if cmd.Flags().Changed("wait") {
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
			return req, console.Usagef("--strategies: %s=%s is no weight; expected names of %s with a number", name, value, strings.Join(memory.Strategies, ", "))
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
		Short:   "Find memories relevant to a question",
		Long:    "Finds memories relevant to a question. \"-\" reads the question from standard input.",
		Example: "  eunoe recall what is Alice allergic to\n  eunoe recall --explain --max-facts 5 where does Alice live",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			req, err := f.request(cmd, args)
			if err != nil {
				return err
			}
			return ask(a, cmd, wire.Recall, req, func(w io.Writer, r wire.RecallReply) { showRecall(w, r, req.Explain) })
		},
	}
	f.add(cmd)
	cmd.Flags().BoolVar(&f.req.Explain, "explain", false, "show the score of each item by strategy, and the ids")
	return cmd
}

func showRecall(w io.Writer, r wire.RecallReply, explain bool) {
	if len(r.Items) == 0 {
		fmt.Fprintln(w, "Nothing found.")
	} else {
		rows := make([][]string, 0, len(r.Items))
		for i, it := range r.Items {
			rows = append(rows, []string{strconv.Itoa(i + 1), fmt.Sprintf("%.3f", it.Score), string(it.Record), day(it.Said),
				spoken(it), join(it.Sources)})
		}
		console.Table(w, []string{"#", "SCORE", "RECORD", "SAID", "TEXT", "SOURCES"}, rows)
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
		fmt.Fprintf(w, "recall %s\n", console.OneLine(r.Recall))
	}
	console.Degraded(w, r.Degraded)
}

// explainTable shows the rank and score of each item by each strategy, one column a strategy.
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
	console.Table(w, append(head, "ID"), rows)
}

// spoken returns an item's text, with the speaker if it is a message.
func spoken(it memory.Item) string {
	if it.Record == memory.RecordMessage && it.Speaker != "" {
		return it.Speaker + ": " + it.Text
	}
	return it.Text
}

// filterFlags are the filters that recall, reflect and list share.
type filterFlags struct {
	set            memory.Filter // without its times
	exclude        memory.Exclude
	from, to, asOf string
}

func (f *filterFlags) add(cmd *cobra.Command, records bool) {
	fl := cmd.Flags()
	if records {
		console.Names(fl, &f.set.Records, "records", "only these records: fact, composite, observation, message")
	}
	console.Names(fl, &f.set.Kinds, "kinds", "only these kinds: world, experience, opinion, observation")
	console.Names(fl, &f.set.Types, "types", "only these types: preference, event, constraint, …")
	fl.StringSliceVar(&f.set.Speakers, "speakers", nil, "only these speakers")
	console.Names(fl, &f.set.Entities, "entities", "only records that name one of these entities (person:alice)")
	fl.StringSliceVar(&f.set.Topics, "topics", nil, "only these topics")
	fl.StringSliceVar(&f.set.Tags, "tags", nil, "only records with one of these tags")
	fl.StringVar((*string)(&f.set.Session), "session", "", "only this session")
	fl.StringVar(&f.from, "from", "", "only records from this time on (RFC 3339 or a date)")
	fl.StringVar(&f.to, "to", "", "only records up to this time")
	fl.StringVar(&f.asOf, "as-of", "", "what was valid at this time")
	console.Names(fl, &f.exclude.Sessions, "exclude-sessions", "not these sessions")
	fl.StringSliceVar(&f.exclude.Speakers, "exclude-speakers", nil, "not these speakers")
	fl.StringSliceVar(&f.exclude.IDs, "exclude-ids", nil, "not the records with these ids")
}

func (f *filterFlags) filter() (memory.Filter, error) {
	out := f.set
	for _, t := range []struct {
		flag, value string
		end         bool
		to          **time.Time
	}{{"--from", f.from, false, &out.From}, {"--to", f.to, true, &out.To}, {"--as-of", f.asOf, false, &out.AsOf}} {
		at, err := timeFlag(t.flag, t.value, t.end)
		if err != nil {
			return out, err
		}
		*t.to = at
	}
	if x := f.exclude; len(x.Sessions)+len(x.Speakers)+len(x.IDs) > 0 {
		out.Exclude = &x
	}
	return out, nil
}

// timeFlag reads a time, or a date: its first instant, or its last with end. "" is nil.
func timeFlag(flag, value string, end bool) (*time.Time, error) {
	if value == "" {
		return nil, nil
	}
	if d, err := time.Parse("2006-01-02", value); err == nil {
		if end {
			d = d.AddDate(0, 0, 1).Add(-time.Microsecond)
		}
		return &d, nil
	}
	t, err := memory.ParseTime(flag, value)
	if err != nil {
		return nil, err
	}
	return &t, nil
}
