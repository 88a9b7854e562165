package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/eunoe-memory/eunoe/pkg/client"
	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// finding is one line of doctor.
type finding struct {
	Check string `json:"check"`
	OK    bool   `json:"ok"`
	Found string `json:"found"`
	Mend  string `json:"mend,omitempty"`
}

func (a *cli) doctorCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "doctor",
		Short: "Check the broker, the streams, the stages, the permissions and the models",
		Long: "Checks the broker, the streams, the stages and the permissions, and tries every model that\n" +
			"the settings here name: each is asked a few small questions.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			settings, _, err := a.settings(a.overrides(cmd))
			if err != nil {
				return err
			}
			found := append(a.examine(cmd.Context()), a.tryModels(cmd.Context(), settings)...)
			bad := 0
			for _, f := range found {
				if !f.OK {
					bad++
				}
			}
			if a.json {
				if err := printJSON(cmd.OutOrStdout(), found); err != nil {
					return err
				}
			} else {
				for _, f := range found {
					mark := "ok  "
					if !f.OK {
						mark = "BAD "
					}
					fmt.Fprintf(cmd.OutOrStdout(), "%s %-12s %s\n", mark, f.Check, oneLine(f.Found))
					if f.Mend != "" {
						fmt.Fprintf(cmd.OutOrStdout(), "     %-12s → %s\n", "", oneLine(f.Mend))
					}
				}
			}
			if bad > 0 {
				return fmt.Errorf("%s: %w", count(bad, "thing")+" to mend", memory.ErrUnavailable)
			}
			return nil
		},
	}
}

// examine runs every check that the one before it allows.
func (a *cli) examine(ctx context.Context) []finding {
	ctx, cancel := context.WithTimeout(ctx, min(a.timeout, 15*time.Second))
	defer cancel()
	c, err := a.connect(ctx)
	if err != nil {
		return []finding{{Check: "broker", Found: said(err), Mend: "start one (`eunoe up`, or nats-server -js), or set --url and --creds"}}
	}
	defer c.Close() //nolint:errcheck // nothing is left to send
	conn := c.Conn()
	rtt, _ := conn.NC.RTT() //nolint:errcheck // a zero round trip says enough
	out := []finding{{Check: "broker", OK: true, Found: fmt.Sprintf("%s, nats-server %s, %s", conn.NC.ConnectedUrlRedacted(), conn.NC.ConnectedServerVersion(), rtt.Round(10*time.Microsecond))}}
	account, err := conn.JS.AccountInfo(ctx)
	if err != nil {
		out = append(out, finding{Check: "jetstream", Found: said(err), Mend: "start nats-server with -js, or use an operator's credentials: bots need no JetStream API"})
	} else {
		out = append(out, finding{Check: "jetstream", OK: true, Found: fmt.Sprintf("%s, %.1f MiB on disk", count(account.Streams, "stream"), float64(account.Store)/(1<<20))})
		out = append(out, streamFindings(ctx, conn)...)
	}
	out = append(out, stageFindings(ctx, conn)...)
	return append(out, a.answerFinding(ctx, c))
}

// streamFindings compares the streams with what they should be.
func streamFindings(ctx context.Context, conn *events.Conn) []finding {
	var out []finding
	for _, want := range conn.Naming.Streams(events.StreamOptions{}) {
		f := finding{Check: "stream", Found: want.Name + " is as it should be", OK: true}
		s, err := conn.JS.Stream(ctx, want.Name)
		switch {
		case err != nil:
			f = finding{Check: "stream", Found: fmt.Sprintf("%s: %v", want.Name, err), Mend: "start a stage: each makes the streams it misses"}
		default:
			have := s.CachedInfo().Config
			for _, p := range []struct {
				name      string
				want, got any
			}{{"subjects", fmt.Sprint(want.Subjects), fmt.Sprint(have.Subjects)}, {"retention", want.Retention, have.Retention},
				{"duplicate window", want.Duplicates, have.Duplicates}, {"storage", want.Storage, have.Storage},
				{"schedules allowed", false, have.AllowMsgSchedules}, {"rollups allowed", want.AllowRollup, have.AllowRollup}} {
				if p.want != p.got {
					f = finding{Check: "stream", Found: fmt.Sprintf("%s: %s is %v; expected %v", want.Name, p.name, p.got, p.want), Mend: "restart a stage: it corrects what can be changed"}
				}
			}
		}
		out = append(out, f)
	}
	return out
}

func stageFindings(ctx context.Context, conn *events.Conn) []finding {
	running := map[string]int{}
	for _, s := range alive(ctx, conn) {
		stage := s.Metadata["stage"]
		if stage == "" {
			stage = "query"
		}
		running[stage]++
	}
	var out []finding
	for _, stage := range []string{"ingest", "extractor", "consolidator", "query"} {
		f := finding{Check: stage, OK: true, Found: fmt.Sprintf("%d running", running[stage])}
		if running[stage] == 0 {
			f.OK, f.Found, f.Mend = false, "nobody answers", "start it: "+stage+", or `eunoe up` for all"
		}
		out = append(out, f)
	}
	return out
}

// answerFinding asks the bank's status: the store, the query stage and the permissions in one.
func (a *cli) answerFinding(ctx context.Context, c *client.Client) finding {
	_, err := c.Status(ctx, a.bankID())
	switch {
	case err == nil, errors.Is(err, memory.ErrNotFound):
		return finding{Check: "answers", OK: true, Found: "the store answers for bank " + a.bank}
	case errors.Is(err, memory.ErrDeadline):
		return finding{Check: "answers", Found: said(err), Mend: "permissions: allow " + a.prefix + "." + events.EncodeToken(a.bank) + ".> and an inbox of its own; the query stage needs allow_responses"}
	}
	return finding{Check: "answers", Found: said(err), Mend: "look at the query stage's log"}
}
