package chatproxy

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// request is a chat completion that is asked for.
type request struct {
	body []byte
	user string // the field of that name
	said []turn // what users and the assistant said, in order
	last int    // the index in said of the last message of the user, -1 for none
}

// turn is a message of the conversation.
type turn struct {
	role  memory.Role
	name  string
	text  string
	start int // offset in the body
	id    memory.MessageID
}

// parse reads the body of a request. The error wraps memory.ErrInvalid and names the field.
func parse(body []byte) (*request, error) {
	if !utf8.Valid(body) {
		return nil, memory.Invalid("", "the body is not valid UTF-8")
	}
	if !json.Valid(body) || !bytes.HasPrefix(bytes.TrimLeft(body, " \t\r\n"), []byte("{")) {
		return nil, memory.Invalid("", "the body is no JSON object; expected one like {\"model\":…,\"messages\":[…]}")
	}
	r := &request{body: body, last: -1}
	d := json.NewDecoder(bytes.NewReader(body))
	_, _ = d.Token() //nolint:errcheck // the body is valid
	found := false
	for d.More() {
		name, _ := d.Token() //nolint:errcheck // the body is valid
		switch {
		case name != "messages":
			var value json.RawMessage
			_ = d.Decode(&value) //nolint:errcheck // the body is valid
			if name == "user" {
				_ = json.Unmarshal(value, &r.user) //nolint:errcheck // the endpoint says what is wrong with it
			}
		case found:
			return nil, memory.Invalid("messages", "stands twice in the body; expected it once")
		default:
			found = true
			if err := r.messages(d); err != nil {
				return nil, err
			}
		}
	}
	if !found {
		return nil, memory.Invalid("messages", "is required; expected an array of messages")
	}
	return r, nil
}

// messages reads the array that comes next.
func (r *request) messages(d *json.Decoder) error {
	if t, _ := d.Token(); t != json.Delim('[') { //nolint:errcheck // the body is valid
		return memory.Invalid("messages", "is no array of messages")
	}
	for d.More() {
		var raw json.RawMessage
		_ = d.Decode(&raw) //nolint:errcheck // the body is valid
		var m struct {
			Role    memory.Role     `json:"role"`
			Name    string          `json:"name"`
			Content json.RawMessage `json:"content"`
		}
		if json.Unmarshal(raw, &m) != nil || m.Role != memory.RoleUser && m.Role != memory.RoleAssistant {
			continue
		}
		t := turn{role: m.Role, name: m.Name, text: textOf(m.Content), start: int(d.InputOffset()) - len(raw)}
		if t.text == "" {
			if m.Role == memory.RoleUser { // a picture alone: there is nothing to recall with
				r.last = -1
			}
			continue
		}
		r.said = append(r.said, t)
		if m.Role == memory.RoleUser {
			r.last = len(r.said) - 1
		}
	}
	_, _ = d.Token() //nolint:errcheck // the body is valid
	return nil
}

// textOf returns the text of a content: a string, or the texts among its parts.
func textOf(content json.RawMessage) string {
	var text string
	if json.Unmarshal(content, &text) == nil {
		return strings.TrimSpace(text)
	}
	var parts []struct {
		Text string `json:"text"`
	}
	if json.Unmarshal(content, &parts) != nil {
		return ""
	}
	var out []string
	for _, p := range parts {
		if p.Text != "" {
			out = append(out, p.Text)
		}
	}
	return strings.TrimSpace(strings.Join(out, "\n"))
}

// identify sets the id of every message: the hash of the session and of all messages up to it.
func (r *request) identify(session memory.SessionID) {
	before := memory.MessageID(session)
	for i := range r.said {
		r.said[i].id = after(before, r.said[i].role, r.said[i].text)
		before = r.said[i].id
	}
}

// after returns the id of the message that follows another one.
func after(before memory.MessageID, role memory.Role, text string) memory.MessageID {
	return memory.MessageID("chat:" + hash(string(before), string(role), text))
}

// session returns the session of a request without the header: its field user, else a hash of its first turn.
func (r *request) session() memory.SessionID {
	if s, err := memory.ParseSessionID(r.user); err == nil {
		return s
	}
	for _, t := range r.said {
		if t.role == memory.RoleUser {
			return memory.SessionID("chat-" + hash(r.user, t.text))
		}
	}
	return memory.SessionID("chat-" + hash(r.user))
}

// holds reports whether the conversation already contains the text of an item.
func (r *request) holds(i memory.Item) bool {
	known := func(id memory.MessageID) bool {
		return slices.ContainsFunc(r.said, func(t turn) bool { return t.id == id })
	}
	if i.Record == memory.RecordMessage {
		return known(memory.MessageID(i.ID)) || slices.ContainsFunc(r.said, func(t turn) bool { return t.text == i.Text })
	}
	return len(i.Sources) > 0 && !slices.ContainsFunc(i.Sources, func(id memory.MessageID) bool { return !known(id) })
}

// with returns the body with a message inserted before the user's last one; all other bytes are unchanged.
func (r *request) with(text string) ([]byte, error) {
	if text == "" {
		return r.body, nil
	}
	m, err := memory.Encode(map[string]string{"role": string(memory.RoleUser), "content": text})
	if err != nil {
		return nil, err
	}
	at := r.said[r.last].start
	return slices.Concat(r.body[:at], m, []byte(","), r.body[at:]), nil
}

// hash returns a hash of texts and their order, in 32 characters.
func hash(texts ...string) string {
	h := sha256.New()
	for _, t := range texts {
		sum := sha256.Sum256([]byte(t))
		h.Write(sum[:])
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}
