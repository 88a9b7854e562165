package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/eunoe-memory/eunoe/internal/app"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/query"
)

// verifyTimeout is how long a check may take unless --timeout or EUNOE_TIMEOUT says otherwise.
const verifyTimeout = 10 * time.Minute

// errUnsound is the end of a check that found problems; what they are is printed.
var errUnsound = errors.New("the store is not as it must be: `eunoe rebuild` makes it anew from the log")

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
			var v query.Verification
			var err error
			if offline {
				v, err = a.verifyStopped(cmd, full)
			} else {
				v, err = a.verifyRunning(cmd, full)
			}
			if err != nil {
				return err
			}
			if a.json {
				err = printJSON(cmd.OutOrStdout(), v)
			} else {
				showVerification(cmd.OutOrStdout(), v)
			}
			if err == nil && !v.OK {
				err = errUnsound
			}
			return err
		},
	}
	cmd.Flags().BoolVar(&full, "full", false, "read all of the file and of the log, where a part is enough otherwise")
	cmd.Flags().BoolVar(&offline, "offline", false, "open the store of a stopped eunoe")
	cmd.Flags().String("data", "eunoe-data", "with --offline: data directory (EUNOE_DATA)")
	return cmd
}

func (a *cli) verifyRunning(cmd *cobra.Command, full bool) (v query.Verification, err error) {
	if cmd.Flags().Changed("data") {
		return v, usagef("--data goes with --offline")
	}
	if _, ok := a.env("EUNOE_TIMEOUT"); !ok && !cmd.Flags().Changed("timeout") {
		a.timeout = verifyTimeout
	}
	c, err := a.connect(cmd.Context())
	if err != nil {
		return v, err
	}
	defer c.Close() //nolint:errcheck // nothing is left to send
	body, err := json.Marshal(query.VerifyRequest{Full: full})
	if err != nil {
		return v, err
	}
	data, err := c.Admin().Raw(cmd.Context(), "verify", body)
	if err == nil {
		err = memory.DecodeEvent(data, &v)
	}
	return v, err
}

func (a *cli) verifyStopped(cmd *cobra.Command, full bool) (v query.Verification, err error) {
	c, _, err := a.settings(a.overrides(cmd))
	if err != nil {
		return v, err
	}
	_, named := a.env("EUNOE_URL")
	return app.Verify(cmd.Context(), c, full, named || cmd.Flags().Changed("url"))
}

func showVerification(w io.Writer, v query.Verification) {
	checked := 0
	for _, c := range v.Checks {
		if c.Skipped != "" {
			fmt.Fprintln(w, clean("not checked: "+c.Rule+": "+c.Skipped))
			continue
		}
		checked++
	}
	for _, p := range v.Problems {
		fmt.Fprintln(w, clean("broken: "+p))
	}
	var rows [][]string
	for _, name := range []string{"banks", "messages", "facts", "composites", "entities", "observations", "conflicts"} {
		rows = append(rows, []string{name, strconv.Itoa(v.Counts[name])})
	}
	table(w, nil, rows)
	if v.OK {
		fmt.Fprintf(w, "\nAll of %s hold.\n", count(checked, "rule"))
		return
	}
	fmt.Fprintf(w, "\n%d of %s do not hold.\n", len(v.Problems), count(checked, "rule"))
}
