package storetest

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/eunoe-memory/eunoe/pkg/consolidate"
	"github.com/eunoe-memory/eunoe/pkg/consolidate/erasure"
	"github.com/eunoe-memory/eunoe/pkg/consolidate/plan"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/query"
	"github.com/eunoe-memory/eunoe/pkg/query/recall"
)

func forgetMessage(t *testing.T, h *harness) {
	ctx := context.Background()
	h.say("b", memory.Message{ID: "old", Content: "I live in Paris"})
	h.say("b", memory.Message{ID: "secret", Content: "I moved to Xanadu", Replaces: "old", Metadata: map[string]any{"place": "Xanadu"}})
	h.say("b", memory.Message{ID: "secret", Content: "I moved to Xanadu", Speaker: "Kublai"})
	again := h.event("b", memory.Message{ID: "secret", Content: "I moved to Xanadu"})
	h.messages--
	end := memory.WindowEnd{SessionID: "s", Outcome: memory.WindowFacts}
	end.ID, end.New = "w_1", []memory.WindowMessage{{Seq: 1}, {Seq: 3}}
	window := h.put("b", memory.Changes{Window: &end, Replacements: []memory.Replacement{{ID: "old", By: 2, Time: at(2)}}})
	h.must(h.tryWrite(memory.Write{Bank: "b", Op: "forget-1", Kind: memory.WriteForget}, func(plan.View, memory.Write) (memory.Changes, error) {
		return memory.Changes{Forgotten: &memory.Forgotten{Messages: []uint64{2, 3}}}, nil
	}))
	h.absent("xanadu", "kublai")
	h.states("b", memory.Conservation{Published: 3, Forgotten: 2, Pending: 1})
	if n := h.matching("b", memory.RecordMessage, "xanadu"); n != 0 {
		t.Errorf("the word finds %d messages", n)
	}
	if ids := h.recallable("b"); len(ids) != 1 || ids[0] != "old" {
		t.Errorf("in default recall are %v; want the message that was replaced", ids)
	}
	h.view("b", func(v plan.View) {
		tombs, err := v.Tombstoned([]uint64{1, 2, 3})
		h.must(err)
		if d := cmp.Diff(map[uint64]bool{2: true, 3: true}, tombs); d != "" {
			t.Error(d)
		}
		if r, err := v.Replacements([]memory.MessageID{"old"}); err != nil || len(r) != 0 {
			t.Errorf("replacements left: %v, %v", r, err)
		}
	})
	erasures, err := h.Erasures(ctx, "", 10)
	h.must(err)
	want := []erasure.Entry{{Bank: "b", Stream: "MEM_MESSAGES", Seq: 2, Op: "forget-1"}, {Bank: "b", Stream: "MEM_MESSAGES", Seq: 3, Op: "forget-1"},
		{Bank: "b", Stream: "MEM_WRITES", Seq: window, Op: "forget-1"}}
	if d := cmp.Diff(want, erasures, cmpopts.IgnoreFields(erasure.Entry{}, "No")); d != "" {
		t.Error(d)
	}
	h.must(h.Erased(ctx, []int64{erasures[0].No, erasures[1].No}))
	if left, err := h.Erasures(ctx, "", 10); err != nil || len(left) != 1 {
		t.Errorf("erasures left: %v, %v", left, err)
	}
	// The same id published later is a retry of what was forgotten: it is forgotten too, and queued for erasure.
	h.messages++
	h.must(h.ApplyMessages(ctx, 3, 4, []consolidate.MessageEvent{again}))
	h.states("b", memory.Conservation{Published: 4, Forgotten: 3, Pending: 1})
	if left, err := h.Erasures(ctx, "", 10); err != nil || len(left) != 2 || left[1].Seq != 4 {
		t.Errorf("erasures of the retry: %v, %v", left, err)
	} else {
		h.must(h.Unerasable(ctx, []int64{left[1].No}))
	}
	if left, err := h.Erasures(ctx, "", 10); err != nil || len(left) != 1 || left[0].Seq != window {
		t.Errorf("erasures but for one that cannot be carried out: %v, %v", left, err)
	}
	if q, err := h.Queues(ctx); err != nil || q[0].Erasures != 1 || q[0].Damaged != 1 {
		t.Errorf("queued are %+v, %v", q, err)
	}
	h.absent("xanadu")
}

