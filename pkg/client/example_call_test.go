package client_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"strings"

	"github.com/nats-io/nats.go/micro"
	"github.com/rs/zerolog"

	"github.com/eunoe-memory/eunoe/internal/natsd"
	"github.com/eunoe-memory/eunoe/pkg/client"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

// connect starts a broker on which the handlers answer, and connects to it. In a program, client.Connect is enough.
func connect(handlers ...wire.Handler) (c *client.Client, end func()) {
	dir, err := os.MkdirTemp("", "eunoe-example")
	if err != nil {
		log.Fatal(err)
	}
	srv, err := natsd.Start(natsd.Config{Dir: dir, Port: natsd.RandomPort, Log: zerolog.Nop()})
	if err != nil {
		log.Fatal(err)
	}
	cfg := client.DefaultConfig()
	cfg.URL = srv.ClientURL()
	if c, err = client.Connect(context.Background(), cfg); err != nil {
		log.Fatal(err)
	}
	svc, err := micro.AddService(c.Conn().NC, micro.Config{Name: "example", Version: "0.0.1"})
	if err != nil {
		log.Fatal(err)
	}
	for _, h := range handlers {
		answer := micro.HandlerFunc(func(r micro.Request) {
			reply, err := h.Serve(context.Background(), "alice", r.Data(), nil)
			if err != nil {
				f := wire.FaultOf(err)
				err = r.Error(fmt.Sprint(f.Error.Code), f.Error.Message, nil)
			} else {
				err = r.RespondJSON(reply)
			}
			if err != nil {
				log.Print(err)
			}
		})
		if err := svc.AddEndpoint(h.Name, answer, micro.WithEndpointSubject(strings.ReplaceAll(h.Subject("mem"), "{bank}", "*"))); err != nil {
			log.Fatal(err)
		}
	}
	return c, func() {
		svc.Stop() //nolint:errcheck // the connection ends next
		c.Close()  //nolint:errcheck // nothing is left to send
		srv.Shutdown()
		os.RemoveAll(dir) //nolint:errcheck // a temporary directory
	}
}

// CountRequest and CountReply are those of an endpoint that Eunoe does not have.
type (
	CountRequest struct {
		Tag string `json:"tag"`
	}
	CountReply struct {
		Facts int `json:"facts"`
	}
)

var count = wire.Endpoint[CountRequest, CountReply]{Name: "count", Summary: "Count the facts with a tag."}

// Call reaches any endpoint by its entry, one that was just added too: no code of the client knows it.
func ExampleCall() {
	c, end := connect(wire.Handle(count, func(_ context.Context, _ memory.BankID, r CountRequest) (CountReply, error) {
		return CountReply{Facts: len(r.Tag)}, nil
	}))
	defer end()
	reply, err := client.Call(context.Background(), c, count, "alice", CountRequest{Tag: "food"})
	fmt.Println(reply.Facts, err)
	// Output: 4 <nil>
}

// A recall asks a question; the items come best first, each with the messages it rests on.
func ExampleClient_Recall() {
	c, end := connect(wire.Handle(wire.Recall, func(context.Context, memory.BankID, wire.RecallRequest) (wire.RecallReply, error) {
		return wire.Recall.Example.Reply, nil
	}))
	defer end()
	reply, err := c.Recall(context.Background(), "alice", wire.RecallRequest{Query: "What is Alice allergic to?"})
	if err != nil {
		log.Fatal(err)
	}
	for _, item := range reply.Items {
		fmt.Println(item.Text, item.Sources)
	}
	// Output: Alice is allergic to shellfish. [m1]
}

// All walks every page of a list.
func ExampleClient_All() {
	pages := map[string]wire.Page[memory.Item]{
		"":   {Items: []memory.Item{{Text: "Alice lives in Lisbon."}}, Next: "p2"},
		"p2": {Items: []memory.Item{{Text: "Alice is allergic to shellfish."}}},
	}
	c, end := connect(wire.Handle(wire.List, func(_ context.Context, _ memory.BankID, r wire.ListRequest) (wire.Page[memory.Item], error) {
		return pages[r.Cursor], nil
	}))
	defer end()
	for item, err := range c.All(context.Background(), "alice", wire.ListRequest{Record: memory.RecordFact}) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(item.Text)
	}
	// Output:
	// Alice lives in Lisbon.
	// Alice is allergic to shellfish.
}

// Errors keep their meaning across the wire: decide on them with errors.Is.
func ExampleClient_Get() {
	c, end := connect(wire.Handle(wire.Get, func(_ context.Context, _ memory.BankID, r wire.GetRequest) (memory.Item, error) {
		return memory.Item{}, fmt.Errorf("record %s: %w", r.ID, memory.ErrNotFound)
	}))
	defer end()
	_, err := c.Get(context.Background(), "alice", "f_1")
	fmt.Println(errors.Is(err, memory.ErrNotFound))
	_, err = c.Get(context.Background(), "admin", "f_1")
	fmt.Println(err)
	// Output:
	// true
	// bank: "admin" is reserved for operators; choose another name
}
