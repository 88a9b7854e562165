package main

import (
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
	cmd.AddCommand(a.deadListCommand(),
		&cobra.Command{
			Use: "show ID", Short: "Show a dead letter with its payload", Args: cobra.ExactArgs(1),
			RunE: func(cmd *cobra.Command, args []string) error {
				id, err := letterID(args[0])
				if err != nil {
					return err
				}
				return askAdmin(a, cmd, "dead", memory.DeadRequest{Action: "show", ID: id}, func(w io.Writer, p deadReply) {
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

// deadReply is what the operator's door answers about dead letters.
type deadReply struct {
	memory.Page[events.DeadLetter]
	Done int    `json:"done"`
	Seq  uint64 `json:"seq"`
}

func (a *cli) deadListCommand() *cobra.Command {
	req := memory.DeadRequest{Action: "list"}
	cmd := &cobra.Command{
		Use: "list", Short: "List the dead letters of all banks, or of --bank", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			req.Bank = a.onlyBank(cmd)
			return askAdmin(a, cmd, "dead", req, func(w io.Writer, r deadReply) { showDeadLetters(w, r.Page) })
		},
	}
	cmd.Flags().StringVar(&req.Stage, "stage", "", "only of this stage: ingest, extract or consolidate")
	cmd.Flags().IntVar(&req.Limit, "limit", 0, "at most so many (default 50)")
	cmd.Flags().StringVar(&req.Cursor, "cursor", "", "where the page before ended")
	return cmd
}

// onlyBank is the bank of the flag, "" where it is not given: operators see
// every bank, whatever EUNOE_BANK says.
func (a *cli) onlyBank(cmd *cobra.Command) memory.BankID {
	if cmd.Flags().Changed("bank") {
		return a.bankID()
	}
	return ""
}

func letterID(text string) (uint64, error) {
	id, err := strconv.ParseUint(text, 10, 64)
	if err != nil || id == 0 {
		return 0, usagef("ID %q is no number of a dead letter; `eunoe dead list` shows them", text)
	}
	return id, nil
}

// deadAction makes retry and drop: of one letter, or of all of a bank and stage.
func (a *cli) deadAction(action, about, done string) *cobra.Command {
	req := memory.DeadRequest{Action: action}
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
				return usagef("give either the ID of a letter or --all; `eunoe dead list` shows them")
			}
			if !req.All && (req.Stage != "" || cmd.Flags().Changed("bank")) {
				return usagef("--stage and --bank go with --all: an ID names one letter of all banks")
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
			return askAdmin(a, cmd, "dead", req, func(w io.Writer, r deadReply) {
				switch {
				case req.All && r.Done == 0:
					fmt.Fprintln(w, clean("No dead letters"+scope(req)+"."))
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
	cmd.Flags().StringVar(&req.Stage, "stage", "", "with --all: only of this stage: ingest, extract or consolidate")
	if action == "drop" {
		cmd.Flags().BoolVar(&yes, "yes", false, "with --all: do not ask")
	}
	return cmd
}

// scope says of which bank and stage, "" for all.
func scope(req memory.DeadRequest) string {
	var s string
	if req.Stage != "" {
		s += " of stage " + req.Stage
	}
	if req.Bank != "" {
		s += " of bank " + string(req.Bank)
	}
	return s
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
	if d.Prompt != "" {
		rows = append(rows, []string{"prompt", d.Prompt})
	}
	table(w, nil, rows)
	fmt.Fprintln(w, "\npayload:")
	if utf8.Valid(d.Payload) {
		fmt.Fprintln(w, clean(string(d.Payload)))
	} else {
		fmt.Fprintf(w, "%x\n", d.Payload)
	}
}
