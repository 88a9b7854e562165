package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

func (a *cli) feedbackCommand() *cobra.Command {
	var req memory.FeedbackRequest
	cmd := &cobra.Command{
		Use:   "feedback",
		Short: "Say what a recall was good for",
		Long: "Says which items a recall gave and which of them were of use. It moves ranking and\n" +
			"decay, never what is remembered. `eunoe recall --explain` shows the ids of the recall\n" +
			"and of its items.",
		Example: "  eunoe feedback --recall 01J8ZQ5T --used f_0abc --retrieved f_0abc,f_0def --outcome success",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if len(req.Retrieved)+len(req.Used) == 0 {
				return usagef("name what was found or of use: --retrieved or --used")
			}
			return ask(a, cmd, "feedback", req, func(w io.Writer, r memory.WriteOutcome) {
				fmt.Fprintf(w, "noted: %d found, %d of use\nwrite %d, op %s\n", len(req.Retrieved), len(req.Used), r.Write, oneLine(r.Op))
			})
		},
	}
	f := cmd.Flags()
	f.StringVar(&req.Recall, "recall", "", "id of the recall")
	f.StringSliceVar(&req.Retrieved, "retrieved", nil, "ids of the items it gave")
	f.StringSliceVar(&req.Used, "used", nil, "ids of those that were of use")
	f.StringVar(&req.Outcome, "outcome", "", "success, failure, correction or unknown")
	f.StringVar(&req.Note, "note", "", "a word on it")
	f.StringVar(&req.Op, "op", "", "an id of this request: repeating it changes nothing")
	return cmd
}
