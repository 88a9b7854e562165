package main

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/eunoe-memory/eunoe/internal/app/settings"
	"github.com/eunoe-memory/eunoe/internal/console"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

// demoAsked is the question that the model answers.
const demoAsked = "Where does Mara live now, and what is Mara allergic to?"

// modelWait is how long the demo waits for a language model, at most.
const modelWait = 5 * time.Minute

// demoModels names the language models of the demo; "" = none.
type demoModels struct{ extract, decide, reflect string }

func modelsOf(c settings.Config) demoModels {
	return demoModels{cmp.Or(c.ModelExtract, c.Model), cmp.Or(c.ModelDecide, c.Model), cmp.Or(c.ModelReflect, c.Model)}
}

// consolidate makes the model decide, summarise and observe now, ahead of the schedule.
func (d demo) consolidate() error {
	if d.models.decide == "" {
		return nil
	}
	d.say("   %s is asked what replaces what, for wordings, and what it observes …\n", d.models.decide)
	began, wait := time.Now(), memory.Duration(5*time.Second)
	for time.Since(began) < modelWait {
		r, err := d.client.Consolidate(d.ctx, d.bank, wire.ConsolidateRequest{Force: true, WriteControl: wire.WriteControl{Op: "demo", Wait: &wait}})
		if err != nil && !errors.Is(err, memory.ErrDeadline) {
			return err
		}
		if err == nil && !r.Pending {
			return nil
		}
	}
	d.say("   It has not answered yet; what the rules made stands.\n")
	return nil
}

// showWording shows a composite whose text a model wrote: it is the text of none of its members.
func (d demo) showWording(roots []wire.TreeNode) {
	if d.models.decide == "" {
		return
	}
	for _, r := range roots {
		if len(r.Nodes) < 2 || slices.ContainsFunc(r.Nodes, func(n wire.TreeNode) bool { return n.Text == r.Text }) {
			continue
		}
		d.say("\n   The wording of a composite is the model's; every name, number and date of its members is in it:\n")
		d.say("%s", wrap(r.Text, 90, "     "))
		return
	}
}

// decidedBy names the model that ended a fact and its prompt; "" if rules did.
func decidedBy(list []memory.DecisionResult, id string) string {
	for _, r := range list {
		if string(r.Target) == id && r.Reason == "" && r.Action != memory.ActionIgnore {
			return fmt.Sprintf("%s, decided by %s with %s", r.Action, r.Model, r.Prompt)
		}
	}
	return ""
}

// showObservations shows two observations with the facts they rest on.
func (d demo) showObservations() error {
	if d.models.decide == "" {
		return nil
	}
	p, err := d.client.List(d.ctx, d.bank, wire.ListRequest{Record: memory.RecordObservation, Limit: 100})
	if err != nil || len(p.Items) == 0 {
		return err
	}
	slices.SortStableFunc(p.Items, func(a, b memory.Item) int { return len(b.Children) - len(a.Children) })
	d.say("   Observations: what several facts show together.\n")
	for _, o := range p.Items[:min(2, len(p.Items))] {
		d.say("%s", wrap(fmt.Sprintf("%s (confidence %.2f): %s", o.Type, o.Confidence, console.Short(o.Text, 240)), 90, "     "))
		d.say("       from %s; %s\n", count(len(o.Children), "fact"), console.Short(o.Reasoning, 80))
	}
	return nil
}

// answer makes the model answer a question from memory and prints the answer as it arrives.
func (d demo) answer() error {
	if d.models.reflect == "" {
		return nil
	}
	d.say("5. A question that %s answers from memory, piece by piece as it comes:\n\n   %s\n", d.models.reflect, demoAsked)
	out, grown := indent(d.out, "     "), false
	r, err := d.client.ReflectStream(d.ctx, d.bank, wire.ReflectRequest{RecallRequest: wire.RecallRequest{Query: demoAsked}}, func(p wire.Delta) {
		if p.Reset && grown {
			fmt.Fprintln(out, "\n… it begins anew:")
		}
		grown = true
		fmt.Fprint(out, console.Clean(p.Delta))
	})
	if err != nil {
		return err
	}
	d.say("\n\n   It rests on:")
	rows := make([][]string, 0, len(r.Citations))
	for i, c := range r.Citations {
		it, err := d.client.Get(d.ctx, d.bank, c.ID)
		if err != nil {
			return err
		}
		rows = append(rows, []string{fmt.Sprintf("[%d]", i+1), console.Short(c.Text, 70), string(it.Record) + " from " + join(it.Sources)})
	}
	console.Table(indent(d.out, "     "), nil, rows)
	console.Degraded(indent(d.out, "     "), r.Degraded)
	d.say("")
	return nil
}

// showModelUsage shows what the models used. The usage of a question is recorded within a second after its reply.
func (d demo) showModelUsage() error {
	if d.models == (demoModels{}) {
		return nil
	}
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for range 50 {
		s, err := d.client.Status(d.ctx, d.bank)
		if err != nil {
			return err
		}
		if d.models.reflect == "" || slices.ContainsFunc(s.Usage, func(u memory.StageUsage) bool { return u.Stage == memory.StageReflect }) {
			d.say("   What the models took, failed calls too:")
			var text strings.Builder
			showUsage(&text, s.Usage)
			fmt.Fprintln(indent(d.out, "   "), strings.Trim(text.String(), "\n"))
			d.say("")
			return nil
		}
		select {
		case <-tick.C:
		case <-d.ctx.Done():
			return d.ctx.Err()
		}
	}
	return nil
}
