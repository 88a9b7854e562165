package query_test

import (
	"fmt"
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
