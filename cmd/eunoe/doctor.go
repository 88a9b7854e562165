package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/eunoe-memory/eunoe/internal/console"
	"github.com/eunoe-memory/eunoe/pkg/client"
	"github.com/eunoe-memory/eunoe/pkg/consolidate"
	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/events/lease"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

// finding is one line of the report of doctor.
type finding struct {
	Check string `json:"check"`
	OK    bool   `json:"ok"`
	Found string `json:"found"`
	Mend  string `json:"mend,omitempty"`
}

// takeover is how long nobody may hold the lease of the consolidator while one takes over.
const takeover = events.LeaseTTL + time.Second

func (a *cli) doctorCommand() *cobra.Command {
	var monitors []string
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check the broker, the streams, the stages, the permissions and the models",
		Long: "Checks the broker, the streams, the stages and the permissions, and tries every model that\n" +
			"the settings here name: each is asked a few small questions.\n\n" +
			"Of a cluster it also checks that every replica is there and, where --monitor names the\n" +
			"monitoring of its servers, that each syncs to disk before it acknowledges.",
		Example: "  eunoe doctor\n  eunoe doctor --monitor http://n1:8222,http://n2:8222,http://n3:8222",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			settings, _, err := a.Settings(a.overrides(cmd))
			if err != nil {
				return err
			}
			found := append(a.examine(cmd.Context(), monitors), a.tryModels(cmd.Context(), settings)...)
			bad := 0
			for _, f := range found {
				if !f.OK {
					bad++
				}
			}
			if a.JSON {
				if err := console.PrintJSON(cmd.OutOrStdout(), found); err != nil {
					return err
				}
			} else {
				for _, f := range found {
					mark := "ok  "
					if !f.OK {
						mark = "BAD "
					}
					fmt.Fprintf(cmd.OutOrStdout(), "%s %-12s %s\n", mark, f.Check, console.OneLine(f.Found))
					if f.Mend != "" {
						fmt.Fprintf(cmd.OutOrStdout(), "     %-12s → %s\n", "", console.OneLine(f.Mend))
					}
				}
			}
			if bad > 0 {
				return fmt.Errorf("%s: %w", count(bad, "thing")+" to mend", memory.ErrUnavailable)
			}
			return nil
		},
	}
	cmd.Flags().StringSliceVar(&monitors, "monitor", nil, "monitoring addresses of the NATS servers of a cluster, as http://HOST:8222")
	return cmd
}

// examine runs the checks in order, each only if the one before it allows.
func (a *cli) examine(ctx context.Context, monitors []string) []finding {
	ctx, cancel := context.WithTimeout(ctx, min(a.Timeout, 15*time.Second))
	defer cancel()
	c, err := a.connect(ctx)
	if err != nil {
		return []finding{{Check: "broker", Found: errorText(err), Mend: "start one (`eunoe up`, or nats-server -js), or set --url and --creds"}}
	}
	defer c.Close() //nolint:errcheck // nothing is left to send
	conn := c.Conn()
	rtt, _ := conn.NC.RTT() //nolint:errcheck // a zero round trip says enough
	out := []finding{{Check: "broker", OK: true, Found: fmt.Sprintf("%s, nats-server %s, %s", conn.NC.ConnectedUrlRedacted(), conn.NC.ConnectedServerVersion(), rtt.Round(10*time.Microsecond))}}
	// A refusal comes at once where an operator's request is refused, while a refused request for the streams would wait.
	if _, err := client.Call(ctx, c, wire.Banks, "", wire.BanksRequest{Limit: 1}); errors.Is(err, memory.ErrForbidden) {
		return append(out, finding{Check: "permissions", OK: true, Found: "not checked: the streams and the stages, which these credentials may not see; those of an operator may"}, a.answerFinding(ctx, c))
	}
	account, err := conn.JS.AccountInfo(ctx)
	if err != nil {
		out = append(out, finding{Check: "jetstream", Found: errorText(err), Mend: "start nats-server with -js, or use an operator's credentials: bots need no JetStream API"})
	} else {
		out = append(out, finding{Check: "jetstream", OK: true, Found: fmt.Sprintf("%s, %.1f MiB on disk", count(account.Streams, "stream"), float64(account.Store)/(1<<20))})
		out = append(out, streamFindings(ctx, conn)...)
		out = append(out, clusterFindings(ctx, conn, monitors)...)
	}
	out = append(out, stageFindings(ctx, conn)...)
	return append(out, a.answerFinding(ctx, c))
}

