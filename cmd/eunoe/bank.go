package main

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"time"

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
	var q memory.Quotas
	var ws memory.WindowSettings
	cmd := &cobra.Command{
		Use:     "set",
		Short:   "Set fields of the profile; creates the bank if it does not exist",
		Example: "  eunoe bank set --bank alice --mission \"Help Alice cook\" --skepticism 4\n  eunoe bank set --bank alice --facts-quota 50000 --trigger-every 4",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			set := cmd.Flags().Changed
			if set("skepticism") || set("literalism") || set("empathy") {
				if err := a.completeDisposition(cmd, &d, u.Create); err != nil {
					return err
				}
				u.Disposition = &d
			}
			if err := a.completeQuotas(cmd, &q, &u); err != nil {
				return err
			}
			if err := a.completeWindows(cmd, &ws, &u); err != nil {
				return err
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
	console.Optional(f, f.StringVar, &u.Zone, "zone", "", "time zone in which times without an offset are read, as Europe/Lisbon (default UTC)")
	f.IntVar(&d.Skepticism, "skepticism", 3, "1 to 5: how much evidence a belief needs")
	f.IntVar(&d.Literalism, "literalism", 3, "1 to 5: how much to prefer verbatim over paraphrase")
	f.IntVar(&d.Empathy, "empathy", 3, "1 to 5: how prominent feelings are")
	f.Float64Var(&q.MessagesPerSecond, "messages-per-second", 0, "quota: messages a second; 0 is no limit, here and in the next three")
	f.Int64Var(&q.Bytes, "bytes-quota", 0, "quota: bytes of messages")
	f.Int64Var(&q.Facts, "facts-quota", 0, "quota: facts that hold")
	f.Int64Var(&q.TokensPerDay, "tokens-per-day", 0, "quota: tokens of language models on one UTC day; 0 is the deployment's")
	console.Optional(f, f.IntVar, &ws.TriggerEvery, "trigger-every", 0, "messages that cut a window; 0 is off (default: the deployment's, here and in the next three)")
	console.Optional(f, f.IntVar, &ws.WindowTokens, "window-tokens", 0, "tokens of new text that cut a window")
	console.Optional(f, f.IntVar, &ws.WindowSize, "window-size", 0, "messages of a window, with those before the new ones")
	f.Func("idle-after", "silence after which a session is flushed, as 30s", func(s string) error {
		t, err := time.ParseDuration(s)
		ws.IdleAfter = (*memory.Duration)(&t)
		return err
	})
	console.Optional(f, f.BoolVar, &u.KeepRecalls, "keep-recalls", false, "keep the last recalls for a day, in memory, for eunoe recalls; =false removes them")
	f.BoolVar(&u.Create, "create", false, "create the bank; fail if it exists")
	return cmd
}

// completeQuotas sets the quotas where a flag names one. They are set as a whole: those that no flag names are the
// bank's.
func (a *cli) completeQuotas(cmd *cobra.Command, q *memory.Quotas, u *wire.BankUpdate) error {
	set := cmd.Flags().Changed
	if !set("messages-per-second") && !set("bytes-quota") && !set("facts-quota") && !set("tokens-per-day") {
		return nil
	}
	u.Quotas = q
	now, err := a.bankNow(cmd, u.Create)
	if err != nil || now.Quotas == nil {
		return err
	}
	for _, t := range []struct {
		flag    string
		to, now *int64
	}{{"bytes-quota", &q.Bytes, &now.Quotas.Bytes}, {"facts-quota", &q.Facts, &now.Quotas.Facts}, {"tokens-per-day", &q.TokensPerDay, &now.Quotas.TokensPerDay}} {
		if !set(t.flag) {
			*t.to = *t.now
		}
	}
	if !set("messages-per-second") {
		q.MessagesPerSecond = now.Quotas.MessagesPerSecond
	}
	return nil
}

// completeWindows sets the settings of windows where a flag names one, and keeps the bank's for the others.
func (a *cli) completeWindows(cmd *cobra.Command, s *memory.WindowSettings, u *wire.BankUpdate) error {
	if s.TriggerEvery == nil && s.WindowTokens == nil && s.WindowSize == nil && s.IdleAfter == nil {
		return nil
	}
	u.Windows = s
	now, err := a.bankNow(cmd, u.Create)
	if err != nil || now.Windows == nil {
		return err
	}
	s.TriggerEvery, s.WindowTokens = cmp.Or(s.TriggerEvery, now.Windows.TriggerEvery), cmp.Or(s.WindowTokens, now.Windows.WindowTokens)
	s.WindowSize, s.IdleAfter, s.RoleFilter = cmp.Or(s.WindowSize, now.Windows.WindowSize), cmp.Or(s.IdleAfter, now.Windows.IdleAfter), now.Windows.RoleFilter
	return nil
}

// bankNow returns the bank's profile, an empty one where there is no bank or it is to be created.
func (a *cli) bankNow(cmd *cobra.Command, create bool) (memory.Bank, error) {
	if create {
		return memory.Bank{}, nil
	}
	c, err := a.connect(cmd.Context())
	if err != nil {
		return memory.Bank{}, err
	}
	defer c.Close() //nolint:errcheck // nothing is left to send
	b, err := c.Bank(cmd.Context(), a.bankID())
	if memory.Code(err) == 404 {
		return memory.Bank{}, nil
	}
	return b, err
}

// completeDisposition fills the traits that no flag sets with those of the bank, because a disposition is set as a
// whole.
func (a *cli) completeDisposition(cmd *cobra.Command, d *memory.Disposition, create bool) error {
	b, err := a.bankNow(cmd, create)
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
	for _, f := range [][2]string{{"name", b.Name}, {"description", b.Description}, {"background", b.Background}, {"mission", b.Mission}, {"instructions", b.Instructions}, {"zone", b.Zone}} {
		if f[1] != "" {
			rows = append(rows, []string{f[0], f[1]})
		}
	}
	d := b.Disposition
	rows = append(rows, []string{"disposition", fmt.Sprintf("skepticism %d, literalism %d, empathy %d", d.Skepticism, d.Literalism, d.Empathy)})
	if q := b.Quotas; q != nil {
		rows = append(rows, []string{"quotas", fmt.Sprintf("%g messages a second, %d bytes, %d facts, %d tokens a day (0 is unbounded)", q.MessagesPerSecond, q.Bytes, q.Facts, q.TokensPerDay)})
	}
	if b.KeepRecalls {
		rows = append(rows, []string{"recalls", "the last ones are kept"})
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
	return strings.Join([]string{number("trigger_every", s.TriggerEvery), number("window_tokens", s.WindowTokens),
		number("window_size", s.WindowSize), number("idle_after", (*time.Duration)(s.IdleAfter))}, ", ")
}

// number shows a setting; nil means that the bank has none of its own.
func number[T any](name string, v *T) string {
	if v == nil {
		return name + " as deployed"
	}
	return fmt.Sprintf("%s %v", name, *v)
}
