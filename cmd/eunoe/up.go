package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/eunoe-memory/eunoe/internal/access"
	"github.com/eunoe-memory/eunoe/internal/app"
	"github.com/eunoe-memory/eunoe/pkg/client"
)

// settings reads the deployment's settings from the environment, with flags
// (name without EUNOE_ → value) over it.
func (a *cli) settings(flags map[string]string) (app.Config, []app.Setting, error) {
	c, list, err := app.LoadConfig(a.environ, flags)
	if err != nil {
		return c, list, usageError{err}
	}
	return c, list, nil
}

// overrides gives the persistent flags that were set as settings.
func (a *cli) overrides(cmd *cobra.Command) map[string]string {
	out := map[string]string{}
	for name, setting := range map[string]string{"url": "URL", "creds": "CREDS", "prefix": "PREFIX", "data": "DATA", "port": "PORT"} {
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
			c, _, err := a.settings(a.overrides(cmd))
			if err != nil {
				return err
			}
			return app.Up(cmd.Context(), c, func(l *app.Local) {
				if a.json {
					line, _ := json.Marshal(map[string]string{"url": l.URL, "http": l.HTTP, "data": l.Dir}) //nolint:errcheck // strings always encode
					fmt.Fprintf(cmd.OutOrStdout(), "%s\n", line)
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
			})
		},
	}
	cmd.Flags().String("data", "eunoe-data", "data directory (EUNOE_DATA)")
	cmd.Flags().Int("port", 4222, "port of the NATS server; -1 picks a free one (EUNOE_PORT)")
	return cmd
}

func (a *cli) configCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "config",
		Short: "Show the effective settings and where each comes from",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, list, err := a.settings(a.overrides(cmd))
			if err != nil {
				return err
			}
			list = append(list, a.ownSettings(cmd)...)
			if a.json {
				return printJSON(cmd.OutOrStdout(), list)
			}
			rows := make([][]string, 0, len(list))
			for _, s := range list {
				rows = append(rows, []string{s.Name, dash(s.Value), s.Source, s.Doc})
			}
			table(cmd.OutOrStdout(), []string{"SETTING", "VALUE", "FROM", "WHAT"}, rows)
			return nil
		},
	}
	cmd.Flags().String("data", "eunoe-data", "data directory (EUNOE_DATA)")
	cmd.Flags().Int("port", 4222, "port of the NATS server (EUNOE_PORT)")
	return cmd
}

// ownSettings are the settings of the command line alone.
func (a *cli) ownSettings(cmd *cobra.Command) []app.Setting {
	source := func(flag, variable string) string {
		if cmd.Flags().Changed(flag) {
			return "flag"
		}
		if _, ok := a.env(variable); ok {
			return "environment"
		}
		return "default"
	}
	return []app.Setting{
		{Name: "EUNOE_TIMEOUT", Value: a.timeout.String(), Source: source("timeout", "EUNOE_TIMEOUT"), Doc: "how long one request of the command line may take"},
		{Name: "EUNOE_BANK", Value: a.bank, Source: source("bank", "EUNOE_BANK"), Doc: "the bank the command line speaks to"},
	}
}

func (a *cli) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if a.json {
				return printJSON(cmd.OutOrStdout(), map[string]string{"version": app.Version, "revision": app.Revision()})
			}
			line := "eunoe " + app.Version
			if r := app.Revision(); r != "" {
				line += " (" + r[:min(12, len(r))] + ")"
			}
			_, err := fmt.Fprintln(cmd.OutOrStdout(), line)
			return err
		},
	}
}

// tempSettings are settings for a pipeline of its own in a new directory:
// quiet, on a free port, with writes that need not survive the machine, and
// with one extractor at a time, so that two runs of the same are equal. more are
// further settings.
func (a *cli) tempSettings(dir string, more map[string]string) (app.Config, error) {
	own := map[string]string{
		"DATA": dir, "STORE": "", "PORT": strconv.Itoa(-1), "HTTP": "127.0.0.1:0", "LOG": "error", "SYNC": "false", "EXTRACTORS": "1", "URL": "nats://127.0.0.1:4222", "CREDS": "",
		"AUTH_DIR": "", "LISTEN": "127.0.0.1", "TLS_CERT": "", "TLS_KEY": "", "TLS_CA": "", "INBOX": "",
	}
	maps.Copy(own, more)
	c, _, err := a.settings(own)
	return c, err
}

// tempDir makes a directory and gives what removes it.
func tempDir() (string, func(), error) {
	dir, err := os.MkdirTemp("", "eunoe-")
	if err != nil {
		return "", nil, fmt.Errorf("temporary directory: %w", err)
	}
	return dir, func() { os.RemoveAll(dir) }, nil //nolint:errcheck // it is a temporary directory
}
