// Command eunoe is the command line: `eunoe up` runs every stage with a NATS server of its own, and the other commands
// speak to a running one through package client. Only up, demo, rebuild, config and verify --offline put stages together
// or open a store themselves, through internal/app.
//
// The package has a file for each command, or for each family of small ones (read.go, retain.go, rebuild.go), and so more
// files than others. main.go has the root command and the exit codes, output.go what all commands print with. A command
// reads its flags into a request of package wire and hands it to ask, which prints the reply: as a table for people, and
// with --json as the wire object.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/eunoe-memory/eunoe/internal/app/process"
	"github.com/eunoe-memory/eunoe/internal/console"
	"github.com/eunoe-memory/eunoe/pkg/client"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

// program is the name of the connections to the broker.
const program = "eunoe"

func main() {
	process.TuneRuntime()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := Execute(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// cli is what the commands of one run share: the environment and the persistent flags.
type cli struct {
	console.Connection

	began bool // a command's own code has started: errors are no longer usage
}

// Execute runs one command line with the process's environment and returns its exit code. All output goes to stdout and
// stderr; the end of ctx stops the command.
func Execute(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	return ExecuteIn(ctx, os.Environ(), args, stdin, stdout, stderr)
}

// ExecuteIn is Execute with another environment ("NAME=value" lines).
func ExecuteIn(ctx context.Context, environ, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	a := &cli{Connection: console.Connection{Environ: environ}}
	root := a.root()
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	cmd, err := root.ExecuteContextC(ctx)
	if isHook(cmd) {
		return exitOK // an agent takes anything else for a refusal of what its user asked
	}
	if err != nil && !a.began && memory.Code(err) == 500 {
		err = console.UsageError{Err: err}
	}
	if err != nil {
		a.printError(stderr, err)
	}
	return exitCode(err)
}

func (a *cli) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "eunoe",
		Short: "Long-term memory for agents, on NATS and SQLite",
		Long: "Eunoe remembers conversations: it turns what was said into facts, keeps them\n" +
			"consolidated, and finds what bears on a question.\n\n" +
			"Start with `eunoe demo`, which needs nothing, or `eunoe up`, which runs everything.",
		Version:       process.Version,
		SilenceUsage:  true,
		SilenceErrors: true,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			if err := a.Resolve(cmd.Flags()); err != nil {
				return err
			}
			a.began = true
			return nil
		},
	}
	root.SetVersionTemplate("eunoe {{.Version}}\n")
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return console.UsageError{Err: err} })
	f := root.PersistentFlags()
	a.AddFlags(f, "print the wire object, for programs")
	f.StringVar(&a.Bank, "bank", "default", "the bank to work with (EUNOE_BANK)")
	a.commands(root)
	return root
}

func (a *cli) commands(root *cobra.Command) {
	root.AddGroup(&cobra.Group{ID: "run", Title: "Run:"}, &cobra.Group{ID: "write", Title: "Write:"},
		&cobra.Group{ID: "read", Title: "Read:"}, &cobra.Group{ID: "operate", Title: "Operate:"})
	for _, g := range []struct {
		id   string
		make []func() *cobra.Command
	}{
		{"run", []func() *cobra.Command{a.upCommand, a.demoCommand, a.mcpCommand, a.hookCommand}},
		{"write", []func() *cobra.Command{a.publishCommand, a.importCommand, a.retainCommand, a.editCommand, a.applyCommand, a.undoCommand, a.snapshotCommand,
			a.conflictsCommand, a.aliasCommand, a.feedbackCommand, a.observeCommand, a.consolidateCommand, a.bankCommand, a.forgetCommand}},
		{"read", []func() *cobra.Command{a.recallCommand, a.reflectCommand, a.getCommand, a.listCommand, a.treeCommand,
			a.entitiesCommand, a.historyCommand, a.sessionsCommand, a.recallsCommand, a.exportCommand, a.tailCommand}},
		{"operate", []func() *cobra.Command{a.statusCommand, a.windowsCommand, a.deadLettersCommand, a.banksCommand, a.deadCommand,
			a.reextractCommand, a.rebuildCommand, a.migrateCommand, a.verifyCommand, a.backupCommand, a.restoreCommand, a.authCommand, a.doctorCommand,
			a.configCommand, a.versionCommand, a.manCommand}},
	} {
		for _, make := range g.make {
			cmd := make()
			cmd.GroupID = g.id
			root.AddCommand(cmd)
		}
	}
	root.AddCommand(exitCodesTopic())
	root.SetHelpCommand(helpCommand())
}