// streamFindings compares the streams with their expected configuration.
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
	for _, b := range conn.Naming.Buckets(events.StreamOptions{}) {
		f := finding{Check: "bucket", Found: b.Bucket + " is there", OK: true}
		if _, err := conn.JS.Stream(ctx, "KV_"+b.Bucket); err != nil {
			f = finding{Check: "bucket", Found: fmt.Sprintf("%s: %v", b.Bucket, err), Mend: "start a stage: each makes the buckets it misses"}
		}
		out = append(out, f)
	}
	of, err := conn.ShardCount(ctx)
	if err != nil {
		return append(out, finding{Check: "shards", Found: errorText(err), Mend: "run a program of the version that made the store"})
	}
	wait := time.Now().Add(takeover) // for all of them
	for _, s := range events.Shards(of) {
		out = append(out, leaseFinding(ctx, conn, s, wait))
	}
	return out
}

// leaseFinding tells whether a consolidator of a shard is active, or becomes so until wait. One that runs may wait for
// another, or for a log that is its store's.
func leaseFinding(ctx context.Context, conn *events.Conn, s events.Shard, wait time.Time) finding {
	of := ""
	if !s.Alone() {
		of = " of shard " + s.String()
	}
	var err error
	for {
		var owner string
		if owner, err = lease.Holder(ctx, conn, s.Key(consolidate.LeaseKey)); owner != "" {
			return finding{Check: "consolidates", OK: true, Found: "a consolidator" + of + " is active"}
		}
		if err != nil || time.Now().After(wait) || !events.Sleep(ctx, takeover/10) {
			break
		}
	}
	found := "nobody consolidates" + of + ": what is published is kept, and not applied"
	if err != nil {
		found = errorText(err)
	}
	return finding{Check: "consolidates", Found: found, Mend: "start a consolidator; if one runs, its log and its /readyz say what it waits for"}
}

func stageFindings(ctx context.Context, conn *events.Conn) []finding {
	running := map[string]int{}
	for _, s := range liveStages(ctx, conn) {
		running[cmp.Or(s.Metadata["stage"], "query")]++
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

// answerFinding asks for the bank's status, which checks the store, the query stage and the permissions at once.
func (a *cli) answerFinding(ctx context.Context, c *client.Client) finding {
	st, err := c.Status(ctx, a.bankID())
	switch {
	case err == nil && st.Windows.Parked > 0:
		found := fmt.Sprintf("the store answers for bank %s; %s for the token budget", a.Bank, wait(st.Windows.Parked))
		return finding{Check: "answers", OK: true, Found: found}
	case err == nil, errors.Is(err, memory.ErrNotFound):
		return finding{Check: "answers", OK: true, Found: "the store answers for bank " + a.Bank}
	case errors.Is(err, memory.ErrForbidden):
		return finding{Check: "answers", Found: errorText(err), Mend: "name the bank of these credentials with --bank"}
	case errors.Is(err, memory.ErrDeadline):
		return finding{Check: "answers", Found: errorText(err), Mend: "permissions: allow " + a.Prefix + "." + events.EncodeToken(a.Bank) + ".> and an inbox of its own; the query stage needs allow_responses"}
	}
	return finding{Check: "answers", Found: errorText(err), Mend: "look at the query stage's log"}
}

// wait says that windows wait.
func wait(windows int) string {
	if windows == 1 {
		return "1 window waits"
	}
	return fmt.Sprintf("%d windows wait", windows)
}
