package memory

import (
	"encoding/json"
	"fmt"
	"time"
)

// DeadLetter is an event that could not be handled, with its cause.
type DeadLetter struct {
	ID       uint64    `json:"id,omitempty"` // sequence in MEM_DEAD; of a letter that was read
	Stage    string    `json:"stage"`        // ingest, extract, consolidate, …
	Bank     string    `json:"bank"`         // the token as it stands in the subject
	Session  SessionID `json:"session,omitempty"`
	Reason   string    `json:"reason"` // no message text
	Attempts int       `json:"attempts"`
	Stream   string    `json:"stream"`
	Seq      uint64    `json:"seq"`               // in Stream
	Subject  string    `json:"subject"`           // as published: where a retry goes
	Payload  []byte    `json:"payload,omitempty"` // raw, in base64; a list leaves it out
	Cut      bool      `json:"cut,omitempty"`     // Payload is the beginning of what was too long to keep
	// Output is what a model answered, where that is the cause, and Prompt the
	// name and version of what it was asked, as "extract/1".
	Output string    `json:"output,omitempty"`
	Prompt string    `json:"prompt,omitempty"`
	First  time.Time `json:"first"` // when the event was stored
	Last   time.Time `json:"last"`  // when it was given up

	// Trace is the trace context of the event; "" = none. It travels in a header.
	Trace string `json:"-"`
}

// MsgID returns the message id under which the letter is published, so that a repeated publish is stored once.
func (d DeadLetter) MsgID() string { return fmt.Sprintf("%s:%s:%d", d.Stage, d.Stream, d.Seq) }

// Messages returns the MEM_MESSAGES sequences whose text the letter may hold: the message itself, or those of its
// window. messages is the name of that stream (events.Naming.Messages).
func (d DeadLetter) Messages(messages string) []uint64 {
	if d.Stream == messages {
		return []uint64{d.Seq}
	}
	var body struct {
		Window
		End *WindowEnd `json:"window"`
	}
	if json.Unmarshal(d.Payload, &body) != nil {
		return nil
	}
	if body.End != nil {
		body.Window = body.End.Window
	}
	seqs := append([]uint64(nil), body.Context...)
	for _, m := range body.New {
		seqs = append(seqs, m.Seq)
	}
	return seqs
}
