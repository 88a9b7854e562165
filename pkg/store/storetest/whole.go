package storetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/eunoe-memory/eunoe/pkg/consolidate"
	"github.com/eunoe-memory/eunoe/pkg/consolidate/plan"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/query"
)

// Log returns a synthetic log: n messages in three banks and the writes of their windows, two messages each, with
// repeats, replacements and malformed events.
func Log(n int) ([]consolidate.MessageEvent, []memory.Write) {
	var events []consolidate.MessageEvent
	var writes []memory.Write
	names := []string{"Ann", "Bob", "Cy", "Dee", "Eve"}
	things := []string{"tea", "chess", "rowing", "maps", "Lisbon", "old clocks", "\u732b"}
	for i := range n {
		seq := uint64(i + 1)
		bank := memory.BankID([]string{"b", "c", "d"}[i%3])
		who, thing := names[i%len(names)], things[(i*3)%len(things)]
		m := &memory.Message{Bank: bank, Session: memory.SessionID(fmt.Sprintf("s%d", i%2)), Seq: seq, Stored: at(i), ID: memory.MessageID(fmt.Sprintf("m%d", i)),
			Role: memory.RoleUser, Speaker: who, Content: fmt.Sprintf("I like %s, said %s the %dth time.", thing, who, i), Time: at(i - i%4)}
		e := consolidate.MessageEvent{Seq: seq, Bank: bank, Session: m.Session, Stored: at(i), State: memory.StatePending, Message: m}
		switch {
		case i%17 == 16:
			e.Message, e.State = nil, memory.StateDead
		case i%11 == 10:
			m.ID = memory.MessageID(fmt.Sprintf("m%d", i-3))
		case i%7 == 6:
			m.Replaces = memory.MessageID(fmt.Sprintf("m%d", i-3))
		}
		events = append(events, e)
		end := memory.WindowEnd{SessionID: m.Session, Outcome: memory.WindowFacts}
		end.ID, end.New = memory.NewWindowID(bank, m.Session, seq, seq, 0), []memory.WindowMessage{{Seq: seq}}
		f := fact(bank, fmt.Sprintf("%s likes %s.", who, thing), seq)
		f.Entities, f.Vector = []memory.EntityID{memory.NewEntityID(memory.EntityPerson, who)}, vector(16, i*3%7, float64(i%5)/5)
		f.State = &memory.State{Subject: f.Entities[0], Attribute: "likes", Value: thing}
		writes = append(writes, memory.Write{Bank: bank, Kind: memory.WriteWindow, Seq: seq, Op: string(end.ID), Time: at(i + n), Window: &end, Facts: []memory.Fact{f}})
	}
	return events, writes
}

// previews checks that a preview returns what a plan decides from the state that the next write would find, and that
// nothing is changed by it.
func previews(t *testing.T, h *harness) {
	h.put("b", memory.Changes{Facts: []memory.Fact{fact("b", "Ann sails.", 0)}})
	before := h.dump()
	see := func(bank memory.BankID, want int) memory.Changes {
		t.Helper()
		c, err := h.Preview(context.Background(), memory.Write{Bank: bank, Kind: memory.WriteRetain, Op: "seen"}, func(v plan.View, w memory.Write) (memory.Changes, error) {
			found, err := v.Facts([]memory.FactID{fact("b", "Ann sails.", 0).ID})
			return memory.Changes{Facts: append(found, fact(w.Bank, "Ann rows.", 0))}, err
		})
		h.must(err)
		if len(c.Facts) != want {
			t.Errorf("a preview of bank %q returns %d facts, want %d", bank, len(c.Facts), want)
		}
		return c
	}
	see("b", 2)
	see("nobody", 1)
	if after := h.dump(); after != before {
		t.Errorf("a preview changed the store:\n%s", cmp.Diff(before, after))
	}
	if out, err := h.Outcome(context.Background(), "b", "seen"); err != nil || out != nil {
		t.Errorf("a preview has the outcome %+v, %v", out, err)
	}
	if err := h.Read(context.Background(), "nobody", func(query.Reader) error { return nil }); !errors.Is(err, memory.ErrNotFound) {
		t.Errorf("a preview made a bank: %v", err)
	}
	why := errors.New("no plan")
	if _, err := h.Preview(context.Background(), memory.Write{Bank: "b"}, func(plan.View, memory.Write) (memory.Changes, error) { return memory.Changes{}, why }); !errors.Is(err, why) {
		t.Errorf("the error of a plan is %v", err)
	}
}

