package main

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/eunoe-memory/eunoe/internal/app"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

func (a *cli) rebuildCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "rebuild",
		Short: "Make the store anew from the streams of a stopped eunoe",
		Long: "Makes the store anew from the streams in the data directory, or, where it holds\n" +
			"none, from those of the NATS server at --url or EUNOE_URL. Stop `eunoe up`, or the\n" +
			"consolidator and the query stages, first. No model is called and no change is announced.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, _, err := a.settings(a.overrides(cmd))
			if err != nil {
				return err
			}
			if err := a.findLog(cmd, c); err != nil {
				return err
			}
			if err := app.Rebuild(cmd.Context(), c); err != nil {
				return err
			}
			if a.json {
				return printJSON(cmd.OutOrStdout(), map[string]string{"store": c.Store})
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "rebuilt %s\n", c.Store)
			return err
		},
	}
	cmd.Flags().String("data", "eunoe-data", "data directory (EUNOE_DATA)")
	return cmd
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
