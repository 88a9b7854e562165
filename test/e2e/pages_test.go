package e2e_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/eunoe-memory/eunoe/internal/app/apptest"
	"github.com/eunoe-memory/eunoe/pkg/events/natstest"
	"github.com/eunoe-memory/eunoe/test/programs"
	"github.com/eunoe-memory/eunoe/test/scriptedmodel"
)

// TestMain lets the pages use the command `nats`, as which this program runs under that name.
func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) == "nats" {
		if err := natsCommand(os.Args[1:]); err != nil {
			fmt.Fprintln(os.Stderr, "nats:", err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// natsCommand does what the pages do with the command `nats`: `req SUBJECT BODY` prints the reply, `sub SUBJECT` what
// comes until it is stopped. Unlike the command it fails where the reply is an error.
func natsCommand(args []string) error {
	nc, err := nats.Connect(os.Getenv("NATS_URL"))
	if err != nil {
		return err
	}
	defer nc.Close()
	switch {
	case len(args) == 3 && args[0] == "req":
		m, err := nc.Request(args[1], []byte(args[2]), natstest.Patience)
		if err != nil {
			return err
		}
		fmt.Println(string(m.Data))
		if code := m.Header.Get("Nats-Service-Error-Code"); code != "" {
			return fmt.Errorf("the reply has code %s", code)
		}
		return nil
	case len(args) == 2 && args[0] == "sub":
		ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
		defer stop()
		if _, err := nc.Subscribe(args[1], func(m *nats.Msg) { fmt.Println(m.Subject) }); err != nil {
			return err
		}
		if err := nc.Flush(); err != nil {
			return err
		}
		fmt.Fprintln(os.Stderr, "following", args[1])
		<-ctx.Done()
		return nil
	}
	return fmt.Errorf("unexpected %q", args)
}

// notRun is the comment before a block of commands that the test cannot run; it says why.
var notRun = regexp.MustCompile(`^<!-- not run by the tests: .{10,} -->$`)

// command is one line of a block of commands.
type command struct {
	place string // file:line
	text  string
}

// commands returns the lines of a page's blocks of commands, without those of blocks that are marked as not run.
func commands(t *testing.T, page string) []command {
	t.Helper()
	f, err := os.Open(page)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var out []command
	within, left, before := false, false, ""
	sc := bufio.NewScanner(f)
	for number := 1; sc.Scan(); number++ {
		line := sc.Text()
		switch {
		case line == "```sh":
			within, left = true, notRun.MatchString(before)
		case strings.HasPrefix(line, "```"):
			within = false
		case within && !left:
			out = append(out, command{fmt.Sprintf("%s:%d", filepath.Base(page), number), line})
		}
		before = line
	}
	if sc.Err() != nil {
		t.Fatal(sc.Err())
	}
	return out
}

// prologue defines what the lines of a page are run with.
const prologue = `set -eE -o pipefail
trap 'echo "FAILED with exit code $?: $place"; trap - ERR; stop || true; tail -n 20 *.log; exit 1' ERR
stop() { # what runs in the background, gracefully
	local pid failed=0
	for pid in $(jobs -p); do
		kill -TERM $pid 2>/dev/null || true
		wait $pid || { failed=$?; echo "process $pid ended with $failed"; }
	done
	return $failed
}
says() { # FILE WORDS: waits until the file of what was started last has them
	local pid=$!
	while kill -0 $pid; do
		if grep -qs "$2" "$1"; then return 0; fi
		sleep .05
	done
	return 1
}
healthy() { # COMMAND: waits until it finds nothing to mend
	local try
	for try in {1..15}; do
		if "$@" >doctor.log; then cat doctor.log; return 0; fi
	done
	return 1
}
refused() { # COMMAND
	local code=0
	"$@" || code=$?
	[ $code = 9 ]
}
make() { command make --dry-run --directory "$MODULE" "$@" >/dev/null; }
`

var (
	ofUp       = regexp.MustCompile(`(^|\s)bin/eunoe up\b`)
	ofFollower = regexp.MustCompile(`^(bin/eunoe tail|nats sub)\b`)
	ofSpeaker  = regexp.MustCompile(`^bin/eunoe mcp\b`) // of a protocol, on standard input
)

// script returns a page's commands as a script for bash. A page begins with an `eunoe up` that answers. Each line is run
// as it stands, but: what serves or follows changes stays in the background, an `eunoe up` takes the place of the one
// before; a comment with "refused" or "stopped" says that the command is to be refused, or needs a stopped server; a
// check by doctor waits for what starts in the background; what speaks a protocol on standard input finds
// its end there. A model that is named is a scripted one.
func script(lines []command, prepare string) string {
	var b strings.Builder
	up := func(line string) {
		fmt.Fprintf(&b, "stop; rm -f up.log; %s >up.log 2>&1 & says up.log 'Eunoe is up'\n", line)
	}
	b.WriteString(prologue)
	up("bin/eunoe up")
	b.WriteString(prepare + "\n")
	for i, l := range lines {
		code, comment, _ := strings.Cut(l.text, " # ")
		code = strings.TrimSpace(code)
		fmt.Fprintf(&b, "place=%s\n", l.place)
		switch {
		case ofUp.MatchString(code):
			up(strings.TrimSuffix(code, " &"))
		case ofFollower.MatchString(code):
			fmt.Fprintf(&b, "%s 2>follower%d.log & says follower%d.log following\n", code, i, i)
		case strings.HasPrefix(code, "nats-server "):
			fmt.Fprintf(&b, "stop; %s 2>broker.log & says broker.log 'Server is ready'\n", strings.TrimSuffix(code, " &"))
		case ofSpeaker.MatchString(code):
			fmt.Fprintf(&b, "%s </dev/null\n", code)
		case strings.HasPrefix(code, "bin/eunoe doctor"):
			fmt.Fprintf(&b, "healthy %s\n", code)
		case strings.Contains(comment, "refused"):
			fmt.Fprintf(&b, "refused %s\n", code)
		case strings.Contains(comment, "stopped"):
			fmt.Fprintf(&b, "stop; %s\n", code)
			up("bin/eunoe up")
		default:
			b.WriteString(l.text + "\n")
		}
		if strings.HasPrefix(code, "export EUNOE_MODEL=") {
			b.WriteString("export EUNOE_MODEL_URL=$MODEL\n")
		}
	}
	b.WriteString("stop; echo ALL RAN\n")
	return b.String()
}

// runPage runs a script in a new directory and returns what it prints.
func runPage(t *testing.T, module, script string) string {
	t.Helper()
	dir, tools := t.TempDir(), t.TempDir()
	built, err := programs.Dir()
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	port := fmt.Sprint(freePort(t))
	apptest.Write(t, filepath.Join(tools, "nats-server"), "#!/bin/sh\nexec "+built+"/nats-server -a 127.0.0.1 -p "+port+" \"$@\"\n")
	if err := errors.Join(os.Chmod(filepath.Join(tools, "nats-server"), 0o700), os.Symlink(self, filepath.Join(tools, "nats")), os.Symlink(built, filepath.Join(dir, "bin"))); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", "-c", script)
	url, model := "nats://127.0.0.1:"+port, scriptedmodel.Start(t, nil).URL
	cmd.Dir, cmd.Stdin = dir, strings.NewReader(strings.Repeat("yes\n", 4096)) // a command that asks reads its fill
	cmd.Env = append(os.Environ(), "PATH="+tools+":"+os.Getenv("PATH"), "MODULE="+module, "NATS_URL="+url, "EUNOE_URL="+url, "EUNOE_PORT="+port,
		"EUNOE_SYNC=false", "EUNOE_LOG=error", "EUNOE_HTTP=off", "MODEL="+model)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.HasSuffix(string(out), "ALL RAN\n") {
		t.Fatalf("%v\n%s", err, out)
	}
	return string(out)
}

// TestTheCommandsOfThePages runs every command of the README and of the pages under docs as it is written there, in
// order, in an empty directory with the programs in bin. Blocks that cannot be run are marked in the page, with the
// reason.
func TestTheCommandsOfThePages(t *testing.T) {
	t.Parallel()
	module, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		page, prepare string
		least         int      // commands
		says          []string // parts of what they print
		never         string
	}{
		{page: "README.md", least: 12, says: []string{"allergic to shellfish"}},
		{page: "docs/CONTRACT.md", least: 8, says: []string{`"outcome":"superseded"`, `"settled":`}},
		{page: "docs/MODELS.md", least: 10},
		{page: "docs/OPERATIONS.md", least: 30, never: "BAD ", says: []string{"Lisbon", "alice-2", "is as it should be"},
			// A conversation, and messages that are none, which become dead letters.
			prepare: `bin/eunoe publish --bank alice --session chat --speaker Alice --flush "I have a dog."
for i in 1 2 3 4 5 6; do nats req mem.alice.message.chat '{"content":7}'; done
for try in {1..100}; do if [ $(bin/eunoe dead list | grep -c ingest) = 6 ]; then break; fi; done
`},
	} {
		t.Run(tc.page, func(t *testing.T) {
			t.Parallel()
			lines := commands(t, filepath.Join(module, tc.page))
			if len(lines) < tc.least {
				t.Fatalf("only %d commands can be run", len(lines))
			}
			out := runPage(t, module, script(lines, tc.prepare))
			for _, say := range tc.says {
				if !strings.Contains(out, say) {
					t.Errorf("%q is not in what the commands print:\n%s", say, out)
				}
			}
			if tc.never != "" && strings.Contains(out, tc.never) {
				t.Errorf("%q is in what the commands print:\n%s", tc.never, out)
			}
		})
	}
}
