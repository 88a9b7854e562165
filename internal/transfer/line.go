// Package transfer moves a bank between a deployment and a file of JSON lines, one record a line. An Exporter writes
// the messages, the requests that changed the bank, and what came of both. An Importer publishes messages, repeats
// requests and compares the facts that are made with the exported ones; it continues where an earlier run was
// interrupted. Exports of other programs are converted to such lines first (pkg/chatexport).
package transfer

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

// The records of a file, one JSON object a line. A line without "record" is a message, or a flush if it says so.
const (
	lineExport    = "export"  // the head of an export: format version and counts
	lineBank      = "bank"    // the bank's profile
	RecordMessage = "message" // a message: the fields of the wire, session, bank and seq
	lineNested    = "nested"  // a message whose fields stand in body, because some are named like those of a line
	lineFlush     = "flush"   // the session pauses here
	RecordWrite   = "write"   // a request that was made: retain, edit, conflicts, …
	lineEnd       = "end"     // the last line of an export
)

// lineFields are the fields of a message's line that are not the message's own.
var lineFields = []string{"record", "bank", "session", "seq"}

// derived are the records of an export that follow from the others. An import sends none of them; it compares facts
// with those that were made.
var derived = map[string]bool{"fact": true, "composite": true, "observation": true, "entity": true, "conflict": true}

// Line is one line of a file that import reads and export writes.
type Line struct {
	Record  string           `json:"record,omitempty"`
	Bank    memory.BankID    `json:"bank,omitempty"`
	Session memory.SessionID `json:"session,omitempty"`
	Flush   bool             `json:"flush,omitempty"`
	Seq     uint64           `json:"seq,omitempty"` // where the message stood in the log it came from

	Format  int              `json:"format,omitempty"`  // of an export
	Lines   int              `json:"lines,omitempty"`   // of an end: how many stood before it
	Sum     string           `json:"sum,omitempty"`     // of an end: SHA-256 of the lines before it
	Profile *wire.BankUpdate `json:"profile,omitempty"` // of a bank
	Request string           `json:"request,omitempty"` // of a write: the endpoint
	Body    json.RawMessage  `json:"body,omitempty"`    // of a write: the request
	Op      string           `json:"op,omitempty"`      // of a write
	Time    *time.Time       `json:"time,omitempty"`    // of a write: when it was made
	Item    json.RawMessage  `json:"item,omitempty"`    // of a derived record

	Message memory.Message `json:"-"`
	Event   []byte         `json:"-"` // of a message: the body to publish, unknown fields kept
	raw     []byte         // as it stands in the file, until the next one is read
	unknown []string       // fields of a message that have no meaning, in order
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

// head are the fields that every line may have. Which of the others have a meaning depends on the record.
type head struct {
	Record  string           `json:"record"`
	Bank    memory.BankID    `json:"bank"`
	Session memory.SessionID `json:"session"`
	Flush   json.RawMessage  `json:"flush"`
	Seq     uint64           `json:"seq"`
}

// ParseLine reads one line. An error is memory.ErrInvalid and names the field.
func ParseLine(data []byte) (Line, error) {
	var h head
	if err := memory.DecodeEvent(data, &h); err != nil {
		return Line{}, err
	}
	l := Line{Record: h.Record, Bank: h.Bank, Session: h.Session, Seq: h.Seq}
	switch {
	case l.Record == "" && string(bytes.TrimSpace(h.Flush)) == "true":
		l.Record = lineFlush
	case l.Record == "":
		l.Record = RecordMessage
	}
	if l.Record != RecordMessage { // the other fields of a message are its own, whatever their names
		if err := memory.DecodeEvent(data, &l); err != nil {
			return l, err
		}
	}
	if l.Bank != "" {
		if _, err := memory.ParseBankID(string(l.Bank)); err != nil {
			return l, err
		}
	}
	return l, l.complete(data)
}

// complete checks what the line's record needs.
func (l *Line) complete(data []byte) error {
	switch l.Record {
	case RecordMessage, lineNested, lineFlush:
		if _, err := memory.ParseSessionID(string(l.Session)); err != nil {
			return err
		}
		if l.Record == lineFlush {
			return nil
		}
		if l.Record == lineNested {
			return l.readNested()
		}
		return l.readMessage(data)
	case lineBank:
		if l.Profile == nil {
			return memory.Invalid("profile", "is missing")
		}
	case RecordWrite:
		switch l.Request {
		case "retain", "edit", "conflicts", "alias", "apply", "undo", "feedback", "observe", "consolidate":
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
		if l.Format > format {
			return memory.Invalid("format", "is %d; this program reads up to %d", l.Format, format)
		}
	case lineEnd:
	default:
		if !derived[l.Record] {
			return memory.Invalid("record", "%q is no record of an import", l.Record)
		}
	}
	return nil
}

func (l *Line) readMessage(data []byte) error {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(data, &fields); err != nil {
		return memory.Invalid("", "malformed JSON: %v", err)
	}
	own := slices.Clone(lineFields)
	if _, named := fields["record"]; !named {
		own = append(own, "flush")
	}
	for _, name := range own {
		delete(fields, name)
	}
	return l.setFields(fields)
}

// readNested makes the line the message in its body.
func (l *Line) readNested() error {
	if len(bytes.TrimSpace(l.Body)) == 0 {
		return memory.Invalid("body", "is missing")
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(l.Body, &fields); err != nil {
		return memory.Invalid("body", "is no object: %v", err)
	}
	l.Record, l.Body = RecordMessage, nil
	return l.setFields(fields)
}

// setFields makes the line a message of these fields.
func (l *Line) setFields(fields map[string]json.RawMessage) error {
	body, err := json.Marshal(fields) // keys in order, so equal lines give equal bodies
	if err != nil {
		return memory.Invalid("", "malformed JSON: %v", err)
	}
	l.Event = body
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if !messageFields[name] {
			l.unknown = append(l.unknown, name)
		}
	}
	if err := memory.DecodeEvent(body, &l.Message); err != nil {
		return err
	}
	return l.Message.Validate()
}

// identify gives a message without an id one that is the same each time the file is read: from its position in its log
// and its text, else from the file and the line. names maps its former id to the new one.
func (l *Line) identify(file string, number int, names map[memory.MessageID]memory.MessageID) error {
	if to, ok := names[l.Message.Replaces]; ok {
		if err := l.set("replaces", string(to)); err != nil {
			return err
		}
	}
	if l.Message.ID != "" {
		return nil
	}
	from := file + "\x00" + strconv.Itoa(number)
	if l.Seq > 0 {
		from = string(l.Session) + "\x00" + strconv.FormatUint(l.Seq, 10) + "\x00" + string(l.Event)
	}
	sum := sha256.Sum256([]byte(from))
	id := "imp_" + hex.EncodeToString(sum[:12])
	if l.Seq > 0 {
		names[memory.SequenceID(l.Seq)] = memory.MessageID(id)
	}
	return l.set("id", id)
}

// set sets a field of the event and parses the message again.
func (l *Line) set(field, value string) error {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(l.Event, &fields); err != nil {
		return err
	}
	quoted, err := json.Marshal(value)
	if err != nil {
		return err
	}
	fields[field] = quoted
	if l.Event, err = json.Marshal(fields); err != nil {
		return err
	}
	l.Message = memory.Message{}
	return memory.DecodeEvent(l.Event, &l.Message)
}

// lineError says which line of which file is wrong.
func lineError(file string, number int, err error) error {
	return fmt.Errorf("%s line %d: %w", file, number, err)
}
