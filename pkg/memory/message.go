package memory

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// The limits on what a caller may send, in bytes or items. They bound the work of one request; the payload limit of the
// broker bounds the whole.
const (
	MaxName      = 256     // a speaker, topic, tag or entity name
	MaxFactText  = 16384   // the text of one fact
	MaxQuery     = 65536   // a query
	MaxImages    = 64      // images of one message
	MaxFacts     = 1000    // facts of one retain
	MaxEntities  = 256     // entities of one fact or filter
	MaxTags      = 64      // tags of one fact or filter
	MaxDimension = 8192    // dimensions of a vector
	MaxLimit     = 1000    // items of a list or a recall
	MaxTokens    = 1000000 // max_tokens of a recall
)

// Role says who a message comes from in the conversation.
type Role string

// The roles a message can have.
const (
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
	RoleSystem    Role = "system"
	RoleTool      Role = "tool"
)

// Valid reports whether r is one of the four roles.
func (r Role) Valid() bool {
	return r == RoleUser || r == RoleAssistant || r == RoleSystem || r == RoleTool
}

// Image is a picture that belongs to a message, found by its caption.
type Image struct {
	SHA256    string `json:"sha256,omitempty"`
	Caption   string `json:"caption,omitempty"`
	MediaType string `json:"media_type,omitempty"`
}

// Message is what somebody said, as its publisher sent it. Bank and Session come from the subject, Seq and Stored from
// the broker; they are not in the body.
type Message struct {
	Bank    BankID    `json:"-"`
	Session SessionID `json:"-"`
	Seq     uint64    `json:"-"` // sequence in MEM_MESSAGES
	Stored  time.Time `json:"-"` // stream timestamp
	// Local is Time on the clock of who said it, written as if it were UTC; zero where the event's time has no offset of
	// its own and no zone of the bank is known.
	Local time.Time `json:"-"`

	ID       MessageID      `json:"id,omitempty"`
	Role     Role           `json:"role,omitempty"`
	Speaker  string         `json:"speaker,omitempty"`
	Content  string         `json:"content,omitempty"`
	Time     time.Time      `json:"time,omitzero"`
	Replaces MessageID      `json:"replaces,omitempty"`
	Topic    string         `json:"topic,omitempty"`
	Images   []Image        `json:"images,omitempty"`
	Recalled bool           `json:"recalled,omitempty"`
	Metadata map[string]any `json:"metadata,omitempty"`

	// Extra keeps the fields of the event that this version does not know.
	Extra map[string]json.RawMessage `json:"-"`
}

var messageFields = []string{"id", "role", "speaker", "content", "time", "replaces", "topic", "images", "recalled", "metadata"}

// DecodeMessage reads the body of a message event as it is, with the fields that this version does not know in Extra. The
// error is ErrInvalid and names the field.
func DecodeMessage(body []byte) (Message, error) {
	var m Message
	if err := DecodeEvent(body, &m); err != nil {
		return Message{}, err
	}
	if err := m.Validate(); err != nil {
		return Message{}, err
	}
	if !hasOtherFields(body, messageFields) { // a long message is not read again
		return m, nil
	}
	if err := json.Unmarshal(orEmpty(body), &m.Extra); err != nil {
		return Message{}, Invalid("", "malformed JSON: %v", err)
	}
	for _, f := range messageFields {
		delete(m.Extra, f)
	}
	if len(m.Extra) == 0 {
		m.Extra = nil
	}
	return m, nil
}

// ParseMessage reads the body of a message event and fills in what it omits: id from the sequence, role user, speaker
// the role, time the stream's. bank, session, seq and stored come from the broker. The error is ErrInvalid and names
// the field.
func ParseMessage(bank BankID, session SessionID, seq uint64, stored time.Time, body []byte) (Message, error) {
	m, err := DecodeMessage(body)
	if err != nil {
		return Message{}, err
	}
	m.Bank, m.Session, m.Seq, m.Stored = bank, session, seq, At(stored)
	if m.ID == "" {
		m.ID = SequenceID(seq)
	}
	if m.Role == "" {
		m.Role = RoleUser
	}
	if m.Speaker == "" {
		m.Speaker = string(m.Role)
	}
	if m.Time.IsZero() {
		m.Time = m.Stored
	}
	if _, offset := m.Time.Zone(); offset != 0 {
		m.Local = WallClock(m.Time)
	}
	m.Time = At(m.Time)
	return m, nil
}

// ReadableNames returns the id and the speaker that the body of a malformed message names, as far as it can be read: up to
// the place at which it is no JSON. The speaker of one that names none is its role; a value that is too long or no text
// is "".
func ReadableNames(body []byte) (id MessageID, speaker string) {
	named := map[string]string{"role": string(RoleUser)}
	d := json.NewDecoder(bytes.NewReader(body))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return "", ""
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			break
		}
		var value any
		if d.Decode(&value) != nil {
			break
		}
		if s, ok := value.(string); ok || key == "speaker" {
			named[strings.ToLower(fmt.Sprint(key))] = s
		}
	}
	if CheckID("id", named["id"]) == nil {
		id = MessageID(named["id"])
	}
	speaker, ok := named["speaker"]
	if !ok {
		speaker = named["role"]
	}
	if len(speaker) > MaxName {
		speaker = ""
	}
	return id, speaker
}

