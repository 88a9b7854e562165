package main

import (
	"context"
	_ "embed"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/eunoe-memory/eunoe/internal/app/local"
	"github.com/eunoe-memory/eunoe/internal/console"
	"github.com/eunoe-memory/eunoe/internal/transfer"
	"github.com/eunoe-memory/eunoe/pkg/client"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

// demoTalk is the conversation of the demo, in the format that import reads.
//
//go:embed demo.jsonl
var demoTalk string

// demoQuestions are asked at the end.
var demoQuestions = []string{
	"What is Mara allergic to?",
	"Where does Mara live?",
	"What is Mara's phone number?",
	"When does Mara's flight to Lisbon leave?",
	"When does Biscuit need his pills?",
}

func (a *cli) demoCommand() *cobra.Command {
	var data string
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "See it work: publish a conversation and ask questions about it",
		Long: "Starts everything in this process, publishes a small conversation, shows what\n" +
			"became of it and asks five questions. It needs nothing and leaves nothing behind,\n" +
			"unless --data names a directory to keep.\n\n" +
			"With a language model (EUNOE_MODEL) it also shows what the model decided, worded and\n" +
			"observed, and an answer with its citations.",
		Example: "  eunoe demo\n  EUNOE_MODEL=openai:gpt-4o-mini eunoe demo",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			dir, keep := data, data != ""
			if !keep {
				temp, remove, err := console.TempDir()
				if err != nil {
					return err
				}
				defer remove()
				dir = temp
			}
			cfg, err := a.TempSettings(dir, nil)
			if err != nil {
				return err
			}
			cfg.SummariseMin = 2 // the composites of a short conversation are small
			return a.WithLocal(cmd.Context(), program, cfg, func(l *local.Local, c *client.Client) error {
				d := demo{ctx: cmd.Context(), client: c, bank: "demo", out: cmd.OutOrStdout(), models: modelsOf(cfg)}
				if err := d.run(); err != nil {
					return err
				}
				d.showNextSteps(dir, keep)
				return nil
			})
		},
	}
	cmd.Flags().StringVar(&data, "data", "", "keep the demo in this directory")
	return cmd
}

// demo is one run of the demonstration.
type demo struct {
	ctx    context.Context
	client *client.Client
	bank   memory.BankID
	out    io.Writer
	models demoModels
}

func (d demo) say(format string, args ...any) { fmt.Fprintf(d.out, format+"\n", args...) }

