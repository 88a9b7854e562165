// Package storetest is the conformance suite of a store: every backend passes it.
//
// The suite uses a store through its interfaces alone. It applies events as the consolidator does, and reads the result
// as a plan and a query do. A backend runs it from a test with Run and an Opener for empty stores. After every test the
// suite calls Store.Check, so whatever an engine derives from rows must agree with them.
package storetest

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/consolidate"
	"github.com/eunoe-memory/eunoe/pkg/consolidate/plan"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/store"
	"github.com/eunoe-memory/eunoe/pkg/store/sketch"
)

// Opener opens the store of one location. Opening it again finds what was stored before. "" and 0 name no embedder.
type Opener func(embedder string, dimension int) (store.Store, error)

// Run runs the suite. location returns the Opener of an empty location, a new one for each call.
func Run(t *testing.T, location func(t *testing.T) Opener) {
	for _, s := range []struct {
		name string
		run  func(t *testing.T, h *harness)
	}{
		{"the applied sequences are a fence", fence},
		{"banks are applied ahead of one that is held", ahead},
		{"the log that was applied is known again", knownLog},
		{"events out of their run are refused", outOfRun},
		{"the first message of an id wins and a repeat is a duplicate", duplicates},
		{"a malformed event is dead and stays so", deadEvents},
		{"a message that replaces another marks it and no later one", replacing},
		{"the text is kept as it came, a NUL excepted", textKept},
		{"a redacted message is searched by what is left of it", redacted},
		{"a fact comes back as it was put", factRoundTrip},
		{"what of a state reaches to a time", statesSince},
		{"a nil vector keeps the stored one", vectorKept},
		{"sources and entities follow the new state", factParts},
		{"what a plan has read is stored like what it has not", asked},
		{"composites know their children and children their composite", tree},
		{"a composite keeps its vector when that of its fact changes or goes", compositeVectorKept},
		{"an op is applied once", opOnce},
		{"an op that comes again in the same run is applied once", opOnceInARun},
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
		{"every reading method answers, of something and of nothing", everyReading},
		{"a forgotten message leaves nothing behind and does not come back", forgetMessage},
		{"a forgotten fact takes its traces with it", forgetFact},
		{"H19 an erased bank is no bank", eraseBank},
		{"what waits for a model is counted, and goes with what it is about", waiting},
		{"decisions are kept with their model, and forgetting finds the writes that rest on a fact", decisionsKept},
		{"a text by a model keeps its mark", modelStamps},
		{"Y15 a text index has no row of a deleted record and finds two Chinese characters", textIndex},
		{"a term of many forms finds what each of them finds", manyForms},
		{"a session of many windows is forgotten as fast as it is long", longSession},
		{"a bank knows its words, whatever a filter excludes", known},
		{"the same log gives the same dump whatever the batches", batches},
		{"a preview plans on the present state and changes nothing", previews},
		{"L20 a restart keeps everything", restart},
		{"a batch that fails leaves nothing", allOrNothing},
		{"whatever is written and erased, the indexes stay in step", randomOperations},
	} {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			h := &harness{T: t, opener: location(t), fresh: location}
			h.Store = h.open("", 0)
			s.run(t, h)
			if err := h.Check(context.Background()); err != nil {
				t.Errorf("after the test: %v", err)
			}
		})
	}
}

// harness is one store and the positions of its streams.
type harness struct {
	*testing.T
	store.Store
	opener           Opener
	fresh            func(t *testing.T) Opener
	messages, writes uint64
}

// open opens the store again and closes it at the end of the test.
func (h *harness) open(embedder string, dimension int) store.Store {
	h.Helper()
	s, err := h.opener(embedder, dimension)
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

// reopen closes the store and opens it again.
func (h *harness) reopen(embedder string, dimension int) {
	h.Helper()
	if err := h.Close(); err != nil {
		h.Fatalf("close: %v", err)
	}
	h.Store = h.open(embedder, dimension)
}

var epoch = time.Date(2026, 5, 20, 9, 0, 0, 0, time.UTC)

// at returns the moment of event time n seconds after epoch.
func at(n int) time.Time { return epoch.Add(time.Duration(n) * time.Second) }

// say applies a message and returns its sequence. It fills in the fields that m omits.
func (h *harness) say(bank memory.BankID, m memory.Message) uint64 {
	h.Helper()
	e := h.event(bank, m)
	h.must(h.ApplyMessages(context.Background(), h.messages-1, h.messages, []consolidate.MessageEvent{e}))
	return e.Seq
}

// event returns the next message event.
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

// write applies one write of a bank by a plan and returns its sequence.
func (h *harness) write(bank memory.BankID, plan plan.Func) uint64 {
	h.Helper()
	h.must(h.tryWrite(memory.Write{Bank: bank}, plan))
	return h.writes
}

// put applies changes as one write and returns its sequence.
func (h *harness) put(bank memory.BankID, c memory.Changes) uint64 {
	h.Helper()
	return h.write(bank, func(plan.View, memory.Write) (memory.Changes, error) { return c, nil })
}

func (h *harness) tryWrite(w memory.Write, plan plan.Func) error {
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

// view reads a bank as a plan does, in a write that changes nothing.
func (h *harness) view(bank memory.BankID, look func(v plan.View)) {
	h.Helper()
	h.write(bank, func(v plan.View, _ memory.Write) (memory.Changes, error) {
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

// dump returns the logical content of the store.
func (h *harness) dump() string {
	h.Helper()
	var b bytes.Buffer
	h.must(h.Dump(context.Background(), &b))
	return b.String()
}

// absent fails when the dump contains one of the words.
func (h *harness) absent(words ...string) {
	h.Helper()
	d := strings.ToLower(h.dump())
	for _, w := range words {
		if strings.Contains(d, strings.ToLower(w)) {
			h.Errorf("%q is still in the store", w)
		}
	}
}

// fact returns a fact that rests on one message event.
func fact(bank memory.BankID, text string, seq uint64) memory.Fact {
	said := at(int(seq))
	return memory.Fact{
		ID: memory.NewFactID(bank, text, memory.KindWorld), Bank: bank, Text: text, Kind: memory.KindWorld, Type: memory.TypeFact,
		Said: said, Recorded: said, Valid: []memory.Interval{{From: said}}, Confidence: 0.8, Version: seq,
		Sources: []memory.Source{{Message: memory.SequenceID(seq), Seq: seq, Said: said, Start: said}},
	}
}

// vector returns a unit vector of dim dimensions that points mostly along an axis.
func vector(dim, axis int, tilt float64) memory.Vector {
	v := make(memory.Vector, dim)
	v[axis%dim] = 1
	v[(axis+1)%dim] += float32(tilt)
	return sketch.Unpack(sketch.Pack(v.Unit()))
}
