// Package storetest is the suite that every backend of the store passes. It
// speaks to the store through its interfaces alone: events go in as the
// consolidator gives them, and what comes of them is read as a plan and a query
// read it.
package storetest

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/consolidate"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/store"
	"github.com/eunoe-memory/eunoe/pkg/store/sketch"
)

// Place opens the store of one place, again and again: what was stored there
// is still there. "" and 0 name no embedder.
type Place func(embedder string, dimension int) (store.Store, error)

// Run runs the suite. place gives an empty place of its own to each test that
// asks for one.
func Run(t *testing.T, place func(t *testing.T) Place) {
	for _, s := range []struct {
		name string
		run  func(t *testing.T, h *harness)
	}{
		{"the applied sequences are a fence", fence},
		{"events out of their run are refused", outOfRun},
		{"the first message of an id wins and a repeat is a duplicate", duplicates},
		{"a malformed event is dead and stays so", malformed},
		{"a message that replaces another marks it and no later one", replacing},
		{"the text is kept as it came, a NUL excepted", textKept},
		{"a redacted message is searched by what is left of it", redacted},
		{"a fact comes back as it was put", factRoundTrip},
		{"what of a state reaches to a time", statesSince},
		{"a nil vector keeps the stored one", vectorKept},
		{"sources and entities follow the new state", factParts},
		{"composites know their children and children their composite", tree},
		{"a composite keeps its vector when that of its fact changes or goes", compositeVectorKept},
		{"an op is applied once", opOnce},
		{"usage counts once for every event, by bank, stage and model", usage},
		{"ends of messages and windows follow their order", ends},
		{"changes leave by the outbox in order with ids of their own", outbox},
		{"H4 nothing of one bank is seen in another", banksApart},
		{"H2 a bank's profile survives a restart byte for byte", profileKept},
		{"H20 a vector of the wrong dimension is refused by name", wrongDimension},
		{"H20 another embedder cannot open the store", wrongEmbedder},
		{"what has no vector waits for one, and no longer", withoutVector},
		{"vectors of messages are found near through every filter", messageVectors},
		{"forgetting takes vectors and names the writes that brought them late", forgetVectors},
		{"U4 an entity of 400 facts is looked up in bounded rows", busyEntity},
		{"the nearest are found by shared words and entities", nearest},
		{"the view answers of nothing with nothing", emptyView},
		{"a forgotten message leaves nothing behind and does not come back", forgetMessage},
		{"a forgotten fact takes its traces with it", forgetFact},
		{"H19 an erased bank is no bank", eraseBank},
		{"what waits for a model is counted, and goes with what it is about", waiting},
		{"decisions are kept with their model, and forgetting finds the writes that rest on a fact", decided},
		{"a text by a model keeps its mark", modelTexts},
		{"Y15 a text index has no row of a deleted record and finds two Chinese characters", textIndex},
		{"the same log gives the same dump whatever the batches", batches},
		{"L20 a restart keeps everything", restart},
		{"a batch that fails leaves nothing", allOrNothing},
		{"whatever is written and erased, the indexes stay in step", inStep},
	} {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			h := &harness{T: t, place: place(t), fresh: place}
			h.Store = h.open("", 0)
			s.run(t, h)
			if err := h.Check(context.Background()); err != nil {
				t.Errorf("after the test: %v", err)
			}
		})
	}
}

// harness is one store with the positions of its streams.
type harness struct {
	*testing.T
	store.Store
	place            Place
	fresh            func(t *testing.T) Place
	messages, writes uint64
}

// open opens the store again and closes it with the test.
func (h *harness) open(embedder string, dimension int) store.Store {
	h.Helper()
	s, err := h.place(embedder, dimension)
	if err != nil {
		h.Fatalf("open: %v", err)
	}
	h.Cleanup(func() {
		if err := s.Close(); err != nil {
			h.Errorf("close: %v", err)
		}
	})
	return s
}

// reopen closes the store and opens it anew.
func (h *harness) reopen(embedder string, dimension int) {
	h.Helper()
	if err := h.Close(); err != nil {
		h.Fatalf("close: %v", err)
	}
	h.Store = h.open(embedder, dimension)
}

