package storetest

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/eunoe-memory/eunoe/pkg/consolidate"
	"github.com/eunoe-memory/eunoe/pkg/consolidate/backfill"
	"github.com/eunoe-memory/eunoe/pkg/consolidate/plan"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/query/recall"
)

// waiting returns the texts of records without a vector.
func (h *harness) waiting() (facts, messages []string) {
	h.Helper()
	for _, page := range []struct {
		read func(context.Context, int64, int) ([]backfill.Record, error)
		into *[]string
	}{{h.FactsWithoutVector, &facts}, {h.MessagesWithoutVector, &messages}} {
		after := int64(0)
		for {
			list, err := page.read(context.Background(), after, 2)
			h.must(err)
			if len(list) == 0 {
				break
			}
			for _, r := range list {
				if r.Place <= after {
					h.Fatalf("place %d comes after %d", r.Place, after)
				}
				after = r.Place
				*page.into = append(*page.into, string(r.Bank)+" "+string(r.Record)+" "+r.Text)
			}
		}
	}
	return facts, messages
}

func late(seq uint64, v memory.Vector) memory.LateVector {
	return memory.LateVector{Record: memory.RecordMessage, Seq: seq, Model: "model-a", Vector: v}
}

func withoutVector(t *testing.T, h *harness) {
	h.say("b", memory.Message{Content: "one", Images: []memory.Image{{Caption: "a boat"}}})
	h.say("c", memory.Message{Content: "two"})
	e := h.event("b", memory.Message{Content: "the key is secret"})
	e.Indexed = "the key is [redacted:key]"
	h.must(h.ApplyMessages(context.Background(), h.messages-1, h.messages, []consolidate.MessageEvent{e}))
	whole, ended, bare := fact("b", "A whole fact.", 1), fact("b", "An ended fact.", 1), fact("c", "A bare fact.", 2)
	whole.Vector = vector(8, 1, 0)
	to := at(5)
	ended.Valid[0].To = &to
	h.put("b", memory.Changes{Facts: []memory.Fact{whole, ended}})
	h.put("c", memory.Changes{Facts: []memory.Fact{bare}})
	check := func(what string, facts, messages []string) {
		t.Helper()
		f, m := h.waiting()
		if !slices.Equal(f, facts) || !slices.Equal(m, messages) {
			t.Errorf("%s: waiting are %q and %q; want %q and %q", what, f, m, facts, messages)
		}
	}
	check("at first", []string{"b fact An ended fact.", "c fact A bare fact."},
		[]string{"b message one\na boat", "c message two", "b message the key is [redacted:key]"})
	h.put("b", memory.Changes{Facts: []memory.Fact{ended}}) // again without
	ended.Vector = vector(8, 2, 0)
	h.put("b", memory.Changes{Facts: []memory.Fact{ended}, MessageVectors: []memory.LateVector{late(1, vector(8, 1, 0)), late(2, vector(8, 1, 0))}})
	check("after some came", []string{"c fact A bare fact."}, []string{"c message two", "b message the key is [redacted:key]"})
	h.put("c", memory.Changes{RemovedFacts: []memory.FactID{bare.ID}})
	check("after the fact went", nil, []string{"c message two", "b message the key is [redacted:key]"})

	// A vector of another model or size does not belong into this store.
	h.must(h.tryWrite(memory.Write{Bank: "c", Op: "bad"}, func(plan.View, memory.Write) (memory.Changes, error) {
		return memory.Changes{MessageVectors: []memory.LateVector{late(2, vector(16, 1, 0))}}, nil
	}))
	if out, err := h.Outcome(context.Background(), "c", "bad"); err != nil || out.Code != 409 {
		t.Errorf("a vector of another size gave %+v, %v", out, err)
	}
}

