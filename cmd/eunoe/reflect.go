package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/eunoe-memory/eunoe/pkg/client"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

func (a *cli) reflectCommand() *cobra.Command {
	var f recallFlags
	var style string
	var maxTurns int
	var stream bool
	cmd := &cobra.Command{
		Use:     "reflect QUERY…",
		Short:   "Answer from memory, or pack the context for a model of your own",
		Example: "  eunoe reflect what should I cook for Alice\n  eunoe reflect --style context what do we know of Bob",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			recall, err := f.request(cmd, args)
			if err != nil {
				return err
			}
			req := memory.ReflectRequest{RecallRequest: recall, Style: style}
			if cmd.Flags().Changed("max-turns") {
				req.MaxTurns = &maxTurns
			}
			if stream && !a.json {
				return a.streaming(cmd, req)
			}
			return ask(a, cmd, "reflect", req, showReflection)
		},
	}
	f.add(cmd)
	cmd.Flags().StringVar(&style, "style", "", "answer or context (default: answer where there is a model)")
	cmd.Flags().IntVar(&maxTurns, "max-turns", 4, "at most so many turns of a model")
	cmd.Flags().BoolVar(&stream, "stream", false, "print the answer as it grows")
	return cmd
}

func (a *cli) streaming(cmd *cobra.Command, req memory.ReflectRequest) error {
	c, err := a.connect(cmd.Context())
	if err != nil {
		return err
	}
	defer c.Close() //nolint:errcheck // nothing is left to send
	return streamTo(cmd, c, a.bankID(), req)
}

func streamTo(cmd *cobra.Command, c *client.Client, bank memory.BankID, req memory.ReflectRequest) error {
	w, streamed := cmd.OutOrStdout(), false
	r, err := c.ReflectStream(cmd.Context(), bank, req, func(d memory.Delta) {
		if d.Reset && streamed {
			fmt.Fprintln(w)
			fmt.Fprintln(cmd.ErrOrStderr(), "The answer begins anew:")
		}
		streamed = true
		fmt.Fprint(w, clean(d.Delta))
	})
	if err != nil {
		return err
	}
	if streamed {
		fmt.Fprintln(w)
		r.Response = ""
	}
	showReflection(w, r)
	return nil
}

func showReflection(w io.Writer, r memory.ReflectReply) {
	if r.Response != "" {
		fmt.Fprintln(w, clean(r.Response))
	}
	if len(r.Citations) > 0 {
		fmt.Fprintln(w, "\nIt rests on:")
		rows := make([][]string, 0, len(r.Citations))
		for _, c := range r.Citations {
			rows = append(rows, []string{c.ID, short(c.Text, textWidth)})
		}
		table(indent(w, "  "), nil, rows)
	}
	fmt.Fprintf(w, "\nmode %s, %s", dash(r.Mode), count(r.Turns, "turn"))
	if u := r.Usage; u.Calls > 0 {
		fmt.Fprintf(w, ", %s of models (%d failed), %s in, %d out", count(u.Calls, "call"), u.Failed, count(u.PromptTokens, "token"), u.CompletionTokens)
	}
	fmt.Fprintln(w)
	degraded(w, r.Degraded)
}
