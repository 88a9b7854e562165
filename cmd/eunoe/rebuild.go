package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"

	"github.com/eunoe-memory/eunoe/internal/app/offline"
	"github.com/eunoe-memory/eunoe/internal/app/settings"
	"github.com/eunoe-memory/eunoe/internal/console"
	"github.com/eunoe-memory/eunoe/pkg/consolidate/rebuild"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

func (a *cli) rebuildCommand() *cobra.Command {
	var embed, smaller, live bool
	cmd := &cobra.Command{
		Use:   "rebuild",
		Short: "Rebuild the store from the streams",
		Long: "Makes the store anew from the streams in the data directory, or, where it holds\n" +
			"none, from those of the NATS server at --url or EUNOE_URL. Stop `eunoe up`, or the\n" +
			"consolidator and the query stages, first. No model is called and no change is announced.\n\n" +
			"With --live nothing is stopped: the consolidator of a running eunoe makes a second store\n" +
			"beside its own, follows the log until it has caught up, and switches over. Messages are\n" +
			"taken and questions answered all the while. Forgotten text leaves the store at once and\n" +
			"the streams when the rebuild has ended. The disk needs room for both stores.\n\n" +
			"With --embed everything is embedded by the configured model (EUNOE_EMBED), as after a\n" +
			"change of it; the vectors are appended to the log. The old store stays until the new\n" +
			"one is whole, and a run that was broken off goes on with the vectors that it made.\n\n" +
			"A log that is not the one the old store was made from, or that lacks what it has\n" +
			"applied, is refused: its backup is what helps. With --smaller the store becomes what the\n" +
			"log holds all the same, and the rest is lost.",
		Example: "  eunoe rebuild --live\n  eunoe rebuild --data ./memory\n  EUNOE_EMBED=openai:text-embedding-3-small eunoe rebuild --embed",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if live {
				if embed || cmd.Flags().Changed("data") {
					return console.Usagef("--live asks the running consolidator: neither --data nor --embed goes with it")
				}
				return a.live(cmd, wire.RebuildRequest{Smaller: smaller}, "rebuilt %s; nothing was applied for %s")
			}
			c, _, err := a.Settings(a.overrides(cmd))
			if err != nil {
				return err
			}
			if err := a.findLog(cmd, c); err != nil {
				return err
			}
			run := offline.Rebuild
			if embed {
				run = offline.Reembed
			}
			var allow []offline.Allow
			if smaller {
				allow = append(allow, offline.Smaller)
			}
			var last rebuild.Progress
			show := rebuildBar(cmd.ErrOrStderr())
			if err := run(cmd.Context(), c, func(p rebuild.Progress) { last = p; show(p) }, allow...); err != nil {
				return err
			}
			line := fmt.Sprintf("rebuilt %s", c.Store)
			if embed {
				line += fmt.Sprintf("; %d records were embedded", last.Embedded)
			}
			return a.print(cmd, map[string]any{"store": c.Store, "messages": last.Messages, "writes": last.Writes, "embedded": last.Embedded}, line)
		},
	}
	cmd.Flags().String("data", "eunoe-data", "data directory (EUNOE_DATA)")
	cmd.Flags().BoolVar(&live, "live", false, "rebuild while everything runs")
	cmd.Flags().BoolVar(&smaller, "smaller", false, "replace the store even where the log lacks what it has applied")
	cmd.Flags().BoolVar(&embed, "embed", false, "re-embed everything with the configured embedding model")
	return cmd
}

func (a *cli) migrateCommand() *cobra.Command {
	var to string
	cmd := &cobra.Command{
		Use:   "migrate --to STORE",
		Short: "Move the store of a running eunoe, into the other engine too (operators)",
		Long: "Has the active consolidator make a second store where there is none: at an absolute path\n" +
			"on its host, or on a PostgreSQL server. It follows the streams until it has caught up. Then\n" +
			"nothing is applied to the old store any more, which notes where it was moved: set EUNOE_STORE\n" +
			"to the new one for the consolidators and query services, and restart them. Until then messages\n" +
			"are taken, and questions are answered as of the move. Whoever is started with the old store is\n" +
			"refused. Then remove it, for what is forgotten later stays in it.",
		Example: "  eunoe migrate --to 'postgres://eunoe@db.example.org/eunoe?sslmode=verify-full'\n  eunoe migrate --to /var/lib/eunoe/eunoe.db",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if to == "" {
				return console.Usagef("name the new store with --to: an absolute path, or postgres://user@host/database")
			}
			return a.live(cmd, wire.RebuildRequest{To: to}, "moved to %s; the old store takes nothing in any more (the switch took %s).\n"+
				"Set EUNOE_STORE to the new one for the consolidators and query services and restart them; then remove the old one.")
		},
	}
	cmd.Flags().StringVar(&to, "to", "", "the new store: an absolute path, or postgres://user@host/database")
	return cmd
}

