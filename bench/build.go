package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/eunoe-memory/eunoe/bench/dataset"
	"github.com/eunoe-memory/eunoe/internal/console"
	"github.com/eunoe-memory/eunoe/pkg/client"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/test/scriptedmodel"
)

func (a *cli) buildCommand() *cobra.Command {
	var f retrievalFlags
	cmd := &cobra.Command{
		Use:   "build",
		Short: "Publish conversations and count what their memory takes of a language model",
		Long: "Publishes each conversation of a dataset (in the shape of LoCoMo) to a bank of its own, with a\n" +
			"flush after each session, has it consolidated, and counts the calls and tokens of every stage.\n" +
			"The language model is a scripted one in this process: it answers extraction with published facts\n" +
			"and the rest by rule, and counts real tokens. The usage that the banks report has to equal what it served.\n\n" +
			"--dataset and --facts default to locomo-dev.json and locomo-dev-facts.jsonl in EUNOE_BENCH_DIR.",
		Example: "  eunoe-bench build --dataset locomo-dev.json --facts locomo-dev-facts.jsonl",
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return a.build(cmd, f) },
	}
	fl := cmd.Flags()
	fl.StringArrayVar(&f.datasets, "dataset", nil, "the file of conversations")
	fl.StringVar(&f.facts, "facts", "", "the file of facts that were published of them")
	fl.IntVar(&f.conversations, "conversations", 0, "only the first so many; 0 = all")
	fl.BoolVar(&f.eachSession, "each-session", false, "have it consolidated after each session and not once at the end: the most it can take")
	fl.DurationVar(&f.settle, "settle", 10*time.Minute, "how long a bank may take to settle")
	return cmd
}

func (a *cli) build(cmd *cobra.Command, f retrievalFlags) error {
	if err := a.defaultFacts(&f); err != nil {
		return err
	}
	sets, err := a.datasets(f)
	if err != nil {
		return err
	}
	script, err := publishedScript(f.facts, f.datasets)
	if err != nil {
		return err
	}
	var out buildFigures
	err = a.withScripted(cmd, script, func(model *scriptedmodel.Server, c *client.Client) error {
		out, err = runBuild(cmd.Context(), c, model, sets, f, cmd.ErrOrStderr())
		return err
	})
	if err != nil {
		return err
	}
	if a.JSON {
		err = console.PrintJSON(cmd.OutOrStdout(), out)
	} else {
		out.show(cmd.OutOrStdout())
	}
	if err == nil && !out.Equal {
		err = fmt.Errorf("the banks report %+v, the model served %+v", out.reported, out.served)
	}
	return err
}

// runBuild builds the memory of conversations, bank by bank, and counts what it took.
func runBuild(ctx context.Context, c *client.Client, model *scriptedmodel.Server, sets []dataset.Conversation, f retrievalFlags, progress io.Writer) (buildFigures, error) {
	began := time.Now()
	bar := console.NewBar(progress, len(sets), "building")
	defer bar.Close() //nolint:errcheck // a bar that cannot be drawn changes nothing
	var banks []memory.BankID
	for _, set := range sets {
		bank := memory.BankID(set.ID)
		banks = append(banks, bank)
		parts := []dataset.Conversation{set}
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

// bySession returns a conversation for each session of one.
func bySession(set dataset.Conversation) []dataset.Conversation {
	var out []dataset.Conversation
	for _, s := range set.Sessions {
		out = append(out, dataset.Conversation{ID: set.ID, Sessions: []dataset.Session{s}})
	}
	return out
}

// buildPart publishes sessions, waits until they are settled and consolidates them.
func buildPart(ctx context.Context, c *client.Client, bank memory.BankID, part dataset.Conversation, settle time.Duration) error {
	if err := publishConversation(ctx, c, bank, part); err != nil {
		return err
	}
	if err := waitSettled(ctx, c, bank, settle); err != nil {
		return err
	}
	return consolidateAll(ctx, c, []memory.BankID{bank}, settle)
}

// awaitUsage sums up the usage that banks report, by stage. The usage of the last calls arrives by writes that may still
// be on their way, so it waits up to 20 seconds for the sum to equal what the model served.
func awaitUsage(ctx context.Context, c *client.Client, model *scriptedmodel.Server, banks []memory.BankID) (map[string]memory.Usage, error) {
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
