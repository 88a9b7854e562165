package storetest

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/eunoe-memory/eunoe/pkg/consolidate"
	"github.com/eunoe-memory/eunoe/pkg/consolidate/plan"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/query"
	"github.com/eunoe-memory/eunoe/pkg/query/recall"
)

func fence(t *testing.T, h *harness) {
	ctx := context.Background()
	h.say("b", memory.Message{Content: "one"})
	e := consolidate.MessageEvent{Seq: 2, Bank: "b", Session: "s", Stored: at(2), State: memory.StateDead}
	if err := h.ApplyMessages(ctx, 0, 2, []consolidate.MessageEvent{e}); !errors.Is(err, memory.ErrConflict) {
		t.Errorf("a run from an old position gave %v; want a conflict", err)
	}
	// Events of other subjects may lie between: the position moves past them.
	h.must(h.ApplyMessages(ctx, 1, 9, []consolidate.MessageEvent{e}))
	h.must(h.ApplyWrites(ctx, 0, 4, nil, nil))
	messages, writes, err := h.Applied(ctx)
	if err != nil || messages != 9 || writes != 4 {
		t.Errorf("applied %d and %d, %v; want 9 and 4", messages, writes, err)
	}
	if err := h.ApplyWrites(ctx, 0, 5, nil, nil); !errors.Is(err, memory.ErrConflict) {
		t.Errorf("a run of writes from an old position gave %v; want a conflict", err)
	}
}

// ahead holds a bank while another is applied past it.
func ahead(t *testing.T, h *harness) {
	ctx := context.Background()
	event := func(seq uint64, bank memory.BankID) consolidate.MessageEvent {
		return consolidate.MessageEvent{Seq: seq, Bank: bank, Session: "s", Stored: at(int(seq)), State: memory.StateDead}
	}
	none, held := memory.MessagePosition{}, memory.MessagePosition{Seq: 2, Ahead: 9, Held: map[memory.BankID]uint64{"loud": 4}}
	h.must(h.ApplyMessagesAhead(ctx, none, held, []consolidate.MessageEvent{event(1, "quiet"), event(4, "loud"), event(8, "quiet")}))
	now, err := h.MessagePosition(ctx)
	if h.must(err); !now.Equal(held) {
		t.Errorf("the position is %+v; want %+v", now, held)
	}
	for bank, want := range map[memory.BankID]uint64{"quiet": 9, "loud": 4, "new": 9} {
		if messages, writes, err := h.AppliedOf(ctx, bank); err != nil || messages != want || writes != 0 {
			t.Errorf("of bank %s are applied %d and %d, %v; want %d and 0", bank, messages, writes, err, want)
		}
	}
	if messages, _, err := h.Applied(ctx); err != nil || messages != 2 {
		t.Errorf("of all banks are applied %d, %v; want 2", messages, err)
	}
	if v, err := h.Verify(ctx, true); err != nil || !v.OK {
		t.Errorf("the store is not whole: %v, %v", v.Problems, err)
	}
	done := memory.MessagePosition{Seq: 9}
	for name, from := range map[string]memory.MessagePosition{"knows of nothing ahead": {Seq: 2}, "knows another bank's": {Seq: 2, Ahead: 9, Held: map[memory.BankID]uint64{"loud": 3}}} {
		if err := h.ApplyMessagesAhead(ctx, from, done, nil); !errors.Is(err, memory.ErrConflict) {
			t.Errorf("an owner that %s got %v; want a conflict", name, err)
		}
	}
	for name, to := range map[string]memory.MessagePosition{"a bank back": {Seq: 2, Ahead: 9, Held: map[memory.BankID]uint64{"loud": 3}}, "all back": {Seq: 8}} {
		if err := h.ApplyMessagesAhead(ctx, held, to, nil); !errors.Is(err, memory.ErrInvalid) {
			t.Errorf("moving %s gave %v; want invalid", name, err)
		}
	}
	if err := h.ApplyMessagesAhead(ctx, held, done, []consolidate.MessageEvent{event(8, "quiet")}); !errors.Is(err, memory.ErrInvalid) {
		t.Errorf("an event that is applied gave %v; want invalid", err)
	}
	h.must(h.ApplyMessagesAhead(ctx, held, done, []consolidate.MessageEvent{event(6, "loud")}))
	if now, err := h.MessagePosition(ctx); err != nil || !now.Equal(done) {
		t.Errorf("in the end the position is %+v, %v", now, err)
	}
}

