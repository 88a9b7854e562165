package main_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	eunoe "github.com/eunoe-memory/eunoe/cmd/eunoe"
	"github.com/eunoe-memory/eunoe/internal/app/apptest"
)

// result holds the output and the exit code of one command line.
type result struct {
	code     int
	out, err string
}

// run executes one command line in its own environment.
func run(t *testing.T, ctx context.Context, environ []string, stdin string, args ...string) result {
	t.Helper()
	var out, errs bytes.Buffer
	code := eunoe.ExecuteIn(ctx, environ, args, strings.NewReader(stdin), &out, &errs)
	return result{code, out.String(), errs.String()}
}

// ok executes a command line and fails the test unless it succeeds.
func ok(t *testing.T, environ []string, args ...string) string {
	t.Helper()
	r := run(t, t.Context(), environ, "", args...)
	if r.code != 0 {
		t.Fatalf("eunoe %s: exit code %d\n%s%s", strings.Join(args, " "), r.code, r.out, r.err)
	}
	return r.out
}

func TestUsage(t *testing.T) {
	t.Parallel()
	t.Run("each command-line mistake exits with code 2 and is named", func(t *testing.T) {
		t.Parallel()
		for _, tc := range []struct {
			args []string
			says string
		}{
			{[]string{"recal", "x"}, "recal"},
			{[]string{"recall"}, "requires at least 1 arg"},
			{[]string{"recall", "--max-fact", "3", "x"}, "--max-fact"},
			{[]string{"recall", "--max-facts", "many", "x"}, "--max-facts"},
			{[]string{"recall", "--from", "yesterday", "x"}, "--from"},
			{[]string{"recall", "--strategies", "magic=1", "x"}, "magic"},
			{[]string{"get"}, "accepts 1 arg"},
			{[]string{"publish"}, "nothing to publish"},
			{[]string{"forget"}, "name one thing"},
			{[]string{"forget", "f_1", "--session", "s"}, "name one thing"},
			{[]string{"bank", "set"}, "nothing to set"},
			{[]string{"dead", "show", "x"}, `"x"`},
			{[]string{"dead", "retry"}, "--all"},
			{[]string{"dead", "drop", "3", "--all"}, "--all"},
			{[]string{"dead", "retry", "3", "--stage", "extract"}, "--stage"},
			{[]string{"edit"}, "requires at least 1 arg"},
			{[]string{"edit", "f_1"}, "nothing to edit"},
			{[]string{"conflicts", "resolve", "x_1"}, "--winner"},
			{[]string{"feedback"}, "--retrieved"},
			{[]string{"import", "/no/such/file"}, "/no/such/file"},
			{[]string{"--bank", "admin", "status"}, "--bank"},
			{[]string{"help", "foo"}, `no help about "foo"`},
			{[]string{"help", "bank", "foo"}, `no help about "bank foo"`},
		} {
			r := run(t, t.Context(), nil, "", tc.args...)
			if r.code != 2 || !strings.Contains(r.err, tc.says) || r.out != "" {
				t.Errorf("%v: exit code %d, %q %q", tc.args, r.code, r.out, r.err)
			}
		}
	})
	t.Run("every command and flag has a description", func(t *testing.T) {
		t.Parallel()
		for _, args := range [][]string{{}, {"help"}, {"help", "exit-codes"}, {"help", "bank", "set"}, {"recall", "--help"}, {"import", "--help"}, {"dead"}} {
			if out := ok(t, nil, args...); out == "" {
				t.Errorf("%v says nothing", args)
			}
		}
	})
	t.Run("manual pages and shell completions can be written", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		ok(t, nil, "man", dir)
		for name, says := range map[string]string{"eunoe.1": "Long-term memory", "eunoe-recall.1": "eunoe recall"} {
			page, err := os.ReadFile(filepath.Join(dir, name))
			if err != nil || !strings.Contains(strings.ReplaceAll(string(page), `\-`, "-"), says) {
				t.Errorf("%s: %v\n%.400s", name, err, page)
			}
		}
		for _, shell := range []string{"bash", "zsh", "fish"} {
			if out := ok(t, nil, "completion", shell); !strings.Contains(out, "eunoe") {
				t.Errorf("%s: %.200s", shell, out)
			}
		}
	})
	t.Run("the version is printed", func(t *testing.T) {
		t.Parallel()
		for _, arg := range []string{"version", "--version"} {
			if out := ok(t, nil, arg); !strings.HasPrefix(out, "eunoe ") {
				t.Errorf("%s: got %q", arg, out)
			}
		}
		if v := apptest.Decode[map[string]string](t, ok(t, nil, "version", "--json")); v["version"] == "" {
			t.Errorf("got %v", v)
		}
	})
	t.Run("a missing broker exits with code 5, and --json prints the wire error", func(t *testing.T) {
		t.Parallel()
		r := run(t, t.Context(), nil, "", "status", "--url", "nats://127.0.0.1:1")
		if r.code != 5 || !strings.Contains(r.err, "eunoe up") {
			t.Errorf("exit code %d, %q", r.code, r.err)
		}
		r = run(t, t.Context(), nil, "", "status", "--url", "nats://127.0.0.1:1", "--json")
		var fault struct {
			Error struct{ Code int } `json:"error"`
		}
		if err := json.Unmarshal([]byte(r.err), &fault); err != nil || fault.Error.Code != 503 {
			t.Errorf("got %q, %v", r.err, err)
		}
	})
}

