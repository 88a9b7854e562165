package events

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/eunoe-memory/eunoe/internal/telemetry"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// DeadLetter is an event that could not be handled, with its cause.
type DeadLetter struct {
	ID       uint64           `json:"id,omitempty"` // sequence in MEM_DEAD; of a letter that was read
	Stage    string           `json:"stage"`        // ingest, extract, consolidate, …
	Bank     string           `json:"bank"`         // the token as it stands in the subject
	Session  memory.SessionID `json:"session,omitempty"`
	Reason   string           `json:"reason"` // no message text
	Attempts int              `json:"attempts"`
	Stream   string           `json:"stream"`
	Seq      uint64           `json:"seq"`           // in Stream
	Subject  string           `json:"subject"`       // as published: where a retry goes
	Payload  []byte           `json:"payload"`       // raw, in base64
	Cut      bool             `json:"cut,omitempty"` // Payload is the beginning of what was too long to keep
	// Output is what a model answered, where that is the cause, and Prompt the
	// name and version of what it was asked, as "extract/1".
	Output string    `json:"output,omitempty"`
	Prompt string    `json:"prompt,omitempty"`
	First  time.Time `json:"first"` // when the event was stored
	Last   time.Time `json:"last"`  // when it was given up

	trace string // the event's trace context, which stays with it
}

// MsgID is what the letter is published under, so that a repeat is one.
func (d DeadLetter) MsgID() string { return fmt.Sprintf("%s:%s:%d", d.Stage, d.Stream, d.Seq) }

// Messages gives the MEM_MESSAGES sequences whose text the letter may hold:
// the message itself, or those of its window.
func (d DeadLetter) Messages(n Naming) []uint64 {
	if d.Stream == n.Messages() {
		return []uint64{d.Seq}
	}
	var body struct {
		memory.Window
		End *memory.WindowEnd `json:"window"`
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

// DeadError is a handler's word that trying again will not help.
type DeadError struct {
	Reason string // no message text
	Output string // what a model answered, kept with the letter
}

// Error gives the reason.
func (e *DeadError) Error() string { return e.Reason }

// Dead makes the error by which a handler gives an event up.
func Dead(reason string) error { return &DeadError{Reason: reason} }

// DeadWithOutput is Dead with the raw answer of a model.
func DeadWithOutput(reason, output string) error { return &DeadError{Reason: reason, Output: output} }

// NewDeadLetter makes the letter of an event that stage gives up at now.
func (c *Conn) NewDeadLetter(stage string, e Event, cause error, now time.Time) DeadLetter {
	d := DeadLetter{
		Stage: stage, Bank: e.BankToken, Session: e.Session, Reason: cause.Error(), Attempts: max(1, e.Attempt),
		Stream: e.Stream, Seq: e.Seq, Subject: e.Subject, Payload: e.Data, First: memory.At(e.Stored), Last: memory.At(now),
		trace: e.trace(),
	}
	var dead *DeadError
	if errors.As(cause, &dead) {
		d.Output = dead.Output
	}
	var answer *OutputError
	if errors.As(cause, &answer) {
		d.Output, d.Prompt = answer.Output, answer.Prompt
	}
	return d
}

// PublishDead stores a dead letter, once for its MsgID within a day. A letter
// too large for the broker is kept without the payload's end.
func (c *Conn) PublishDead(ctx context.Context, d DeadLetter) error {
	d.ID = 0
	body, err := json.Marshal(d)
	if err != nil {
		return fmt.Errorf("encode dead letter %s: %w", d.MsgID(), err)
	}
	limit := int(c.NC.MaxPayload()) - 4096
	if limit > 0 && len(body) > limit && len(d.Output) > 4096 {
		d.Output = clip(d.Output, 4096) // before the payload, which says what the letter is about
		if body, err = json.Marshal(d); err != nil {
			return fmt.Errorf("encode dead letter %s: %w", d.MsgID(), err)
		}
	}
	if limit > 0 && len(body) > limit {
		d.Reason = clip(d.Reason, 4096)
		d.Payload, d.Cut = d.Payload[:max(0, min(len(d.Payload), limit/2-16384))], true
		d.Reason += " (the payload is cut; the event itself is in " + d.Stream + ")"
		if body, err = json.Marshal(d); err != nil {
			return fmt.Errorf("encode dead letter %s: %w", d.MsgID(), err)
		}
	}
	m := withID(c.Naming.DeadSubject(d.Bank, d.Stage), d.MsgID(), body)
	telemetry.Put(d.trace, m.Header)
	_, err = c.JS.PublishMsg(ctx, m)
	return meaning(err, "publish dead letter %s", d.MsgID())
}

func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && s[n]&0xC0 == 0x80 {
		n--
	}
	return s[:n]
}