// live has the active consolidator make a store while everything runs. done says so, of a store and for how long nothing was
// applied.
func (a *cli) live(cmd *cobra.Command, r wire.RebuildRequest, done string) error {
	c, err := a.connect(cmd.Context())
	if err != nil {
		return err
	}
	defer c.Close() //nolint:errcheck // nothing is left to send
	s, err := offline.RebuildLive(cmd.Context(), c.Conn(), r, rebuildBar(cmd.ErrOrStderr()))
	if err != nil {
		return err
	}
	paused := time.Duration(s.Paused)
	out := map[string]any{"store": s.Store, "messages": s.Progress.Messages, "writes": s.Progress.Writes, "paused_ms": paused.Milliseconds()}
	return a.print(cmd, out, fmt.Sprintf(done, s.Store, paused.Round(time.Millisecond)))
}

// rebuildBar draws the progress of a rebuild by the writes it has applied.
func rebuildBar(w io.Writer) func(rebuild.Progress) {
	var bar *progressbar.ProgressBar
	return func(p rebuild.Progress) {
		if bar == nil {
			bar = console.NewBar(w, int(p.LastWrite), "writes") //nolint:gosec // no log has so many
		}
		if p.Embedded > 0 {
			bar.Describe(fmt.Sprintf("writes, %d records embedded", p.Embedded))
		}
		_ = bar.Set64(int64(min(p.Writes, p.LastWrite))) //nolint:gosec // as above
	}
}

// findLog makes sure that there is a log to read before a store is made: in the data directory, or at a named server
// that answers and has no running stage that would continue to write to the file being replaced.
func (a *cli) findLog(cmd *cobra.Command, c settings.Config) error {
	if _, err := os.Stat(filepath.Join(c.Data, "streams")); err == nil {
		return nil
	}
	if _, ok := a.Env("EUNOE_URL"); !ok && !cmd.Flags().Changed("url") {
		return console.Usagef("there are no streams in %s: name the data directory with --data, or a NATS server with --url", c.Data)
	}
	server, err := a.connect(cmd.Context())
	if err != nil {
		return err
	}
	defer server.Close() //nolint:errcheck // nothing is left to send
	for _, s := range liveStages(cmd.Context(), server.Conn()) {
		if stage := cmp.Or(s.Metadata["stage"], "query"); stage == "consolidator" || stage == "query" {
			return fmt.Errorf("a %s runs on host %s and may have the store open; stop it first: %w", stage, dash(s.Metadata["host"]), memory.ErrConflict)
		}
	}
	return nil
}

func (a *cli) reextractCommand() *cobra.Command {
	var req wire.ReextractRequest
	cmd := &cobra.Command{
		Use:   "re-extract",
		Short: "Extract a bank, or one of its sessions, again with the current extractor (operators)",
		Long: "Puts every window of the bank that ended on the queue again. What is extracted now takes\n" +
			"the place of what was extracted before; facts that were retained, edited or pinned by hand\n" +
			"stay. Nothing changes until the extractor is done with a window: `eunoe status --wait` waits.",
		Example: "  eunoe re-extract --bank alice\n  eunoe re-extract --bank alice --session chat",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			req.Bank = a.Bank
			return ask(a, cmd, wire.Reextract, req, func(w io.Writer, r wire.ReextractReply) {
				fmt.Fprintf(w, "%s to extract anew", count(r.Windows, "window"))
				if r.UnderWay > 0 {
					fmt.Fprintf(w, ", %d under way already", r.UnderWay)
				}
				if r.Bare > 0 {
					fmt.Fprintf(w, ", %d without anything left to extract", r.Bare)
				}
				fmt.Fprintln(w)
			})
		},
	}
	cmd.Flags().StringVar(&req.Session, "session", "", "only this session")
	return cmd
}