// consolidateLog is a small plan that reads what it changes: it merges sources, supersedes by what was said later, and
// clusters similar facts into one composite.
func consolidateLog(v plan.View, w memory.Write) (memory.Changes, error) {
	c := memory.Changes{Window: w.Window}
	for _, f := range w.Facts {
		stored, err := v.Messages([]uint64{f.Sources[0].Seq})
		if err != nil {
			return c, err
		}
		if len(stored) == 0 || stored[0].Canonical != stored[0].Seq {
			continue
		}
		c.Ended = append(c.Ended, memory.MessageEnd{Seq: f.Sources[0].Seq, State: memory.StateCommitted})
		f.Version, f.Recorded = w.Seq, w.Time
		was, err := v.Facts([]memory.FactID{f.ID})
		if err != nil {
			return c, err
		}
		if len(was) > 0 {
			f.Sources = append(was[0].Sources, f.Sources...)
		}
		older, err := v.FactsOfState(f.State.Subject, f.State.Attribute, 3)
		if err != nil {
			return c, err
		}
		for _, o := range older {
			if o.ID != f.ID && o.Live() {
				to := f.Said
				o.Superseded, o.Valid[len(o.Valid)-1].To, o.Version, o.Vector = f.ID, &to, w.Seq, nil
				c.Facts = append(c.Facts, o)
			}
		}
		near, err := v.Nearest(0, f.Vector, strings.Fields(f.Text), f.Entities, -1, 3)
		if err != nil {
			return c, err
		}
		children := []string{string(f.ID)}
		for _, n := range near {
			if n.ID != string(f.ID) {
				children = append(children, n.ID)
			}
			if n.Parent != "" {
				c.RemovedComposites = append(c.RemovedComposites, n.Parent)
			}
		}
		slices.Sort(children)
		slices.Sort(c.RemovedComposites)
		c.RemovedComposites = slices.Compact(c.RemovedComposites)
		c.Facts = append(c.Facts, f)
		c.Composites = append(c.Composites, memory.Composite{ID: memory.NewCompositeID(w.Bank, 1, children), Level: 1, Text: f.Text, Representative: string(f.ID),
			Children: children, Said: f.Said, Confidence: 0.5, Version: w.Seq, Vector: f.Vector})
		_, name := f.Entities[0].Split()
		c.Entities = append(c.Entities, memory.Entity{ID: f.Entities[0], Type: memory.EntityPerson, Name: name})
		c.Changes = append(c.Changes, memory.Change{What: memory.ChangeFact, Op: memory.OutcomeAdded, Record: string(f.ID)})
	}
	return c, nil
}

// applyLog applies a log in batches of the given size.
func applyLog(h *harness, events []consolidate.MessageEvent, writes []memory.Write, batch int) {
	h.Helper()
	ctx := context.Background()
	for from := 0; from < len(events); from += batch {
		to := min(from+batch, len(events))
		h.must(h.ApplyMessages(ctx, uint64(from), uint64(to), events[from:to]))
	}
	for from := 0; from < len(writes); from += batch {
		to := min(from+batch, len(writes))
		h.must(h.ApplyWrites(ctx, uint64(from), uint64(to), writes[from:to], consolidateLog))
	}
	h.messages, h.writes = uint64(len(events)), uint64(len(writes))
}

func batches(t *testing.T, h *harness) {
	events, writes := Log(150)
	applyLog(h, events, writes, 1)
	want := h.dump()
	for _, size := range []int{7, 100} {
		other := &harness{T: t, opener: h.fresh(t)}
		other.Store = other.open("", 0)
		applyLog(other, events, writes, size)
		if d := cmp.Diff(want, other.dump()); d != "" {
			t.Errorf("batches of %d give another store: %s", size, d)
		}
	}
	if counts, err := h.Counts(context.Background()); err != nil || counts["message_events"] != 150 || counts["composites"] == 0 {
		t.Errorf("counts are %v, %v", counts, err)
	}
}

func restart(t *testing.T, h *harness) {
	ctx := context.Background()
	events, writes := Log(60)
	applyLog(h, events, writes, 20)
	before := h.dump()
	h.reopen("", 0)
	if d := cmp.Diff(before, h.dump()); d != "" {
		t.Error(d)
	}
	messages, applied, err := h.Applied(ctx)
	if err != nil || messages != 60 || applied != 60 {
		t.Errorf("applied are %d and %d, %v; want 60 each", messages, applied, err)
	}
	h.say("b", memory.Message{Content: "one more"})
}

func allOrNothing(t *testing.T, h *harness) {
	events, writes := Log(10)
	applyLog(h, events, writes[:5], 5)
	before := h.dump()
	sick := errors.New("sick")
	err := h.ApplyWrites(context.Background(), 5, 10, writes[5:], func(v plan.View, w memory.Write) (memory.Changes, error) {
		if w.Seq == 8 {
			return memory.Changes{}, sick
		}
		return consolidateLog(v, w)
	})
	if !errors.Is(err, sick) {
		t.Errorf("the batch gave %v; want the plan's error", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	err = h.ApplyWrites(ctx, 5, 10, writes[5:], func(v plan.View, w memory.Write) (memory.Changes, error) {
		if w.Seq == 8 {
			cancel()
		}
		return consolidateLog(v, w)
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("the batch gave %v; want that it was cancelled", err)
	}
	if d := cmp.Diff(before, h.dump()); d != "" {
		t.Error(d)
	}
	h.must(h.ApplyWrites(context.Background(), 5, 10, writes[5:], consolidateLog))
	h.writes = 10
}
