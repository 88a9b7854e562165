package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/eunoe-memory/eunoe/internal/console"
	"github.com/eunoe-memory/eunoe/pkg/client"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

func (a *cli) reflectCommand() *cobra.Command {
	var f recallFlags
	var req wire.ReflectRequest
	var stream bool
	cmd := &cobra.Command{
		Use:     "reflect QUERY…",
		Short:   "Answer from memory, or return the context for your own model",
		Long:    "Answers from memory, or returns the context for your own model. \"-\" reads the question from\nstandard input.",
		Example: "  eunoe reflect what should I cook for Alice\n  eunoe reflect --style context what do we know of Bob",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			var err error
			if req.RecallRequest, err = f.request(cmd, args); err != nil {
				return err
			}
			if stream && !a.JSON {
				return a.streaming(cmd, req)
			}
			return ask(a, cmd, wire.Reflect, req, showReflection)
		},
	}
	f.add(cmd)
	fl := cmd.Flags()
	fl.StringVar(&req.Style, "style", "", "answer or context (default: answer where there is a model)")
	console.Optional(fl, fl.IntVar, &req.MaxTurns, "max-turns", 4, "maximum number of turns of the model")
	fl.BoolVar(&stream, "stream", false, "print the answer as it is generated")
	return cmd
}

func (a *cli) streaming(cmd *cobra.Command, req wire.ReflectRequest) error {
	c, err := a.connect(cmd.Context())
	if err != nil {
		return err
	}
	defer c.Close() //nolint:errcheck // nothing is left to send
	return streamTo(cmd, c, a.bankID(), req)
}

func streamTo(cmd *cobra.Command, c *client.Client, bank memory.BankID, req wire.ReflectRequest) error {
	w, streamed := cmd.OutOrStdout(), false
	r, err := c.ReflectStream(cmd.Context(), bank, req, func(d wire.Delta) {
		if d.Reset && streamed {
			fmt.Fprintln(w)
			fmt.Fprintln(cmd.ErrOrStderr(), "The answer begins anew:")
		}
		streamed = true
		fmt.Fprint(w, console.Clean(d.Delta))
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

func showReflection(w io.Writer, r wire.ReflectReply) {
	if r.Response != "" {
		fmt.Fprintln(w, console.Clean(r.Response))
	}
	if len(r.Citations) > 0 {
		fmt.Fprintln(w, "\nIt rests on:")
		console.Table(indent(w, "  "), nil, rowsOf(r.Citations, func(c wire.Citation) []string {
			return []string{c.ID, c.Text}
		}))
	}
	fmt.Fprintf(w, "\nmode %s, %s", dash(r.Mode), count(r.Turns, "turn"))
	if u := r.Usage; u.Calls > 0 {
		fmt.Fprintf(w, ", %s of models (%d failed), %s in, %d out", count(u.Calls, "call"), u.Failed, count(u.PromptTokens, "token"), u.CompletionTokens)
	}
	fmt.Fprintln(w)
	console.Degraded(w, r.Degraded)
}
