package events

import (
	"time"

	"github.com/nats-io/nats.go"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// Event is one stored event of a stream.
type Event struct {
	Stream  string
	Subject string // as published, without the partition
	Bank    memory.BankID
	Session memory.SessionID // for message, flush, window and parked
	// Kind is the third token of the subject: message, flush, window, write, change, dead, parked.
	Kind string
	// What is the kind of a write, the what of a change, the stage of a dead letter, and Kind for all other events.
	What   string
	Seq    uint64
	Stored time.Time // stream timestamp, UTC
	Data   []byte
	Header nats.Header

	BankToken string // the encoded bank, even if it cannot be decoded
	// Err is set if the subject's bank or session cannot be decoded. Bank and Session are then "", and the event
	// becomes a dead letter under BankToken.
	Err error

	Attempt int // 1 for the first delivery; 0 outside a work queue
	// Pending is how many events the consumer had left when this one was delivered.
	Pending uint64
}

// NewEvent makes an event of what the broker delivered or stored.
func (n Naming) NewEvent(stream, subject string, seq uint64, stored time.Time, data []byte, header nats.Header) Event {
	e := Event{Stream: stream, Subject: subject, Seq: seq, Stored: stored.UTC(), Data: data, Header: header}
	names, err := n.Parse(subject)
	if err != nil {
		e.Err = err
		return e
	}
	e.Bank, e.Session, e.BankToken = names.Bank, names.Session, names.BankToken
	e.Kind, e.What, e.Err = names.Kind, names.Kind, names.Undecodable
	switch names.Kind {
	case KindWrite, KindChange, KindDead:
		e.What = names.Last
		if what, err := DecodeToken(names.Last); err == nil {
			e.What = what
		}
	}
	e.Subject = n.Subject(names.BankToken, names.Kind, names.Last)
	return e
}

// Message decodes the event as a message. The error is memory.ErrInvalid.
func (e Event) Message() (memory.Message, error) {
	if e.Err != nil {
		return memory.Message{}, e.Err
	}
	return memory.ParseMessage(e.Bank, e.Session, e.Seq, e.Stored, e.Data)
}

// Window decodes the event as a window. The error is memory.ErrInvalid.
func (e Event) Window() (memory.Window, error) {
	if e.Err != nil {
		return memory.Window{}, e.Err
	}
	var w memory.Window
	if err := memory.DecodeEvent(e.Data, &w); err != nil {
		return memory.Window{}, err
	}
	w.Bank, w.Session = e.Bank, e.Session
	if len(w.New) == 0 {
		return memory.Window{}, memory.Invalid("new", "a window names at least one message")
	}
	return w, nil
}

// Write decodes the event as a write. Its time is that of the event unless it has one. The error is memory.ErrInvalid.
func (e Event) Write() (memory.Write, error) {
	if e.Err != nil {
		return memory.Write{}, e.Err
	}
	var w memory.Write
	if err := memory.DecodeEvent(e.Data, &w); err != nil {
		return memory.Write{}, err
	}
	w.Bank, w.Kind, w.Seq, w.Stored = e.Bank, memory.WriteKind(e.What), e.Seq, memory.At(e.Stored)
	if w.Kind == memory.WriteRest && w.RestOf != nil {
		w.Kind = w.RestOf.Kind
	}
	if w.Time.IsZero() {
		w.Time = e.Stored
	}
	w.Time = memory.At(w.Time)
	if w.Window != nil {
		w.Window.Bank, w.Window.Session = e.Bank, w.Window.SessionID
	}
	return w, nil
}