func knownLog(t *testing.T, h *harness) {
	ctx := context.Background()
	stands := func(messages, writes memory.LogPosition) {
		t.Helper()
		m, w, err := h.LogPositions(ctx)
		h.must(err)
		if diff := cmp.Diff([]memory.LogPosition{messages, writes}, []memory.LogPosition{m, w}); diff != "" {
			t.Errorf("positions (-want +got):\n%s", diff)
		}
	}
	stands(memory.LogPosition{}, memory.LogPosition{})
	h.must(h.AdoptLog(ctx, "ours", "theirs"))
	e := consolidate.MessageEvent{Seq: 2, Bank: "b", Session: "s", Stored: at(2), State: memory.StateDead}
	erased := consolidate.MessageEvent{Seq: 3, Bank: "b", Session: "s", Stored: at(3), State: memory.StateForgotten, Erased: "m"}
	h.must(h.ApplyMessages(ctx, 0, 4, []consolidate.MessageEvent{e, erased}))
	nothing := func(plan.View, memory.Write) (memory.Changes, error) { return memory.Changes{}, nil }
	h.must(h.ApplyWrites(ctx, 0, 6, []memory.Write{{Seq: 4, Bank: "b", Op: "o", Kind: memory.WriteFeedback, Stored: at(4)}}, nothing))
	h.must(h.ApplyWrites(ctx, 6, 7, nil, nothing))
	stands(memory.LogPosition{Log: "ours", Applied: 4, Event: 2, Stored: at(2)}, memory.LogPosition{Log: "theirs", Applied: 7, Event: 4, Stored: at(4)})
}

func outOfRun(t *testing.T, h *harness) {
	ctx := context.Background()
	event := func(seq uint64) consolidate.MessageEvent {
		return consolidate.MessageEvent{Seq: seq, Bank: "b", Session: "s", Stored: at(1), State: memory.StateDead}
	}
	for _, run := range [][]consolidate.MessageEvent{{event(3), event(2)}, {event(6)}, {event(2), event(2)}} {
		if err := h.ApplyMessages(ctx, 0, 5, run); !errors.Is(err, memory.ErrInvalid) {
			t.Errorf("a run that is out of order gave %v; want invalid", err)
		}
	}
	if err := h.ApplyWrites(ctx, 0, 1, []memory.Write{{Seq: 2, Bank: "b"}}, nil); !errors.Is(err, memory.ErrInvalid) {
		t.Errorf("a write past the run gave %v; want invalid", err)
	}
}

func duplicates(t *testing.T, h *harness) {
	h.say("b", memory.Message{ID: "m", Content: "the first body", Speaker: "Ann"})
	h.say("b", memory.Message{ID: "m", Content: "another body", Speaker: "Bob", Session: "other"})
	h.say("c", memory.Message{ID: "m", Content: "the same id in another bank"})
	h.view("b", func(v plan.View) {
		found, err := v.Messages([]uint64{2, 1, 3})
		h.must(err)
		want := []plan.StoredMessage{
			{Seq: 2, ID: "m", Canonical: 1, Session: "other", Speaker: "Bob", State: memory.StateDuplicate},
			{Seq: 1, ID: "m", Canonical: 1, Session: "s", Speaker: "Ann", Said: at(1), State: memory.StatePending},
		}
		if d := cmp.Diff(want, found); d != "" {
			t.Error(d)
		}
		byID, err := v.MessagesByID([]memory.MessageID{"none", "m"})
		if err != nil || len(byID) != 2 || byID[0].Seq != 1 || byID[1].Seq != 2 || byID[1].Canonical != 1 {
			t.Errorf("the id gives %v, %v; want event 1 and its repeat", byID, err)
		}
		of, err := v.MessagesOf("", "Bob", 9)
		if err != nil || len(of) != 1 || of[0].Seq != 2 {
			t.Errorf("what Bob said is %v, %v; want event 2", of, err)
		}
	})
	h.absent("another body")
}

func deadEvents(t *testing.T, h *harness) {
	h.messages++
	e := consolidate.MessageEvent{Seq: 1, Bank: "b", Session: "s", Stored: at(1), State: memory.StateDead}
	h.must(h.ApplyMessages(context.Background(), 0, 1, []consolidate.MessageEvent{e}))
	h.put("b", memory.Changes{Ended: []memory.MessageEnd{{Seq: 1, State: memory.StateCommitted}}})
	h.states("b", memory.Conservation{Published: 1, Dead: 1})
}

