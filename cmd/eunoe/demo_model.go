package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/eunoe-memory/eunoe/internal/app"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/query"
)

// demoAsked is what the model is to answer.
const demoAsked = "Where does Mara live now, and what is Mara allergic to?"

// modelWait is how long the demo waits for a language model, at most.
const modelWait = 5 * time.Minute

// demoModels names the language models of the demo; "" = none.
type demoModels struct{ extract, decide, reflect string }

func modelsOf(c app.Config) demoModels {
	or := func(name string) string {
		if name == "" {
			return c.Model
		}
		return name
	}
	return demoModels{or(c.ModelExtract), or(c.ModelDecide), or(c.ModelReflect)}
}

// demoModel gives the settings of the demo, and starts the scripted model where
// it is asked for. The composites of a small conversation are small.
func demoModel(ctx context.Context, scripted bool) (more map[string]string, stop func(), err error) {
	more, stop = map[string]string{}, func() {}
	if scripted {
		server, err := serveScript(ctx, nil)
		if err != nil {
			return nil, nil, err
		}
		more, stop = scriptedSettings(server.URL), server.Close
	}
	more["SUMMARISE_MIN"] = "2"
	return more, stop, nil
}

// consolidate has the model decide, word and observe now what would wait for
// its schedule.
func (d demo) consolidate() error {
	if d.models.decide == "" {
		return nil
	}
	d.say("   %s is asked what replaces what, for wordings, and what it observes …\n", d.models.decide)
	began, wait := time.Now(), memory.Duration(5*time.Second)
	for time.Since(began) < modelWait {
		r, err := d.client.Consolidate(d.ctx, d.bank, memory.ConsolidateRequest{Force: true, WriteControl: memory.WriteControl{Op: "demo", Wait: &wait}})
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

// worded shows a composite whose text is none of its members'.
func (d demo) worded(roots []memory.TreeNode) {
	if d.models.decide == "" {
		return
	}
	for _, r := range roots {
		if len(r.Nodes) < 2 || slices.ContainsFunc(r.Nodes, func(n memory.TreeNode) bool { return n.Text == r.Text }) {
			continue
		}
		d.say("\n   The wording of a composite is the model's; every name, number and date of its members is in it:\n")
		d.say("%s", wrap(r.Text, 90, "     "))
		return
	}
}

// history reads a fact's history with the decisions behind it.
func (d demo) history(id string) (h query.HistoryReply, err error) {
	body, err := json.Marshal(memory.HistoryRequest{ID: id})
	if err != nil {
		return h, err
	}
	data, err := d.client.Raw(d.ctx, d.bank, "history", body)
	if err != nil {
		return h, err
	}
	return h, memory.DecodeEvent(data, &h)
}

// deciders says which model ended a fact, and by which prompt; "" where rules did.
func deciders(list []memory.DecisionResult, id string) string {
	for _, r := range list {
		if string(r.Target) == id && r.Reason == "" && r.Action != memory.ActionIgnore {
			return fmt.Sprintf("%s, decided by %s with %s", r.Action, r.Model, r.Prompt)
		}
	}
	return ""
}

// observed shows what many facts show together.
func (d demo) observed() error {
	if d.models.decide == "" {
		return nil
	}
	p, err := d.client.List(d.ctx, d.bank, memory.ListRequest{Record: memory.RecordObservation, Limit: 100})
	if err != nil || len(p.Items) == 0 {
		return err
	}
	slices.SortStableFunc(p.Items, func(a, b memory.Item) int { return len(b.Children) - len(a.Children) })
	d.say("   Observations: what several facts show together.\n")
	for _, o := range p.Items[:min(2, len(p.Items))] {
		d.say("%s", wrap(fmt.Sprintf("%s (confidence %.2f): %s", o.Type, o.Confidence, short(o.Text, 240)), 90, "     "))
		d.say("       from %s; %s\n", count(len(o.Children), "fact"), short(o.Reasoning, 80))
	}
	return nil
}

// answer has the model answer a question from memory, as it comes.
func (d demo) answer() error {
	if d.models.reflect == "" {
		return nil
	}
	d.say("5. A question that %s answers from memory, piece by piece as it comes:\n\n   %s\n", d.models.reflect, demoAsked)
	out, grown := indent(d.out, "     "), false
	r, err := d.client.ReflectStream(d.ctx, d.bank, memory.ReflectRequest{RecallRequest: memory.RecallRequest{Query: demoAsked}}, func(p memory.Delta) {
		if p.Reset && grown {
			fmt.Fprintln(out, "\n… it begins anew:")
		}
		grown = true
		fmt.Fprint(out, clean(p.Delta))
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
		rows = append(rows, []string{fmt.Sprintf("[%d]", i+1), short(c.Text, 70), string(it.Record) + " from " + join(it.Sources)})
	}
	table(indent(d.out, "     "), nil, rows)
	degraded(indent(d.out, "     "), r.Degraded)
	d.say("")
	return nil
}

// usage shows what the models took. The charges of a question come within a second.
func (d demo) usage() error {
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