func forgetFact(t *testing.T, h *harness) {
	h.say("b", memory.Message{ID: "m", Content: "hello"})
	gone := fact("b", "Ann hides in Xanadu.", 1)
	gone.Entities, gone.Ops, gone.Vector = []memory.EntityID{"person:ann", "place:xanadu"}, []string{"op-1"}, vector(8, 1, 0)
	stays := fact("b", "Ann likes tea.", 1)
	stays.Entities, stays.Superseded, stays.Vector = []memory.EntityID{"person:ann"}, gone.ID, vector(8, 2, 0)
	first := h.put("b", memory.Changes{Facts: []memory.Fact{gone, stays},
		Entities: []memory.Entity{{ID: "person:ann", Type: "person", Name: "Ann"}, {ID: "place:xanadu", Type: "place", Name: "Xanadu", Aliases: []string{"Shangdu"}}},
		Relations: []memory.Relation{
			{From: string(gone.ID), To: string(stays.ID), Type: memory.RelSupersedes, Strength: 1},
			{From: "person:ann", To: "place:xanadu", Type: memory.RelRelatedTo, Strength: 1, Facts: []memory.FactID{gone.ID}},
			{From: "person:ann", To: "person:ann", Type: memory.RelImplies, Strength: 1, Facts: []memory.FactID{gone.ID, stays.ID}}},
		Conflicts: []memory.Conflict{{ID: "x_1", A: gone.ID, B: stays.ID, Reason: "Xanadu or tea", State: memory.ConflictOpen}},
		Uses:      []memory.Use{{ID: string(gone.ID), Used: 1, At: at(1)}}})
	again := h.writes + 1
	h.must(h.tryWrite(memory.Write{Bank: "b", Op: "op-1"}, nil)) // a repeat of the op: no plan is asked
	h.must(h.tryWrite(memory.Write{Bank: "b", Op: "forget-1", Kind: memory.WriteForget}, func(plan.View, memory.Write) (memory.Changes, error) {
		return memory.Changes{Forgotten: &memory.Forgotten{Facts: []memory.FactID{gone.ID}}}, nil
	}))
	h.absent("xanadu", "shangdu", string(gone.ID))
	erasures, err := h.Erasures(context.Background(), "", 10)
	h.must(err)
	want := []erasure.Entry{{Bank: "b", Stream: "MEM_WRITES", Seq: first, Op: "forget-1"}, {Bank: "b", Stream: "MEM_WRITES", Seq: again, Op: "forget-1"}}
	if d := cmp.Diff(want, erasures, cmpopts.IgnoreFields(erasure.Entry{}, "No")); d != "" {
		t.Error(d)
	}
	h.view("b", func(v plan.View) {
		left, err := v.FactsOfMessages([]uint64{1})
		if err != nil || len(left) != 1 || left[0].ID != stays.ID || left[0].Superseded != "" {
			t.Errorf("left are %+v, %v", left, err)
		}
		ann, err := v.Entities([]memory.EntityID{"person:ann", "place:xanadu"})
		if err != nil || len(ann) != 1 || ann[0].Facts != 1 {
			t.Errorf("entities left: %+v, %v", ann, err)
		}
	})
}

func eraseBank(t *testing.T, h *harness) {
	ctx := context.Background()
	var seqs []uint64
	var facts []memory.FactID
	for i := range 3 {
		seqs = append(seqs, h.say("b", memory.Message{Content: fmt.Sprintf("xanadu %d", i)}))
		f := fact("b", fmt.Sprintf("Xanadu %d.", i), uint64(i+1))
		f.Entities = []memory.EntityID{"place:xanadu"}
		facts = append(facts, f.ID)
		h.put("b", memory.Changes{Facts: []memory.Fact{f}, Entities: []memory.Entity{{ID: "place:xanadu", Type: "place", Name: "Xanadu"}}})
	}
	node := memory.Composite{ID: "c_1", Bank: "b", Level: 1, Text: "Xanadu, all of it.", Representative: string(facts[0]), Children: []string{string(facts[0])}}
	profile := memory.Bank{ID: "b", Name: "Xanadu", Disposition: memory.DefaultDisposition()}
	h.put("b", memory.Changes{Bank: &profile, Composites: []memory.Composite{node},
		Observations: []memory.Observation{{ID: "o_1", Bank: "b", Type: "pattern", Subject: "xanadu", Text: "Xanadu again.", Facts: facts}}})
	h.say("c", memory.Message{Content: "another bank"})
	w := memory.Write{Bank: "b", Op: "erase", Kind: memory.WriteForget, Forget: &memory.ForgetRequest{Bank: true}}
	h.must(h.tryWrite(w, func(plan.View, memory.Write) (memory.Changes, error) {
		return memory.Changes{Forgotten: &memory.Forgotten{Bank: true, Upto: 3, Messages: seqs, Facts: facts, Receipt: &memory.Receipt{Messages: 3, Facts: 3}}}, nil
	}))
	h.absent("xanadu")
	if err := h.Read(ctx, "b", func(query.Reader) error { return nil }); !errors.Is(err, memory.ErrNotFound) {
		t.Errorf("reading the erased bank gave %v; want not found", err)
	}
	banks, err := h.Banks(ctx, "", 10)
	if err != nil || len(banks) != 1 || banks[0].ID != "c" {
		t.Errorf("banks are %v, %v; want c alone", banks, err)
	}
	if out, err := h.Outcome(ctx, "b", "erase"); err != nil || out == nil {
		t.Errorf("the outcome of the erasure is %v, %v", out, err)
	}
	// A message creates the bank again.
	h.say("b", memory.Message{Content: "a new start"})
	if items := h.items("b", memory.RecordMessage); len(items) != 1 {
		t.Errorf("the bank made anew holds %v", items)
	}
}

