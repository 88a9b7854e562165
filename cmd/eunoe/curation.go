package main

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/eunoe-memory/eunoe/internal/console"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

func (a *cli) applyCommand() *cobra.Command {
	var req wire.ApplyRequest
	cmd := &cobra.Command{
		Use:   "apply FILE",
		Short: "Make several changes at once, all of them or none",
		Long: "Makes the changes that a file holds, all of them or none. The file is a JSON array of\n" +
			"changes, as the contract describes them; \"-\" is standard input.",
		Example: `  echo '[{"op":"supersede","id":"f_0abc","by":"f_0def"}]' | eunoe apply --dry-run -`,
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			in := cmd.InOrStdin()
			if args[0] != "-" {
				f, err := os.Open(args[0])
				if err != nil {
					return console.Usagef("%v", err)
				}
				defer f.Close() //nolint:errcheck // it was read
				in = f
			}
			raw, err := io.ReadAll(in)
			if err != nil {
				return fmt.Errorf("read the changes: %w", err)
			}
			body, err := memory.Encode(map[string]json.RawMessage{"changes": raw})
			if err != nil {
				return console.Usagef("the file is no JSON array of changes: %v", err)
			}
			if err := memory.Decode(body, &req); err != nil {
				return err
			}
			return ask(a, cmd, wire.Apply, req, showApplied)
		},
	}
	cmd.Flags().BoolVar(&req.DryRun, "dry-run", false, "say what would become of each change, and change nothing")
	cmd.Flags().StringVar(&req.Op, "op", "", "id of this request; a repeat with the same id has no effect")
	return cmd
}

func showApplied(w io.Writer, r wire.ApplyReply) {
	console.Table(w, []string{"CHANGE", "OUTCOME", "ID", "COLLIDES WITH"}, rowsOf(r.Results, func(x wire.ApplyResult) []string {
		collides := ""
		for _, c := range x.Collides {
			collides += string(c.ID) + " "
		}
		id := x.ID
		if len(x.IDs) > 0 {
			id = join(x.IDs)
		}
		return []string{x.Change, string(x.Outcome), id, dash(collides)}
	}))
	showWrite(w, r.DryRun, r.Write, r.Op)
}

func (a *cli) undoCommand() *cobra.Command {
	var req wire.UndoRequest
	cmd := &cobra.Command{
		Use:   "undo OP",
		Short: "Take an apply back, all of it or nothing",
		Long: "Takes back what the apply of an op changed: what it changed is as it was, and what it made\n" +
			"holds at no time. Refused where any of it has changed since, and after a forget.",
		Example: `  eunoe undo --dry-run 01J8ZQ3W`,
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			req.Apply = args[0]
			return ask(a, cmd, wire.Undo, req, func(w io.Writer, r wire.UndoReply) {
				console.Table(w, []string{"OUTCOME", "ID"}, rowsOf(r.Results, func(x memory.WriteResult) []string { return []string{string(x.Outcome), x.ID} }))
				showWrite(w, r.DryRun, r.Write, r.Op)
			})
		},
	}
	cmd.Flags().BoolVar(&req.DryRun, "dry-run", false, "say what would become of each fact, and change nothing")
	cmd.Flags().StringVar(&req.Op, "op", "", "id of this request; a repeat with the same id has no effect")
	return cmd
}

func showWrite(w io.Writer, dry bool, write uint64, op string) {
	if dry {
		fmt.Fprintln(w, "nothing was changed")
		return
	}
	fmt.Fprintf(w, "write %d, op %s\n", write, console.OneLine(op))
}

func (a *cli) snapshotCommand() *cobra.Command {
	var tokens int
	cmd := &cobra.Command{
		Use:   "snapshot [SCOPE…]",
		Short: "Show what to curate: what is pending, contradictory, recent, stale or alike",
		Long: "Shows what a curator of the memory looks at. A scope is pending, conflicts, stats,\n" +
			"health, entity:NAME, topic:NAME, recent:N or query:TEXT.",
		Example: "  eunoe snapshot\n  eunoe snapshot conflicts entity:Alice",
		RunE: func(cmd *cobra.Command, args []string) error {
			req := wire.SnapshotRequest{Scopes: args}
			if cmd.Flags().Changed("max-tokens") {
				req.MaxTokens = &tokens
			}
			return ask(a, cmd, wire.SnapshotOf, req, showSnapshot)
		},
	}
	cmd.Flags().IntVar(&tokens, "max-tokens", 0, "most tokens of all texts together (default 4000)")
	return cmd
}

func showSnapshot(w io.Writer, s wire.Snapshot) {
	for i, p := range s.Parts {
		if i > 0 {
			fmt.Fprintln(w)
		}
		fmt.Fprintln(w, console.OneLine(p.Scope))
		for _, name := range slices.Sorted(maps.Keys(p.Counts)) {
			fmt.Fprintf(w, "  %s: %d\n", strings.ReplaceAll(name, "_", " "), p.Counts[name])
		}
		for _, x := range p.Sessions {
			fmt.Fprintf(w, "  session %s: %d messages\n", console.OneLine(string(x.Session)), x.Messages)
		}
		for _, e := range p.Entities {
			fmt.Fprintf(w, "  %s  %s\n", console.OneLine(string(e.ID)), console.OneLine(join(append([]string{e.Name}, e.Aliases...))))
		}
		for _, pair := range p.Alike {
			fmt.Fprintf(w, "  may be one: %s\n", console.OneLine(join(pair)))
		}
		for _, c := range p.Conflicts {
			fmt.Fprintf(w, "  %s  %s\n", c.ID, console.OneLine(c.Reason))
			for _, f := range c.Facts {
				fmt.Fprintf(w, "    %s  %s\n", f.ID, console.OneLine(f.Text))
			}
		}
		for _, f := range p.Items {
			fmt.Fprintf(w, "  %s  %s\n", f.ID, console.OneLine(f.Text))
		}
		if p.Cut {
			fmt.Fprintln(w, "  there is more; --max-tokens and narrower scopes show it")
		}
	}
}
