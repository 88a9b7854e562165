package mcp_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/eunoe-memory/eunoe/internal/app/apptest"
	"github.com/eunoe-memory/eunoe/internal/app/gateway"
)

// TestTheConformanceSuite runs the protocol's own suite against the gateway. Of its scenarios these need no tools that
// only a server made for the suite has. It takes Node 22: `npm install @modelcontextprotocol/conformance`, and the path of
// node_modules/.bin/conformance in MCP_CONFORMANCE.
func TestTheConformanceSuite(t *testing.T) {
	t.Parallel()
	suite := os.Getenv("MCP_CONFORMANCE")
	if suite == "" {
		t.Skip("NOT RUN: MCP_CONFORMANCE does not name the program of npm's @modelcontextprotocol/conformance")
	}
	l := apptest.Start(t, apptest.Settings(t, map[string]string{"HTTP": "127.0.0.1:0", "LOG": "fatal"}), gateway.Stage())
	for _, scenario := range []string{"server-initialize", "ping", "tools-list", "resources-list", "prompts-list", "dns-rebinding-protection", "logging-set-level"} {
		t.Run(scenario, func(t *testing.T) {
			cmd := exec.CommandContext(t.Context(), suite, "server", "--url", l.Gateway+"/mcp/ann", "--scenario", scenario) //nolint:gosec // the developer names it
			cmd.Dir = t.TempDir()                                                                                           // it writes its results there
			out, err := cmd.CombinedOutput()
			if err != nil || !strings.Contains(string(out), ", 0 failed") {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}
