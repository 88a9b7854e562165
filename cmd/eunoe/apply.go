package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"

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
	if r.DryRun {
		fmt.Fprintln(w, "nothing was changed")
	} else {
		fmt.Fprintf(w, "write %d, op %s\n", r.Write, console.OneLine(r.Op))
	}
}
