package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/eunoe-memory/eunoe/internal/console"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

func (a *cli) retainCommand() *cobra.Command {
	var f memory.FactInput
	var req wire.RetainRequest
	var said, from, to string
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
			at, err := timeFlag("--said", said, false)
			if err != nil {
				return err
			}
			if extract {
				req.Text, req.Speaker, req.Time = text, f.Speaker, at
			} else {
				f.Text, f.Said = text, at
				if f.Valid, err = validFlags(from, to); err != nil {
					return err
				}
				req.Facts = []memory.FactInput{f}
			}
			return ask(a, cmd, wire.Retain, req, showRetained)
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&f.Key, "key", "", "your key for the fact; the same key with another text supersedes it")
	fl.StringVar((*string)(&f.Kind), "kind", "", "world, experience or opinion (default world)")
	fl.StringVar((*string)(&f.Type), "type", "", "fact, preference, event, constraint, … (default fact)")
	fl.StringSliceVar(&f.Entities, "entities", nil, "entities of the fact, as person:alice")
	fl.StringSliceVar(&f.Tags, "tags", nil, "tags")
	fl.StringVar(&f.Speaker, "speaker", "", "who states the fact, or says the text")
	fl.StringVar(&said, "said", "", "when it was said (default: now)")
	fl.StringVar(&from, "valid-from", "", "when it began to hold (default: when it was said)")
	fl.StringVar(&to, "valid-to", "", "when it ceased to hold (with --valid-from)")
	console.Names(fl, &f.Sources, "sources", "ids of the source messages")
	console.Optional(fl, fl.Float64Var, &f.Confidence, "confidence", 1, "0 to 1")
	fl.StringVar(&req.Op, "op", "", "id of this request; a repeat with the same id has no effect")
	fl.BoolVar(&extract, "extract", false, "publish the text and extract its facts")
	return cmd
}

// validFlags returns what --valid-from and --valid-to say, nil for neither.
func validFlags(from, to string) (*memory.Interval, error) {
	if from == "" && to == "" {
		return nil, nil //nolint:nilnil // no validity is none
	}
	began, err := timeFlag("--valid-from", from, false)
	if err != nil {
		return nil, err
	}
	ended, err := timeFlag("--valid-to", to, false)
	if err != nil {
		return nil, err
	}
	if began == nil {
		return nil, console.Usagef("--valid-to needs --valid-from: when the fact began to hold")
	}
	return &memory.Interval{From: *began, To: ended}, nil
}

func showRetained(w io.Writer, r wire.RetainReply) {
	for _, res := range r.Results {
		line := fmt.Sprintf("%s %s", res.Outcome, dash(res.ID))
		if res.Key != "" {
			line += " (" + res.Key + ")"
		}
		if res.Reason != "" {
			line += ": " + res.Reason
		}
		fmt.Fprintln(w, console.OneLine(line))
	}
	if len(r.Results) == 0 {
		fmt.Fprintln(w, "no facts in it")
	}
	fmt.Fprintf(w, "write %d, op %s\n", r.Write, r.Op)
}

func (a *cli) observeCommand() *cobra.Command {
	var req wire.ObserveRequest
	cmd := &cobra.Command{
		Use:   "observe [QUERY…]",
		Short: "Derive observations from the facts now",
		RunE: func(cmd *cobra.Command, args []string) error {
			req.Query = strings.Join(args, " ")
			return ask(a, cmd, wire.Observe, req, showObservations)
		},
	}
	f := cmd.Flags()
	console.Names(f, &req.Types, "types", "only these: pattern, causal, generalization, preference, risk, strategy")
	console.Optional(f, f.Float64Var, &req.MinConfidence, "min-confidence", 0, "minimum confidence")
	return cmd
}

func showObservations(w io.Writer, r wire.ObserveReply) {
	if len(r.Observations) == 0 {
		fmt.Fprintln(w, "Nothing to observe yet.")
		return
	}
	console.Table(w, []string{"ID", "TYPE", "CONFIDENCE", "FACTS", "TEXT"}, rowsOf(r.Observations, func(o memory.Observation) []string {
		return []string{string(o.ID), string(o.Type), fmt.Sprintf("%.2f", o.Confidence), strconv.Itoa(len(o.Facts)), o.Text}
	}))
}

func (a *cli) consolidateCommand() *cobra.Command {
	var req wire.ConsolidateRequest
	cmd := &cobra.Command{
		Use:   "consolidate",
		Short: "Run consolidation now instead of on schedule",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return ask(a, cmd, wire.Consolidate, req, func(w io.Writer, r wire.ConsolidateReply) {
				if !r.Ran {
					fmt.Fprintln(w, "Nothing ran: fewer than 3 facts are waiting (--force runs anyway).")
					return
				}
				fmt.Fprintf(w, "ran: %s, %s, %s\n", count(r.Facts, "fact"), count(r.Composites, "composite"), count(r.Observations, "observation"))
			})
		},
	}
	cmd.Flags().BoolVar(&req.Force, "force", false, "run even if fewer than 3 facts are waiting")
	return cmd
}

