package memory

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"
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

// Message is one thing said, as its publisher sent it. Seq, Stored, Bank and
// Session are the broker's and the subject's word and are not in the body.
type Message struct {
	Bank    BankID    `json:"-"`
	Session SessionID `json:"-"`
	Seq     uint64    `json:"-"` // sequence in MEM_MESSAGES
	Stored  time.Time `json:"-"` // stream timestamp

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

// ParseMessage reads the body of a message event and fills what it leaves out:
// id from the sequence, role user, speaker the role, time the stream's. bank,
// session, seq and stored come from the broker. The error is ErrInvalid and
// names the field.
func ParseMessage(bank BankID, session SessionID, seq uint64, stored time.Time, body []byte) (Message, error) {
	var m Message
	if err := DecodeEvent(body, &m); err != nil {
		return Message{}, err
	}
	if err := m.Validate(); err != nil {
		return Message{}, err
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
	m.Time = At(m.Time)
	return m, nil
}

func orEmpty(b []byte) []byte {
	if len(b) == 0 {
		return []byte("{}")
	}
	return b
}

// SequenceID is the id of a message that was published without one: "seq:<sequence>".
func SequenceID(seq uint64) MessageID { return MessageID(fmt.Sprintf("seq:%d", seq)) }

// SequenceOf reads a SequenceID; ok is false for any other id.
func SequenceOf(id MessageID) (seq uint64, ok bool) {
	rest, found := strings.CutPrefix(string(id), "seq:")
	if !found {
		return 0, false
	}
	n, err := strconv.ParseUint(rest, 10, 64)
	return n, err == nil
}

// Validate checks the fields a publisher sets. Empty optional fields are fine.
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

// Caption joins the captions of the message's images, "" without any.
func (m Message) Caption() string {
	var parts []string
	for _, img := range m.Images {
		if img.Caption != "" {
			parts = append(parts, img.Caption)
		}
	}
	return strings.Join(parts, "\n")
}

// IsForeign reports whether a stored event is a broker's acknowledgement that
// a reply subject led into the stream: stream and seq, and no field of its own.
func IsForeign(body []byte) bool {
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

// Flush says that a conversation paused or ended: what is left of it is
// extracted. With Upto it is void if a message after that sequence stands before it.
type Flush struct {
	Upto uint64 `json:"upto,omitempty"`
}

// ParseFlush reads a flush event: empty, {} or {"upto":seq}.
func ParseFlush(body []byte) (Flush, error) {
	var f Flush
	return f, DecodeEvent(body, &f)
}
