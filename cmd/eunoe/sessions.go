package main

import (
	"fmt"
	"io"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/eunoe-memory/eunoe/internal/console"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

func (a *cli) sessionsCommand() *cobra.Command {
	var req wire.SessionsRequest
	cmd := &cobra.Command{
		Use: "sessions", Short: "List the conversations of a bank", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return ask(a, cmd, wire.Sessions, req, showSessions)
		},
	}
	cmd.Flags().StringVar(&req.Order, "order", "", "newest or oldest by the last message (default newest)")
	pageFlags(cmd, &req.Limit, &req.Cursor)
	return cmd
}

func showSessions(w io.Writer, p wire.Page[wire.Session]) {
	if len(p.Items) == 0 {
		fmt.Fprintln(w, "No sessions.")
		return
	}
	console.Table(w, []string{"SESSION", "MESSAGES", "FIRST", "LAST", "PENDING", "OPEN UNTIL"}, rowsOf(p.Items, func(s wire.Session) []string {
		until := "-"
		if s.Until != nil {
			until = minute(*s.Until)
		}
		return []string{string(s.Session), strconv.Itoa(s.Messages), minute(s.First), minute(s.Last), strconv.Itoa(s.Pending), until}
	}))
	more(w, p.Next)
}

func (a *cli) recallsCommand() *cobra.Command {
	var req wire.RecallsRequest
	cmd := &cobra.Command{
		Use: "recalls", Short: "Show what was asked of a bank lately, and what was found", Args: cobra.NoArgs,
		Long: "Shows the last recalls of a bank that keeps them (bank set --keep-recalls), with what each\n" +
			"found; --json adds what each strategy contributed.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			return ask(a, cmd, wire.Recalls, req, showRecalls)
		},
	}
	cmd.Flags().IntVar(&req.Limit, "limit", 0, "most recalls shown (default 50)")
	return cmd
}

func showRecalls(w io.Writer, r wire.RecallsReply) {
	if !r.On {
		fmt.Fprintln(w, "Recalls are not kept; eunoe bank set --keep-recalls switches it on.")
	} else if len(r.Items) == 0 {
		fmt.Fprintln(w, "No recall has been kept yet; a second after it is switched on they are.")
	}
	for _, k := range r.Items {
		fmt.Fprintf(w, "%s  %s  %s\n", minute(k.At), k.Endpoint, console.OneLine(k.Query()))
		for _, i := range k.Items {
			fmt.Fprintf(w, "  %s  %s\n", i.ID, console.OneLine(i.Text))
		}
	}
}

func (a *cli) windowsCommand() *cobra.Command {
	var req wire.WindowsRequest
	var ended bool
	cmd := &cobra.Command{
		Use: "windows", Short: "List the windows that wait for an extractor, or have ended", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if ended {
				req.State = wire.WindowEnded
			}
			return ask(a, cmd, wire.Windows, req, showWindows)
		},
	}
	cmd.Flags().BoolVar(&ended, "ended", false, "those that have ended")
	cmd.Flags().StringVar((*string)(&req.Session), "session", "", "only this session")
	pageFlags(cmd, &req.Limit, &req.Cursor)
	return cmd
}

func showWindows(w io.Writer, p wire.Page[wire.WindowStatus]) {
	if len(p.Items) == 0 {
		fmt.Fprintln(w, "No windows.")
		return
	}
	console.Table(w, []string{"ID", "SESSION", "MESSAGES", "STATE", "OUTCOME", "REASON"}, rowsOf(p.Items, func(x wire.WindowStatus) []string {
		return []string{string(x.ID), string(x.Session), fmt.Sprintf("%d to %d", x.First, x.Last), x.State, dash(string(x.Outcome)), dash(x.Reason)}
	}))
	more(w, p.Next)
}

func (a *cli) deadLettersCommand() *cobra.Command {
	var req wire.LettersRequest
	cmd := &cobra.Command{
		Use: "dead-letters [ID]", Short: "List what of the bank could not be processed, or show one with its payload", Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if len(args) == 0 {
				return ask(a, cmd, wire.DeadLetters, req, func(w io.Writer, p wire.Page[memory.DeadLetter]) {
					showDeadLetters(w, wire.DeadReply{Items: p.Items, Next: p.Next})
				})
			}
			if req.ID, err = letterID(args[0]); err != nil {
				return err
			}
			return ask(a, cmd, wire.DeadLetters, req, func(w io.Writer, p wire.Page[memory.DeadLetter]) {
				for _, d := range p.Items {
					showDeadLetter(w, d)
				}
			})
		},
	}
	cmd.Flags().StringVar(&req.Stage, "stage", "", "only this stage: ingest, extract or consolidate")
	pageFlags(cmd, &req.Limit, &req.Cursor)
	return cmd
}

// pageFlags adds the flags of a list.
func pageFlags(cmd *cobra.Command, limit *int, cursor *string) {
	cmd.Flags().IntVar(limit, "limit", 0, "maximum number of results (default 50)")
	cmd.Flags().StringVar(cursor, "cursor", "", "cursor of the next page, from the previous reply")
}
