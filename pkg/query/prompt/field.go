package prompt

import (
	"encoding/json"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// FieldReader reads one string field of a JSON object while the object comes. It returns what is certain so far. At
// anything that is no JSON it stops silently: the caller compares with the whole object when it has come.
type FieldReader struct {
	name string
	rest string // came, and is not read yet
	read func(*FieldReader, *strings.Builder) bool
	key  string
	nest int  // depth in a value that is skipped
	in   bool // inside a string of that value
}

// NewFieldReader returns a reader of the field with the name at the top level of the object.
func NewFieldReader(name string) *FieldReader {
	return &FieldReader{name: name, read: (*FieldReader).open}
}

// Write takes the next piece of the object and returns the decoded text of the field in it.
func (f *FieldReader) Write(piece string) string {
	f.rest += piece
	var out strings.Builder
	for f.read != nil && f.read(f, &out) {
	}
	return out.String()
}

// next returns the next byte that is no white space, 0 when there is none yet.
func (f *FieldReader) next() byte {
	f.rest = strings.TrimLeft(f.rest, " \t\r\n")
	if f.rest == "" {
		return 0
	}
	return f.rest[0]
}

// then goes on with read after the byte it wants, or stops at any other.
func (f *FieldReader) then(want byte, read func(*FieldReader, *strings.Builder) bool) bool {
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

func (f *FieldReader) open(*strings.Builder) bool { return f.then('{', (*FieldReader).before) }

// before reads up to the quote that opens a key.
func (f *FieldReader) before(*strings.Builder) bool {
	if f.next() == ',' {
		f.rest = f.rest[1:]
	}
	return f.then('"', (*FieldReader).named)
}

// named reads a key. The key that is looked for has no escapes.
func (f *FieldReader) named(*strings.Builder) bool {
	end := f.ends()
	if end < 0 {
		return false
	}
	f.key, f.rest, f.read = f.rest[:end], f.rest[end+1:], (*FieldReader).colon
	return true
}

// ends returns the place of the quote that ends a string, -1 while it has not come.
func (f *FieldReader) ends() int {
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

func (f *FieldReader) colon(*strings.Builder) bool {
	if f.key == f.name {
		return f.then(':', (*FieldReader).quote)
	}
	return f.then(':', (*FieldReader).skip)
}

func (f *FieldReader) quote(*strings.Builder) bool { return f.then('"', (*FieldReader).value) }

// skip reads over the value of another field.
func (f *FieldReader) skip(*strings.Builder) bool {
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
			f.rest, f.read = f.rest[i:], (*FieldReader).before
			return true
		}
	}
	f.rest = ""
	return false
}

// value decodes the string that is looked for.
func (f *FieldReader) value(out *strings.Builder) bool {
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

// escape returns the length of the escape that a text begins with, both halves of a surrogate pair together; 0 when more
// must come.
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
