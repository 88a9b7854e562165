package access

import (
	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// Doors are the subjects between a bank's account and the account of the
// streams. They carry requests and publishes in, and changes out.
type Doors struct {
	Requests []string // one answer each
	Streamed []string // any number of answers
	Events   []string
}

// Doors lead to the one bank; with "" they are what every bank is offered.
func doors(n events.Naming, bank memory.BankID) Doors {
	tok := "*"
	if bank != "" {
		tok = events.EncodeToken(string(bank))
	}
	d := Doors{
		Requests: []string{n.Subject(tok, events.KindMessage, "*"), n.Subject(tok, events.KindFlush, "*")},
		Events:   []string{n.Subject(tok, events.KindChange, "*")},
	}
	for _, r := range requests {
		d.Requests = append(d.Requests, subject(n, tok, r))
	}
	for _, r := range streamed {
		d.Streamed = append(d.Streamed, subject(n, tok, r))
	}
	return d
}

// Offered are the doors that the account of the streams opens to banks.
func Offered(n events.Naming) Doors { return doors(n, "") }

// Of are the doors of one bank's account.
func Of(n events.Naming, bank memory.BankID) Doors { return doors(n, bank) }
