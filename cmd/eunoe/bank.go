package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/eunoe-memory/eunoe/internal/console"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

func (a *cli) bankCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "bank",
		Short: "Show or set the profile of a bank",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return ask(a, cmd, wire.Bank, wire.BankUpdate{}, showBank)
		},
	}
	cmd.AddCommand(&cobra.Command{
		Use: "show", Short: "Show the profile", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return ask(a, cmd, wire.Bank, wire.BankUpdate{}, showBank) },
	}, a.bankSetCommand())
	return cmd
}

func (a *cli) bankSetCommand() *cobra.Command {
	var u wire.BankUpdate
	var d memory.Disposition
	cmd := &cobra.Command{
		Use:     "set",
		Short:   "Set fields of the profile; creates the bank if it does not exist",
		Example: "  eunoe bank set --bank alice --mission \"Help Alice cook\" --skepticism 4",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			set := cmd.Flags().Changed
			if set("skepticism") || set("literalism") || set("empathy") {
				if err := a.completeDisposition(cmd, &d, u.Create); err != nil {
					return err
				}
				u.Disposition = &d
			}
			if u.ReadsOnly() {
				return console.Usagef("nothing to set: name a field, or --create")
			}
			return ask(a, cmd, wire.Bank, u, showBank)
		},
	}
	f := cmd.Flags()
	console.Optional(f, f.StringVar, &u.Name, "name", "", "display name")
	console.Optional(f, f.StringVar, &u.Description, "description", "", "description of the bank")
	console.Optional(f, f.StringVar, &u.Background, "background", "", "background knowledge")
	console.Optional(f, f.StringVar, &u.Mission, "mission", "", "purpose of the memory")
	console.Optional(f, f.StringVar, &u.Instructions, "instructions", "", "instructions for extracting facts")
	f.IntVar(&d.Skepticism, "skepticism", 3, "1 to 5: how much evidence a belief needs")
	f.IntVar(&d.Literalism, "literalism", 3, "1 to 5: how much to prefer verbatim over paraphrase")
	f.IntVar(&d.Empathy, "empathy", 3, "1 to 5: how prominent feelings are")
	f.BoolVar(&u.Create, "create", false, "create the bank; fail if it exists")
	return cmd
}

// completeDisposition fills the traits that no flag sets with those of the bank, because a disposition is set as a
// whole.
func (a *cli) completeDisposition(cmd *cobra.Command, d *memory.Disposition, create bool) error {
	if create {
		return nil
	}
	c, err := a.connect(cmd.Context())
	if err != nil {
		return err
	}
	defer c.Close() //nolint:errcheck // nothing is left to send
	b, err := c.Bank(cmd.Context(), a.bankID())
	if memory.Code(err) == 404 {
		return nil
	}
	if err != nil {
		return err
	}
	for _, t := range []struct {
		flag string
		to   *int
		now  int
	}{{"skepticism", &d.Skepticism, b.Disposition.Skepticism}, {"literalism", &d.Literalism, b.Disposition.Literalism}, {"empathy", &d.Empathy, b.Disposition.Empathy}} {
		if !cmd.Flags().Changed(t.flag) && t.now != 0 {
			*t.to = t.now
		}
	}
	return nil
}

func showBank(w io.Writer, b wire.BankReply) {
	rows := [][]string{{"bank", string(b.ID)}}
	for _, f := range [][2]string{{"name", b.Name}, {"description", b.Description}, {"background", b.Background}, {"mission", b.Mission}, {"instructions", b.Instructions}} {
		if f[1] != "" {
			rows = append(rows, []string{f[0], f[1]})
		}
	}
	d := b.Disposition
	rows = append(rows, []string{"disposition", fmt.Sprintf("skepticism %d, literalism %d, empathy %d", d.Skepticism, d.Literalism, d.Empathy)})
	if q := b.Quotas; q != nil {
		rows = append(rows, []string{"quotas", fmt.Sprintf("%g messages a second, %d bytes, %d facts, %d tokens a day (0 is unbounded)", q.MessagesPerSecond, q.Bytes, q.Facts, q.TokensPerDay)})
	}
	if s := b.Windows; s != nil {
		rows = append(rows, []string{"windows", windowSettings(s)})
	}
	if t := b.Thresholds; t != nil {
		rows = append(rows, []string{"thresholds", strings.Join([]string{number("dedup", t.Dedup), number("cluster", t.Cluster), number("diameter", t.Diameter)}, ", ")})
	}
	rows = append(rows, []string{"created", minute(b.Created)}, []string{"version", fmt.Sprint(b.Version)})
	console.Table(w, nil, rows)
}

func windowSettings(s *memory.WindowSettings) string {
	return strings.Join([]string{number("trigger_every", s.TriggerEvery), number("window_tokens", s.WindowTokens), number("window_size", s.WindowSize)}, ", ")
}

// number shows a setting; nil means that the bank has none of its own.
func number[T any](name string, v *T) string {
	if v == nil {
		return name + " as deployed"
	}
	return fmt.Sprintf("%s %v", name, *v)
}
