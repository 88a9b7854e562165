package client_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/eunoe-memory/eunoe/pkg/client"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

// A program publishes what was said and asks what bears on a question. After makes the recall wait until it sees the
// message.
func Example() {
	ctx := context.Background()
	c, err := client.Connect(ctx, client.DefaultConfig())
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	seq, err := c.Publish(ctx, "alice", "chat-1", memory.Message{Speaker: "Alice", Content: "I moved to Lisbon in May."})
	if err != nil {
		log.Fatal(err)
	}
	reply, err := c.Recall(ctx, "alice", wire.RecallRequest{Query: "Where does Alice live?", After: seq})
	if err != nil {
		log.Fatal(err)
	}
	for _, item := range reply.Items {
		fmt.Println(item.Text, item.Sources)
	}
}

// Decide on errors by their meaning. The outcome of a write whose deadline passed is not known: repeating it with the
// same op changes nothing twice.
func ExampleClient_Retain() {
	ctx := context.Background()
	c, err := client.Connect(ctx, client.DefaultConfig())
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	req := wire.RetainRequest{Facts: []memory.FactInput{{Key: "allergy", Text: "Alice is allergic to shellfish.", Type: memory.TypeConstraint}}}
	reply, err := c.Retain(ctx, "alice", req)
	var unknown *client.UnknownOutcome
	if errors.As(err, &unknown) {
		req.Op = unknown.Op
		reply, err = c.Retain(ctx, "alice", req)
	}
	switch {
	case errors.Is(err, memory.ErrUnavailable):
		log.Fatal("try again later: ", err)
	case err != nil:
		log.Fatal(err)
	}
	fmt.Println(reply.Results)
}

// A subscription receives the changes of a bank from the moment it is made.
func ExampleClient_Subscribe() {
	ctx := context.Background()
	c, err := client.Connect(ctx, client.DefaultConfig())
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	sub, err := c.Subscribe(ctx, "alice", "fact")
	if err != nil {
		log.Fatal(err)
	}
	defer sub.Close()
	for change, err := range sub.All(ctx) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(change.Op, change.Record)
	}
}
