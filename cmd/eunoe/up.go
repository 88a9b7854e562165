package main

import (
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"github.com/eunoe-memory/eunoe/internal/access"
	"github.com/eunoe-memory/eunoe/internal/app/local"
	"github.com/eunoe-memory/eunoe/internal/app/process"
	"github.com/eunoe-memory/eunoe/internal/app/settings"
	"github.com/eunoe-memory/eunoe/internal/console"
	"github.com/eunoe-memory/eunoe/pkg/client"
)

// overrides returns the persistent flags that were given, as settings.
func (a *cli) overrides(cmd *cobra.Command) map[string]string {
	out := map[string]string{}
	for name, setting := range map[string]string{"url": "URL", "creds": "CREDS", "prefix": "PREFIX", "data": "DATA", "port": "PORT", "http": "HTTP"} {
		if f := cmd.Flags().Lookup(name); f != nil && f.Changed {
			out[setting] = f.Value.String()
		}
	}
	return out
}

func (a *cli) upCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "up",
		Short: "Run everything: a NATS server and all stages, in this process",
		Long: "Runs a NATS server and every stage in this process until Ctrl-C. Nothing else is\n" +
			"needed; the data directory holds it all. Settings come from EUNOE_* (see `eunoe config`).",
		Example: "  eunoe up --data ./memory",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, _, err := a.Settings(a.overrides(cmd))
			if err != nil {
				return err
			}
			return local.Up(cmd.Context(), c, func(l *local.Local) {
				if a.JSON {
					console.PrintJSON(cmd.OutOrStdout(), map[string]string{"url": l.URL, "http": l.Gateway, "health": l.HTTP, "data": l.Dir}) //nolint:errcheck // strings always encode
					return
				}
				at := ""
				if l.URL != client.DefaultConfig().URL {
					at = " --url " + l.URL
				}
				if _, err := access.Read(c.AuthDirectory()); err == nil {
					at += " --creds FILE" // of a bot
				}
				fmt.Fprintf(cmd.OutOrStdout(), "Eunoe is up at %s (data in %s, health at http://%s/readyz). Ctrl-C stops it.\n\n"+
					"Try, in another terminal:\n"+
					"  eunoe publish%[4]s --speaker Alice --flush I moved to Lisbon in May.\n"+
					"  eunoe recall%[4]s where does Alice live\n", l.URL, l.Dir, l.HTTP, at)
				if l.Gateway != "" {
					fmt.Fprintf(cmd.OutOrStdout(), "\nHTTP is at %[1]s:\n"+
						"  curl --json '{\"query\":\"where does Alice live\"}' %[1]s/v1/banks/default/recall\n", l.Gateway)
				}
			})
		},
	}
	cmd.Flags().String("data", "eunoe-data", "data directory (EUNOE_DATA)")
	cmd.Flags().Int("port", 4222, "port of the NATS server; -1 picks a free one (EUNOE_PORT)")
	cmd.Flags().String("http", "127.0.0.1:8420", "address of the HTTP gateway; off is none (EUNOE_HTTP)")
	return cmd
}

func (a *cli) configCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "config",
		Short: "Show the effective settings and their sources",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, list, err := a.Settings(a.overrides(cmd))
			if err != nil {
				return err
			}
			list = append(list, a.ownSettings(cmd)...)
			if a.JSON {
				return console.PrintJSON(cmd.OutOrStdout(), list)
			}
			console.Table(cmd.OutOrStdout(), []string{"SETTING", "VALUE", "FROM", "WHAT"}, rowsOf(list, func(s settings.Setting) []string {
				return []string{s.Name, dash(s.Value), s.Source, s.Doc}
			}))
			return nil
		},
	}
	cmd.Flags().String("data", "eunoe-data", "data directory (EUNOE_DATA)")
	cmd.Flags().Int("port", 4222, "port of the NATS server (EUNOE_PORT)")
	return cmd
}

// ownSettings are the settings that only the command line reads.
func (a *cli) ownSettings(cmd *cobra.Command) []settings.Setting {
	source := func(flag, variable string) string {
		if cmd.Flags().Changed(flag) {
			return "flag"
		}
		if _, ok := a.Env(variable); ok {
			return "environment"
		}
		return "default"
	}
	return []settings.Setting{
		{Name: "EUNOE_TIMEOUT", Value: a.Timeout.String(), Source: source("timeout", "EUNOE_TIMEOUT"), Doc: "how long one request of the command line may take"},
		{Name: "EUNOE_BANK", Value: a.Bank, Source: source("bank", "EUNOE_BANK"), Doc: "the bank the command line speaks to"},
	}
}

// manCommand writes the manual pages, for whoever packs the program.
func (a *cli) manCommand() *cobra.Command {
	return &cobra.Command{
		Use: "man DIRECTORY", Short: "Write the manual pages into a directory", Args: cobra.ExactArgs(1), Hidden: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			root := cmd.Root()
			root.DisableAutoGenTag = true
			return doc.GenManTree(root, &doc.GenManHeader{Section: "1", Source: "Eunoe " + process.Version, Manual: "Eunoe"}, args[0])
		},
	}
}

func (a *cli) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			line := "eunoe " + process.Version
			if r := process.Revision(); r != "" {
				line += " (" + r[:min(12, len(r))] + ")"
			}
			return a.print(cmd, map[string]string{"version": process.Version, "revision": process.Revision()}, line)
		},
	}
}
