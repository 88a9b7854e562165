package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

func (a *cli) deadCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "dead",
		Short: "List, show, retry or drop what could not be handled",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	var req memory.DeadRequest
	list := &cobra.Command{
		Use: "list", Short: "List the dead letters", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			req.Action = "list"
			return askAdmin(a, cmd, "dead", req, showDeadLetters)
		},
	}
	list.Flags().IntVar(&req.Limit, "limit", 0, "at most so many")
	list.Flags().StringVar(&req.Cursor, "cursor", "", "where the page before ended")
	cmd.AddCommand(list,
		a.deadAction("show", "Show a dead letter with its payload", func(w io.Writer, data json.RawMessage) error {
			var p memory.Page[events.DeadLetter]
			if err := json.Unmarshal(data, &p); err != nil {
				return fmt.Errorf("reply: %w", err)
			}
			for _, d := range p.Items {
				showDeadLetter(w, d)
			}
			return nil
		}),
		a.deadAction("retry", "Send the event again, where it came from", func(w io.Writer, _ json.RawMessage) error {
			_, err := fmt.Fprintln(w, "sent again")
			return err
		}),
		a.deadAction("drop", "Erase a dead letter", func(w io.Writer, _ json.RawMessage) error {
			_, err := fmt.Fprintln(w, "dropped")
			return err
		}))
	return cmd
}

func (a *cli) deadAction(action, about string, show func(io.Writer, json.RawMessage) error) *cobra.Command {
	return &cobra.Command{
		Use: action + " ID", Short: about, Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			id, err := strconv.ParseUint(args[0], 10, 64)
			if err != nil || id == 0 {
				return usagef("ID %q is no number of a dead letter; `eunoe dead list` shows them", args[0])
			}
			var failed error
			err = askAdmin(a, cmd, "dead", memory.DeadRequest{Action: action, ID: id}, func(w io.Writer, data json.RawMessage) {
				failed = show(w, data)
			})
			if err != nil {
				return err
			}
			return failed
		},
	}
}

func showDeadLetters(w io.Writer, p memory.Page[events.DeadLetter]) {
	if len(p.Items) == 0 {
		fmt.Fprintln(w, "No dead letters.")
		return
	}
	rows := make([][]string, 0, len(p.Items))
	for _, d := range p.Items {
		rows = append(rows, []string{strconv.FormatUint(d.ID, 10), d.Bank, d.Stage, minute(d.Last), strconv.Itoa(d.Attempts), short(d.Reason, textWidth)})
	}
	table(w, []string{"ID", "BANK", "STAGE", "GIVEN UP", "ATTEMPTS", "REASON"}, rows)
	more(w, p.Next)
}

func showDeadLetter(w io.Writer, d events.DeadLetter) {
	rows := [][]string{
		{"id", strconv.FormatUint(d.ID, 10)}, {"bank", d.Bank}, {"session", dash(string(d.Session))}, {"stage", d.Stage}, {"reason", d.Reason},
		{"attempts", strconv.Itoa(d.Attempts)}, {"stored", minute(d.First)}, {"given up", minute(d.Last)},
		{"event", fmt.Sprintf("%s %d", d.Stream, d.Seq)}, {"subject", d.Subject},
	}
	if d.Output != "" {
		rows = append(rows, []string{"output", short(d.Output, 4*textWidth)})
	}
	table(w, nil, rows)
	fmt.Fprintln(w, "\npayload:")
	if utf8.Valid(d.Payload) {
		fmt.Fprintln(w, clean(string(d.Payload)))
	} else {
		fmt.Fprintf(w, "%x\n", d.Payload)
	}
}
