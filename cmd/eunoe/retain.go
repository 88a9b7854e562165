package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

func (a *cli) retainCommand() *cobra.Command {
	var f memory.FactInput
	var kind, typ, said, op string
	var sources []string
	var confidence float64
	var extract bool
	cmd := &cobra.Command{
		Use:   "retain TEXT…",
		Short: "Store a fact by hand",
		Long: "Stores a fact as it is given. With --extract the text is published as a message\n" +
			"instead, and the facts in it are extracted. \"-\" reads the text from standard input.",
		Example: "  eunoe retain --type constraint --key allergy Alice is allergic to shellfish.",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			text, err := argsOrInput(cmd.InOrStdin(), args)
			if err != nil {
				return err
			}
			req := memory.RetainRequest{WriteControl: memory.WriteControl{Op: op}}
			at, err := timeFlag("--said", said, false)
			if err != nil {
				return err
			}
			if extract {
				req.Text, req.Time = text, at
			} else {
				f.Text, f.Said, f.Kind, f.Type = text, at, memory.Kind(kind), memory.Type(typ)
				f.Sources = typed[memory.MessageID](sources)
				if cmd.Flags().Changed("confidence") {
					f.Confidence = &confidence
				}
				req.Facts = []memory.FactInput{f}
			}
			return ask(a, cmd, "retain", req, showRetained)
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&f.Key, "key", "", "your name for the fact: the same key with another text supersedes")
	fl.StringVar(&kind, "kind", "", "world, experience or opinion (default world)")
	fl.StringVar(&typ, "type", "", "fact, preference, event, constraint, … (default fact)")
	fl.StringSliceVar(&f.Entities, "entities", nil, "what it is about, as person:alice")
	fl.StringSliceVar(&f.Tags, "tags", nil, "tags")
	fl.StringVar(&f.Speaker, "speaker", "", "who says so")
	fl.StringVar(&said, "said", "", "when it was said (default: now)")
	fl.StringSliceVar(&sources, "sources", nil, "ids of the messages it rests on")
	fl.Float64Var(&confidence, "confidence", 1, "0 to 1")
	fl.StringVar(&op, "op", "", "an id of this request: repeating it changes nothing")
	fl.BoolVar(&extract, "extract", false, "publish the text and extract its facts")
	return cmd
}

func showRetained(w io.Writer, r memory.RetainReply) {
	for _, res := range r.Results {
		line := fmt.Sprintf("%s %s", res.Outcome, dash(res.ID))
		if res.Key != "" {
			line += " (" + res.Key + ")"
		}
		if res.Reason != "" {
			line += ": " + res.Reason
		}
		fmt.Fprintln(w, oneLine(line))
	}
	if len(r.Results) == 0 {
		fmt.Fprintln(w, "no facts in it")
	}
	fmt.Fprintf(w, "write %d, op %s\n", r.Write, r.Op)
}

func (a *cli) observeCommand() *cobra.Command {
	var types []string
	var minConfidence float64
	cmd := &cobra.Command{
		Use:   "observe [QUERY…]",
		Short: "Derive observations from the facts now",
		RunE: func(cmd *cobra.Command, args []string) error {
			req := memory.ObserveRequest{Query: strings.Join(args, " "), Types: typed[memory.ObservationType](types)}
			if cmd.Flags().Changed("min-confidence") {
				req.MinConfidence = &minConfidence
			}
			return ask(a, cmd, "observe", req, showObservations)
		},
	}
	cmd.Flags().StringSliceVar(&types, "types", nil, "only these: pattern, causal, generalization, preference, risk, strategy")
	cmd.Flags().Float64Var(&minConfidence, "min-confidence", 0, "only from this confidence on")
	return cmd
}

func showObservations(w io.Writer, r memory.ObserveReply) {
	if len(r.Observations) == 0 {
		fmt.Fprintln(w, "Nothing to observe yet.")
		return
	}
	rows := make([][]string, 0, len(r.Observations))
	for _, o := range r.Observations {
		rows = append(rows, []string{string(o.ID), string(o.Type), fmt.Sprintf("%.2f", o.Confidence), strconv.Itoa(len(o.Facts)), short(o.Text, textWidth)})
	}
	table(w, []string{"ID", "TYPE", "CONFIDENCE", "FACTS", "TEXT"}, rows)
}

func (a *cli) consolidateCommand() *cobra.Command {
	var force bool
	cmd := &cobra.Command{
		Use:   "consolidate",
		Short: "Run now what waits for a schedule",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return ask(a, cmd, "consolidate", memory.ConsolidateRequest{Force: force}, func(w io.Writer, r memory.ConsolidateReply) {
				if !r.Ran {
					fmt.Fprintln(w, "Nothing ran: fewer than 3 facts are waiting (--force runs anyway).")
					return
				}
				fmt.Fprintf(w, "ran: %s, %s, %s\n", count(r.Facts, "fact"), count(r.Composites, "composite"), count(r.Observations, "observation"))
			})
		},
	}
	cmd.Flags().BoolVar(&force, "force", false, "run also with fewer than 3 facts waiting")
	return cmd
}