// states compares the counts of a bank's message events.
func (h *harness) states(bank memory.BankID, want memory.Conservation) {
	h.Helper()
	err := h.Read(context.Background(), bank, func(r query.Reader) error {
		c, err := r.Conservation()
		if d := cmp.Diff(want, c); d != "" {
			h.Error(d)
		}
		return err
	})
	h.must(err)
}

func replacing(t *testing.T, h *harness) {
	h.say("b", memory.Message{ID: "late", Content: "replaces what is not there yet", Replaces: "later"})
	h.say("b", memory.Message{ID: "old", Content: "I live in Paris"})
	h.say("c", memory.Message{ID: "far", Content: "of another bank", Replaces: "old"})
	h.say("b", memory.Message{ID: "later", Content: "arrives after what replaces it"})
	seen := func(want ...memory.MessageID) {
		t.Helper()
		var ids []memory.MessageID
		for _, i := range h.recallable("b") {
			ids = append(ids, memory.MessageID(i))
		}
		slices.Sort(ids)
		slices.Sort(want)
		if !slices.Equal(ids, want) {
			t.Errorf("messages in default recall: %v; want %v", ids, want)
		}
	}
	seen("late", "old", "later")
	h.say("b", memory.Message{ID: "new", Content: "I live in Rome", Replaces: "old"})
	seen("late", "later", "new")
	h.say("b", memory.Message{ID: "self", Content: "replaces itself", Replaces: "self"})
	seen("late", "later", "new", "self")
}

// recallable returns the ids of the messages that pass the default filter.
func (h *harness) recallable(bank memory.BankID) []string {
	h.Helper()
	var ids []string
	err := h.Search(context.Background(), bank, memory.Filter{}, func(s recall.Searcher) error {
		nos, err := s.Recent(memory.RecordMessage, 1000)
		if err != nil {
			return err
		}
		items, err := s.Items(memory.RecordMessage, nos)
		for _, i := range items {
			ids = append(ids, i.ID)
		}
		return err
	})
	h.must(err)
	return ids
}

func textKept(t *testing.T, h *harness) {
	odd := "tab\t line\r\n  spaces  \u00e9 e\u0301 \U0001F600 \u4f60\u597d 'quotes\" ; DROP TABLE messages; -- end "
	h.say("b", memory.Message{ID: "m", Content: odd, Speaker: "Zoë"})
	h.say("b", memory.Message{ID: "n", Content: "before\x00after"})
	items := h.items("b", memory.RecordMessage)
	if len(items) != 2 || items[0].Text != odd || items[0].Speaker != "Zoë" {
		t.Errorf("stored %+v; want %q", items, odd)
	}
	if len(items) == 2 && items[1].Text != "before\uFFFDafter" {
		t.Errorf("stored %q with a NUL; want U+FFFD in its place", items[1].Text)
	}
}

// items lists a record kind, the oldest first.
func (h *harness) items(bank memory.BankID, rec memory.Record) []memory.Item {
	h.Helper()
	var out []memory.Item
	err := h.Read(context.Background(), bank, func(r query.Reader) (err error) {
		out, _, err = r.List(rec, memory.Filter{}, true, query.Position{}, 1000)
		return err
	})
	h.must(err)
	return out
}

func redacted(t *testing.T, h *harness) {
	e := h.event("b", memory.Message{ID: "m", Content: "the password is hunter2 for the router"})
	e.Indexed = "the password is [redacted:password] for the router"
	h.must(h.ApplyMessages(context.Background(), 0, 1, []consolidate.MessageEvent{e}))
	if n := h.matching("b", memory.RecordMessage, "hunter2"); n != 0 {
		t.Errorf("the secret finds %d messages; want none", n)
	}
	if n := h.matching("b", memory.RecordMessage, "router"); n != 1 {
		t.Errorf("what is left finds %d messages; want 1", n)
	}
	if items := h.items("b", memory.RecordMessage); len(items) != 1 || strings.Contains(items[0].Text, "hunter2") {
		t.Errorf("the item shows %+v", items)
	}
}

// matching counts the rows of a record kind that contain a word.
func (h *harness) matching(bank memory.BankID, rec memory.Record, word string) int {
	h.Helper()
	var nos []int64
	err := h.Search(context.Background(), bank, memory.Filter{}, func(s recall.Searcher) (err error) {
		nos, _, err = s.Matching(rec, recall.Term{Forms: []string{word}}, 1000)
		return err
	})
	h.must(err)
	return len(nos)
}
