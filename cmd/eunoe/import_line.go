package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

// The records of an import file, one JSON object a line. A line without "record" is a message, or a flush if it says
// so.
const (
	lineExport  = "export"  // the head of an export: format version and counts
	lineBank    = "bank"    // the bank's profile
	lineMessage = "message" // a message: the wire's fields beside session, bank and seq
	lineFlush   = "flush"   // the session pauses here
	lineWrite   = "write"   // a request that was made: retain, edit, conflicts, …
	lineEnd     = "end"     // the last line of an export
)

// derived are the records of an export that follow from the others. An import sends none of them; it compares facts
// with those that were made.
var derived = map[string]bool{"fact": true, "composite": true, "observation": true, "entity": true, "conflict": true}

// importLine is one line of an import file.
type importLine struct {
	Record  string           `json:"record,omitempty"`
	Bank    memory.BankID    `json:"bank,omitempty"`
	Session memory.SessionID `json:"session,omitempty"`
	Flush   bool             `json:"flush,omitempty"`
	Seq     uint64           `json:"seq,omitempty"` // where the message stood in the log it came from

	Format  int              `json:"format,omitempty"`  // of an export
	Lines   int              `json:"lines,omitempty"`   // of an end: how many stood before it
	Profile *wire.BankUpdate `json:"profile,omitempty"` // of a bank
	Request string           `json:"request,omitempty"` // of a write: the endpoint
	Body    json.RawMessage  `json:"body,omitempty"`    // of a write: the request
	Op      string           `json:"op,omitempty"`      // of a write
	Time    *time.Time       `json:"time,omitempty"`    // of a write: when it was made
	Item    json.RawMessage  `json:"item,omitempty"`    // of a derived record

	message memory.Message
	event   []byte   // the body to publish, unknown fields kept
	unknown []string // fields of a message that have no meaning, in order
}

// messageFields are the names of a message's fields.
var messageFields = func() map[string]bool {
	names := map[string]bool{}
	for _, f := range reflect.VisibleFields(reflect.TypeFor[memory.Message]()) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		names[name] = true
	}
	return names
}()

// ParseImportLine reads one line. The error is memory.ErrInvalid and names the field.
func ParseImportLine(data []byte) (importLine, error) {
	var l importLine
	if err := memory.DecodeEvent(data, &l); err != nil {
		return l, err
	}
	switch {
	case l.Record == "" && l.Flush:
		l.Record = lineFlush
	case l.Record == "":
		l.Record = lineMessage
	}
	if l.Bank != "" {
		if _, err := memory.ParseBankID(string(l.Bank)); err != nil {
			return l, err
		}
	}
	return l, l.complete(data)
}

// complete checks what the line's record needs.
func (l *importLine) complete(data []byte) error {
	switch l.Record {
	case lineMessage, lineFlush:
		if _, err := memory.ParseSessionID(string(l.Session)); err != nil {
			return err
		}
		if l.Record == lineFlush {
			return nil
		}
		return l.readMessage(data)
	case lineBank:
		if l.Profile == nil {
			return memory.Invalid("profile", "is missing")
		}
	case lineWrite:
		switch l.Request {
		case "retain", "edit", "conflicts", "alias", "feedback", "observe", "consolidate":
		default:
			return memory.Invalid("request", "%q is no request an import makes", l.Request)
		}
		if err := memory.CheckID("op", l.Op); err != nil {
			return err
		}
		if len(bytes.TrimSpace(l.Body)) == 0 {
			return memory.Invalid("body", "is missing")
		}
	case lineExport:
		if l.Format > exportFormat {
			return memory.Invalid("format", "is %d; this program reads up to %d", l.Format, exportFormat)
		}
	case lineEnd:
	default:
		if !derived[l.Record] {
			return memory.Invalid("record", "%q is no record of an import", l.Record)
		}
	}
	return nil
}

func (l *importLine) readMessage(data []byte) error {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(data, &fields); err != nil {
		return memory.Invalid("", "malformed JSON: %v", err)
	}
	for _, own := range []string{"record", "bank", "session", "flush", "seq"} {
		delete(fields, own)
	}
	body, err := json.Marshal(fields) // keys in order, so equal lines give equal bodies
	if err != nil {
		return memory.Invalid("", "malformed JSON: %v", err)
	}
	l.event = body
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if !messageFields[name] {
			l.unknown = append(l.unknown, name)
		}
	}
	if err := memory.DecodeEvent(body, &l.message); err != nil {
		return err
	}
	return l.message.Validate()
}

// identify gives a message without an id one that is the same each time the file is read: from its position in its log
// and its text, else from the file and the line. names maps its former id to the new one.
func (l *importLine) identify(file string, number int, names map[memory.MessageID]memory.MessageID) error {
	if to, ok := names[l.message.Replaces]; ok {
		if err := l.set("replaces", string(to)); err != nil {
			return err
		}
	}
	if l.message.ID != "" {
		return nil
	}
	from := file + "\x00" + strconv.Itoa(number)
	if l.Seq > 0 {
		from = string(l.Session) + "\x00" + strconv.FormatUint(l.Seq, 10) + "\x00" + string(l.event)
	}
	sum := sha256.Sum256([]byte(from))
	id := "imp_" + hex.EncodeToString(sum[:12])
	if l.Seq > 0 {
		names[memory.SequenceID(l.Seq)] = memory.MessageID(id)
	}
	return l.set("id", id)
}

// set sets a field of the event and parses the message again.
func (l *importLine) set(field, value string) error {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(l.event, &fields); err != nil {
		return err
	}
	quoted, err := json.Marshal(value)
	if err != nil {
		return err
	}
	fields[field] = quoted
	if l.event, err = json.Marshal(fields); err != nil {
		return err
	}
	l.message = memory.Message{}
	return memory.DecodeEvent(l.event, &l.message)
}

// lineError says which line of which file is wrong.
func lineError(file string, number int, err error) error {
	return fmt.Errorf("%s line %d: %w", file, number, err)
}
