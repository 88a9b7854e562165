package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// conflictItem is a conflict of a list, with the facts that are its parties.
type conflictItem struct {
	memory.Conflict
	Facts []memory.Item `json:"facts"`
}

func (a *cli) conflictsCommand() *cobra.Command {
	var state string
	req := memory.ConflictRequest{}
	cmd := &cobra.Command{
		Use:   "conflicts",
		Short: "List facts that deny each other, and decide between them",
		Long: "Lists the conflicts of the bank: two facts of which one denies what the other\n" +
			"states. Both hold until it is decided, which is final.",
		Example: "  eunoe conflicts\n  eunoe conflicts resolve x_0abc --winner f_0abc\n  eunoe conflicts dismiss x_0abc",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			req.State = memory.ConflictState(state)
			return ask(a, cmd, "conflicts", req, func(w io.Writer, p memory.Page[conflictItem]) { showConflicts(w, state, p) })
		},
	}
	f := cmd.Flags()
	f.StringVar(&state, "state", string(memory.ConflictOpen), "open, resolved or dismissed")
	f.IntVar(&req.Limit, "limit", 0, "at most so many (default 50)")
	f.StringVar(&req.Cursor, "cursor", "", "where the page before ended")
	cmd.AddCommand(a.resolveCommand(), a.dismissCommand())
	return cmd
}

func (a *cli) resolveCommand() *cobra.Command {
	var winner string
	cmd := &cobra.Command{
		Use: "resolve ID", Short: "Keep one of the two facts; the other ends", Args: cobra.ExactArgs(1),
	}
	cmd.Flags().StringVar(&winner, "winner", "", "id of the fact that stays")
	a.decides(cmd, func(req *memory.ConflictRequest) error {
		if winner == "" {
			return usagef("name the fact that stays with --winner; `eunoe conflicts` shows both")
		}
		req.Winner = memory.FactID(winner)
		return nil
	})
	return cmd
}

func (a *cli) dismissCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "dismiss ID", Short: "Keep both facts: they do not deny each other", Args: cobra.ExactArgs(1),
	}
	a.decides(cmd, func(req *memory.ConflictRequest) error {
		req.Dismiss = true
		return nil
	})
	return cmd
}

// decides lets cmd send a decision about the conflict that its argument names;
// complete fills in which.
func (a *cli) decides(cmd *cobra.Command, complete func(*memory.ConflictRequest) error) {
	var op string
	var version uint64
	cmd.Flags().StringVar(&op, "op", "", "an id of this request: repeating it changes nothing")
	cmd.Flags().Uint64Var(&version, "version", 0, "fail where the conflict is at another version")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		req := memory.ConflictRequest{WriteControl: memory.WriteControl{Op: op}, ID: memory.ConflictID(args[0])}
		if cmd.Flags().Changed("version") {
			req.Version = &version
		}
		if err := complete(&req); err != nil {
			return err
		}
		return ask(a, cmd, "conflicts", req, showDecision)
	}
}

// decision is the reply to a conflict that was decided.
type decision struct {
	ID      memory.ConflictID    `json:"id"`
	State   memory.ConflictState `json:"state"`
	Version uint64               `json:"version"`
	Op      string               `json:"op"`
	Write   uint64               `json:"write"`
}

func showDecision(w io.Writer, d decision) {
	fmt.Fprintf(w, "%s is %s\nversion %d, write %d, op %s\n", oneLine(string(d.ID)), d.State, d.Version, d.Write, oneLine(d.Op))
}

func showConflicts(w io.Writer, state string, p memory.Page[conflictItem]) {
	if len(p.Items) == 0 {
		fmt.Fprintf(w, "No %s conflicts.\n", oneLine(state))
		return
	}
	for i, c := range p.Items {
		if i > 0 {
			fmt.Fprintln(w)
		}
		fmt.Fprintf(w, "%s  %s, version %d: %s\n", c.ID, c.State, c.Version, oneLine(c.Reason))
		rows := make([][]string, 0, len(c.Facts))
		for _, f := range c.Facts {
			mark := ""
			if string(c.Winner) == f.ID {
				mark = "winner"
			}
			rows = append(rows, []string{f.ID, day(f.Said), short(f.Text, textWidth), mark})
		}
		table(indent(w, "  "), nil, rows)
	}
	more(w, p.Next)
}
