package mcp

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/client"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

func say(ctx context.Context, b *bank, g given) (string, error) {
	a, err := bind[struct{ Session, Content, Speaker, Role string }](g)
	if err != nil {
		return "", err
	}
	seq, err := b.client.Publish(ctx, b.id, memory.SessionID(a.Session), memory.Message{Content: a.Content, Speaker: a.Speaker, Role: memory.Role(a.Role)})
	return fmt.Sprintf("stored at %d", seq), err
}

func conflicts(ctx context.Context, b *bank, g given) (string, error) {
	r, err := bind[wire.ConflictRequest](g)
	if err != nil {
		return "", err
	}
	if r.ID == "" {
		r.State = memory.ConflictOpen
	}
	c, err := b.client.Conflicts(ctx, b.id, r)
	if err != nil || r.ID != "" {
		return fmt.Sprintf("[%s] is %s", c.ID, c.State), err
	}
	return cmp.Or(contradictions(c.Items), "no open conflicts"), nil
}

func feedback(ctx context.Context, b *bank, g given) (string, error) {
	r, err := bind[wire.FeedbackRequest](g)
	if err != nil {
		return "", err
	}
	_, err = b.client.Feedback(ctx, b.id, r)
	return "noted", err
}

func entities(ctx context.Context, b *bank, g given) (string, error) {
	r, err := bind[wire.EntitiesRequest](g)
	if err != nil {
		return "", err
	}
	page, err := b.client.Entities(ctx, b.id, r)
	var out []string
	for _, e := range page.Items {
		out = append(out, fmt.Sprintf("[%s] %s · %d facts", e.ID, line(e.Name), e.Facts))
	}
	return cmp.Or(strings.Join(out, "\n"), nothing), err
}

func status(ctx context.Context, b *bank, _ given) (string, error) {
	s, err := client.Call(ctx, b.client, wire.StatusOf, b.id, wire.StatusRequest{})
	return fmt.Sprintf("%d messages, %d facts, %d composites, %d observations, %d entities; settled: %t", s.Conservation.Published, s.Facts, s.Composites, s.Observations, s.Entities, s.Settled), err
}

func recalls(ctx context.Context, b *bank, g given) (string, error) {
	r, err := bind[wire.RecallsRequest](g)
	if err != nil {
		return "", err
	}
	kept, err := b.client.Recalls(ctx, b.id, r)
	if err != nil || !kept.On {
		return "recalls are not kept: the profile of the bank says so (keep_recalls)", err
	}
	var out []string
	for _, k := range kept.Items {
		out = append(out, fmt.Sprintf("%s %s: %s", k.At.Format(time.RFC3339), k.Endpoint, line(k.Query())))
		for _, i := range k.Items {
			out = append(out, fmt.Sprintf("  [%s] %s", i.ID, line(i.Text)))
		}
	}
	return cmp.Or(strings.Join(out, "\n"), "nothing was recalled yet"), nil
}

func snapshot(ctx context.Context, b *bank, g given) (string, error) {
	r, err := bind[wire.SnapshotRequest](g)
	if err != nil {
		return "", err
	}
	s, err := b.client.Snapshot(ctx, b.id, r)
	if err != nil {
		return "", err
	}
	var out []string
	for _, p := range s.Parts {
		out = append(out, p.Scope+":")
		for _, name := range slices.Sorted(maps.Keys(p.Counts)) {
			out = append(out, fmt.Sprintf("%s %d", name, p.Counts[name]))
		}
		for _, e := range p.Entities {
			out = append(out, fmt.Sprintf("[%s] %s", e.ID, line(e.Name+" "+strings.Join(e.Aliases, ", "))))
		}
		for _, pair := range p.Alike {
			out = append(out, fmt.Sprintf("may be one: %v", pair))
		}
		for _, session := range p.Sessions {
			out = append(out, fmt.Sprintf("session %s: %d messages", line(string(session.Session)), session.Messages))
		}
		if len(p.Conflicts) > 0 {
			out = append(out, contradictions(p.Conflicts))
		}
		if len(p.Items) > 0 {
			out = append(out, lines(p.Items, false))
		}
		if p.Cut {
			out = append(out, "(there is more)")
		}
	}
	return strings.Join(out, "\n"), nil
}

