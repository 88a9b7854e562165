package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/eunoe-memory/eunoe/internal/console"
	"github.com/eunoe-memory/eunoe/internal/transfer"
)

const exportHelp = `Writes the bank as JSON lines, one record a line:

  {"record":"export","format":1,"bank":"alice"}
  {"record":"bank","bank":"alice","profile":{…}}            the profile
  {"record":"message","bank":"alice","session":"…","seq":12,"id":"…","content":"…",…}
  {"record":"flush","bank":"alice","session":"…","flush":true}
  {"record":"write","bank":"alice","request":"retain","body":{…}}   what was written by request
  {"record":"fact","bank":"alice","item":{…}}               what came of it: fact, composite,
                                                            observation, entity, conflict
  {"record":"end","lines":n}

Messages and requests are read from the log, so an operator's credentials are
needed; what was forgotten is not in it. import reads it back.`

func (a *cli) exportCommand() *cobra.Command {
	var path string
	cmd := &cobra.Command{
		Use: "export", Short: "Write the whole bank as JSON lines", Long: exportHelp, Args: cobra.NoArgs,
		Example: "  eunoe export --bank alice --out alice.jsonl",
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			c, err := a.connect(cmd.Context())
			if err != nil {
				return err
			}
			defer c.Close() //nolint:errcheck // nothing is left to send
			w := cmd.OutOrStdout()
			if path != "" {
				file, err := os.Create(path)
				if err != nil {
					return console.UsageError{Err: fmt.Errorf("--out: %w", err)}
				}
				defer func() {
					if cerr := file.Close(); cerr != nil && err == nil {
						fmt.Fprintf(cmd.ErrOrStderr(), "close %s: %v\n", path, cerr)
					}
				}()
				w = file
			}
			e := transfer.NewExporter(c, a.bankID(), w)
			if err := e.Run(cmd.Context()); err != nil {
				return err
			}
			if e.Left > 0 {
				fmt.Fprintf(cmd.ErrOrStderr(), "%s that could not be read left out\n", count(e.Left, "event"))
			}
			if path != "" && a.JSON {
				return console.PrintJSON(cmd.OutOrStdout(), map[string]any{"file": path, "lines": e.Lines, "messages": e.Records[transfer.RecordMessage], "facts": e.Records["fact"], "requests": e.Records[transfer.RecordWrite]})
			}
			if path != "" {
				fmt.Fprintf(cmd.ErrOrStderr(), "wrote %d lines to %s\n", e.Lines, path)
			}
			if !a.JSON {
				fmt.Fprintf(cmd.ErrOrStderr(), "exported %s, %s, %s\n", count(e.Records[transfer.RecordMessage], "message"), count(e.Records["fact"], "fact"), count(e.Records[transfer.RecordWrite], "request"))
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&path, "out", "", "write to this file (default: standard output)")
	return cmd
}
