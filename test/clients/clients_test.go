// Package clients runs the tests of the clients in other languages against a running Eunoe.
package clients_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/eunoe-memory/eunoe/internal/app/apptest"
	"github.com/eunoe-memory/eunoe/internal/app/gateway"
)

// start starts Eunoe and returns the environment that names it.
func start(t *testing.T) []string {
	t.Helper()
	l := apptest.Start(t, apptest.Settings(t, map[string]string{"HTTP": "127.0.0.1:0"}), gateway.Stage())
	return append(os.Environ(), "EUNOE_HTTP_URL="+l.Gateway, "EUNOE_BANK=", "EUNOE_KEY=")
}

// check runs a command in a directory of clients; it must succeed within two minutes.
func check(t *testing.T, env []string, dir, name string, args ...string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env = filepath.Join("..", "..", "clients", dir), env
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %v: %v\n%s", name, args, err, out)
	}
	t.Logf("%s", out)
}

func TestPython(t *testing.T) {
	t.Parallel()
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("SKIPPED: the Python client is not tested, python3 is not on this machine")
	}
	check(t, start(t), "python", python, "-B", "-m", "unittest", "discover", "-v", "tests")
}

func TestTypeScript(t *testing.T) {
	t.Parallel()
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("SKIPPED: the TypeScript client is not tested, node is not on this machine")
	}
	check(t, start(t), "typescript", node, "--test", "--test-timeout=60000", "test/client.test.js")
}