var epoch = time.Date(2026, 5, 20, 9, 0, 0, 0, time.UTC)

// at is a moment of event time, n seconds in.
func at(n int) time.Time { return epoch.Add(time.Duration(n) * time.Second) }

// say applies a message; the fields that m leaves out are filled.
func (h *harness) say(bank memory.BankID, m memory.Message) uint64 {
	h.Helper()
	e := h.event(bank, m)
	h.must(h.ApplyMessages(context.Background(), h.messages-1, h.messages, []consolidate.MessageEvent{e}))
	return e.Seq
}

// event makes the next message event.
func (h *harness) event(bank memory.BankID, m memory.Message) consolidate.MessageEvent {
	h.messages++
	m.Bank, m.Seq, m.Stored = bank, h.messages, at(int(h.messages))
	if m.Session == "" {
		m.Session = "s"
	}
	if m.ID == "" {
		m.ID = memory.SequenceID(m.Seq)
	}
	if m.Role == "" {
		m.Role = memory.RoleUser
	}
	if m.Speaker == "" {
		m.Speaker = string(m.Role)
	}
	if m.Time.IsZero() {
		m.Time = m.Stored
	}
	return consolidate.MessageEvent{Seq: m.Seq, Bank: bank, Session: m.Session, Stored: m.Stored, State: memory.StatePending, Message: &m}
}

// write applies one write of a bank by a plan.
func (h *harness) write(bank memory.BankID, plan consolidate.PlanFunc) uint64 {
	h.Helper()
	h.must(h.tryWrite(memory.Write{Bank: bank}, plan))
	return h.writes
}

// put applies changes as one write.
func (h *harness) put(bank memory.BankID, c memory.Changes) uint64 {
	h.Helper()
	return h.write(bank, func(consolidate.View, memory.Write) (memory.Changes, error) { return c, nil })
}

func (h *harness) tryWrite(w memory.Write, plan consolidate.PlanFunc) error {
	w.Seq, w.Time = h.writes+1, at(int(h.writes)+1)
	if w.Op == "" {
		w.Op = fmt.Sprintf("op-%d", w.Seq)
	}
	if w.Kind == "" {
		w.Kind = memory.WriteRetain
	}
	err := h.ApplyWrites(context.Background(), h.writes, w.Seq, []memory.Write{w}, plan)
	if err == nil {
		h.writes = w.Seq
	}
	return err
}

// view looks at a bank as a plan does; it takes a write that changes nothing.
func (h *harness) view(bank memory.BankID, look func(v consolidate.View)) {
	h.Helper()
	h.write(bank, func(v consolidate.View, _ memory.Write) (memory.Changes, error) {
		look(v)
		return memory.Changes{}, nil
	})
}

func (h *harness) must(err error) {
	h.Helper()
	if err != nil {
		h.Fatal(err)
	}
}

// dump is the store's logical content.
func (h *harness) dump() string {
	h.Helper()
	var b bytes.Buffer
	h.must(h.Dump(context.Background(), &b))
	return b.String()
}

// absent fails when the dump holds one of the words.
func (h *harness) absent(words ...string) {
	h.Helper()
	d := strings.ToLower(h.dump())
	for _, w := range words {
		if strings.Contains(d, strings.ToLower(w)) {
			h.Errorf("%q is still in the store", w)
		}
	}
}

// fact makes a fact that rests on one message event.
func fact(bank memory.BankID, text string, seq uint64) memory.Fact {
	said := at(int(seq))
	return memory.Fact{
		ID: memory.NewFactID(bank, text, memory.KindWorld), Bank: bank, Text: text, Kind: memory.KindWorld, Type: memory.TypeFact,
		Said: said, Recorded: said, Valid: []memory.Interval{{From: said}}, Confidence: 0.8, Version: seq,
		Sources: []memory.Source{{Message: memory.SequenceID(seq), Seq: seq, Said: said, Start: said}},
	}
}

// vector is a unit vector of dim dimensions that points mostly along axis.
func vector(dim, axis int, tilt float64) memory.Vector {
	v := make(memory.Vector, dim)
	v[axis%dim] = 1
	v[(axis+1)%dim] += float32(tilt)
	return sketch.Unpack(sketch.Pack(v.Unit()))
}