func (a *cli) editCommand() *cobra.Command {
	var req wire.EditRequest
	cmd := &cobra.Command{
		Use:   "edit ID [TEXT…]",
		Short: "Correct a fact: its text, type, tags or pin",
		Long: "Corrects a fact. Another text makes a new fact that takes the place of the old\n" +
			"one, which stays in its history; type, tags and pin change the fact in place. A\n" +
			"pinned fact does not decay. \"-\" reads the text from standard input.",
		Example: "  eunoe edit f_0abc Alice is allergic to shellfish and to mussels.\n" +
			"  eunoe edit f_0abc --pin --tags health,food\n" +
			"  eunoe edit f_0abc --pin=false --tags \"\"",
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			text, err := argsOrInput(cmd.InOrStdin(), args[1:])
			if err != nil {
				return err
			}
			req.ID, req.Text = memory.FactID(args[0]), text
			if text == "" && req.Type == "" && req.Tags == nil && req.Pin == nil {
				return console.Usagef("nothing to edit: give a text, --type, --tags or --pin")
			}
			return ask(a, cmd, wire.Edit, req, func(w io.Writer, r wire.EditReply) { showEdited(w, args[0], r) })
		},
	}
	f := cmd.Flags()
	f.StringVar((*string)(&req.Type), "type", "", "fact, preference, event, constraint, …")
	console.Optional(f, f.StringSliceVar, &req.Tags, "tags", nil, "new tags of the fact; \"\" removes all tags")
	console.Optional(f, f.BoolVar, &req.Pin, "pin", false, "exempt the fact from decay; --pin=false undoes it")
	console.Optional(f, f.Uint64Var, &req.Version, "version", 0, "fail if the fact has another version (`eunoe get` shows it)")
	f.StringVar(&req.Op, "op", "", "id of this request; a repeat with the same id has no effect")
	return cmd
}

func showEdited(w io.Writer, id string, r wire.EditReply) {
	if r.ID == id {
		fmt.Fprintf(w, "%s is changed\n", console.OneLine(r.ID))
	} else {
		fmt.Fprintf(w, "%s takes the place of %s\n", console.OneLine(r.ID), console.OneLine(id))
	}
	fmt.Fprintf(w, "version %d, write %d, op %s\n", r.Version, r.Write, console.OneLine(r.Op))
}

func (a *cli) feedbackCommand() *cobra.Command {
	var req wire.FeedbackRequest
	cmd := &cobra.Command{
		Use:   "feedback",
		Short: "Report which results of a recall were useful",
		Long: "Reports which items a recall returned and which of them were useful. Feedback changes\n" +
			"ranking and decay, never what is remembered. `eunoe recall --explain` shows the ids of\n" +
			"the recall and of its items.",
		Example: "  eunoe feedback --recall 01J8ZQ5T --used f_0abc --retrieved f_0abc,f_0def --outcome success",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if len(req.Retrieved)+len(req.Used) == 0 {
				return console.Usagef("name what was found or of use: --retrieved or --used")
			}
			return ask(a, cmd, wire.Feedback, req, func(w io.Writer, r wire.FeedbackReply) {
				fmt.Fprintf(w, "noted: %d found, %d of use\nwrite %d, op %s\n", len(req.Retrieved), len(req.Used), r.Write, console.OneLine(r.Op))
			})
		},
	}
	f := cmd.Flags()
	f.StringVar(&req.Recall, "recall", "", "id of the recall")
	f.StringSliceVar(&req.Retrieved, "retrieved", nil, "ids of the returned items")
	f.StringSliceVar(&req.Used, "used", nil, "ids of the useful items")
	f.StringVar(&req.Outcome, "outcome", "", "success, failure, correction or unknown")
	f.StringVar(&req.Note, "note", "", "a comment")
	f.StringVar(&req.Op, "op", "", "id of this request; a repeat with the same id has no effect")
	return cmd
}

func (a *cli) aliasCommand() *cobra.Command {
	var req wire.AliasRequest
	cmd := &cobra.Command{
		Use:   "alias NAME OTHER...",
		Short: "Say that several names are one entity, or that they are not",
		Long: "Joins names that no rule can know to be one: facts about any of them are then about\n" +
			"one entity. --remove parts them again, and so does `eunoe forget person:NAME`.",
		Example: "  eunoe alias Misaki 美咲\n  eunoe alias person:misaki \"Mi-chan\"\n  eunoe alias --remove Misaki 美咲",
		Args:    cobra.MinimumNArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			req.Entity, req.Aliases = args[0], args[1:]
			return ask(a, cmd, wire.Alias, req, func(w io.Writer, r wire.AliasReply) {
				names := strings.Join(r.Aliases, ", ")
				if names == "" {
					names = "nothing else"
				}
				fmt.Fprintf(w, "%s is also called %s\nwrite %d, op %s\n", console.OneLine(string(r.Entity)), console.OneLine(names), r.Write, console.OneLine(r.Op))
			})
		},
	}
	f := cmd.Flags()
	f.BoolVar(&req.Remove, "remove", false, "part the names again")
	f.StringVar(&req.Op, "op", "", "id of this request; a repeat with the same id has no effect")
	return cmd
}
