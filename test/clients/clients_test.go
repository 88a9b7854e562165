// Package clients runs the tests of the clients in other languages against a running Eunoe.
package clients_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/eunoe-memory/eunoe/internal/app/apptest"
	"github.com/eunoe-memory/eunoe/internal/app/gateway"
	"github.com/eunoe-memory/eunoe/test/programs"
	"github.com/eunoe-memory/eunoe/test/scriptedmodel"
)

// start starts Eunoe, with an endpoint behind its chat proxy or "", and returns the environment that names it.
func start(t *testing.T, upstream string) []string {
	t.Helper()
	l := apptest.Start(t, apptest.Settings(t, map[string]string{"HTTP": "127.0.0.1:0", "CHAT_UPSTREAM": upstream, "CHAT_PATIENCE": "20s"}), gateway.Stage())
	return append(os.Environ(), "EUNOE_HTTP_URL="+l.Gateway, "EUNOE_BANK=", "EUNOE_KEY=")
}

// check runs a command in a directory, of clients if it is no absolute one; it must succeed within two minutes.
func check(t *testing.T, env []string, dir, name string, args ...string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	if cmd.Dir, cmd.Env = dir, env; !filepath.IsAbs(dir) {
		cmd.Dir = filepath.Join("..", "..", "clients", dir)
	}
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
	check(t, start(t, ""), "python", python, "-B", "-m", "unittest", "discover", "-v", "tests")
}

// TestPythonPackage installs the package as the README says, without an index, and runs its tests on what was installed.
func TestPythonPackage(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	python := pythonThatBuilds(t)
	if err := os.CopyFS(filepath.Join(dir, "client"), os.DirFS("../../clients/python")); err != nil {
		t.Fatal(err)
	}
	run := func(name string, args ...string) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), name, args...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s %v: %v\n%s", name, args, err, out)
		}
	}
	run(python, "-m", "venv", "--system-site-packages", "venv")
	python = filepath.Join(dir, "venv", "bin", "python")
	run(python, "-m", "pip", "install", "--no-index", "--no-build-isolation", "./client")
	if err := os.RemoveAll(filepath.Join(dir, "client", "eunoe")); err != nil {
		t.Fatal(err)
	}
	check(t, start(t, ""), dir, python, "-B", "-m", "unittest", "discover", "-v", "client/tests")
}

// pythonThatBuilds returns a Python that can build a package without an index.
func pythonThatBuilds(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"python3", "/usr/bin/python3"} {
		if exec.CommandContext(t.Context(), name, "-c", "import venv, ensurepip, setuptools, wheel").Run() == nil {
			return name
		}
	}
	t.Skip("SKIPPED: the Python package is not built, no python3 has venv, setuptools and wheel")
	return ""
}

func TestTypeScript(t *testing.T) {
	t.Parallel()
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("SKIPPED: the TypeScript client is not tested, node is not on this machine")
	}
	check(t, start(t, ""), "typescript", node, "--test", "--test-timeout=60000", "test/client.test.js")
}

// packages returns node, and npm where what the client is tested with is installed.
func packages(t *testing.T) (node, npm string) {
	t.Helper()
	node, err := exec.LookPath("node")
	if err == nil {
		npm, err = exec.LookPath("npm")
	}
	if err == nil {
		_, err = os.Stat("../../clients/typescript/node_modules/openai")
	}
	if err != nil {
		t.Skip("SKIPPED: not tested with the packages of npm: they are installed by `npm ci --prefix clients/typescript`: ", err)
	}
	return node, npm
}

func TestOpenAIsClientByTheChatProxy(t *testing.T) {
	t.Parallel()
	node, _ := packages(t)
	script := &scriptedmodel.Script{}
	script.Answer("", "You live in Porto.")
	script.Call("", "weather", `{"city":"Porto"}`)
	script.Answer("", "It rains in Porto. Take a coat, and an umbrella.")
	script.Fault("", scriptedmodel.RateLimit, 1)
	check(t, start(t, scriptedmodel.Start(t, script).URL), "typescript", node, "--test", "--test-timeout=60000", "test/openai.test.js")
}