func orEmpty(b []byte) []byte {
	if len(b) == 0 {
		return []byte("{}")
	}
	return b
}

// Clock returns the message's time on the clock of who said it, as if it were UTC: Local, or Time where that is not known.
func (m Message) Clock() Instant {
	if m.Local.IsZero() {
		return m.Time
	}
	return m.Local
}

// SequenceID is the id of a message that was published without one: "seq:<sequence>".
func SequenceID(seq uint64) MessageID { return MessageID(fmt.Sprintf("seq:%d", seq)) }

// Validate checks the fields that a publisher sets. Optional fields may be empty.
func (m Message) Validate() error {
	if m.ID != "" {
		if err := CheckID("id", string(m.ID)); err != nil {
			return err
		}
		if strings.HasPrefix(string(m.ID), "seq:") {
			return Invalid("id", `must not start with "seq:", the form of ids given by the stream`)
		}
	}
	if m.Replaces != "" {
		if err := CheckID("replaces", string(m.Replaces)); err != nil {
			return err
		}
	}
	if m.Role != "" && !m.Role.Valid() {
		return Invalid("role", "%q is not a role; expected user, assistant, system or tool", clip(string(m.Role), 40))
	}
	for _, f := range []struct {
		name, value string
		limit       int
	}{{"speaker", m.Speaker, MaxName}, {"topic", m.Topic, MaxName}} {
		if len(f.value) > f.limit {
			return Invalid(f.name, "is %d bytes long; at most %d are allowed", len(f.value), f.limit)
		}
	}
	if len(m.Images) > MaxImages {
		return Invalid("images", "has %d images; at most %d are allowed", len(m.Images), MaxImages)
	}
	if y := m.Time.UTC().Year(); !m.Time.IsZero() && (y < 1 || y > 9999) {
		return Invalid("time", "year %d (in UTC) is outside 1 to 9999", y)
	}
	return m.checkContent()
}

func (m Message) checkContent() error {
	pictured := false
	for i, img := range m.Images {
		if img.SHA256 == "" && img.Caption == "" {
			return Invalid(fmt.Sprintf("images.%d", i), "needs sha256 or caption")
		}
		pictured = true
	}
	if strings.TrimSpace(m.Content) == "" && !pictured {
		return Invalid("content", "is required where there is no image")
	}
	return nil
}

// Caption returns the captions of the images, one per line; "" for none.
func (m Message) Caption() string {
	var parts []string
	for _, img := range m.Images {
		if img.Caption != "" {
			parts = append(parts, img.Caption)
		}
	}
	return strings.Join(parts, "\n")
}

// IsForeign reports whether a stored event is an acknowledgement of the broker that a reply subject led into the
// stream: it has stream and seq, and no field of a message.
func IsForeign(body []byte) bool {
	if !bytes.Contains(body, []byte(`"seq"`)) && !bytes.Contains(body, []byte(`\u`)) {
		return false // the field is not there, and not written in another way either
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal(body, &fields) != nil {
		return false
	}
	_, stream := fields["stream"]
	_, seq := fields["seq"]
	if !stream || !seq {
		return false
	}
	for _, f := range messageFields {
		if _, own := fields[f]; own {
			return false
		}
	}
	return true
}

// Flush says that a conversation paused or ended, so that the rest of it is extracted. With Upto it is void if a
// message past that sequence precedes it.
type Flush struct {
	Upto uint64 `json:"upto,omitempty"`
}

// ParseFlush reads a flush event: empty, {} or {"upto":seq}.
func ParseFlush(body []byte) (Flush, error) {
	var f Flush
	return f, DecodeEvent(body, &f)
}

// PlainFlush reports whether the body of a flush holds nothing but what a flush may say.
func PlainFlush(body []byte) bool {
	var f Flush
	return len(body) <= maxFlush && decode(body, &f, true) == nil
}

const maxFlush = 64 // bytes: more than its longest form

// Conservation accounts for every message event of a bank: Published is the sum of the eight others.
type Conservation struct {
	Published int `json:"published"`
	Forgotten int `json:"forgotten"`
	Dead      int `json:"dead"`
	Duplicate int `json:"duplicate"`
	Throttled int `json:"throttled"`
	Skipped   int `json:"skipped"`
	Committed int `json:"committed"`
	Empty     int `json:"empty"`
	Pending   int `json:"pending"`
}

// Sum adds up the eight.
func (c Conservation) Sum() int {
	return c.Forgotten + c.Dead + c.Duplicate + c.Throttled + c.Skipped + c.Committed + c.Empty + c.Pending
}
