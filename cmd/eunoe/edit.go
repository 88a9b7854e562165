package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

func (a *cli) editCommand() *cobra.Command {
	var typ, op string
	var tags []string
	var version uint64
	var pin bool
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
			req := memory.EditRequest{WriteControl: memory.WriteControl{Op: op}, ID: memory.FactID(args[0]), Text: text, Type: memory.Type(typ)}
			set := cmd.Flags().Changed
			if set("tags") {
				if tags == nil {
					tags = []string{}
				}
				req.Tags = &tags
			}
			if set("pin") {
				req.Pin = &pin
			}
			if set("version") {
				req.Version = &version
			}
			if text == "" && typ == "" && req.Tags == nil && req.Pin == nil {
				return usagef("nothing to edit: give a text, --type, --tags or --pin")
			}
			return ask(a, cmd, "edit", req, func(w io.Writer, r memory.EditReply) { showEdited(w, args[0], r) })
		},
	}
	f := cmd.Flags()
	f.StringVar(&typ, "type", "", "fact, preference, event, constraint, …")
	f.StringSliceVar(&tags, "tags", nil, "its tags from now on; \"\" takes them all away")
	f.BoolVar(&pin, "pin", false, "keep it from decay; --pin=false lets it go again")
	f.Uint64Var(&version, "version", 0, "fail where the fact is at another version (`eunoe get` shows it)")
	f.StringVar(&op, "op", "", "an id of this request: repeating it changes nothing")
	return cmd
}

func showEdited(w io.Writer, id string, r memory.EditReply) {
	if r.ID == id {
		fmt.Fprintf(w, "%s is changed\n", oneLine(r.ID))
	} else {
		fmt.Fprintf(w, "%s takes the place of %s\n", oneLine(r.ID), oneLine(id))
	}
	fmt.Fprintf(w, "version %d, write %d, op %s\n", r.Version, r.Write, oneLine(r.Op))
}
