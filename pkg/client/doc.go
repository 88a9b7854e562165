// Package client is Eunoe for Go programs: publish what was said, recall what
// bears on a question. It needs a NATS connection and nothing else, and it
// builds without cgo.
//
//	c, err := client.Connect(ctx, client.DefaultConfig())
//	if err != nil { … }
//	defer c.Close()
//	seq, err := c.Publish(ctx, "alice", "chat-1", memory.Message{Speaker: "Alice", Content: "I moved to Lisbon in May."})
//	reply, err := c.Recall(ctx, "alice", memory.RecallRequest{Query: "Where does Alice live?", After: seq})
//
// Every error carries one of the meanings of package memory: decide on it with
// errors.Is(err, memory.ErrNotFound) and the like; a *memory.FieldError names
// the field of a request that is wrong. Where nobody answers a request at all,
// the error is memory.ErrUnavailable and says what to start.
package client