func apply(ctx context.Context, b *bank, g given) (string, error) {
	r, err := strict[wire.ApplyRequest](g)
	if err != nil {
		return "", err
	}
	a, err := b.client.Apply(ctx, b.id, r)
	if err != nil {
		return "", err
	}
	var out []string
	for _, x := range a.Results {
		s := fmt.Sprintf("%s: %s [%s] %s", x.Change, x.Outcome, cmp.Or(strings.Join(x.IDs, "] ["), x.ID), x.Reason)
		for _, c := range x.Collides {
			s += fmt.Sprintf(" · near [%s] %s", c.ID, line(c.Text))
		}
		out = append(out, strings.TrimSpace(s))
	}
	return strings.Join(append(out, undoable(a.DryRun, a.Op)), "\n"), nil
}

// undoable says that nothing was changed, or by which op it can be taken back.
func undoable(dry bool, op string) string {
	if dry {
		return "(nothing was changed)"
	}
	return "op " + op
}

func undo(ctx context.Context, b *bank, g given) (string, error) {
	r, err := bind[wire.UndoRequest](g)
	if err != nil {
		return "", err
	}
	u, err := b.client.Undo(ctx, b.id, r)
	if err != nil {
		return "", err
	}
	var out []string
	for _, x := range u.Results {
		out = append(out, fmt.Sprintf("%s [%s]", x.Outcome, x.ID))
	}
	if u.DryRun {
		out = append(out, undoable(true, ""))
	}
	return cmp.Or(strings.Join(out, "\n"), "taken back"), nil
}

// search and fetch have the names, arguments and replies that some clients expect of a source of documents.
func search(ctx context.Context, b *bank, g given) (string, error) {
	r, err := bind[wire.RecallRequest](g)
	if err != nil {
		return "", err
	}
	found, err := b.client.Recall(ctx, b.id, r)
	if err != nil {
		return "", err
	}
	results := []map[string]string{}
	for _, i := range found.Items {
		results = append(results, map[string]string{"id": i.ID, "title": i.Text, "url": b.address(i.ID)})
	}
	out, err := memory.Encode(map[string]any{"results": results})
	return string(out), err
}

func fetch(ctx context.Context, b *bank, g given) (string, error) {
	r, err := bind[wire.GetRequest](g)
	if err != nil {
		return "", err
	}
	i, err := client.Call(ctx, b.client, wire.Get, b.id, r)
	if err != nil {
		return "", err
	}
	out, err := memory.Encode(map[string]string{"id": i.ID, "title": i.ID, "text": i.Text, "url": b.address(i.ID)})
	return string(out), err
}

// address is the resource of an item.
func (b *bank) address(id string) string { return "memory://" + string(b.id) + "/items/" + id }

const nothing = "nothing known"

// lines writes a line for each item; in full also its type, its sources and what it consists of.
func lines(items []memory.Item, full bool) string {
	var out []string
	for _, i := range items {
		s := fmt.Sprintf("[%s] %s", i.ID, line(i.Text))
		if i.Record == memory.RecordMessage && i.Speaker != "" {
			s = fmt.Sprintf("[%s] %s: %s", i.ID, line(i.Speaker), line(i.Text))
		}
		if i.Said != nil {
			s += " · said " + i.Said.Format("2006-01-02")
		}
		for _, v := range i.Valid {
			if v.To != nil {
				s += " · held until " + v.To.Format("2006-01-02")
			}
		}
		if full {
			for _, part := range []struct {
				name  string
				value any
				has   bool
			}{{"type", i.Type, i.Type != ""}, {"version", i.Version, i.Version != 0}, {"key", i.Key, i.Key != ""}, {"session", i.Session, i.Session != ""}, {"of", i.Children, len(i.Children) > 0},
				{"from", i.Sources, len(i.Sources) > 0}, {"replaced by", i.Superseded, i.Superseded != ""}} {
				if part.has {
					s += fmt.Sprintf(" · %s %v", part.name, part.value)
				}
			}
		}
		out = append(out, s)
	}
	return cmp.Or(strings.Join(out, "\n"), nothing)
}

// contradictions writes each conflict with its two facts.
func contradictions(items []wire.ConflictItem) string {
	var out []string
	for _, c := range items {
		out = append(out, fmt.Sprintf("[%s] %s", c.ID, line(c.Reason)), lines(c.Facts, false))
	}
	return strings.Join(out, "\n")
}

// noted adds what could not run, once.
func noted(text string, degraded []string) string {
	if len(degraded) == 0 {
		return text
	}
	return text + "\n(" + strings.Join(degraded, "; ") + ")"
}

// line returns a text on one line.
func line(text string) string { return strings.Join(strings.Fields(text), " ") }
