package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/spf13/cobra"

	"github.com/eunoe-memory/eunoe/internal/app/process"
	"github.com/eunoe-memory/eunoe/internal/hook"
	"github.com/eunoe-memory/eunoe/pkg/mcp"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

func (a *cli) mcpCommand() *cobra.Command {
	var tools string
	var install bool
	cmd := &cobra.Command{
		Use:   "mcp",
		Short: "Offer the memory of a bank to an agent, by MCP on standard input and output",
		Long: "Speaks the Model Context Protocol on standard input and output until the agent\n" +
			"ends it. `eunoe up` must run. With --install it prints the settings for agents.",
		Example: "  eunoe mcp --bank alice --install\n  eunoe mcp --bank alice --tools all",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg := mcp.Config{Bank: a.bankID(), Tools: tools, Version: process.Version}
			if err := cfg.Validate(); err != nil {
				return err
			}
			if install {
				return a.printInstall(cmd, tools)
			}
			c, err := a.connect(cmd.Context())
			if err != nil {
				return err
			}
			defer c.Close() //nolint:errcheck // the agent is gone
			s, err := mcp.New(cfg, c)
			if err != nil {
				return err
			}
			err = s.Run(cmd.Context(), &sdk.IOTransport{Reader: readCloser{cmd.InOrStdin()}, Writer: writeCloser{cmd.OutOrStdout()}})
			if cmd.Context().Err() != nil {
				return nil
			}
			return err
		},
	}
	cmd.Flags().StringVar(&tools, "tools", "core", "core, all, or names separated by commas")
	cmd.Flags().BoolVar(&install, "install", false, "print the settings for agents instead")
	return cmd
}

// isHook reports whether a command is that of a hook, however it is used.
func isHook(cmd *cobra.Command) bool { return strings.HasPrefix(cmd.CommandPath(), "eunoe hook") }

func (a *cli) hookCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "hook AGENT",
		Short: "Answer a hook of a coding agent, whose event is on standard input",
		Long: "Gives a coding agent a memory: an overview when a session begins, what memory\n" +
			"holds on each prompt, and both turns kept. plugins/claude-code has the settings.\n\n" +
			"It never fails: the exit code is 0, and nothing is printed to standard error.",
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return nil },
	}
	cmd.AddCommand(&cobra.Command{
		Use: agentClaude, Short: "Answer a hook of Claude Code", Args: cobra.ArbitraryArgs, Example: "  eunoe hook claude-code --bank alice < event.json",
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			defer func() {
				if p := recover(); p != nil { // an exit code would block every prompt
					err = fmt.Errorf("hook: %v", p)
				}
			}()
			return hook.Claude(cmd.Context(), a.bankID(), a.connect, cmd.InOrStdin(), cmd.OutOrStdout())
		},
	})
	return cmd
}

// agentClaude is the agent whose hooks are answered.
const agentClaude = "claude-code"

// printInstall prints what to put where. Only what differs from the defaults is named.
func (a *cli) printInstall(cmd *cobra.Command, tools string) error {
	program, err := os.Executable()
	if err != nil {
		return fmt.Errorf("where this program is: %w", err)
	}
	args := []string{"mcp", "--bank", a.Bank}
	if tools != "core" {
		args = append(args, "--tools", tools)
	}
	for _, name := range []string{"url", "prefix"} {
		if f := cmd.Flags().Lookup(name); f.Value.String() != f.DefValue {
			args = append(args, "--"+name, f.Value.String())
		}
	}
	if a.Creds != "" {
		path, err := filepath.Abs(a.Creds)
		if err != nil {
			return fmt.Errorf("credentials: %w", err)
		}
		args = append(args, "--creds", path)
	}
	server := map[string]any{"command": program, "args": args}
	out := cmd.OutOrStdout()
	show := func(where string, value any) error {
		text, err := json.MarshalIndent(value, "", "  ")
		fmt.Fprintf(out, "%s\n%s\n\n", where, text)
		return err
	}
	if a.JSON {
		text, err := memory.Encode(server)
		fmt.Fprintf(out, "%s\n", text)
		return err
	}
	if err := show("Most agents (Claude Desktop, Claude Code .mcp.json, Cursor, Windsurf, Cline), in their MCP settings:", map[string]any{"mcpServers": map[string]any{"memory": server}}); err != nil {
		return err
	}
	if err := show("VS Code, in .vscode/mcp.json:", map[string]any{"servers": map[string]any{"memory": map[string]any{"type": "stdio", "command": program, "args": args}}}); err != nil {
		return err
	}
	list, err := memory.Encode(args)
	fmt.Fprintf(out, "Codex, in ~/.codex/config.toml:\n[mcp_servers.memory]\ncommand = %q\nargs = %s\n\nBy HTTP instead: http://127.0.0.1:8420/mcp/%s\n", program, list, a.Bank)
	return err
}

// readCloser and writeCloser leave standard input and output open.
type (
	readCloser  struct{ io.Reader }
	writeCloser struct{ io.Writer }
)

func (readCloser) Close() error  { return nil }
func (writeCloser) Close() error { return nil }
