package events_test

import (
	"context"
	"fmt"
	"os"

	"github.com/eunoe-memory/eunoe/internal/natsd"
	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// server stands for the NATS server of a deployment.
func server() (url string, stop func()) {
	dir, err := os.MkdirTemp("", "nats")
	if err != nil {
		panic(err)
	}
	s, err := natsd.Start(natsd.Config{Dir: dir, Port: natsd.RandomPort})
	if err != nil {
		panic(err)
	}
	conn, err := events.Connect(context.Background(), events.ConnConfig{URL: s.ClientURL()})
	if err != nil {
		panic(err)
	}
	defer conn.Close()
	if err := conn.Reconcile(context.Background(), events.DefaultStreamOptions()); err != nil {
		panic(err)
	}
	return s.ClientURL(), func() { s.Shutdown(); _ = os.RemoveAll(dir) }
}

// A bot publishes what is said, and nothing else.
func ExamplePublisher() {
	url, stop := server()
	defer stop()

	ctx := context.Background()
	conn, err := events.Connect(ctx, events.ConnConfig{URL: url})
	if err != nil {
		panic(err)
	}
	defer conn.Close()
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

// Every name has one token.
func ExampleEncodeToken() {
	fmt.Println(events.EncodeToken("!room:server.org"))
	_, err := events.DecodeToken("%61lice")
	fmt.Println(err != nil)
	// Output:
	// %21room%3Aserver%2Eorg
	// true
}
