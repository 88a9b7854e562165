package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/eunoe-memory/eunoe/pkg/query"
)

func (a *cli) reextractCommand() *cobra.Command {
	var req query.ReextractRequest
	cmd := &cobra.Command{
		Use:   "re-extract",
		Short: "Extract a bank, or one session of it, anew with the extractor in use (operators)",
		Long: "Puts every window of the bank that ended on the queue again. What is extracted now takes\n" +
			"the place of what was extracted before; facts that were retained, edited or pinned by hand\n" +
			"stay. Nothing changes until the extractor is done with a window: `eunoe status --wait` waits.",
		Example: "  eunoe re-extract --bank alice\n  eunoe re-extract --bank alice --session chat",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			req.Bank = a.bank
			return askAdmin(a, cmd, "reextract", req, func(w io.Writer, r query.ReextractReply) {
				fmt.Fprintf(w, "%s to extract anew", count(r.Windows, "window"))
				if r.UnderWay > 0 {
					fmt.Fprintf(w, ", %d under way already", r.UnderWay)
				}
				if r.Bare > 0 {
					fmt.Fprintf(w, ", %d without anything left to extract", r.Bare)
				}
				fmt.Fprintln(w)
			})
		},
	}
	cmd.Flags().StringVar(&req.Session, "session", "", "only this session")
	return cmd
}
