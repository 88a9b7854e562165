package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/eunoe-memory/eunoe/pkg/client"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/provider/providertest"
)

func (a *cli) benchBuildCommand() *cobra.Command {
	var f benchFlags
	cmd := &cobra.Command{
		Use:   "build",
		Short: "Publish conversations and count what their memory takes of a language model",
		Long: "Publishes each conversation of a dataset (in the shape of LoCoMo) to a bank of its own, with a\n" +
			"flush after each session, has it consolidated, and counts the calls and tokens of every stage.\n" +
			"The language model is a scripted one in this process: it answers extraction with published facts\n" +
			"and the rest by rule, and counts real tokens. What the banks say they used must be what it gave.\n\n" +
			"--dataset and --facts default to locomo-dev.json and locomo-dev-facts.jsonl in EUNOE_BENCH_DIR.",
		Example: "  eunoe bench build --dataset locomo-dev.json --facts locomo-dev-facts.jsonl",
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return a.benchBuild(cmd, f) },
	}
	fl := cmd.Flags()
	fl.StringArrayVar(&f.datasets, "dataset", nil, "the file of conversations")
	fl.StringVar(&f.facts, "facts", "", "the file of facts that were published of them")
	fl.IntVar(&f.conversations, "conversations", 0, "only the first so many; 0 = all")
	fl.BoolVar(&f.eachSession, "each-session", false, "have it consolidated after each session and not once at the end: the most it can take")
	fl.DurationVar(&f.settle, "settle", 10*time.Minute, "how long a bank may take to settle")
	return cmd
}

func (a *cli) benchBuild(cmd *cobra.Command, f benchFlags) error {
	if err := a.benchFacts(&f); err != nil {
		return err
	}
	sets, err := a.benchDatasets(f)
	if err != nil {
		return err
	}
	script, err := publishedScript(f.facts, f.datasets)
	if err != nil {
		return err
	}
	var out buildFigures
	err = a.withScripted(cmd, script, func(model *providertest.Server, c *client.Client) error {
		out, err = runBuild(cmd.Context(), c, model, sets, f, cmd.ErrOrStderr())
		return err
	})
	if err != nil {
		return err
	}
	if a.json {
		err = printJSON(cmd.OutOrStdout(), out)
	} else {
		out.show(cmd.OutOrStdout())
	}
	if err == nil && !out.Equal {
		err = fmt.Errorf("the banks say they used %+v, the model gave %+v", out.counted, out.given)
	}
	return err
}

// runBuild builds the memory of conversations, bank by bank, and counts.
func runBuild(ctx context.Context, c *client.Client, model *providertest.Server, sets []conversation, f benchFlags, progress io.Writer) (buildFigures, error) {
	began := time.Now()
	bar := newBar(progress, len(sets), "building")
	defer bar.Close() //nolint:errcheck // a bar that cannot be drawn changes nothing
	var banks []memory.BankID
	for _, set := range sets {
		bank := memory.BankID(set.ID)
		banks = append(banks, bank)
		parts := []conversation{set}
		if f.eachSession {
			parts = bySession(set)
		}
		for _, part := range parts {
			if err := buildPart(ctx, c, bank, part, f.settle); err != nil {
				return buildFigures{}, err
			}
		}
		bar.Add(1) //nolint:errcheck // a bar that cannot be drawn changes nothing
	}
	used, err := awaitUsage(ctx, c, model, banks)
	if err != nil {
		return buildFigures{}, err
	}
	out := newBuildFigures(sets, used, model)
	out.Took = time.Since(began).Round(time.Millisecond).String()
	return out, nil
}

// bySession gives a conversation for each of its sessions.
func bySession(set conversation) []conversation {
	var out []conversation
	for _, s := range set.Sessions {
		out = append(out, conversation{ID: set.ID, Sessions: []benchSession{s}})
	}
	return out
}

// buildPart publishes sessions and has what they bring consolidated.
func buildPart(ctx context.Context, c *client.Client, bank memory.BankID, part conversation, settle time.Duration) error {
	if err := publishConversation(ctx, c, bank, part); err != nil {
		return err
	}
	if err := waitSettled(ctx, c, bank, settle); err != nil {
		return err
	}
	return consolidateAll(ctx, c, []memory.BankID{bank}, settle)
}

func waitSettled(ctx context.Context, c *client.Client, bank memory.BankID, within time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	_, err := c.WaitSettled(ctx, bank, nil)
	return err
}

// awaitUsage sums up what banks say they used, by stage. What the last calls
// took is told by writes that are still on their way, so it waits a while for
// the sum to be what the model gave.
func awaitUsage(ctx context.Context, c *client.Client, model *providertest.Server, banks []memory.BankID) (map[string]memory.Usage, error) {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		used, decided := map[string]memory.Usage{}, true
		for _, bank := range banks {
			st, err := c.Status(ctx, bank)
			if err != nil {
				return nil, err
			}
			decided = decided && st.Decisions.Pending == 0
			for _, u := range st.Usage {
				used[u.Stage] = used[u.Stage].Plus(u.Usage)
			}
		}
		if decided && sameUsage(used, model.Stats().Stages) {
			return used, nil
		}
		select {
		case <-ctx.Done():
			return used, nil
		case <-tick.C:
		}
	}
}
