// Command eunoe-bench measures Eunoe: how well recall finds, how fast messages become memory, what a memory costs on
// disk, in memory and in calls of a language model. It is a program of the repository and no part of what is shipped.
//
// Every command starts what it measures in its own process and a temporary directory unless --url names a running
// Eunoe. Tables go to standard output, progress to standard error; --json prints the figures for programs.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/eunoe-memory/eunoe/internal/app/process"
	"github.com/eunoe-memory/eunoe/internal/console"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// program is the name of the connections to the broker.
const program = "eunoe-bench"

func main() {
	process.TuneRuntime()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := Execute(ctx, os.Environ(), os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// The exit codes are those of eunoe.
const (
	exitFailure     = 1
	exitUsage       = 2
	exitInterrupted = 130
)

// cli holds the flags and the environment that all commands share.
type cli struct {
	console.Connection

	began bool // a command's own code runs: errors are no longer errors of usage
}

// Execute runs one command line in an environment of "NAME=value" lines and returns its exit code: 0, 1 for a failure,
// 2 for a wrong flag, argument or setting, 130 when ctx ended it.
func Execute(ctx context.Context, environ, args []string, stdout, stderr io.Writer) int {
	a := &cli{Connection: console.Connection{Environ: environ}}
	root := a.root()
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := root.ExecuteContext(ctx)
	var usage console.UsageError
	switch {
	case err == nil:
		return 0
	case errors.Is(err, context.Canceled):
		fmt.Fprintln(stderr, "eunoe-bench: interrupted")
		return exitInterrupted
	}
	fmt.Fprintf(stderr, "eunoe-bench: %v\n", err)
	if !a.began || errors.As(err, &usage) || errors.Is(err, memory.ErrInvalid) {
		fmt.Fprintln(stderr, "Add --help for how it is used.")
		return exitUsage
	}
	return exitFailure
}

func (a *cli) root() *cobra.Command {
	root := &cobra.Command{
		Use:           "eunoe-bench",
		Short:         "Measure Eunoe",
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          cobra.NoArgs,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			if err := a.Resolve(cmd.Flags()); err != nil {
				return err
			}
			a.began = true
			return nil
		},
	}
	a.AddFlags(root.PersistentFlags(), "print the figures as JSON, for programs")
	root.AddCommand(a.loadCommands()...)
	root.AddCommand(a.retrievalCommand(), a.confidenceCommand(), a.fitCommand(), a.buildCommand(), a.extractorsCommand(), a.changeCommand(), a.sentencesCommand(), a.factsCommand(),
		a.dumpCommand(), a.doorsCommand())
	return root
}

// pairs prints names and values, which alternate, in two columns.
func pairs(w io.Writer, list ...any) {
	width := 0
	for i := 0; i < len(list); i += 2 {
		width = max(width, len(list[i].(string)))
	}
	for i := 0; i < len(list); i += 2 {
		fmt.Fprintf(w, "%-*s  %v\n", width, list[i], list[i+1])
	}
}