// connect dials the broker the flags name.
func (a *cli) connect(ctx context.Context) (*client.Client, error) {
	return client.Connect(ctx, a.Config(program))
}

// bankID returns the bank that the flags name, which Resolve has checked.
func (a *cli) bankID() memory.BankID { return memory.BankID(a.Bank) }

// The exit codes, which `eunoe help exit-codes` explains.
const (
	exitOK          = 0
	exitFailure     = 1
	exitUsage       = 2
	exitNotFound    = 3
	exitConflict    = 4
	exitUnavailable = 5
	exitDeadline    = 6
	exitQuota       = 7
	exitTooLarge    = 8
	exitForbidden   = 9
	exitInterrupted = 130
)

func exitCode(err error) int {
	var usage console.UsageError
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &usage), errors.Is(err, memory.ErrInvalid):
		return exitUsage
	case errors.Is(err, memory.ErrNotFound):
		return exitNotFound
	case errors.Is(err, memory.ErrConflict):
		return exitConflict
	case errors.Is(err, memory.ErrDeadline):
		return exitDeadline
	case errors.Is(err, memory.ErrUnavailable):
		return exitUnavailable
	case errors.Is(err, memory.ErrQuota):
		return exitQuota
	case errors.Is(err, memory.ErrTooLarge):
		return exitTooLarge
	case errors.Is(err, memory.ErrForbidden):
		return exitForbidden
	case errors.Is(err, context.Canceled):
		return exitInterrupted
	}
	return exitFailure
}

// helpCommand is the library's, but what has no help is an error.
func helpCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND]",
		Short: "Help about a command or a topic",
		RunE: func(cmd *cobra.Command, args []string) error {
			about, rest, err := cmd.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return console.Usagef("there is no help about %q; `eunoe help` lists the commands", strings.Join(args, " "))
			}
			about.InitDefaultHelpFlag()
			return about.Help()
		},
	}
}

func exitCodesTopic() *cobra.Command {
	return &cobra.Command{
		Use:   "exit-codes",
		Short: "What the exit codes mean",
		Long: `Every command ends with one of these codes:

    0  done
    1  failed in a way that has no code of its own
    2  usage: a wrong flag, argument, setting or field; the error names it
    3  no such bank or record
    4  conflict: it exists already, or moved on to another version
    5  unavailable: no broker, or a needed part is down; trying again may help
    6  the deadline passed before the outcome was known
    7  over quota
    8  too large
    9  not allowed: the broker refuses the credentials, or what they may not do
  130  interrupted

With --json an error is printed to standard error as the wire has it:
{"error":{"code":404,"message":"…"}}.`,
	}
}

// printError prints an error, as a sentence or with --json as the wire has it.
func (a *cli) printError(w io.Writer, err error) {
	if a.JSON {
		f := wire.FaultOf(err)
		f.Error.Message = errorText(err)
		if exitCode(err) == exitUsage {
			f.Error.Code = 400
		}
		line, _ := json.Marshal(f) //nolint:errcheck // strings and numbers always encode
		fmt.Fprintf(w, "%s\n", line)
		return
	}
	if exitCode(err) == exitInterrupted {
		fmt.Fprintln(w, "eunoe: interrupted")
		return
	}
	fmt.Fprintf(w, "eunoe: %s\n", console.Clean(errorText(err)))
	if errors.Is(err, memory.ErrNotFound) && strings.HasPrefix(err.Error(), "bank ") {
		fmt.Fprintln(w, "The first message makes a bank. Letter case counts; `eunoe banks` lists those there are (operators).")
	}
	var usage console.UsageError
	if errors.As(err, &usage) {
		fmt.Fprintln(w, "Run `eunoe help` or add --help for how it is used.")
	}
}

// errorText returns an error's text without a meaning that repeats what the text says: "not found: not found" becomes
// "not found", and an unavailable part already says why.
func errorText(err error) string {
	text := err.Error()
	for _, meaning := range []error{memory.ErrNotFound, memory.ErrConflict, memory.ErrDeadline, memory.ErrQuota, memory.ErrTooLarge, memory.ErrForbidden} {
		tail := ": " + meaning.Error()
		if short, cut := strings.CutSuffix(text, tail); cut && strings.HasSuffix(short, tail) {
			return short
		}
	}
	return strings.TrimSuffix(text, ": "+memory.ErrUnavailable.Error())
}
