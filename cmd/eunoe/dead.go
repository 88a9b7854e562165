package main

import (
	"fmt"
	"io"
	"strconv"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/eunoe-memory/eunoe/internal/console"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

func (a *cli) deadCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "dead",
		Short: "List, show, retry or drop events that could not be processed",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.deadListCommand(),
		&cobra.Command{
			Use: "show ID", Short: "Show a dead letter with its payload", Args: cobra.ExactArgs(1),
			RunE: func(cmd *cobra.Command, args []string) error {
				id, err := letterID(args[0])
				if err != nil {
					return err
				}
				return ask(a, cmd, wire.Dead, wire.DeadRequest{Action: "show", ID: id}, func(w io.Writer, p wire.DeadReply) {
					for _, d := range p.Items {
						showDeadLetter(w, d)
					}
				})
			},
		},
		a.deadAction("retry", "Send the event again, where it came from", "sent again"),
		a.deadAction("drop", "Erase a dead letter", "dropped"))
	return cmd
}

func (a *cli) deadListCommand() *cobra.Command {
	req := wire.DeadRequest{Action: "list"}
	cmd := &cobra.Command{
		Use: "list", Short: "List the dead letters of all banks, or of --bank", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			req.Bank = a.onlyBank(cmd)
			return ask(a, cmd, wire.Dead, req, showDeadLetters)
		},
	}
	cmd.Flags().StringVar(&req.Stage, "stage", "", "only this stage: ingest, extract or consolidate")
	cmd.Flags().IntVar(&req.Limit, "limit", 0, "maximum number of results (default 50)")
	cmd.Flags().StringVar(&req.Cursor, "cursor", "", "cursor of the next page, from the previous reply")
	return cmd
}

// onlyBank returns the bank of the flag, "" if it is not given: operators see every bank, whatever EUNOE_BANK says.
func (a *cli) onlyBank(cmd *cobra.Command) memory.BankID {
	if cmd.Flags().Changed("bank") {
		return a.bankID()
	}
	return ""
}

func letterID(text string) (uint64, error) {
	id, err := strconv.ParseUint(text, 10, 64)
	if err != nil || id == 0 {
		return 0, console.Usagef("ID %q is no number of a dead letter; `eunoe dead list` shows them", text)
	}
	return id, nil
}

// deadAction returns the command retry or drop, for one letter or for all of a bank and stage.
func (a *cli) deadAction(action, about, done string) *cobra.Command {
	req := wire.DeadRequest{Action: action}
	var yes bool
	cmd := &cobra.Command{
		Use:   action + " [ID]",
		Short: about,
		Long: about + ". With --all it does so with every dead letter, of all banks\n" +
			"and stages unless --bank and --stage name one.",
		Example: "  eunoe dead " + action + " 3\n  eunoe dead " + action + " --all --stage extract",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if (len(args) == 1) == req.All {
				return console.Usagef("give either the ID of a letter or --all; `eunoe dead list` shows them")
			}
			if !req.All && (req.Stage != "" || cmd.Flags().Changed("bank")) {
				return console.Usagef("--stage and --bank go with --all: an ID names one letter of all banks")
			}
			if req.All {
				req.Bank = a.onlyBank(cmd)
				if action == "drop" && !yes {
					if err := confirm(cmd, "Erase all dead letters"+scope(req)+" for good?"); err != nil {
						return err
					}
				}
			} else {
				id, err := letterID(args[0])
				if err != nil {
					return err
				}
				req.ID = id
			}
			return ask(a, cmd, wire.Dead, req, func(w io.Writer, r wire.DeadReply) {
				switch {
				case req.All && r.Done == 0:
					fmt.Fprintln(w, console.Clean("No dead letters"+scope(req)+"."))
				case req.All:
					fmt.Fprintf(w, "%s: %s\n", done, count(r.Done, "dead letter"))
				case r.Seq > 0:
					fmt.Fprintf(w, "%s, as event %d of its stream\n", done, r.Seq)
				default:
					fmt.Fprintln(w, done)
				}
			})
		},
	}
	cmd.Flags().BoolVar(&req.All, "all", false, "every dead letter")
	cmd.Flags().StringVar(&req.Stage, "stage", "", "with --all: only this stage: ingest, extract or consolidate")
	if action == "drop" {
		cmd.Flags().BoolVar(&yes, "yes", false, "with --all: do not ask for confirmation")
	}
	return cmd
}

// scope names the bank and stage of a request for all letters, "" for every one.
func scope(req wire.DeadRequest) string {
	var s string
	if req.Stage != "" {
		s += " of stage " + req.Stage
	}
	if req.Bank != "" {
		s += " of bank " + string(req.Bank)
	}
	return s
}

func showDeadLetters(w io.Writer, p wire.DeadReply) {
	if len(p.Items) == 0 {
		fmt.Fprintln(w, "No dead letters.")
		return
	}
	console.Table(w, []string{"ID", "BANK", "STAGE", "GIVEN UP", "ATTEMPTS", "REASON"}, rowsOf(p.Items, func(d memory.DeadLetter) []string {
		return []string{strconv.FormatUint(d.ID, 10), d.Bank, d.Stage, minute(d.Last), strconv.Itoa(d.Attempts), d.Reason}
	}))
	more(w, p.Next)
}

func showDeadLetter(w io.Writer, d memory.DeadLetter) {
	rows := [][]string{
		{"id", strconv.FormatUint(d.ID, 10)}, {"bank", d.Bank}, {"session", dash(string(d.Session))}, {"stage", d.Stage}, {"reason", d.Reason},
		{"attempts", strconv.Itoa(d.Attempts)}, {"stored", minute(d.First)}, {"given up", minute(d.Last)},
		{"event", fmt.Sprintf("%s %d", d.Stream, d.Seq)}, {"subject", d.Subject},
	}
	if d.Output != "" {
		rows = append(rows, []string{"output", console.Short(d.Output, 4*textWidth)})
	}
	if d.Prompt != "" {
		rows = append(rows, []string{"prompt", d.Prompt})
	}
	console.Table(w, nil, rows)
	fmt.Fprintln(w, "\npayload:")
	if utf8.Valid(d.Payload) {
		fmt.Fprintln(w, console.Clean(string(d.Payload)))
	} else {
		fmt.Fprintf(w, "%x\n", d.Payload)
	}
}
