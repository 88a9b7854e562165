// Package console is what the command-line programs of the project share: eunoe and eunoe-bench.
//
// A [Connection] is the flags and the environment by which a program reaches a running Eunoe, and starts one of its own
// where it is to work on a separate one. The functions print what a program found, as tables for people and as JSON for
// programs.
package console

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/eunoe-memory/eunoe/internal/app/settings"
	"github.com/eunoe-memory/eunoe/pkg/client"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// Connection is the environment of a program and the flags that all its commands have. A flag overrides the
// environment, which overrides the default.
type Connection struct {
	Environ []string // "NAME=value"; the last of a name counts

	URL, Creds, Prefix string
	Bank               string // a program without a flag for it leaves it empty
	Timeout            time.Duration
	JSON               bool
}

// AddFlags adds the flags but --bank; jsonUsage says what --json prints.
func (c *Connection) AddFlags(f *pflag.FlagSet, jsonUsage string) {
	d := client.DefaultConfig()
	f.StringVar(&c.URL, "url", d.URL, "where the NATS server is (EUNOE_URL)")
	f.StringVar(&c.Creds, "creds", "", "file with NATS credentials or the seed of an nkey (EUNOE_CREDS)")
	f.StringVar(&c.Prefix, "prefix", d.Prefix, "first token of every subject (EUNOE_PREFIX)")
	f.DurationVar(&c.Timeout, "timeout", d.Timeout, "how long one request may take (EUNOE_TIMEOUT)")
	f.BoolVar(&c.JSON, "json", false, jsonUsage)
}

// Resolve sets the flags that are not given from the environment and checks them all. The error joins one for each wrong
// value, which names its flag or variable.
func (c *Connection) Resolve(flags *pflag.FlagSet) error {
	var errs []error
	origins := map[string]string{}
	for _, name := range []string{"url", "creds", "prefix", "timeout", "bank"} {
		f := flags.Lookup(name)
		if f == nil {
			continue
		}
		origins[name] = "--" + name
		variable := "EUNOE_" + strings.ToUpper(name)
		value, ok := c.Env(variable)
		if !ok || f.Changed {
			continue
		}
		origins[name] = variable
		if err := f.Value.Set(value); err != nil {
			errs = append(errs, memory.Invalid(variable, "%q: %v", value, err))
		}
	}
	if len(errs) > 0 {
		return errors.Join(errs...)
	}
	errs = named(c.Config("").Validate(), origins)
	if _, ok := origins["bank"]; ok {
		_, err := memory.ParseBankID(c.Bank)
		errs = append(errs, named(err, origins)...)
	}
	return errors.Join(errs...)
}

// named returns the errors that err joins, with the name of the flag or variable in place of the field.
func named(err error, origins map[string]string) []error {
	var all interface{ Unwrap() []error }
	if errors.As(err, &all) {
		var out []error
		for _, e := range all.Unwrap() {
			out = append(out, named(e, origins)...)
		}
		return out
	}
	var field *memory.FieldError
	if errors.As(err, &field) {
		return []error{memory.Invalid(cmp.Or(origins[field.Field], "--"+field.Field), "%s", field.Message)}
	}
	return []error{err}
}

// Env returns a variable of the environment, and whether it is set and not empty.
func (c *Connection) Env(name string) (string, bool) {
	for _, line := range slices.Backward(c.Environ) {
		if value, ok := strings.CutPrefix(line, name+"="); ok {
			return value, value != ""
		}
	}
	return "", false
}

// Config returns the settings of a client whose connection has the name of the program.
func (c *Connection) Config(program string) client.Config {
	cfg := client.DefaultConfig()
	cfg.URL, cfg.Creds, cfg.Prefix, cfg.Timeout, cfg.Name = c.URL, c.Creds, c.Prefix, c.Timeout, program
	cfg.Wait = c.Timeout / 5 * 4 // a write waits for its outcome; the rest of the time is for the way there and back
	for variable, to := range map[string]*string{"EUNOE_INBOX": &cfg.InboxPrefix, "EUNOE_TLS_CA": &cfg.TLS.CA, "EUNOE_TLS_CERT": &cfg.TLS.Cert, "EUNOE_TLS_KEY": &cfg.TLS.Key} {
		*to, _ = c.Env(variable)
	}
	return cfg
}

// Settings reads the settings of a deployment from the environment, overridden by flags (name without EUNOE_ → value).
func (c *Connection) Settings(flags map[string]string) (settings.Config, []settings.Setting, error) {
	cfg, list, err := settings.Load(c.Environ, flags)
	if err != nil {
		return cfg, list, UsageError{err}
	}
	return cfg, list, nil
}

// UsageError is a command line that cannot be carried out as it stands.
type UsageError struct{ Err error }

// Error returns the cause's text.
func (u UsageError) Error() string { return u.Err.Error() }

// Unwrap returns the cause.
func (u UsageError) Unwrap() error { return u.Err }

// Usagef returns a UsageError with a formatted text.
func Usagef(format string, args ...any) error { return UsageError{fmt.Errorf(format, args...)} }
