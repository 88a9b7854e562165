package main_test

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	eunoe "github.com/eunoe-memory/eunoe/cmd/eunoe"
)

func TestMCP(t *testing.T) {
	t.Parallel()
	_, environ := startLocal(t, t.TempDir())
	t.Run("an agent remembers and recalls over standard input and output", func(t *testing.T) {
		t.Parallel()
		in, toProgram := io.Pipe()
		fromProgram, out := io.Pipe()
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan int, 1)
		go func() {
			done <- eunoe.ExecuteIn(ctx, environ, []string{"mcp", "--bank", "ann"}, in, out, io.Discard)
		}()
		session, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), &sdk.IOTransport{Reader: fromProgram, Writer: toProgram}, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, call := range []struct{ name, argument, value, says string }{
			{"memory_remember", "text", "Ann repairs clocks.", "added"}, {"memory_recall", "query", "What does Ann repair?", "clocks"},
		} {
			r, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: call.name, Arguments: map[string]any{call.argument: call.value}})
			if err != nil || r.IsError || !strings.Contains(r.Content[0].(*sdk.TextContent).Text, call.says) {
				t.Fatalf("%s: %+v, %v", call.name, r, err)
			}
		}
		if err := session.Close(); err != nil {
			t.Error(err)
		}
		toProgram.Close()
		if code := <-done; code != 0 {
			t.Errorf("it ended with %d", code)
		}
		stop()
	})
	t.Run("--install prints settings with what is needed", func(t *testing.T) {
		t.Parallel()
		got := run(t, t.Context(), []string{"EUNOE_URL=nats://10.0.0.1:4222"}, "", "mcp", "--bank", "ann", "--tools", "all", "--install")
		for _, want := range []string{`"mcpServers"`, `"--bank"`, `"ann"`, `"--tools"`, "nats://10.0.0.1:4222", "[mcp_servers.memory]", "/mcp/ann"} {
			if got.code != 0 || !strings.Contains(got.out, want) {
				t.Errorf("%q is not in %+v", want, got)
			}
		}
	})
	t.Run("a tool that nobody has is named", func(t *testing.T) {
		t.Parallel()
		if got := run(t, t.Context(), nil, "", "mcp", "--tools", "memory_recall,teleport", "--install"); got.code != 2 || !strings.Contains(got.err, "teleport") {
			t.Errorf("%+v", got)
		}
	})
}

func TestAHookNeverFails(t *testing.T) {
	t.Parallel()
	const event = `{"hook_event_name":"UserPromptSubmit","session_id":"x","prompt":"hi"}`
	for _, c := range []struct {
		environ []string
		stdin   string
		args    []string
	}{
		{nil, event, []string{"hook", "claude-code", "--url", "nats://127.0.0.1:1"}}, {nil, "no event", []string{"hook", "claude-code", "--url", "nats://127.0.0.1:1"}},
		{[]string{"EUNOE_URL=:bad:"}, event, []string{"hook", "claude-code"}}, {nil, "", []string{"hook"}}, {nil, "", []string{"hook", "nobody"}},
		{nil, event, []string{"--bank", "", "hook", "claude-code"}}, {nil, event, []string{"hook", "claude-code", "--nonsense"}}, {nil, event, []string{"hook", "claude-code", "--creds", "/nowhere"}},
	} {
		if got := run(t, t.Context(), c.environ, c.stdin, c.args...); got.code != 0 || got.err != "" {
			t.Errorf("%v: %+v", c.args, got)
		}
	}
	if got := run(t, t.Context(), nil, "", "publish", "hook", "--nonsense"); got.code == 0 {
		t.Errorf("another command with that word: %+v", got)
	}
}

func TestThePluginRunsWhatThereIs(t *testing.T) {
	t.Parallel()
	const dir = "../../plugins/claude-code/"
	var plugin struct{ Name, Version, Description string }
	var hooks struct {
		Hooks map[string][]struct {
			Hooks []struct{ Type, Command string }
		}
	}
	var servers struct {
		MCPServers map[string]struct {
			Command string
			Args    []string
		} `json:"mcpServers"`
	}
	for name, into := range map[string]any{".claude-plugin/plugin.json": &plugin, "hooks/hooks.json": &hooks, ".mcp.json": &servers} {
		b, err := os.ReadFile(dir + name)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(b, into); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if plugin.Name == "" || plugin.Version == "" || len(servers.MCPServers) != 1 || len(hooks.Hooks) != 4 {
		t.Errorf("%+v %+v %+v", plugin, servers, hooks)
	}
	var commands [][]string
	for _, s := range servers.MCPServers {
		commands = append(commands, append([]string{s.Command}, s.Args...))
	}
	for event, list := range hooks.Hooks {
		if h := list[0].Hooks; len(h) != 1 || h[0].Type != "command" {
			t.Errorf("%s: %+v", event, h)
			continue
		}
		commands = append(commands, strings.Fields(list[0].Hooks[0].Command))
	}
	for _, c := range commands {
		if got := run(t, t.Context(), nil, "", append(c[1:], "--help")...); c[0] != "eunoe" || got.code != 0 || !strings.Contains(got.out, "eunoe "+strings.Join(c[1:], " ")) {
			t.Errorf("%v: %+v", c, got)
		}
	}
	if b, err := os.ReadFile(dir + "skills/memory/SKILL.md"); err != nil || !strings.HasPrefix(string(b), "---\nname: memory\n") {
		t.Errorf("the skill: %v", err)
	}
}