func messageVectors(t *testing.T, h *harness) {
	h.say("b", memory.Message{ID: "old", Content: "one", Speaker: "Ann"})
	h.say("b", memory.Message{ID: "new", Content: "two", Speaker: "Bob", Session: "t", Replaces: "old"})
	h.say("c", memory.Message{ID: "far", Content: "three"})
	first := vector(8, 0, 0)
	h.put("b", memory.Changes{MessageVectors: []memory.LateVector{late(1, first), late(2, vector(8, 0, 0.5)), late(3, first)}})
	h.put("b", memory.Changes{MessageVectors: []memory.LateVector{late(1, vector(8, 4, 0))}}) // it has one
	h.put("c", memory.Changes{MessageVectors: []memory.LateVector{late(3, first)}})
	find := func(f memory.Filter, want ...int64) {
		t.Helper()
		err := h.Search(context.Background(), "b", f, func(s recall.Searcher) error {
			near, err := s.NearestMessages(context.Background(), first, 10, false)
			var nos []int64
			for i, n := range near {
				nos = append(nos, n.No)
				if i > 0 && n.Cosine > near[i-1].Cosine {
					t.Errorf("%v are out of order", near)
				}
			}
			if !slices.Equal(nos, want) {
				t.Errorf("%+v: the nearest are %v; want %v", f, near, want)
			}
			return err
		})
		h.must(err)
	}
	before := at(1)
	find(memory.Filter{}, 2)
	find(memory.Filter{AsOf: &before}, 1)
	find(memory.Filter{Session: "t"}, 2)
	find(memory.Filter{Speakers: []string{"ann"}})
	find(memory.Filter{Tags: []string{"x"}})
	err := h.Search(context.Background(), "b", memory.Filter{}, func(s recall.Searcher) error {
		near, err := s.Compare(context.Background(), memory.RecordMessage, first, []int64{2, 1, 3, 9})
		if err != nil || len(near) != 2 || near[0].No != 1 || near[0].Cosine < .999 || near[1].No != 2 || near[1].Cosine > .95 {
			t.Errorf("compared are %v, %v", near, err)
		}
		if none, err := s.Compare(context.Background(), memory.RecordComposite, first, []int64{1}); err != nil || none != nil {
			t.Errorf("composites compare as %v, %v", none, err)
		}
		size, err := s.Dimension()
		if size != 8 {
			t.Errorf("vectors have %d dimensions", size)
		}
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		if _, again := s.NearestMessages(ctx, first, 10, false); !errors.Is(again, context.Canceled) {
			t.Errorf("a search that is over gave %v", again)
		}
		return err
	})
	h.must(err)
}

