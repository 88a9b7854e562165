package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/eunoe-memory/eunoe/internal/console"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

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
