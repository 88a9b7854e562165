package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/eunoe-memory/eunoe/bench/dataset"
	"github.com/eunoe-memory/eunoe/internal/console"
	"github.com/eunoe-memory/eunoe/pkg/extract"
	"github.com/eunoe-memory/eunoe/pkg/extract/rules"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// factCount is what facts prints of a dataset with --json.
type factCount struct {
	Set      string  `json:"set"`
	Messages int     `json:"messages"`
	Facts    float64 `json:"facts_a_message"`
	Spoken   int     `json:"messages_with_a_fact"`
	CPU      float64 `json:"milliseconds_a_message"`
	// Against observations that somebody else made of the same conversations; 0 without.
	OnObserved float64 `json:"facts_on_observed_messages,omitempty"`
	Observed   float64 `json:"observed_messages_with_a_fact,omitempty"`
}

func (a *cli) factsCommand() *cobra.Command {
	var files []string
	var observations string
	var show int
	cmd := &cobra.Command{
		Use:   "facts",
		Short: "Count the facts that the rules write down of conversations",
		Long: "Extracts every message of the datasets with the rules, in windows of two as the pipeline cuts them, and\n" +
			"counts. With --observations (JSON lines with sample_id and evidence, the id of a turn), it says how many\n" +
			"facts rest on a message that was observed there, and how many of those have a fact.",
		Example: "  eunoe-bench facts --dataset locomo.json --observations locomo-facts.jsonl",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if len(files) == 0 {
				return console.Usagef("--dataset: name one at least")
			}
			observed, err := readObserved(observations)
			if err != nil {
				return console.Usagef("--observations: %v", err)
			}
			var out []factCount
			for _, f := range files {
				sets, err := dataset.Load(f)
				if err != nil {
					return console.Usagef("--dataset: %v", err)
				}
				counted, err := countFacts(cmd.Context(), sets, observed, show, cmd.OutOrStdout())
				if err != nil {
					return err
				}
				out = append(out, counted)
			}
			if a.JSON {
				return console.PrintJSON(cmd.OutOrStdout(), out)
			}
			var rows [][]string
			for _, c := range out {
				row := []string{c.Set, fmt.Sprint(c.Messages)}
				for _, x := range []float64{c.Facts, c.CPU, c.OnObserved, c.Observed} {
					row = append(row, fmt.Sprintf("%.2f", x))
				}
				rows = append(rows, row)
			}
			console.Table(cmd.OutOrStdout(), []string{"set", "messages", "facts a message", "ms a message", "facts on observed", "observed with a fact"}, rows)
			return nil
		},
	}
	cmd.Flags().StringArrayVar(&files, "dataset", nil, "a dataset in the shape of LoCoMo; may be repeated")
	cmd.Flags().StringVar(&observations, "observations", "", "observations of the same conversations")
	cmd.Flags().IntVar(&show, "show", 0, "print the facts of the first so many messages")
	return cmd
}

// readObserved returns the turns that observations rest on, by conversation.
func readObserved(file string) (map[string]bool, error) {
	if file == "" {
		return nil, nil
	}
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // it was only read
	out := map[string]bool{}
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		var o struct {
			Sample   string `json:"sample_id"`
			Evidence any    `json:"evidence"`
		}
		if err := json.Unmarshal(lines.Bytes(), &o); err != nil {
			return nil, err
		}
		for _, e := range strings.FieldsFunc(fmt.Sprint(o.Evidence), func(r rune) bool { return strings.ContainsRune("[] ,", r) }) {
			out[o.Sample+" "+e] = true
		}
	}
	return out, lines.Err()
}

// inWindow is how many messages a window of the rules has, and before how many are shown with them.
const inWindow, before = 2, 4

func countFacts(ctx context.Context, sets []dataset.Conversation, observed map[string]bool, show int, w io.Writer) (factCount, error) {
	c := factCount{Set: sets[0].Set}
	x := rules.New()
	facts, onObserved, withFact, known := 0, 0, 0, 0
	began := time.Now()
	for _, set := range sets {
		has := map[memory.MessageID]int{}
		for _, s := range set.Sessions {
			for i := 0; i < len(s.Turns); i += inWindow {
				end := min(len(s.Turns), i+inWindow)
				in := extract.Input{Session: s.ID, New: s.Turns[i:end], Context: s.Turns[max(0, i-before):i]}
				drafts, err := x.Extract(ctx, in)
				if err != nil {
					return c, err
				}
				for _, d := range drafts {
					facts++
					if observed[set.ID+" "+string(d.Sources[0])] {
						onObserved++
					}
					has[d.Sources[0]]++
				}
				for _, m := range in.New {
					if c.Messages++; c.Messages <= show {
						fmt.Fprintf(w, "%s %t %s: %s\n", m.ID, observed[set.ID+" "+string(m.ID)], m.Speaker, m.Content)
						for _, d := range drafts {
							if slices.Contains(d.Sources, m.ID) {
								fmt.Fprintf(w, "    -> %s %s\n", d.Type, d.Text)
							}
						}
					}
				}
			}
			for _, m := range s.Turns {
				if observed[set.ID+" "+string(m.ID)] {
					known++
					if has[m.ID] > 0 {
						withFact++
					}
				}
			}
		}
		c.Spoken += len(has)
	}
	c.Facts = float64(facts) / float64(c.Messages)
	c.CPU = float64(time.Since(began).Microseconds()) / 1000 / float64(c.Messages)
	if known > 0 {
		c.OnObserved, c.Observed = float64(onObserved)/float64(facts), float64(withFact)/float64(known)
	}
	return c, nil
}
