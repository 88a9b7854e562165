package main

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"

	"github.com/eunoe-memory/eunoe/internal/app"
	"github.com/eunoe-memory/eunoe/pkg/consolidate"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

func (a *cli) rebuildCommand() *cobra.Command {
	var embed bool
	cmd := &cobra.Command{
		Use:   "rebuild",
		Short: "Make the store anew from the streams of a stopped eunoe",
		Long: "Makes the store anew from the streams in the data directory, or, where it holds\n" +
			"none, from those of the NATS server at --url or EUNOE_URL. Stop `eunoe up`, or the\n" +
			"consolidator and the query stages, first. No model is called and no change is announced.\n\n" +
			"With --embed everything is embedded by the configured model (EUNOE_EMBED), as after a\n" +
			"change of it; the vectors are appended to the log. The old store stays until the new\n" +
			"one is whole, and a run that was broken off goes on with the vectors that it made.",
		Example: "  eunoe rebuild --data ./memory\n  EUNOE_EMBED=openai:text-embedding-3-small eunoe rebuild --embed",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, _, err := a.settings(a.overrides(cmd))
			if err != nil {
				return err
			}
			if err := a.findLog(cmd, c); err != nil {
				return err
			}
			run := app.Rebuild
			if embed {
				run = app.Reembed
			}
			var last consolidate.Progress
			show := rebuildBar(cmd.ErrOrStderr())
			err = run(cmd.Context(), c, func(p consolidate.Progress) { last = p; show(p) })
			if err != nil {
				return err
			}
			if a.json {
				return printJSON(cmd.OutOrStdout(), map[string]any{"store": c.Store, "messages": last.Messages, "writes": last.Writes, "embedded": last.Embedded})
			}
			line := fmt.Sprintf("rebuilt %s", c.Store)
			if embed {
				line += fmt.Sprintf("; %d records were embedded", last.Embedded)
			}
			_, err = fmt.Fprintln(cmd.OutOrStdout(), line)
			return err
		},
	}
	cmd.Flags().String("data", "eunoe-data", "data directory (EUNOE_DATA)")
	cmd.Flags().BoolVar(&embed, "embed", false, "embed everything anew with the configured embedding model")
	return cmd
}

// rebuildBar draws how far a rebuild is, by the writes it applied.
func rebuildBar(w io.Writer) func(consolidate.Progress) {
	var bar *progressbar.ProgressBar
	return func(p consolidate.Progress) {
		if bar == nil {
			bar = newBar(w, int(p.LastWrite), "writes") //nolint:gosec // no log has so many
		}
		if p.Embedded > 0 {
			bar.Describe(fmt.Sprintf("writes, %d records embedded", p.Embedded))
		}
		_ = bar.Set64(int64(min(p.Writes, p.LastWrite))) //nolint:gosec // as above
	}
}

// findLog makes sure that there is a log to read before anything is made: in
// the data directory, or at a server that was named, answers, and has no stage
// that would go on with the file that is replaced.
func (a *cli) findLog(cmd *cobra.Command, c app.Config) error {
	if _, err := os.Stat(filepath.Join(c.Data, "streams")); err == nil {
		return nil
	}
	if _, ok := a.env("EUNOE_URL"); !ok && !cmd.Flags().Changed("url") {
		return usagef("there are no streams in %s: name the data directory with --data, or a NATS server with --url", c.Data)
	}
	server, err := a.connect(cmd.Context())
	if err != nil {
		return err
	}
	defer server.Close() //nolint:errcheck // nothing is left to send
	for _, s := range alive(cmd.Context(), server.Conn()) {
		if stage := cmp.Or(s.Metadata["stage"], "query"); stage == "consolidator" || stage == "query" {
			return fmt.Errorf("a %s runs on host %s and may have the store open; stop it first: %w", stage, dash(s.Metadata["host"]), memory.ErrConflict)
		}
	}
	return nil
}
