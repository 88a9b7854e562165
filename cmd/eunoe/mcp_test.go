package main_test

import (
	"context"
	"io"
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
