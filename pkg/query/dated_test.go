package query_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

// TestATimeInTheQuestionBringsWhatWasSaidThen asks for what was said in one month, in a bank where more messages than are
// ranked say more words of the question at other times.
func TestATimeInTheQuestionBringsWhatWasSaidThen(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	say := func(id, session, text string, at time.Time) {
		w.say(memory.Message{ID: memory.MessageID(id), Session: memory.SessionID(session), Speaker: "Ann", Content: text, Time: at})
	}
	march := time.Date(2025, 3, 4, 12, 0, 0, 0, time.UTC)
	say("then", "spring", "The kiln cracked the big vase.", march)
	for i := range 250 {
		say(fmt.Sprintf("other%d", i), fmt.Sprintf("s%d", i/10), "The kiln broke down at the pottery class.", march.AddDate(0, 4, i/5))
	}
	reply := w.recall(alice, wire.RecallRequest{Query: "What broke down at the kiln of the pottery class in March 2025?"})
	if len(reply.Items) == 0 || reply.Items[0].ID != "then" {
		t.Errorf("the message of March does not come first of %d items: %q", len(reply.Items), textsOf(reply.Items[:min(3, len(reply.Items))]))
	}
}

// TestATimeThatWasPlannedIsNotWhenItWasSaid asks to which day something was put off: the day in the question is another.
func TestATimeThatWasPlannedIsNotWhenItWasSaid(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	say := func(id, text string, at time.Time) {
		w.say(memory.Message{ID: memory.MessageID(id), Session: memory.SessionID(at.Format("0102")), Speaker: "Ann", Content: text, Time: at})
	}
	planned := time.Date(2025, 4, 12, 9, 0, 0, 0, time.UTC)
	for i := range 250 {
		say(fmt.Sprintf("other%d", i), "Theo sent pictures of the regatta in Kiel.", planned.AddDate(0, -3, i/25))
	}
	say("moved", "The regatta with Theo is off because of the storm, we sail on 3 May.", planned.AddDate(0, 0, -4))
	for i := range 15 {
		say(fmt.Sprintf("then%d", i), fmt.Sprintf("Theo came by at %d o'clock.", 8+i), planned.Add(time.Duration(i)*time.Minute))
	}
	for _, q := range []string{
		"To which day was the regatta with Theo moved that was originally on 12 April 2025?",
		"Auf welchen Tag wurde die regatta mit Theo vom 12. April 2025 verschoben?",
	} {
		reply := w.recall(alice, wire.RecallRequest{Query: q})
		at := slices.IndexFunc(reply.Items, func(it memory.Item) bool { return it.ID == "moved" })
		if at < 0 {
			t.Errorf("%s: the message is not among %d items: %q", q, len(reply.Items), textsOf(reply.Items[:min(3, len(reply.Items))]))
		}
	}
}
