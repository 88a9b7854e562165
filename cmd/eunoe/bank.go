package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

func (a *cli) bankCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "bank",
		Short: "Show or set the profile of a bank",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return ask(a, cmd, "bank", struct{}{}, showBank)
		},
	}
	cmd.AddCommand(&cobra.Command{
		Use: "show", Short: "Show the profile", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return ask(a, cmd, "bank", struct{}{}, showBank) },
	}, a.bankSetCommand())
	return cmd
}

func (a *cli) bankSetCommand() *cobra.Command {
	var name, description, background, mission, instructions string
	var d memory.Disposition
	var create bool
	cmd := &cobra.Command{
		Use:     "set",
		Short:   "Set fields of the profile; a bank that is not there is made",
		Example: "  eunoe bank set --bank alice --mission \"Help Alice cook\" --skepticism 4",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			u := memory.BankUpdate{Create: create}
			set := cmd.Flags().Changed
			for _, s := range []struct {
				flag  string
				value *string
				to    **string
			}{{"name", &name, &u.Name}, {"description", &description, &u.Description}, {"background", &background, &u.Background},
				{"mission", &mission, &u.Mission}, {"instructions", &instructions, &u.Instructions}} {
				if set(s.flag) {
					*s.to = s.value
				}
			}
			if set("skepticism") || set("literalism") || set("empathy") {
				if err := a.completeDisposition(cmd, &d, create); err != nil {
					return err
				}
				u.Disposition = &d
			}
			if u.ReadsOnly() {
				return usagef("nothing to set: name a field, or --create")
			}
			return ask(a, cmd, "bank", u, showBank)
		},
	}
	f := cmd.Flags()
	f.StringVar(&name, "name", "", "a name for people")
	f.StringVar(&description, "description", "", "what the bank is")
	f.StringVar(&background, "background", "", "what is known beforehand")
	f.StringVar(&mission, "mission", "", "what the memory is for")
	f.StringVar(&instructions, "instructions", "", "what to look for when facts are extracted")
	f.IntVar(&d.Skepticism, "skepticism", 3, "1 to 5: the evidence needed")
	f.IntVar(&d.Literalism, "literalism", 3, "1 to 5: verbatim rather than in other words")
	f.IntVar(&d.Empathy, "empathy", 3, "1 to 5: the prominence of feelings")
	f.BoolVar(&create, "create", false, "make the bank; fail if it exists")
	return cmd
}

// completeDisposition fills the traits nobody set with the bank's own, for a
// disposition is set as a whole.
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

func showBank(w io.Writer, b memory.Bank) {
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
	table(w, nil, rows)
}

func windowSettings(s *memory.WindowSettings) string {
	return strings.Join([]string{number("trigger_every", s.TriggerEvery), number("window_tokens", s.WindowTokens), number("window_size", s.WindowSize)}, ", ")
}

// number shows a setting that a bank may have of its own.
func number[T any](name string, v *T) string {
	if v == nil {
		return name + " as deployed"
	}
	return fmt.Sprintf("%s %v", name, *v)
}
