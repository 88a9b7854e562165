package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/eunoe-memory/eunoe/internal/app"
	"github.com/eunoe-memory/eunoe/pkg/client"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// cli is what the commands of one run share.
type cli struct {
	environ []string

	url, creds, prefix, bank string
	timeout                  time.Duration
	json                     bool

	began bool // a command's own code has started: errors are no longer usage
}

// Execute runs one command line with the process's environment and gives its
// exit code. Everything the command says goes to stdout and stderr; the end of
// ctx stops it.
func Execute(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	return ExecuteIn(ctx, os.Environ(), args, stdin, stdout, stderr)
}

// ExecuteIn is Execute with another environment ("NAME=value" lines).
func ExecuteIn(ctx context.Context, environ, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	a := &cli{environ: environ}
	root := a.root()
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := root.ExecuteContext(ctx)
	if err != nil && !a.began && memory.Code(err) == 500 {
		err = usageError{err}
	}
	if err != nil {
		a.complain(stderr, err)
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
		Version:       app.Version,
		SilenceUsage:  true,
		SilenceErrors: true,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			if err := a.settle(cmd); err != nil {
				return err
			}
			a.began = true
			return nil
		},
	}
	root.SetVersionTemplate("eunoe {{.Version}}\n")
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usageError{err} })
	d := client.DefaultConfig()
	f := root.PersistentFlags()
	f.StringVar(&a.url, "url", d.URL, "where the NATS server is (EUNOE_URL)")
	f.StringVar(&a.creds, "creds", "", "file with NATS credentials or the seed of an nkey (EUNOE_CREDS)")
	f.StringVar(&a.prefix, "prefix", d.Prefix, "first token of every subject (EUNOE_PREFIX)")
	f.DurationVar(&a.timeout, "timeout", d.Timeout, "how long one request may take (EUNOE_TIMEOUT)")
	f.StringVar(&a.bank, "bank", "default", "the bank to speak to (EUNOE_BANK)")
	f.BoolVar(&a.json, "json", false, "print the wire object, for programs")
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
		{"run", []func() *cobra.Command{a.upCommand, a.demoCommand}},
		{"write", []func() *cobra.Command{a.publishCommand, a.importCommand, a.retainCommand, a.editCommand,
			a.conflictsCommand, a.feedbackCommand, a.observeCommand, a.consolidateCommand, a.bankCommand, a.forgetCommand}},
		{"read", []func() *cobra.Command{a.recallCommand, a.reflectCommand, a.getCommand, a.listCommand, a.treeCommand,
			a.entitiesCommand, a.historyCommand, a.exportCommand, a.tailCommand}},
		{"operate", []func() *cobra.Command{a.statusCommand, a.banksCommand, a.deadCommand, a.reextractCommand, a.rebuildCommand, a.verifyCommand,
			a.authCommand, a.doctorCommand, a.configCommand, a.benchCommand, a.testmodelCommand, a.versionCommand}},
	} {
		for _, make := range g.make {
			cmd := make()
			cmd.GroupID = g.id
			root.AddCommand(cmd)
		}
	}
	root.AddCommand(exitCodesTopic())
}

// settle gives the flags nobody set their value from the environment and
// checks them all: a flag overrides the environment, which overrides the default.
func (a *cli) settle(cmd *cobra.Command) error {
	var errs []error
	flags := cmd.Flags()
	for _, name := range []string{"url", "creds", "prefix", "timeout", "bank"} {
		variable := "EUNOE_" + strings.ToUpper(name)
		value, ok := a.env(variable)
		if !ok || flags.Changed(name) {
			continue
		}
		if err := flags.Lookup(name).Value.Set(value); err != nil {
			errs = append(errs, memory.Invalid(variable, "%q: %v", value, err))
		}
	}
	if len(errs) == 0 {
		errs = append(errs, a.check(flags.Changed))
	}
	return errors.Join(errs...)
}

// check names the flag or the variable a wrong value came from.
func (a *cli) check(changed func(string) bool) error {
	var errs []error
	origin := func(name string) string {
		if _, ok := a.env("EUNOE_" + strings.ToUpper(name)); ok && !changed(name) {
			return "EUNOE_" + strings.ToUpper(name)
		}
		return "--" + name
	}
	var all interface{ Unwrap() []error }
	if err := a.config().Validate(); errors.As(err, &all) {
		errs = append(errs, named(err, origin)...)
	}
	if _, err := memory.ParseBankID(a.bank); err != nil {
		errs = append(errs, named(err, origin)...)
	}
	return errors.Join(errs...)
}

// named puts the flag's or variable's name where a field error has the field's.
func named(err error, origin func(string) string) []error {
	var all interface{ Unwrap() []error }
	if errors.As(err, &all) {
		var out []error
		for _, e := range all.Unwrap() {
			out = append(out, named(e, origin)...)
		}
		return out
	}
	var field *memory.FieldError
	if errors.As(err, &field) {
		return []error{memory.Invalid(origin(field.Field), "%s", field.Message)}
	}
	return []error{err}
}

func (a *cli) env(name string) (string, bool) {
	for _, line := range slices.Backward(a.environ) {
		if value, ok := strings.CutPrefix(line, name+"="); ok {
			return value, value != ""
		}
	}
	return "", false
}

func (a *cli) config() client.Config {
	c := client.DefaultConfig()
	c.URL, c.Creds, c.Prefix, c.Timeout, c.Name = a.url, a.creds, a.prefix, a.timeout, "eunoe"
	c.Wait = a.patience()
	for variable, to := range map[string]*string{"EUNOE_INBOX": &c.InboxPrefix, "EUNOE_TLS_CA": &c.TLS.CA, "EUNOE_TLS_CERT": &c.TLS.Cert, "EUNOE_TLS_KEY": &c.TLS.Key} {
		*to, _ = a.env(variable)
	}
	return c
}

// connect dials the broker the flags name.
func (a *cli) connect(ctx context.Context) (*client.Client, error) {
	c, err := client.Connect(ctx, a.config())
	if err != nil {
		return nil, err
	}
	return c, nil
}

// bankID is the bank the flags name, checked by settle.
func (a *cli) bankID() memory.BankID { return memory.BankID(a.bank) }

// usageError is a command line that cannot be read.
type usageError struct{ err error }

func (u usageError) Error() string { return u.err.Error() }
func (u usageError) Unwrap() error { return u.err }

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }
