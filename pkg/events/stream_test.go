package events_test

import (
	"fmt"
	"testing"

	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/events/natstest"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

func TestMessagesAreStoredUnderTheirPartition(t *testing.T) {
	t.Parallel()
	c := natstest.Start(t)
	for _, bank := range []memory.BankID{"alice", "!room:server.org", "bob", "日本"} {
		seq := natstest.Publish(t, c, bank, "s.1", "hello")
		if _, err := c.PublishFlush(t.Context(), bank, "s.1", memory.Flush{Upto: seq}); err != nil {
			t.Fatal(err)
		}
		s, err := c.JS.Stream(t.Context(), c.Naming.Messages())
		if err != nil {
			t.Fatal(err)
		}
		raw, err := s.GetMsg(t.Context(), seq)
		if err != nil {
			t.Fatal(err)
		}
		want := fmt.Sprintf("mem.%d.%s.message.%s", c.Naming.PartitionOf(events.EncodeToken(string(bank))), events.EncodeToken(string(bank)), "s%2E1")
		if raw.Subject != want {
			t.Errorf("stored under %s, want %s", raw.Subject, want)
		}
		last, err := c.LastMessage(t.Context(), bank)
		if err != nil || last != seq {
			t.Errorf("LastMessage = %d, %v; want %d", last, err, seq)
		}
		got, err := c.Messages(t.Context(), []uint64{seq, seq + 1000})
		if err != nil || len(got) != 1 {
			t.Fatalf("Messages = %v, %v", got, err)
		}
		e := got[seq]
		if e.Bank != bank || e.Session != "s.1" || e.Kind != "message" || e.Subject != c.Naming.MessageSubject(bank, "s.1") {
			t.Errorf("event %+v", e)
		}
		if string(e.Data) != `{"content":"hello"}` || len(e.Header) != 0 {
			t.Errorf("data %s header %v", e.Data, e.Header)
		}
	}
}
