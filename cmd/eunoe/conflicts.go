package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/eunoe-memory/eunoe/internal/console"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

func (a *cli) conflictsCommand() *cobra.Command {
	var state string
	req := wire.ConflictRequest{}
	cmd := &cobra.Command{
		Use:   "conflicts",
		Short: "List contradicting facts, and decide between them",
		Long: "Lists the conflicts of the bank: two facts of which one denies what the other\n" +
			"states. Both hold until it is decided, which is final.",
		Example: "  eunoe conflicts\n  eunoe conflicts resolve x_0abc --winner f_0abc\n  eunoe conflicts dismiss x_0abc",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			req.State = memory.ConflictState(state)
			return ask(a, cmd, wire.Conflicts, req, func(w io.Writer, p wire.ConflictReply) { showConflicts(w, state, p) })
		},
	}
	f := cmd.Flags()
	f.StringVar(&state, "state", string(memory.ConflictOpen), "open, resolved or dismissed")
	f.IntVar(&req.Limit, "limit", 0, "maximum number of results (default 50)")
	f.StringVar(&req.Cursor, "cursor", "", "cursor of the next page, from the previous reply")
	cmd.AddCommand(a.resolveCommand(), a.dismissCommand())
	return cmd
}

func (a *cli) resolveCommand() *cobra.Command {
	var winner string
	cmd := &cobra.Command{
		Use: "resolve ID", Short: "Keep one of the two facts and end the other", Args: cobra.ExactArgs(1),
	}
	cmd.Flags().StringVar(&winner, "winner", "", "id of the fact to keep")
	a.addDecision(cmd, func(req *wire.ConflictRequest) error {
		if winner == "" {
			return console.Usagef("name the fact that stays with --winner; `eunoe conflicts` shows both")
		}
		req.Winner = memory.FactID(winner)
		return nil
	})
	return cmd
}

func (a *cli) dismissCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "dismiss ID", Short: "Keep both facts: they do not contradict each other", Args: cobra.ExactArgs(1),
	}
	a.addDecision(cmd, func(req *wire.ConflictRequest) error {
		req.Dismiss = true
		return nil
	})
	return cmd
}

// addDecision makes cmd send a decision about the conflict that its argument names; complete fills in the decision.
func (a *cli) addDecision(cmd *cobra.Command, complete func(*wire.ConflictRequest) error) {
	var req wire.ConflictRequest
	f := cmd.Flags()
	f.StringVar(&req.Op, "op", "", "id of this request; a repeat with the same id has no effect")
	console.Optional(f, f.Uint64Var, &req.Version, "version", 0, "fail if the conflict has another version")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		req.ID = memory.ConflictID(args[0])
		if err := complete(&req); err != nil {
			return err
		}
		return ask(a, cmd, wire.Conflicts, req, showDecision)
	}
}

func showDecision(w io.Writer, d wire.ConflictReply) {
	fmt.Fprintf(w, "%s is %s\nversion %d, write %d, op %s\n", console.OneLine(string(d.ID)), d.State, d.Version, d.Write, console.OneLine(d.Op))
}

func showConflicts(w io.Writer, state string, p wire.ConflictReply) {
	if len(p.Items) == 0 {
		fmt.Fprintf(w, "No %s conflicts.\n", console.OneLine(state))
		return
	}
	for i, c := range p.Items {
		if i > 0 {
			fmt.Fprintln(w)
		}
		fmt.Fprintf(w, "%s  %s, version %d: %s\n", c.ID, c.State, c.Version, console.OneLine(c.Reason))
		rows := make([][]string, 0, len(c.Facts))
		for _, f := range c.Facts {
			mark := ""
			if string(c.Winner) == f.ID {
				mark = "winner"
			}
			rows = append(rows, []string{f.ID, day(f.Said), f.Text, mark})
		}
		console.Table(indent(w, "  "), nil, rows)
	}
	more(w, p.Next)
}
