package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/eunoe-memory/eunoe/internal/console"
	"github.com/eunoe-memory/eunoe/pkg/client"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

func (a *cli) forgetCommand() *cobra.Command {
	var req wire.ForgetRequest
	var wholeBank, yes, wait bool
	cmd := &cobra.Command{
		Use:   "forget [ID]",
		Short: "Erase a record, a session or what a speaker said, for good",
		Long: "Erases a record, a session, what a speaker said, or (as an operator) the whole\n" +
			"bank: from the store, its indexes and the streams. It cannot be undone. What is\n" +
			"large is accepted at once and erased in a while: --wait waits for the receipt, and\n" +
			"--op alone shows it later.",
		Example: "  eunoe forget f_0abc\n  eunoe forget --session chat-1 --wait\n  eunoe forget --op 01J8ZQ3W\n  eunoe forget --whole-bank --bank alice",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				req.ID = args[0]
			}
			what, err := forgetTarget(req, wholeBank, a.Bank)
			if err != nil {
				return err
			}
			if req.Preview || what == "" {
				yes = true
			}
			if !yes {
				if err := confirm(cmd, "Erase "+what+" for good?"); err != nil {
					return err
				}
			}
			f := forgetting{what: what, wait: wait, maybeNothing: req.ID == "" && what != ""}
			f.ask = func(ctx context.Context, c *client.Client) (wire.ForgetReply, error) {
				return client.Call(ctx, c, wire.Forget, a.bankID(), req)
			}
			if wholeBank {
				req.DefaultWait(memory.Duration(a.Timeout / 5 * 4))
				f.maybeNothing, f.ask = false, func(ctx context.Context, c *client.Client) (wire.ForgetReply, error) {
					return client.Call(ctx, c, wire.Erase, "", wire.EraseRequest{WriteControl: req.WriteControl, Bank: a.Bank, Preview: req.Preview})
				}
			}
			return a.forget(cmd, f)
		},
	}
	f := cmd.Flags()
	f.StringVar((*string)(&req.Session), "session", "", "erase this session")
	f.StringVar(&req.Speaker, "speaker", "", "erase what this speaker said")
	f.BoolVar(&wholeBank, "whole-bank", false, "erase the bank (operators)")
	f.BoolVar(&req.KeepMessages, "keep-messages", false, "keep the source messages of a fact")
	f.StringVar(&req.Op, "op", "", "id of this request; a repeat has no effect, and alone it shows the receipt")
	f.BoolVar(&wait, "wait", false, "wait for the receipt however long it takes")
	f.BoolVar(&req.Preview, "preview", false, "show what would be erased, and erase nothing")
	f.BoolVar(&yes, "yes", false, "do not ask for confirmation")
	return cmd
}

// forgetting is a request to forget.
type forgetting struct {
	what         string
	wait         bool // for the receipt, however long that takes
	maybeNothing bool // it names a session or a speaker, of whom there may be nothing
	ask          func(context.Context, *client.Client) (wire.ForgetReply, error)
}

// forget erases what the request names. Of a session or a speaker of whom nothing is there it is an error: a name that
// was mistyped must not look like one that was erased.
func (a *cli) forget(cmd *cobra.Command, f forgetting) error {
	c, err := a.connect(cmd.Context())
	if err != nil {
		return err
	}
	defer c.Close() //nolint:errcheck // nothing is left to send
	r, err := f.ask(cmd.Context(), c)
	if err == nil && r.Pending && f.wait {
		r, err = c.WaitForgotten(cmd.Context(), a.bankID(), r.Op)
	}
	if err != nil {
		return err
	}
	if f.maybeNothing && !r.Pending && r.Messages+r.Facts+r.Events+r.Rewritten == 0 {
		return fmt.Errorf("%s: %w; names are compared without letter case, and `eunoe sessions` lists sessions", f.what, memory.ErrNotFound)
	}
	if a.JSON {
		return console.PrintJSON(cmd.OutOrStdout(), r)
	}
	showReceipt(cmd.OutOrStdout(), r)
	return nil
}

// forgetTarget describes what is to be forgotten; "" asks for the receipt of an op.
func forgetTarget(req wire.ForgetRequest, bank bool, name string) (string, error) {
	var what []string
	if req.ID != "" {
		what = append(what, "record "+req.ID)
	}
	if req.Session != "" {
		what = append(what, "session "+string(req.Session))
	}
	if req.Speaker != "" {
		what = append(what, "what "+req.Speaker+" said")
	}
	if bank {
		what = append(what, "everything")
	}
	if len(what) == 0 && req.Op != "" && !req.Preview && !req.KeepMessages {
		return "", nil
	}
	if len(what) != 1 {
		return "", console.Usagef("name one thing to forget: an ID, --session, --speaker or --whole-bank; --op alone shows a receipt")
	}
	return what[0] + " in bank " + name, nil
}

// confirm asks on standard error and reads "yes" from standard input.
func confirm(cmd *cobra.Command, question string) error {
	fmt.Fprintf(cmd.ErrOrStderr(), "%s Type yes: ", console.OneLine(question))
	answer, err := bufio.NewReader(cmd.InOrStdin()).ReadString('\n')
	if err != nil && err != io.EOF {
		return fmt.Errorf("standard input: %w", err)
	}
	if strings.ToLower(strings.TrimSpace(answer)) != "yes" {
		return console.Usagef("not confirmed; nothing was erased (--yes does not ask)")
	}
	return nil
}

func showReceipt(w io.Writer, r wire.ForgetReply) {
	rows := [][]string{{"messages", fmt.Sprint(r.Messages)}, {"facts", fmt.Sprint(r.Facts)}, {"composites", fmt.Sprint(r.Composites)}, {"observations", fmt.Sprint(r.Observations)}}
	if p := r.Preview; p != nil {
		fmt.Fprintln(w, "would be forgotten:")
		for _, s := range p.Sessions {
			rows = append(rows, []string{"of session " + string(s.Session), fmt.Sprint(s.Messages)})
		}
		for _, ids := range [][]string{{"facts", join(p.Facts)}, {"messages", join(p.Messages)}, {"facts that stay, changed", join(p.Changed)}} {
			if ids[1] != "" {
				rows = append(rows, []string{ids[0], console.Short(ids[1], 2*textWidth)})
			}
		}
		console.Table(w, nil, rows)
		return
	}
	if r.Pending {
		fmt.Fprintf(w, "accepted; it is being erased, and nothing is counted yet\nask again: eunoe forget --op %s\n", console.OneLine(r.Op))
		return
	}
	fmt.Fprintf(w, "forgotten up to message %d\n", r.Upto)
	console.Table(w, nil, append(rows, []string{"stream events erased", fmt.Sprint(r.Events)}, []string{"stream events rewritten", fmt.Sprint(r.Rewritten)}))
	if r.Op != "" {
		fmt.Fprintln(w, "op "+console.OneLine(r.Op))
	}
}