func TestConformance(t *testing.T) {
	t.Parallel()
	t.Run("a flag overrides the environment, the environment the default; an invalid value is an error that names it", func(t *testing.T) {
		t.Parallel()
		setting := func(environ []string, name string, args ...string) (value, from string) {
			t.Helper()
			type row struct{ Name, Value, Source string }
			for _, s := range apptest.Decode[[]row](t, ok(t, environ, append([]string{"config", "--json"}, args...)...)) {
				if s.Name == name {
					return s.Value, s.Source
				}
			}
			t.Fatalf("no setting %s", name)
			return "", ""
		}
		for _, tc := range []struct{ name, flag, env, other, normal string }{
			{"EUNOE_URL", "--url", "nats://one:4222", "nats://two:4222", "nats://127.0.0.1:4222"},
			{"EUNOE_PREFIX", "--prefix", "one", "two", "mem"},
			{"EUNOE_TIMEOUT", "--timeout", "7s", "9s", "30s"},
			{"EUNOE_BANK", "--bank", "one", "two", "default"},
			{"EUNOE_DATA", "--data", "one", "two", "eunoe-data"},
			{"EUNOE_PORT", "--port", "5000", "6000", "4222"},
		} {
			environ := []string{tc.name + "=" + tc.env}
			if v, from := setting(nil, tc.name); v != tc.normal || from != "default" {
				t.Errorf("%s is %s by %s", tc.name, v, from)
			}
			if v, from := setting(environ, tc.name); v != tc.env || from != "environment" {
				t.Errorf("%s is %s by %s", tc.name, v, from)
			}
			if v, from := setting(environ, tc.name, tc.flag, tc.other); v != tc.other || from != "flag" {
				t.Errorf("%s is %s by %s", tc.name, v, from)
			}
		}
		for _, tc := range []struct {
			environ []string
			args    []string
			says    string
		}{
			{[]string{"EUNOE_TIMEOUT=soon"}, []string{"status"}, "EUNOE_TIMEOUT"},
			{[]string{"EUNOE_TIMEOUT=-1s"}, []string{"status"}, "EUNOE_TIMEOUT"},
			{[]string{"EUNOE_PREFIX=a.b"}, []string{"status"}, "EUNOE_PREFIX"},
			{[]string{"EUNOE_CREDS=/no/such"}, []string{"status"}, "EUNOE_CREDS"},
			{[]string{"EUNOE_BANK=admin"}, []string{"status"}, "EUNOE_BANK"},
			{[]string{"EUNOE_PORT=none"}, []string{"up"}, "EUNOE_PORT"},
			{[]string{"EUNOE_PORT=99999"}, []string{"config"}, "EUNOE_PORT"},
			{nil, []string{"--timeout", "soon", "status"}, "--timeout"},
			{nil, []string{"--timeout", "-1s", "status"}, "--timeout"},
			{nil, []string{"--prefix", "a.b", "status"}, "--prefix"},
		} {
			r := run(t, t.Context(), tc.environ, "", tc.args...)
			if r.code != 2 || !strings.Contains(r.err, tc.says) {
				t.Errorf("%v %v: exit code %d, %q", tc.environ, tc.args, r.code, r.err)
			}
		}
	})
}

// executeTo executes a command line whose output goes to out.
func executeTo(ctx context.Context, environ []string, out io.Writer, args ...string) int {
	return eunoe.ExecuteIn(ctx, environ, args, strings.NewReader(""), out, io.Discard)
}
