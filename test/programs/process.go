package programs

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/events/natstest"
)

// Process is a program that a test started.
type Process struct {
	Name string
	Log  *natstest.LogBuffer // its standard error
	cmd  *exec.Cmd
}

// graceful is how long a program may take to stop.
const graceful = 20 * time.Second

// shownLog is how many bytes of a program's log a failed test shows.
const shownLog = 4000

// Start runs a program ("ingest", "nats-server", …) with the test's environment and env. It is stopped with the test,
// which shows the end of its log when it failed.
func Start(t *testing.T, env []string, name string, args ...string) *Process {
	t.Helper()
	dir, err := Dir()
	if err != nil {
		t.Fatal(err)
	}
	p := &Process{Name: name, Log: &natstest.LogBuffer{}, cmd: exec.Command(filepath.Join(dir, name), args...)} //nolint:gosec,noctx // it ends with the test
	p.cmd.Env, p.cmd.Stderr = append(os.Environ(), env...), p.Log
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		p.Stop(t)
		if text := p.Log.String(); t.Failed() {
			t.Logf("the log of %s:\n%s", name, text[max(0, len(text)-shownLog):])
		}
	})
	return p
}

// Running reports whether neither Stop nor Kill ended the process.
func (p *Process) Running() bool { return p.cmd.ProcessState == nil }

// Stop interrupts the process and waits until it ends, gracefully or the test fails. It does nothing to one that ended.
func (p *Process) Stop(t *testing.T) {
	t.Helper()
	if !p.Running() {
		return
	}
	if err := p.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Error(err)
	}
	late := time.AfterFunc(graceful, func() { _ = p.cmd.Process.Kill() })
	defer late.Stop()
	if err := p.cmd.Wait(); err != nil && p.Name != "nats-server" { // which says that it was interrupted
		t.Errorf("%s did not stop gracefully within %s: %v", p.Name, graceful, err)
	}
}

// Kill ends the process without a warning.
func (p *Process) Kill(t *testing.T) {
	t.Helper()
	if err := p.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = p.cmd.Wait() // its error is that it was killed
}
