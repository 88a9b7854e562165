package events

import (
	"time"

	"github.com/nats-io/nats.go"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// Event is one stored event as a stage sees it.
type Event struct {
	Stream  string
	Subject string // as published, without the partition
	Bank    memory.BankID
	Session memory.SessionID // for message, flush, window and parked
	// Kind is the third token of the subject: message, flush, window, write, change, dead, parked.
	Kind string
	// What says more where there is more to say: of a write its kind, of a
	// change its what, of a dead letter its stage; else it is Kind.
	What   string
	Seq    uint64
	Stored time.Time // stream timestamp, UTC
	Data   []byte
	Header nats.Header

	BankToken string // the bank's token as it stands
	// Err is set where the subject's bank or session does not decode (Bank and
	// Session are then ""): the event is dead under BankToken.
	Err error

	Attempt int // 1 for the first delivery; 0 outside a work queue
	// Pending is how many events the reader had ahead when this one was sent.
	Pending uint64
}

// newEvent reads an event from what the broker delivered or stored.
func (n Naming) newEvent(stream, subject string, seq uint64, stored time.Time, data []byte, header nats.Header) Event {
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

// Message parses the event as a message. The error is memory.ErrInvalid.
func (e Event) Message() (memory.Message, error) {
	if e.Err != nil {
		return memory.Message{}, e.Err
	}
	return memory.ParseMessage(e.Bank, e.Session, e.Seq, e.Stored, e.Data)
}

// Window parses the event as a window. The error is memory.ErrInvalid.
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

// Write parses the event as a write. The error is memory.ErrInvalid.
func (e Event) Write() (memory.Write, error) {
	if e.Err != nil {
		return memory.Write{}, e.Err
	}
	var w memory.Write
	if err := memory.DecodeEvent(e.Data, &w); err != nil {
		return memory.Write{}, err
	}
	w.Bank, w.Kind, w.Seq = e.Bank, memory.WriteKind(e.What), e.Seq
	if w.Time.IsZero() {
		w.Time = e.Stored
	}
	w.Time = memory.At(w.Time)
	if w.Window != nil {
		w.Window.Bank, w.Window.Session = e.Bank, w.Window.SessionID
	}
	return w, nil
}
