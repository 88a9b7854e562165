package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/eunoe-memory/eunoe/bench/changes"
	"github.com/eunoe-memory/eunoe/internal/console"
	"github.com/eunoe-memory/eunoe/pkg/client"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

// changeBank is the bank that change fills.
const changeBank memory.BankID = "bench-change"

// changeFlags are the flags of change.
type changeFlags struct {
	seed   uint64
	facts  int
	settle time.Duration
}

func (a *cli) changeCommand() *cobra.Command {
	var f changeFlags
	cmd := &cobra.Command{
		Use:   "change",
		Short: "Measure whether recall gives what holds now, and what held then",
		Long: "Publishes made statements whose values change one to five times and back, that arrive late\n" +
			"and out of order, that are denied (\"no longer\"), withdrawn by a later message or forgotten, among\n" +
			"others that tell nothing; then asks for each what holds now and what held between any two. The\n" +
			"same seed makes the same. No model is needed.",
		Example: "  eunoe-bench change --seed 7 --facts 200",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if f.facts < 1 || f.facts > changes.MaxAttributes {
				return console.Usagef("--facts is %d; expected 1 to %d", f.facts, changes.MaxAttributes)
			}
			return a.change(cmd, f)
		},
	}
	fl := cmd.Flags()
	fl.Uint64Var(&f.seed, "seed", 1, "what the statements are made from")
	fl.IntVar(&f.facts, "facts", 100, "attributes of people that change")
	fl.DurationVar(&f.settle, "settle", 10*time.Minute, "how long the bank may take to settle")
	return cmd
}

func (a *cli) change(cmd *cobra.Command, f changeFlags) error {
	script := changes.Make(f.seed, f.facts)
	o := runOptions{}
	var out changeFigures
	err := a.withPipeline(cmd, retrievalFlags{}, &o, func(c *client.Client) error {
		var err error
		out, err = runChanges(cmd.Context(), c, script, f.settle)
		return err
	})
	if err != nil {
		return err
	}
	out.Seed = f.seed
	if a.JSON {
		err = console.PrintJSON(cmd.OutOrStdout(), out)
	} else {
		out.show(cmd.OutOrStdout())
	}
	if err == nil && out.Right < out.Asked {
		err = fmt.Errorf("%d of %d answers are wrong", out.Asked-out.Right, out.Asked)
	}
	return err
}

// changeFigures is what change prints with --json.
type changeFigures struct {
	Seed     uint64       `json:"seed"`
	Messages int          `json:"messages"`
	Asked    int          `json:"asked"`
	Right    int          `json:"right"`
	Kinds    []changeKind `json:"kinds"`
	Wrong    []string     `json:"wrong"` // the first twenty
}

type changeKind struct {
	Kind  string `json:"kind"`
	Asked int    `json:"asked"`
	Right int    `json:"right"`
}

// runChanges publishes a script, waits until all is settled, forgets what is to be forgotten and asks its probes.
func runChanges(ctx context.Context, c *client.Client, script changes.Script, settle time.Duration) (changeFigures, error) {
	out := changeFigures{Messages: len(script.Said), Wrong: []string{}}
	var sessions []memory.SessionID
	for _, s := range script.Said {
		if _, err := c.Publish(ctx, changeBank, s.Session, s.Message); err != nil {
			return out, err
		}
		if !slices.Contains(sessions, s.Session) {
			sessions = append(sessions, s.Session)
		}
	}
	for _, s := range sessions {
		if _, err := c.Flush(ctx, changeBank, s); err != nil {
			return out, err
		}
	}
	if err := waitSettled(ctx, c, changeBank, settle); err != nil {
		return out, err
	}
	for _, id := range script.Forgets {
		if _, err := c.Forget(ctx, changeBank, wire.ForgetRequest{ID: id}); err != nil {
			return out, fmt.Errorf("forget %s: %w", id, err)
		}
	}
	if err := waitSettled(ctx, c, changeBank, settle); err != nil {
		return out, err
	}
	for _, kind := range changes.Kinds {
		k := changeKind{Kind: kind}
		for _, p := range script.Probes {
			if p.Kind != kind {
				continue
			}
			wrong, err := askChange(ctx, c, p)
			if err != nil {
				return out, err
			}
			k.Asked++
			if wrong == "" {
				k.Right++
			} else if len(out.Wrong) < 20 {
				out.Wrong = append(out.Wrong, wrong)
			}
		}
		out.Kinds = append(out.Kinds, k)
		out.Asked += k.Asked
		out.Right += k.Right
	}
	return out, nil
}

// askChange asks once for facts alone and once for everything, and returns what is wrong with the answers; "" = nothing.
// Facts have to state the value that held and no other; of everything that speaks of the attribute, the first has to.
func askChange(ctx context.Context, c *client.Client, p changes.Probe) (string, error) {
	most, tokens, now := 20, memory.MaxTokens, changes.Now
	for _, records := range [][]memory.Record{{memory.RecordFact}, nil} {
		r, err := c.Recall(ctx, changeBank, wire.RecallRequest{Query: p.Question, MaxFacts: &most, MaxTokens: &tokens, Now: &now, Filter: memory.Filter{Records: records, AsOf: p.AsOf}})
		if err != nil {
			return "", fmt.Errorf("%q: %w", p.Question, err)
		}
		values := p.Stated(r.Items)
		var right bool
		switch {
		case p.Never != "" && slices.Contains(values, p.Never):
		case records == nil:
			// A message that was said stays, so where nothing holds the old ones are still found.
			right = p.Want == "" || len(values) > 0 && values[0] == p.Want
		case p.Want == "":
			right = len(values) == 0
		default:
			right = len(values) > 0 && !slices.ContainsFunc(values, func(v string) bool { return v != p.Want })
		}
		if right {
			continue
		}
		at := "now"
		if p.AsOf != nil {
			at = p.AsOf.Format(time.DateOnly)
		}
		return fmt.Sprintf("%s: %s %s: %q of %v, not %q", p.Kind, p.Question, at, values, records, p.Want), nil
	}
	return "", nil
}

func (f changeFigures) show(w io.Writer) {
	var rows [][]string
	for _, k := range f.Kinds {
		rows = append(rows, []string{k.Kind, strconv.Itoa(k.Asked), strconv.Itoa(k.Right), fmt.Sprintf("%.1f", 100*float64(k.Right)/float64(max(1, k.Asked)))})
	}
	rows = append(rows, []string{"all", strconv.Itoa(f.Asked), strconv.Itoa(f.Right), fmt.Sprintf("%.1f", 100*float64(f.Right)/float64(max(1, f.Asked)))})
	console.Table(w, []string{"what", "asked", "right", "percent"}, rows)
	fmt.Fprintf(w, "\n%d messages from seed %d\n", f.Messages, f.Seed)
	for _, line := range f.Wrong {
		fmt.Fprintln(w, "wrong:", line)
	}
}
