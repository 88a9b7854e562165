package main

import (
	"bufio"
	"errors"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"github.com/eunoe-memory/eunoe/internal/console"
	"github.com/eunoe-memory/eunoe/pkg/store"
)

// dumpCommand prints a store's logical content, so that the stores of two programs can be compared with diff.
func (a *cli) dumpCommand() *cobra.Command {
	var path string
	cmd := &cobra.Command{
		Use:   "dump",
		Short: "Print the logical content of a store, equal for equal memories",
		Long: "Prints one JSON array a row of a store: the name of its table and its values, without what depends on\n" +
			"when and how the store was made. Stores that two programs built from one log have equal dumps.",
		Example: "  eunoe-bench dump --store eunoe-data/eunoe.db",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if path == "" {
				return console.Usagef("name a store with --store")
			}
			if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
				return console.Usagef("--store: %w", err)
			}
			db, err := store.Open(store.Config{DSN: path, ReadOnly: true})
			if err != nil {
				return err
			}
			out := bufio.NewWriterSize(cmd.OutOrStdout(), 1<<20)
			return errors.Join(db.Dump(cmd.Context(), out), out.Flush(), db.Close())
		},
	}
	cmd.Flags().StringVar(&path, "store", "", "the file of the store")
	return cmd
}