func textIndex(t *testing.T, h *harness) {
	h.say("b", memory.Message{ID: "m", Content: "\u6211\u53bb\u4e86\u91cc\u65af\u672c and ate dumplings"})
	f := fact("b", "\u6211\u4f4f\u5728\u91cc\u65af\u672c", 1)
	h.put("b", memory.Changes{Facts: []memory.Fact{f}})
	grams := func(rec memory.Record, word string) (n int) {
		err := h.Search(context.Background(), "b", memory.Filter{}, func(s recall.Searcher) error {
			nos, _, err := s.Matching(rec, recall.Term{Forms: []string{word}, Grams: true}, 10)
			n = len(nos)
			return err
		})
		h.must(err)
		return n
	}
	for _, rec := range []memory.Record{memory.RecordMessage, memory.RecordFact} {
		if n := grams(rec, "\u91cc\u65af"); n != 1 {
			t.Errorf("two characters find %d %ss; want 1", n, rec)
		}
	}
	// A new wording of the same fact replaces the old words.
	f.Text = "\u6211\u4f4f\u5728\u91cc\u65af\u672c\u3002"
	h.put("b", memory.Changes{Facts: []memory.Fact{f}})
	h.put("b", memory.Changes{Forgotten: &memory.Forgotten{Messages: []uint64{1}, Facts: []memory.FactID{f.ID}}})
	for _, rec := range []memory.Record{memory.RecordMessage, memory.RecordFact} {
		if n := grams(rec, "\u91cc\u65af"); n != 0 {
			t.Errorf("two characters still find %d %ss", n, rec)
		}
	}
	if n := h.matching("b", memory.RecordMessage, "dumpling"); n != 0 {
		t.Errorf("a word of a deleted message finds %d", n)
	}
}

// longSession forgets all messages of a session that was cut into many windows: that takes about as long as to store them. To
// look for the windows of each message among all of them takes twenty times as long. What else the machine does may slow one
// of the two down: then it is measured again, with another session.
func longSession(t *testing.T, h *harness) {
	var stored, took time.Duration
	for _, session := range []memory.SessionID{"endless", "another", "a third"} {
		if stored, took = forgetLong(t, h, session); took <= 5*stored {
			return
		}
	}
	t.Errorf("messages are forgotten within %v, and were stored within %v", took, stored)
}

// forgetLong stores 4,000 messages of a session with a window each and forgets them. It returns how long each takes.
func forgetLong(t *testing.T, h *harness, session memory.SessionID) (stored, took time.Duration) {
	t.Helper()
	const n = 4000
	began := time.Now()
	var said []consolidate.MessageEvent
	var ends []memory.Write
	var gone []uint64
	messages, writes := h.messages, h.writes
	for i := range n {
		e := h.event("b", memory.Message{Session: session, Content: "on and on"})
		end := memory.WindowEnd{SessionID: session, Outcome: memory.WindowEmpty}
		end.ID, end.New = memory.NewWindowID("b", session, e.Seq, e.Seq, 0), []memory.WindowMessage{{Seq: e.Seq}}
		said, gone = append(said, e), append(gone, e.Seq)
		ends = append(ends, memory.Write{Bank: "b", Kind: memory.WriteWindow, Seq: writes + uint64(i+1), Op: string(end.ID), Time: at(i), Window: &end})
	}
	h.must(h.ApplyMessages(context.Background(), messages, h.messages, said))
	h.must(h.ApplyWrites(context.Background(), writes, writes+n, ends, func(_ plan.View, w memory.Write) (memory.Changes, error) {
		return memory.Changes{Window: w.Window}, nil
	}))
	h.writes = writes + n
	stored = time.Since(began)
	began = time.Now()
	forgotten := &memory.Forgotten{Messages: gone}
	h.put("b", memory.Changes{Forgotten: forgotten})
	took = time.Since(began)
	if got, want := forgotten.Receipt.Events, 2*n; got != want {
		t.Errorf("%d events are to be erased; want %d: each message and the end of its window", got, want)
	}
	return stored, took
}