// TestTheProtocolsOwnSuite runs the conformance suite of the Model Context Protocol against the gateway. The scenarios that
// are left out call tools, prompts and resources that only a server made for the suite has.
func TestTheProtocolsOwnSuite(t *testing.T) {
	t.Parallel()
	node, _ := packages(t)
	suite, err := filepath.Abs("../../clients/typescript/node_modules/@modelcontextprotocol/conformance/dist/index.js")
	if err != nil {
		t.Fatal(err)
	}
	l := apptest.Start(t, apptest.Settings(t, map[string]string{"HTTP": "127.0.0.1:0", "LOG": "fatal"}), gateway.Stage())
	for _, scenario := range []string{"server-initialize", "ping", "tools-list", "resources-list", "prompts-list", "dns-rebinding-protection"} {
		t.Run(scenario, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
			defer cancel()
			cmd := exec.CommandContext(ctx, node, suite, "server", "--url", l.Gateway+"/mcp/ann", "--scenario", scenario)
			cmd.Dir = t.TempDir() // it writes its results there
			if out, err := cmd.CombinedOutput(); err != nil || !passed.Match(out) {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

// passed is what the suite says of a scenario whose checks all passed.
var passed = regexp.MustCompile(`Passed: ([1-9][0-9]*)/[1-9][0-9]*, 0 failed`)

// TestTheProtocolsTypeScriptSDK does a day's work with the tools, by standard input and output and by HTTP.
func TestTheProtocolsTypeScriptSDK(t *testing.T) {
	t.Parallel()
	node, _ := packages(t)
	l := apptest.Start(t, apptest.Settings(t, map[string]string{"HTTP": "127.0.0.1:0", "LOG": "fatal"}), gateway.Stage())
	dir, err := programs.Dir()
	if err != nil {
		t.Fatal(err)
	}
	env := append(os.Environ(), "EUNOE_HTTP_URL="+l.Gateway, "EUNOE_PROGRAM="+filepath.Join(dir, "eunoe"), "EUNOE_URL="+l.Conn.NC.ConnectedUrl())
	check(t, env, "typescript", node, "--test", "--test-timeout=60000", "test/mcp.test.js")
}

func TestLangChainJS(t *testing.T) {
	t.Parallel()
	node, _ := packages(t)
	check(t, start(t, ""), "typescript", node, "--test", "--test-timeout=60000", "test/langchain.test.js")
}

// TestTheTypeScriptPackage makes the types of the OpenAPI document, compiles against them, and packs and installs what
// npm would publish.
func TestTheTypeScriptPackage(t *testing.T) {
	t.Parallel()
	node, npm := packages(t)
	env := append(os.Environ(), "npm_config_offline=true", "npm_config_update_notifier=false")
	check(t, env, "typescript", npm, "run", "check")
	dir := t.TempDir()
	check(t, env, "typescript", npm, "pack", "--ignore-scripts", "--pack-destination", dir)
	packed, err := filepath.Glob(filepath.Join(dir, "*.tgz"))
	if err != nil || len(packed) != 1 {
		t.Fatalf("packed %v, %v", packed, err)
	}
	apptest.Write(t, filepath.Join(dir, "package.json"), `{"private":true}`)
	check(t, env, "typescript", npm, "install", "--prefix", dir, "--omit=peer", "--no-audit", "--no-fund", packed[0])
	for _, file := range []string{"index.js", "index.d.ts", "langchain.js", "langchain.d.ts", "openapi.d.ts"} {
		if _, err := os.Stat(filepath.Join(dir, "node_modules", "eunoe", file)); err != nil {
			t.Error(err)
		}
	}
	apptest.Write(t, filepath.Join(dir, "use.mjs"), `import { Eunoe } from "eunoe"; if (new Eunoe({ bank: "a" }).bank !== "a") process.exit(1);`)
	check(t, env, "typescript", node, filepath.Join(dir, "use.mjs"))
}