func forgetVectors(t *testing.T, h *harness) {
	h.say("b", memory.Message{Content: "one"})
	h.say("b", memory.Message{Content: "two"})
	gone, stays := fact("b", "Gone.", 1), fact("b", "Stays.", 2)
	h.put("b", memory.Changes{Facts: []memory.Fact{gone, stays}})
	bring := func(op string, list ...memory.LateVector) uint64 {
		t.Helper()
		w := memory.Write{Bank: "b", Op: op, Kind: memory.WriteVectors, Vectors: list}
		h.must(h.tryWrite(w, func(_ plan.View, w memory.Write) (memory.Changes, error) {
			c := memory.Changes{}
			for _, v := range w.Vectors {
				if v.Record == memory.RecordMessage {
					c.MessageVectors = append(c.MessageVectors, v)
				}
			}
			return c, nil
		}))
		return h.writes
	}
	of := func(f memory.Fact) memory.LateVector {
		return memory.LateVector{Record: memory.RecordFact, ID: string(f.ID), Model: "model-a", Vector: vector(8, 3, 0)}
	}
	both := bring("both", of(gone), of(stays), late(2, vector(8, 1, 0)))
	alone := bring("alone", late(1, vector(8, 1, 0)))
	kept := bring("kept", of(stays))
	repeat := bring("alone", late(1, vector(8, 1, 0)))
	w := memory.Write{Bank: "b", Op: "forget", Kind: memory.WriteForget}
	h.must(h.tryWrite(w, func(plan.View, memory.Write) (memory.Changes, error) {
		f := &memory.Forgotten{Facts: []memory.FactID{gone.ID}, Messages: []uint64{1}, Receipt: &memory.Receipt{}}
		return memory.Changes{Forgotten: f, Outcome: memory.WriteOutcome{Receipt: f.Receipt}}, nil
	}))
	var writes []uint64
	list, err := h.Erasures(context.Background(), "", 20)
	h.must(err)
	for _, e := range list {
		if e.Stream == "MEM_WRITES" {
			writes = append(writes, e.Seq)
		}
	}
	if d := cmp.Diff([]uint64{both, alone, repeat}, writes); d != "" || slices.Contains(writes, kept) {
		t.Errorf("to be erased (-want +got):\n%s", d)
	}
	if n, err := h.Counts(context.Background()); err != nil || n["message_vectors"] != 1 {
		t.Errorf("%d vectors of messages are left, %v", n["message_vectors"], err)
	}
	out, err := h.Outcome(context.Background(), "b", "forget")
	if err != nil || out.Receipt == nil || out.Receipt.Rewritten != 1 {
		t.Errorf("the outcome is %+v, %v; one write is appended anew", out, err)
	}
	// The rest of it comes again under its op, and is found at its new position.
	again := bring("both", of(stays), late(2, vector(8, 1, 0)))
	h.must(h.tryWrite(memory.Write{Bank: "b", Op: "forget-2", Kind: memory.WriteForget}, func(plan.View, memory.Write) (memory.Changes, error) {
		return memory.Changes{Forgotten: &memory.Forgotten{Facts: []memory.FactID{stays.ID}, Messages: []uint64{2}}}, nil
	}))
	list, err = h.Erasures(context.Background(), "", 50)
	h.must(err)
	count := 0
	for _, e := range list {
		if e.Stream == "MEM_WRITES" && e.Seq == again {
			count++
		}
	}
	if count != 1 {
		t.Errorf("the write appended anew is to be erased %d times", count)
	}
	if d := h.dump(); strings.Contains(d, `"message_vectors"`) || strings.Contains(d, `"vector_events"`) {
		t.Error("vectors are left in the store")
	}
}

func compositeVectorKept(t *testing.T, h *harness) {
	one, two := fact("b", "The lighthouse is lit.", 1), fact("b", "The lighthouse shines.", 2)
	one.Vector, two.Vector = vector(8, 1, .3), vector(8, 1, .2)
	members := []string{string(one.ID), string(two.ID)}
	c := memory.Composite{ID: memory.NewCompositeID("b", 1, members), Bank: "b", Level: 1, Text: one.Text, Representative: members[0], Children: members,
		Said: one.Said, Confidence: .8, Version: 2, Vector: one.Vector}
	h.put("b", memory.Changes{Facts: []memory.Fact{one, two}, Composites: []memory.Composite{c}})
	check := func(what string, want memory.Vector) {
		t.Helper()
		h.view("b", func(v plan.View) {
			found, err := v.Composites([]memory.CompositeID{c.ID})
			h.must(err)
			nodes, err := v.Nodes(1, []string{string(c.ID)})
			h.must(err)
			near, err := v.Nearest(1, want, []string{"lighthouse"}, nil, -1, 3)
			h.must(err)
			if len(found) != 1 || !slices.Equal(found[0].Vector, want) || len(nodes) != 1 || !slices.Equal(nodes[0].Vector, want) {
				t.Errorf("%s: the composite is %+v and %+v; want the vector %v", what, found, nodes, want)
			}
			if len(near) != 1 || !slices.Equal(near[0].Vector, want) || near[0].Cosine < .9999 {
				t.Errorf("%s: near it are %+v", what, near)
			}
		})
	}
	was := one.Vector
	check("at first", was)
	one.Vector = vector(8, 3, 0)
	h.put("b", memory.Changes{Facts: []memory.Fact{one}})
	check("after its fact's changed", was)
	c.Vector = one.Vector
	h.put("b", memory.Changes{Composites: []memory.Composite{c}})
	check("after its own changed", one.Vector)
	h.put("b", memory.Changes{RemovedFacts: []memory.FactID{one.ID}})
	check("after its fact went", one.Vector)
}