// verifyTimeout is how long a check may take unless --timeout or EUNOE_TIMEOUT says otherwise.
const verifyTimeout = 10 * time.Minute

// errUnsound is the error of a check that found problems, which are printed.
var errUnsound = errors.New("the store is not as it must be: `eunoe rebuild` makes it anew from the log, and refuses where the log lost something")

func (a *cli) verifyCommand() *cobra.Command {
	var full, offline bool
	cmd := &cobra.Command{
		Use:   "verify",
		Short: "Check the store against itself and the log",
		Long: "Checks the file of the store, what must hold within and between its tables, its text\n" +
			"indexes, and that the log still holds what it was made from. Nothing is changed.\n" +
			"The exit code is 0 where everything holds and 1 where something does not.\n\n" +
			"A running eunoe is asked. With --offline the store of a stopped one is opened, in the\n" +
			"data directory, with the log that lies there, or that of the NATS server at --url or\n" +
			"EUNOE_URL where it holds none.",
		Example: "  eunoe verify\n  eunoe verify --full --json\n  eunoe verify --offline --data ./memory",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var v wire.Verification
			var err error
			if offline {
				v, err = a.verifyStopped(cmd, full)
			} else {
				v, err = a.verifyRunning(cmd, full)
			}
			if err != nil {
				return err
			}
			return a.reportVerification(cmd, v)
		},
	}
	cmd.Flags().BoolVar(&full, "full", false, "read the whole file and log; otherwise a sample is checked")
	cmd.Flags().BoolVar(&offline, "offline", false, "open the store of a stopped eunoe")
	cmd.Flags().String("data", "eunoe-data", "with --offline: data directory (EUNOE_DATA)")
	return cmd
}

// reportVerification prints what a verification found. The error is errUnsound where something does not hold.
func (a *cli) reportVerification(cmd *cobra.Command, v wire.Verification) error {
	if !a.JSON {
		showVerification(cmd.OutOrStdout(), v)
	} else if err := console.PrintJSON(cmd.OutOrStdout(), v); err != nil {
		return err
	}
	if !v.OK {
		return errUnsound
	}
	return nil
}

func (a *cli) verifyRunning(cmd *cobra.Command, full bool) (v wire.Verification, err error) {
	if cmd.Flags().Changed("data") {
		return v, console.Usagef("--data goes with --offline")
	}
	if _, ok := a.Env("EUNOE_TIMEOUT"); !ok && !cmd.Flags().Changed("timeout") {
		a.Timeout = verifyTimeout
	}
	c, err := a.connect(cmd.Context())
	if err != nil {
		return v, err
	}
	defer c.Close() //nolint:errcheck // nothing is left to send
	return c.Admin().Verify(cmd.Context(), wire.VerifyRequest{Full: full})
}

func (a *cli) verifyStopped(cmd *cobra.Command, full bool) (v wire.Verification, err error) {
	c, _, err := a.Settings(a.overrides(cmd))
	if err != nil {
		return v, err
	}
	_, named := a.Env("EUNOE_URL")
	return offline.Verify(cmd.Context(), c, full, named || cmd.Flags().Changed("url"))
}

func showVerification(w io.Writer, v wire.Verification) {
	checked := 0
	for _, c := range v.Checks {
		if c.Skipped != "" {
			fmt.Fprintln(w, console.Clean("not checked: "+c.Rule+": "+c.Skipped))
			continue
		}
		checked++
	}
	for _, p := range v.Problems {
		fmt.Fprintln(w, console.Clean("broken: "+p))
	}
	var rows [][]string
	for _, name := range []string{"banks", "messages", "facts", "composites", "entities", "observations", "conflicts"} {
		rows = append(rows, []string{name, strconv.Itoa(v.Counts[name])})
	}
	console.Table(w, nil, rows)
	if v.OK {
		fmt.Fprintf(w, "\nAll of %s hold.\n", count(checked, "rule"))
		return
	}
	fmt.Fprintf(w, "\n%d of %s do not hold.\n", len(v.Problems), count(checked, "rule"))
}
