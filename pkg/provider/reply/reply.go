// Package reply reads the JSON in a language model's answer. A model asked for JSON may still fence it, surround it with
// prose, cut it off or break its syntax. Items returns the items of a list one by one, Object an object. What can be
// recognised is kept and nothing is made up: an item that was cut off is dropped, never completed.
package reply

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/kaptinlin/jsonrepair"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// The bounds of an answer, in bytes. A longer answer is not read. A longer piece than maxRepaired is read but not
// repaired: repairing hostile text takes time quadratic in its length (about 0.1 s at 32 KiB).
const (
	maxAnswer   = 4 << 20
	maxRepaired = 32 << 10
)

// maxRepairs bounds the places from which an object is repaired.
const maxRepairs = 3

// Notes describe how an answer was read.
type Notes struct {
	Repaired  bool // its syntax was repaired
	Truncated bool // it ends in the middle of the array
	Broken    int  // items that are no JSON and could not be repaired; they are dropped
}

// Object returns the first JSON object in an answer that has at least one of the keys, or without keys the first object,
// and whether its syntax was repaired. The error is memory.ErrInvalid where there is none.
func Object(text string, keys ...string) (obj map[string]json.RawMessage, repaired bool, err error) {
	text, err = readable(text)
	if err != nil {
		return nil, false, err
	}
	fits := func(raw []byte) bool {
		obj = nil
		if json.Unmarshal(raw, &obj) != nil || obj == nil {
			return false
		}
		for _, k := range keys {
			if _, ok := obj[k]; ok {
				return true
			}
		}
		return len(keys) == 0
	}
	for _, at := range starts(text, '{') {
		if raw, ok := value(text[at:]); ok && fits(raw) {
			return obj, false, nil
		}
	}
	for i, at := range starts(text, '{') {
		if i == maxRepairs {
			break
		}
		if repairedText, ok := repair(upToBrace(text[at:])); ok && fits(repairedText) {
			return obj, true, nil
		}
	}
	return nil, false, memory.Invalid("answer", "holds no JSON object of the form that was asked for")
}

// Items returns the items of the array that an answer holds under key, or of a bare array, in order, each of them valid
// JSON. An empty list without an error is an answer that says "none"; memory.ErrInvalid means that the answer holds no
// such list. An answer that was cut off has its items up to the cut.
func Items(text, key string) (items []json.RawMessage, n Notes, err error) {
	text, err = readable(text)
	if err != nil {
		return nil, n, err
	}
	for _, body := range arrays(text, key) {
		items, n = split(body)
		if len(items) > 0 || n.Broken > 0 || n.Truncated || isEmpty(body) {
			return items, n, nil
		}
	}
	obj, _, err := Object(text, key)
	if err != nil {
		return nil, Notes{}, memory.Invalid("answer", "holds no list %q", key)
	}
	if json.Unmarshal(obj[key], &items) != nil {
		return nil, Notes{}, memory.Invalid("answer", "%q is no list", key)
	}
	return items, Notes{Repaired: len(items) > 0}, nil
}

// arrays returns the texts behind the opening bracket of what may be the array: under the key, then a bare one at the
// beginning of the JSON.
func arrays(text, key string) []string {
	var out []string
	for _, quote := range []string{`"` + key + `"`, `'` + key + `'`, key} {
		for at := 0; len(out) < 8; {
			i := strings.Index(text[at:], quote)
			if i < 0 {
				break
			}
			at += i + len(quote)
			rest := strings.TrimLeft(text[at:], " \t\r\n")
			if !strings.HasPrefix(rest, ":") {
				continue
			}
			if rest = strings.TrimLeft(rest[1:], " \t\r\n"); strings.HasPrefix(rest, "[") {
				out = append(out, rest[1:])
			}
		}
	}
	brace := strings.IndexByte(text, '{')
	if open := strings.IndexByte(text, '['); open >= 0 && (brace < 0 || open < brace) {
		out = append(out, text[open+1:])
	}
	return out
}

// split cuts the inside of an array into its items, up to the closing bracket or the end of the text.
func split(body string) (items []json.RawMessage, n Notes) {
	for rest := body; ; {
		rest = strings.TrimLeft(rest, " \t\r\n,")
		if rest == "" || strings.HasPrefix(rest, "```") {
			n.Truncated = true
			return items, n
		}
		if rest[0] == ']' {
			return items, n
		}
		if rest[0] == '}' { // the list was not closed, the object around it was
			n.Repaired = true
			return items, n
		}
		length, closed := extent(rest)
		if !closed {
			n.Truncated = true
			return items, n
		}
		item := []byte(rest[:length])
		rest = rest[length:]
		if !json.Valid(item) {
			repairedText, ok := repair(string(item))
			if !ok {
				n.Broken++
				continue
			}
			item, n.Repaired = repairedText, true
		}
		items = append(items, item)
	}
}

// extent measures the item that a text begins with: a balanced object or array, a string, or what stands before the next
// comma or bracket.
func extent(s string) (length int, closed bool) {
	depth, quoted, escaped := 0, false, false
	for i := range len(s) {
		c := s[i]
		switch {
		case escaped:
			escaped = false
		case quoted:
			switch c {
			case '\\':
				escaped = true
			case '"':
				quoted = false
			}
			if !quoted && depth == 0 {
				return i + 1, true
			}
		case c == '"':
			quoted = true
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			if depth == 0 {
				return i, true
			}
			if depth--; depth == 0 {
				return i + 1, true
			}
		case c == ',' && depth == 0:
			return i, true
		}
	}
	return len(s), false
}

func isEmpty(body string) bool {
	return strings.HasPrefix(strings.TrimLeft(body, " \t\r\n,"), "]")
}

// starts returns the first places of a byte, at most 16.
func starts(text string, c byte) []int {
	var out []int
	for i := range len(text) {
		if text[i] == c {
			if out = append(out, i); len(out) == 16 {
				break
			}
		}
	}
	return out
}

// value returns the JSON value that a text begins with.
func value(text string) ([]byte, bool) {
	var raw json.RawMessage
	if json.NewDecoder(strings.NewReader(text)).Decode(&raw) != nil {
		return nil, false
	}
	return raw, true
}

// upToBrace cuts a text behind the last closing brace, where prose may follow.
func upToBrace(text string) string {
	if i := strings.LastIndexByte(text, '}'); i >= 0 {
		return text[:i+1]
	}
	return text
}

// repair returns a text as JSON with its syntax repaired, false where that is not possible.
func repair(text string) ([]byte, bool) {
	if len(text) > maxRepaired {
		return nil, false
	}
	out, err := jsonrepair.Repair(text)
	if err != nil || !json.Valid([]byte(out)) {
		return nil, false
	}
	return bytes.TrimSpace([]byte(out)), true
}

// readable returns an answer as valid UTF-8 without white space around it.
func readable(text string) (string, error) {
	if len(text) > maxAnswer {
		return "", memory.Invalid("answer", "is %d bytes long; at most %d are read", len(text), maxAnswer)
	}
	text = strings.TrimSpace(strings.ToValidUTF8(text, "\uFFFD"))
	if text == "" {
		return "", memory.Invalid("answer", "is empty")
	}
	return text, nil
}
