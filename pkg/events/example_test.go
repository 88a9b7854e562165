package events_test

import (
	"context"
	"fmt"

	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/events/natstest"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// A bot publishes its messages, and nothing else.
func ExamplePublisher() {
	ctx := context.Background()
	conn, stop := natstest.StartForExample(ctx) // a bot calls events.Connect
	defer stop()
	bot, err := events.NewPublisher(events.DefaultPublisherConfig(), conn)
	if err != nil {
		panic(err)
	}
	seq, err := bot.Publish(ctx, "alice", "chat-1", memory.Message{Speaker: "Alice", Content: "I moved to Lisbon in May."})
	if err != nil {
		panic(err)
	}
	fmt.Println("stored as", seq)
	// Output: stored as 1
}

// Every name has exactly one token.
func ExampleEncodeToken() {
	fmt.Println(events.EncodeToken("!room:server.org"))
	_, err := events.DecodeToken("%61lice")
	fmt.Println(err != nil)
	// Output:
	// %21room%3Aserver%2Eorg
	// true
}
