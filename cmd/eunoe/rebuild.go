package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/eunoe-memory/eunoe/internal/app"
)

func (a *cli) rebuildCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "rebuild",
		Short: "Make the store anew from the streams of a stopped eunoe",
		Long: "Makes the store anew from the streams in the data directory. Stop `eunoe up`\n" +
			"first. No model is called and no change is announced.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, _, err := a.settings(a.overrides(cmd))
			if err != nil {
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
