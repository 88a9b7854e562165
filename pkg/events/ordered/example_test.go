package ordered_test

import (
	"context"
	"fmt"

	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/events/natstest"
	"github.com/eunoe-memory/eunoe/pkg/events/ordered"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// A reader keeps its own position: a batch that fails is handed over again, and
// after a restart it continues behind the last event it handled.
func ExampleRead() {
	ctx, cancel := context.WithCancel(context.Background())
	conn, stop := natstest.StartForExample(ctx)
	defer stop()
	for _, text := range []string{"one", "two", "three"} {
		if _, err := conn.PublishMessage(ctx, "alice", "chat", fmt.Appendf(nil, `{"content":%q}`, text)); err != nil {
			panic(err)
		}
	}
	position := uint64(1) // "one" was handled before
	err := ordered.Read(ctx, conn, ordered.Config{Stream: conn.Naming.Messages(), After: position}, func(_ context.Context, batch []events.Event) error {
		for _, e := range batch {
			m, err := e.Message()
			if err != nil {
				return err
			}
			fmt.Println(e.Seq, m.Content)
			position = e.Seq // a stage stores it together with the effects
		}
		if position == 3 {
			cancel()
		}
		return nil
	})
	fmt.Println("stopped at", position, err)
	// Output:
	// 2 two
	// 3 three
	// stopped at 3 <nil>
}

// A scan reads what a stream holds now, here the messages of one bank.
func ExampleScan() {
	ctx := context.Background()
	conn, stop := natstest.StartForExample(ctx)
	defer stop()
	for i, bank := range []memory.BankID{"alice", "bob", "alice"} {
		if _, err := conn.PublishMessage(ctx, bank, "chat", fmt.Appendf(nil, `{"content":"message %d"}`, i+1)); err != nil {
			panic(err)
		}
	}
	filter := []string{conn.Naming.StoredOf("alice", events.KindMessage)}
	end, err := ordered.Scan(ctx, conn, conn.Naming.Messages(), filter, 0, func(e events.Event) error {
		fmt.Println(e.Seq, string(e.Data))
		return nil
	})
	fmt.Println("scanned up to", end, err)
	// Output:
	// 1 {"content":"message 1"}
	// 3 {"content":"message 3"}
	// scanned up to 3 <nil>
}
