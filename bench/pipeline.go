package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/eunoe-memory/eunoe/internal/app/local"
	"github.com/eunoe-memory/eunoe/internal/console"
	"github.com/eunoe-memory/eunoe/pkg/client"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/wire"
	"github.com/eunoe-memory/eunoe/test/scriptedmodel"
)

// scriptedModel is the name of the scripted model in the settings.
const scriptedModel = "openai:scripted"

// scriptedSettings returns settings by which every stage uses the scripted model at url and no other service, whatever the
// environment says.
func scriptedSettings(url string) map[string]string {
	return map[string]string{
		"MODEL": scriptedModel, "MODEL_URL": url, "MODEL_KEY": "none", "MODEL_EXTRACT": "", "MODEL_DECIDE": "", "MODEL_SUMMARISE": "", "MODEL_REFLECT": "",
		"MODEL_JUDGE": "", "EMBED": "", "EMBED_URL": "", "EMBED_KEY": "", "RERANK_URL": "", "RERANK_MODEL": "", "RERANK_KEY": "",
	}
}

// serveScript runs the scripted model on a free port of the loopback.
func serveScript(ctx context.Context, s *scriptedmodel.Script) (*scriptedmodel.Server, error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("scripted model: %w", err)
	}
	return scriptedmodel.Serve(l, s), nil
}

// publishedScript returns a model that answers the extraction of a dataset's conversations with published facts, and
// everything else by rule.
func publishedScript(facts string, datasets []string) (*scriptedmodel.Script, error) {
	if len(datasets) != 1 {
		return nil, console.Usagef("--facts belongs to one --dataset")
	}
	published, err := os.ReadFile(facts)
	turns, err2 := os.ReadFile(datasets[0])
	if err := errors.Join(err, err2); err != nil {
		return nil, console.Usagef("--facts: %w", err)
	}
	s := &scriptedmodel.Script{Model: strings.TrimPrefix(scriptedModel, "openai:")}
	if s.Facts, err = scriptedmodel.ReadFacts(published, turns); err != nil {
		return nil, console.Usagef("--facts %s: %w", facts, err)
	}
	return s, nil
}

// withScripted runs every stage in this process with the scripted model while fn runs.
func (a *cli) withScripted(cmd *cobra.Command, script *scriptedmodel.Script, fn func(*scriptedmodel.Server, *client.Client) error) error {
	server, err := serveScript(cmd.Context(), script)
	if err != nil {
		return err
	}
	defer server.Close()
	dir, remove, err := console.TempDir()
	if err != nil {
		return err
	}
	defer remove()
	return a.withLocal(cmd, dir, scriptedSettings(server.URL), func(_ *local.Local, c *client.Client) error { return fn(server, c) })
}

// consolidateAll runs consolidation of banks at once, and waits for the decisions of a language model.
func consolidateAll(ctx context.Context, c *client.Client, banks []memory.BankID, within time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	wait := memory.Duration(min(within, time.Minute))
	for _, bank := range banks {
		r, err := c.Consolidate(ctx, bank, wire.ConsolidateRequest{WriteControl: wire.WriteControl{Wait: &wait}, Force: true})
		if err != nil {
			return fmt.Errorf("consolidate bank %s: %w", bank, err)
		}
		if r.Pending {
			return fmt.Errorf("consolidate bank %s: the model has not answered within %s: %w", bank, time.Duration(wait), memory.ErrDeadline)
		}
	}
	return nil
}

// withLocal runs every stage in this process on a data directory while fn runs; more are settings beside those of the
// environment.
func (a *cli) withLocal(cmd *cobra.Command, dir string, more map[string]string, fn func(*local.Local, *client.Client) error) error {
	cfg, err := a.TempSettings(dir, more)
	if err != nil {
		return err
	}
	return a.WithLocal(cmd.Context(), program, cfg, fn)
}
