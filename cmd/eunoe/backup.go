package main

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/eunoe-memory/eunoe/internal/app/offline"
	"github.com/eunoe-memory/eunoe/internal/console"
)

func (a *cli) backupCommand() *cobra.Command {
	var stopped bool
	cmd := &cobra.Command{
		Use:   "backup DIRECTORY",
		Short: "Copy the streams and the store into a new directory",
		Long: "Copies the streams of the NATS server at --url or EUNOE_URL by its own snapshots, and the\n" +
			"store where its file is on this host. Nothing has to be stopped. With --offline the streams\n" +
			"are those in the data directory of a stopped eunoe. The copy of the store is checked, and\n" +
			"that every message and write can be read; of a damaged log a backup is made, and the\n" +
			"command fails (exit code 1).",
		Example: "  eunoe backup /var/backups/eunoe-2026-05-20\n  eunoe backup --offline --data ./memory ./copy",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, _, err := a.Settings(a.overrides(cmd))
			if err != nil {
				return err
			}
			dir, err := filepath.Abs(args[0])
			if err != nil {
				return err
			}
			m, err := offline.Backup(cmd.Context(), c, dir, stopped, showStep(cmd.ErrOrStderr()))
			if err != nil {
				return err
			}
			line := fmt.Sprintf("%s holds %s", dir, count(len(m.Streams), "stream"))
			if m.Store {
				line += " and the store"
			} else {
				line += "; there is no store at " + c.Store + ", so restoring makes it anew from the log"
			}
			if err := a.print(cmd, m, line); err != nil || len(m.Unreadable) == 0 {
				return err
			}
			return fmt.Errorf("the backup is made, and lacks what the broker can no longer read (%s): keep the earlier ones; "+
				"`eunoe verify --full` names what is lost", strings.Join(m.Unreadable, "; "))
		},
	}
	cmd.Flags().BoolVar(&stopped, "offline", false, "read the data directory of a stopped eunoe")
	cmd.Flags().String("data", "eunoe-data", "data directory (EUNOE_DATA)")
	return cmd
}

func (a *cli) restoreCommand() *cobra.Command {
	var stopped bool
	cmd := &cobra.Command{
		Use:   "restore DIRECTORY",
		Short: "Make the streams and the store of a backup, and verify them",
		Long: "Makes the streams of a backup on the NATS server at --url or EUNOE_URL, which must have none of\n" +
			"this prefix, and the store at EUNOE_STORE, where there must be none; a backup without a store\n" +
			"has it made from the log. With --offline the streams are made in a new data directory, for\n" +
			"`eunoe up`. All of it is verified then. No stage may run.",
		Example: "  eunoe restore --offline --data ./memory /var/backups/eunoe-2026-05-20",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, _, err := a.Settings(a.overrides(cmd))
			if err != nil {
				return err
			}
			v, err := offline.Restore(cmd.Context(), c, args[0], stopped, showStep(cmd.ErrOrStderr()))
			if err != nil {
				return err
			}
			return a.reportVerification(cmd, v)
		},
	}
	cmd.Flags().BoolVar(&stopped, "offline", false, "make the streams in the data directory of an eunoe that is not running")
	cmd.Flags().String("data", "eunoe-data", "data directory (EUNOE_DATA)")
	return cmd
}

// showStep prints what is being done.
func showStep(w io.Writer) func(string) {
	return func(what string) { fmt.Fprintln(w, console.Clean(what)) }
}
