package answer

import (
	"encoding/json"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Field reads one string of a JSON object while the object still comes. It
// gives what is certain so far, and stops without a word at what is no JSON: who
// has the whole object compares.
type Field struct {
	name string
	rest string // not yet read
	read func(*Field, *strings.Builder) bool
	key  string
	nest int  // of a value that is passed over
	in   bool // in a string of it
}

// NewField reads the field of the object's top level that has the name.
func NewField(name string) *Field { return &Field{name: name, read: (*Field).open} }

// Write takes the next piece and gives the decoded text of the field in it.
func (f *Field) Write(piece string) string {
	f.rest += piece
	var out strings.Builder
	for f.read != nil && f.read(f, &out) {
	}
	return out.String()
}

// next gives the next byte that is no white space, 0 when there is none yet.
func (f *Field) next() byte {
	f.rest = strings.TrimLeft(f.rest, " \t\r\n")
	if f.rest == "" {
		return 0
	}
	return f.rest[0]
}

// then goes on behind one byte of a kind, or ends at any other.
func (f *Field) then(want byte, read func(*Field, *strings.Builder) bool) bool {
	c := f.next()
	if c == 0 {
		return false
	}
	if c != want {
		f.read = nil
		return false
	}
	f.rest, f.read = f.rest[1:], read
	return true
}

func (f *Field) open(*strings.Builder) bool { return f.then('{', (*Field).before) }

// before stands before a key.
func (f *Field) before(*strings.Builder) bool {
	if f.next() == ',' {
		f.rest = f.rest[1:]
	}
	return f.then('"', (*Field).named)
}

// named reads a key, which has no escapes where it is the one looked for.
func (f *Field) named(*strings.Builder) bool {
	end := f.ends()
	if end < 0 {
		return false
	}
	f.key, f.rest, f.read = f.rest[:end], f.rest[end+1:], (*Field).colon
	return true
}

// ends gives the place of the quote that ends a string, -1 while it has not come.
func (f *Field) ends() int {
	for i := 0; i < len(f.rest); i++ {
		switch f.rest[i] {
		case '\\':
			i++
		case '"':
			return i
		}
	}
	return -1
}

func (f *Field) colon(*strings.Builder) bool {
	if f.key == f.name {
		return f.then(':', (*Field).quote)
	}
	return f.then(':', (*Field).pass)
}

func (f *Field) quote(*strings.Builder) bool { return f.then('"', (*Field).value) }

// pass reads over a value of another field.
func (f *Field) pass(*strings.Builder) bool {
	for i := 0; i < len(f.rest); i++ {
		switch c := f.rest[i]; {
		case f.in && c == '\\':
			if i+1 == len(f.rest) {
				f.rest = f.rest[i:]
				return false
			}
			i++
		case c == '"':
			f.in = !f.in
		case f.in:
		case c == '{' || c == '[':
			f.nest++
		case (c == '}' || c == ']') && f.nest == 0:
			f.read = nil
			return false
		case c == '}' || c == ']':
			f.nest--
		case c == ',' && f.nest == 0:
			f.rest, f.read = f.rest[i:], (*Field).before
			return true
		}
	}
	f.rest = ""
	return false
}

// value decodes the string that was looked for.
func (f *Field) value(out *strings.Builder) bool {
	for f.rest != "" {
		var n int
		switch c := f.rest[0]; {
		case c == '"' || c < ' ':
			f.read = nil
			return false
		case c == '\\':
			if n = escape(f.rest); n == 0 {
				return false
			}
			var text string
			if json.Unmarshal([]byte(`"`+f.rest[:n]+`"`), &text) != nil {
				f.read = nil
				return false
			}
			out.WriteString(text)
		case !utf8.FullRuneInString(f.rest):
			return false
		default:
			var r rune
			r, n = utf8.DecodeRuneInString(f.rest)
			out.WriteRune(r)
		}
		f.rest = f.rest[n:]
	}
	return false
}

// escape measures the escape a text begins with, both halves of a pair
// together; 0 when more must come.
func escape(text string) int {
	if len(text) < 2 {
		return 0
	}
	if text[1] != 'u' {
		return 2
	}
	if len(text) < 6 {
		return 0
	}
	var r rune
	if json.Unmarshal([]byte(`"`+text[:6]+`"`), new(string)) == nil {
		for _, c := range text[2:6] {
			r = r<<4 | hex(c)
		}
	}
	if !utf16.IsSurrogate(r) || r >= 0xDC00 {
		return 6
	}
	rest := text[6:]
	if len(rest) < 6 && (strings.HasPrefix(`\u`, rest) || strings.HasPrefix(rest, `\u`)) {
		return 0
	}
	if strings.HasPrefix(rest, `\u`) {
		return 12
	}
	return 6
}

func hex(c rune) rune {
	switch {
	case c >= 'a':
		return c - 'a' + 10
	case c >= 'A':
		return c - 'A' + 10
	}
	return c - '0'
}
