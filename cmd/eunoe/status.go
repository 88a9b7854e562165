package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go/micro"
	"github.com/spf13/cobra"

	"github.com/eunoe-memory/eunoe/internal/console"
	"github.com/eunoe-memory/eunoe/pkg/client"
	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

func (a *cli) statusCommand() *cobra.Command {
	var wait bool
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Show running stages, lag and pending work",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := a.connect(cmd.Context())
			if err != nil {
				return err
			}
			defer c.Close() //nolint:errcheck // nothing is left to send
			if wait {
				ctx, cancel := context.WithTimeout(cmd.Context(), a.Timeout)
				defer cancel()
				if _, err := c.WaitSettled(ctx, a.bankID(), nil); err != nil {
					return err
				}
			}
			return a.status(cmd, c)
		},
	}
	cmd.Flags().BoolVar(&wait, "wait", false, "wait until the bank is settled, for at most --timeout")
	return cmd
}

func (a *cli) status(cmd *cobra.Command, c *client.Client) error {
	s, err := c.Status(cmd.Context(), a.bankID())
	if a.JSON {
		if err != nil {
			return err
		}
		return console.PrintJSON(cmd.OutOrStdout(), s)
	}
	w := cmd.OutOrStdout()
	services := liveStages(cmd.Context(), c.Conn())
	switch {
	case len(services) > 0 || errors.Is(err, memory.ErrUnavailable):
		showAlive(w, services)
	case err == nil:
		fmt.Fprintf(w, "Which stages are alive is shown to operators.\n\n")
	}
	if err != nil {
		return err
	}
	showStatus(w, a.Bank, s)
	return nil
}

// liveStages asks every stage to identify itself and returns those that answer within a quarter of a second, by name
// and id.
func liveStages(ctx context.Context, conn *events.Conn) []micro.Info {
	ctx, cancel := context.WithTimeout(ctx, 250*time.Millisecond)
	defer cancel()
	sub, err := conn.NC.SubscribeSync(conn.NC.NewInbox())
	if err != nil {
		return nil
	}
	defer sub.Unsubscribe() //nolint:errcheck // the connection ends with it
	if conn.NC.PublishRequest(micro.APIPrefix+".INFO", sub.Subject, nil) != nil {
		return nil
	}
	var out []micro.Info
	for {
		msg, err := sub.NextMsgWithContext(ctx)
		if err != nil {
			break
		}
		var info micro.Info
		if json.Unmarshal(msg.Data, &info) == nil && strings.HasPrefix(info.Name, "eunoe") {
			out = append(out, info)
		}
	}
	slices.SortFunc(out, func(x, y micro.Info) int {
		return strings.Compare(x.Name+x.ID, y.Name+y.ID)
	})
	return out
}

func showAlive(w io.Writer, services []micro.Info) {
	if len(services) == 0 {
		fmt.Fprintf(w, "No stage answers: is one running? `eunoe up` starts them all.\n\n")
		return
	}
	console.Table(w, []string{"ALIVE", "VERSION", "HOST", "HEALTH", "SINCE"}, rowsOf(services, func(s micro.Info) []string {
		return []string{s.Name, s.Version, dash(s.Metadata["host"]), dash(s.Metadata["http"]), dash(s.Metadata["started"])}
	}))
	fmt.Fprintln(w)
}

func showStatus(w io.Writer, bank string, s wire.Status) {
	state := "settled: everything published is in the store"
	if !s.Settled {
		state = fmt.Sprintf("not settled; the oldest message has waited %s", time.Duration(s.Lag).Round(time.Millisecond))
	}
	fmt.Fprintf(w, "Bank %s is %s.\n\n", console.OneLine(bank), state)
	console.Table(indent(w, "  "), nil, [][]string{
		{"windows to extract", fmt.Sprint(s.Windows.Pending), "facts", fmt.Sprint(s.Facts)},
		{"writes to apply", fmt.Sprint(s.Writes.Pending), "composites", fmt.Sprint(s.Composites)},
		{"decisions to take", fmt.Sprint(s.Decisions.Pending), "observations", fmt.Sprint(s.Observations)},
		{"dead letters", fmt.Sprint(s.Dead), "entities", fmt.Sprint(s.Entities)},
		{"throttled", fmt.Sprint(s.Messages.Throttled), "last message", fmt.Sprint(s.Messages.Last)},
	})
	if s.Windows.Parked > 0 {
		fmt.Fprintf(w, "\n%s of them wait for the bank's token budget, until the day turns (UTC) or it is raised.\n", count(s.Windows.Parked, "window"))
	}
	showUsage(w, s.Usage)
	c := s.Conservation
	fmt.Fprintf(w, "\n%s published: %d committed, %d empty, %d skipped, %d pending, %d duplicate, %d throttled, %d dead, %d forgotten\n",
		count(c.Published, "message"), c.Committed, c.Empty, c.Skipped, c.Pending, c.Duplicate, c.Throttled, c.Dead, c.Forgotten)
	if len(s.Waiting) == 0 {
		return
	}
	fmt.Fprintln(w, "\nWaiting for more of their conversation, or for a flush:")
	rows := make([][]string, 0, len(s.Waiting))
	for _, wt := range s.Waiting {
		until := "-"
		if !wt.Until.IsZero() {
			until = wt.Until.UTC().Format("15:04:05Z")
		}
		rows = append(rows, []string{string(wt.Session), count(wt.Messages, "message"), "until " + until})
	}
	console.Table(indent(w, "  "), nil, rows)
}

// showUsage prints what models have used so far, nothing if none was called.
func showUsage(w io.Writer, usage []memory.StageUsage) {
	if len(usage) == 0 {
		return
	}
	fmt.Fprintln(w)
	console.Table(indent(w, "  "), []string{"STAGE", "MODEL", "CALLS", "FAILED", "PROMPT", "CACHED", "COMPLETION"}, rowsOf(usage, func(u memory.StageUsage) []string {
		return []string{console.OneLine(u.Stage), console.OneLine(u.Model), fmt.Sprint(u.Calls), fmt.Sprint(u.Failed),
			fmt.Sprint(u.PromptTokens), fmt.Sprint(u.CachedTokens), fmt.Sprint(u.CompletionTokens)}
	}))
}

func (a *cli) banksCommand() *cobra.Command {
	return &cobra.Command{
		Use: "banks", Short: "List all banks (operators)", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return ask(a, cmd, wire.Banks, wire.BanksRequest{}, func(w io.Writer, p wire.Page[memory.Bank]) {
				if len(p.Items) == 0 {
					fmt.Fprintln(w, "No banks yet: the first message makes one.")
					return
				}
				console.Table(w, []string{"BANK", "NAME", "CREATED", "DESCRIPTION"}, rowsOf(p.Items, func(b memory.Bank) []string {
					return []string{string(b.ID), dash(b.Name), day(&b.Created), dash(b.Description)}
				}))
				if p.Next != "" {
					fmt.Fprintln(w, "\nthere are more; --json shows the cursor")
				}
			})
		},
	}
}