func (d demo) run() error {
	for _, step := range []func() error{d.talk, d.consolidate, d.showResult, d.showChanges, d.showObservations, d.ask, d.answer, d.showModelUsage} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// talk publishes the conversation and waits until it is settled.
func (d demo) talk() error {
	d.say("1. Two people and an assistant talk, over four months. Each message is published")
	d.say("   to NATS; each pause of the conversation is a flush.\n")
	began, shown, sent := time.Now(), 0, 0
	err := transfer.Scan("the demo", strings.NewReader(demoTalk), func(_ int, l transfer.Line) error {
		if l.Flush {
			_, err := d.client.Flush(d.ctx, d.bank, l.Session)
			return err
		}
		if sent++; shown < 6 {
			shown++
			d.say("   %-5s %s", l.Message.Speaker+":", l.Message.Content)
		}
		_, err := d.client.PublishBody(d.ctx, d.bank, l.Session, l.Event)
		return err
	})
	if err != nil {
		return err
	}
	d.say("   …     and %d more messages\n", sent-shown)
	limit, who := time.Minute, "by rules: no model was asked"
	if name := d.models.extract; name != "" {
		limit, who = modelWait, "with "+name
		d.say("   %s is asked for the facts, once for each session …\n", name)
	}
	ctx, cancel := context.WithTimeout(d.ctx, limit)
	defer cancel()
	if _, err := d.client.WaitSettled(ctx, d.bank, nil); err != nil {
		return err
	}
	d.say("   All of it was stored, extracted and consolidated in %s, %s.\n", time.Since(began).Round(10*time.Millisecond), who)
	return nil
}

// showResult shows what was made of the conversation: counts, some facts, the tree.
func (d demo) showResult() error {
	s, err := d.client.Status(d.ctx, d.bank)
	if err != nil {
		return err
	}
	d.say("2. What became of it: %s, %s, %s, %s.\n", count(s.Facts, "fact"), count(s.Composites, "composite"),
		count(s.Entities, "entity"), count(s.Dead, "dead letter"))
	p, err := d.client.List(d.ctx, d.bank, wire.ListRequest{Record: memory.RecordFact, Order: "oldest", Limit: 6})
	if err != nil {
		return err
	}
	d.say("   Facts, each readable on its own and each with the messages it rests on:\n")
	console.Table(indent(d.out, "   "), nil, rowsOf(p.Items, func(it memory.Item) []string {
		return []string{it.Type, console.Short(it.Text, 70), join(it.Sources)}
	}))
	tree, err := d.client.Tree(d.ctx, d.bank, wire.TreeRequest{})
	if err != nil {
		return err
	}
	if roots := tree.Items; len(roots) > 0 {
		slices.SortStableFunc(roots, func(a, b wire.TreeNode) int { return len(b.Children) - len(a.Children) })
		d.say("\n   Facts that belong together form a tree. Its largest branches:\n")
		showTree(indent(d.out, "   "), wire.Page[wire.TreeNode]{Items: roots[:min(3, len(roots))]})
		d.showWording(roots)
	}
	d.say("")
	return nil
}

// showChanges shows facts that were superseded.
func (d demo) showChanges() error {
	var rows [][]string
	shown := 0
	for it, err := range d.client.All(d.ctx, d.bank, wire.ListRequest{Record: memory.RecordFact, Order: "newest", Limit: 100}) {
		if err != nil {
			return err
		}
		h, err := d.client.History(d.ctx, d.bank, it.ID)
		if err != nil {
			return err
		}
		past := slices.ContainsFunc(h.Items, func(v memory.Item) bool { return v.Superseded != "" && len(v.Valid) > 0 })
		if !past || shown == 4 {
			continue
		}
		shown++
		for _, v := range h.Items {
			rows = append(rows, []string{console.Short(v.Text, 60), validity(v.Valid), decidedBy(h.Decisions, v.ID)})
		}
	}
	if shown == 0 {
		return nil
	}
	d.say("3. What changed. The newer word stands; the older fact keeps the time in which it held.\n")
	console.Table(indent(d.out, "   "), nil, rows)
	d.say("")
	return nil
}

// ask asks the questions and shows the best two answers with their sources.
func (d demo) ask() error {
	d.say("4. Questions, answered by recall in milliseconds:\n")
	limit := 2
	for _, q := range demoQuestions {
		r, err := d.client.Recall(d.ctx, d.bank, wire.RecallRequest{Query: q, MaxFacts: &limit})
		if err != nil {
			return err
		}
		d.say("   %s", q)
		for _, it := range r.Items {
			d.say("     → %s", console.Short(spoken(it), 90))
			d.say("       %s, from %s", it.Record, join(it.Sources))
		}
		if len(r.Items) == 0 {
			d.say("     → nothing found")
		}
		d.say("")
	}
	return nil
}

// showNextSteps lists commands to try next.
func (d demo) showNextSteps(dir string, keep bool) {
	d.say("What to do next:")
	if keep {
		d.say("  eunoe up --data %s      keep this memory running; in another terminal:", dir)
		d.say("  eunoe recall --bank demo --explain where does Mara live")
		d.say("  eunoe tree --bank demo")
	} else {
		d.say("  eunoe up                                   run it; in another terminal:")
		d.say("  eunoe publish --speaker Ana --flush \"I moved to Porto in May.\"")
		d.say("  eunoe recall --explain where does Ana live")
	}
	d.say("  eunoe import chats.jsonl                   bring conversations of your own")
	d.say("  eunoe help                                 everything else")
}
