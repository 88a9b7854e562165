package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// tailed is a change with its subject's last token, as tail prints it with --json.
type tailed struct {
	What string `json:"what"`
	memory.Change
}

func (a *cli) tailCommand() *cobra.Command {
	var what string
	var limit int
	var after uint64
	cmd := &cobra.Command{
		Use:   "tail",
		Short: "Follow what becomes of the bank",
		Long: "Prints a line for each change of the bank as it is committed, until Ctrl-C. With\n" +
			"--after it first prints the changes since a sequence, for who was away.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.tail(cmd, what, limit, after, cmd.Flags().Changed("after"))
		},
	}
	cmd.Flags().StringVar(&what, "what", "", "only these: message, fact, composite, observation, entity, conflict, bank, usage, forget")
	cmd.Flags().IntVar(&limit, "count", 0, "end after so many; 0 = never")
	cmd.Flags().Uint64Var(&after, "after", 0, "first print the changes after this sequence; 0 = all that are kept")
	return cmd
}

func (a *cli) tail(cmd *cobra.Command, what string, limit int, after uint64, past bool) error {
	ctx := cmd.Context()
	c, err := a.connect(ctx)
	if err != nil {
		return err
	}
	defer c.Close() //nolint:errcheck // nothing is left to send
	sub, err := c.Subscribe(ctx, a.bankID(), what)
	if err != nil {
		return err
	}
	defer sub.Close() //nolint:errcheck // the connection ends with it
	fmt.Fprintf(cmd.ErrOrStderr(), "following bank %s; Ctrl-C ends\n", oneLine(a.bank))
	seen, printed := map[string]bool{}, 0
	show := func(ch memory.Change) (more bool, err error) {
		if err := a.printChange(cmd, ch); err != nil {
			return false, err
		}
		printed++
		return limit == 0 || printed < limit, nil
	}
	for past {
		p, err := c.Changes(ctx, a.bankID(), memory.ChangesRequest{After: after})
		if err != nil {
			return err
		}
		for _, ch := range p.Items {
			seen[ch.ID] = true
			after = max(after, ch.Seq)
			ch.What = whatOf(ch, a.bank)
			if what != "" && ch.What != what {
				continue
			}
			if more, err := show(ch); err != nil || !more {
				return err
			}
		}
		past = len(p.Items) > 0
	}
	for ch, err := range sub.All(ctx) {
		if err != nil {
			return err
		}
		if seen[ch.ID] {
			continue
		}
		if more, err := show(ch); err != nil || !more {
			return err
		}
	}
	return nil
}

func (a *cli) printChange(cmd *cobra.Command, ch memory.Change) error {
	if a.json {
		return printJSON(cmd.OutOrStdout(), tailed{ch.What, ch})
	}
	line := fmt.Sprintf("%s  %-11s %-10s %s", ch.Time.UTC().Format("2006-01-02 15:04:05Z"), dash(ch.What), ch.Op, ch.Record)
	if ids := ch.IDs; len(ids) > 0 {
		line += "  " + strings.Join(ids[:min(2, len(ids))], " ")
		if len(ids) > 2 {
			line += fmt.Sprintf(" and %d more", len(ids)-2)
		}
	}
	_, err := fmt.Fprintln(cmd.OutOrStdout(), clean(line))
	return err
}

// whatOf tells from its ids what a change of the past is about, which its body
// does not say: a message and a recall have ids without a form of their own.
func whatOf(ch memory.Change, bank string) string {
	if ch.What != "" {
		return ch.What
	}
	for _, w := range []struct{ prefix, what string }{
		{"f_", memory.ChangeFact}, {"c_", memory.ChangeComposite}, {"o_", memory.ChangeObservation}, {"n_", memory.ChangeEntity}, {"x_", memory.ChangeConflict},
	} {
		if strings.HasPrefix(ch.Record, w.prefix) {
			return w.what
		}
	}
	switch {
	case ch.Record == bank:
		return memory.ChangeBank
	case ch.Op == memory.OutcomeRemoved:
		return memory.ChangeForget
	case len(ch.IDs) > 0:
		return memory.ChangeUsage
	}
	return memory.ChangeMessage
}
