package main

import (
	"context"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/eunoe-memory/eunoe/internal/app"
	"github.com/eunoe-memory/eunoe/pkg/client"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/provider/providertest"
)

// scriptedModel is the name under which the scripted model is used.
const scriptedModel = "openai:scripted"

// scriptedSettings let every stage use the scripted model at an address, and no
// other service, whatever the environment says.
func scriptedSettings(url string) map[string]string {
	return map[string]string{
		"MODEL": scriptedModel, "MODEL_URL": url, "MODEL_KEY": "none", "MODEL_EXTRACT": "", "MODEL_DECIDE": "", "MODEL_SUMMARISE": "", "MODEL_REFLECT": "",
		"MODEL_JUDGE": "", "EMBED": "", "EMBED_URL": "", "EMBED_KEY": "", "RERANK_URL": "", "RERANK_MODEL": "", "RERANK_KEY": "", "RERANK_SHAPE": "",
	}
}

// serveScript runs the scripted model on a free port of the loopback.
func serveScript(ctx context.Context, s *providertest.Script) (*providertest.Server, error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("scripted model: %w", err)
	}
	return providertest.Serve(l, s), nil
}

// publishedScript is a model that answers the extraction of a dataset's
// conversations with published facts, and everything else by rule.
func publishedScript(facts string, datasets []string) (*providertest.Script, error) {
	if len(datasets) != 1 {
		return nil, usagef("--facts belongs to one --dataset")
	}
	return testmodel{facts: facts, turns: datasets[0], model: strings.TrimPrefix(scriptedModel, "openai:"), dimension: providertest.DefaultDimension}.read()
}

// withScripted runs everything in this process on the scripted model while fn runs.
func (a *cli) withScripted(cmd *cobra.Command, script *providertest.Script, fn func(*providertest.Server, *client.Client) error) error {
	server, err := serveScript(cmd.Context(), script)
	if err != nil {
		return err
	}
	defer server.Close()
	dir, remove, err := tempDir()
	if err != nil {
		return err
	}
	defer remove()
	return a.withLocal(cmd, dir, scriptedSettings(server.URL), func(_ *app.Local, c *client.Client) error { return fn(server, c) })
}

// consolidateAll has everything that waits for a schedule done, and waits for
// what a language model adds to it.
func consolidateAll(ctx context.Context, c *client.Client, banks []memory.BankID, within time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	wait := memory.Duration(min(within, time.Minute))
	for _, bank := range banks {
		r, err := c.Consolidate(ctx, bank, memory.ConsolidateRequest{WriteControl: memory.WriteControl{Wait: &wait}, Force: true})
		if err != nil {
			return fmt.Errorf("consolidate bank %s: %w", bank, err)
		}
		if r.Pending {
			return fmt.Errorf("consolidate bank %s: the model has not answered within %s: %w", bank, time.Duration(wait), memory.ErrDeadline)
		}
	}
	return nil
}
