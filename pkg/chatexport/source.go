package chatexport

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// How many bytes are unpacked of an archive, which bounds decompression bombs: by its size, for text is packed to a tenth or
// so, and in all.
const (
	unpackedBySize = 200
	leastUnpacked  = 16 << 20
	maxUnpacked    = 8 << 30
)

// maxValue is the size in bytes of the longest JSON value that is read at once: a conversation, or a field that is skipped.
// It is in memory several times while it is.
const maxValue = 32 << 20

// source is a file to import: the file itself, or those of a zip archive.
type source struct {
	parts []part
	zip   bool
}

// part is one file.
type part struct {
	name string
	open func() (io.ReadCloser, error)
	left *int64 // bytes that may still be unpacked of its archive; nil for the file itself
}

func open(file io.ReaderAt, size int64) (*source, error) {
	head := make([]byte, 4)
	if n, _ := file.ReadAt(head, 0); n < len(head) || !bytes.Equal(head, []byte("PK\x03\x04")) {
		whole := func() (io.ReadCloser, error) { return io.NopCloser(io.NewSectionReader(file, 0, size)), nil }
		return &source{parts: []part{{open: whole}}}, nil
	}
	archive, err := zip.NewReader(file, size)
	if err != nil {
		return nil, memory.Invalid("file", "is a zip archive that cannot be read: %v", err)
	}
	s, left := &source{zip: true}, min(max(leastUnpacked, unpackedBySize*size), maxUnpacked)
	for _, f := range archive.File {
		if f.FileInfo().IsDir() || strings.HasPrefix(path.Base(f.Name), ".") || strings.HasPrefix(f.Name, "__MACOSX/") {
			continue
		}
		s.parts = append(s.parts, part{f.Name, f.Open, &left})
	}
	slices.SortFunc(s.parts, func(a, b part) int { return strings.Compare(a.name, b.name) })
	return s, nil
}

// read calls fn with the content of a part.
func (p part) read(fn func(*limited) error) error {
	in, err := p.open()
	if err != nil {
		return p.broken(err)
	}
	defer in.Close() //nolint:errcheck // it was only read
	return fn(&limited{r: withoutMark(in), part: p})
}

// broken returns the error of a part that cannot be read.
func (p part) broken(err error) error {
	if p.name == "" {
		return memory.Invalid("file", "cannot be read: %v", err)
	}
	return memory.Invalid("file", "%s in the archive cannot be read: %v", p.name, err)
}

// limited reads a part within the bounds of its archive and of what a decoder of JSON keeps, and names it in an error.
type limited struct {
	r       io.Reader
	part    part
	read    int64
	decoder *json.Decoder // that reads from it; nil = another reader
	text    bool          // it is text, of which every byte is checked
	rest    []byte        // the beginning of a letter, whose end was not read yet
	line    int           // how many lines were read to their ends
}

func (l *limited) Read(b []byte) (int, error) {
	if l.part.left != nil {
		if *l.part.left <= 0 {
			return 0, l.part.broken(fmt.Errorf("the archive unpacks to more than %d times its size, or to more than %d bytes", unpackedBySize, int64(maxUnpacked)))
		}
		b = b[:min(int64(len(b)), *l.part.left)]
	}
	if l.decoder != nil && l.read-l.decoder.InputOffset() > maxValue {
		return 0, l.part.broken(fmt.Errorf("the value at byte %d is longer than %d bytes", l.decoder.InputOffset(), maxValue))
	}
	n, err := l.r.Read(b)
	l.read += int64(n)
	if l.part.left != nil {
		*l.part.left -= int64(n)
	}
	if err != nil && !errors.Is(err, io.EOF) {
		err = l.part.broken(err)
	}
	if l.text {
		if wrong := l.check(b[:n], errors.Is(err, io.EOF)); wrong != nil {
			return 0, wrong
		}
	}
	return n, err
}

// check returns an error where what was read is not UTF-8, or holds a zero, as UTF-16 does and a file that lost a block:
// what would be kept of it lacks words, and nothing says so. last says that nothing follows.
func (l *limited) check(b []byte, last bool) error {
	b = append(l.rest, b...)
	for len(b) > 0 && (last || utf8.FullRune(b)) {
		letter, size := utf8.DecodeRune(b)
		switch {
		case letter == 0:
			return l.part.broken(fmt.Errorf("line %d holds a zero byte: the file is damaged, or in UTF-16 and has to be saved as UTF-8", l.line+1))
		case letter == utf8.RuneError && size == 1:
			return l.part.broken(fmt.Errorf("line %d is not UTF-8: the file is damaged, or in another encoding, as Latin-1 or UTF-16, and has to be saved as UTF-8", l.line+1))
		case letter == '\n':
			l.line++
		}
		b = b[size:]
	}
	l.rest = append(l.rest[:0], b...)
	return nil
}

// like returns the parts whose name without folders matches a pattern of path.Match, in order of name. A file that is
// no archive matches every pattern.
func (s *source) like(pattern string) []part {
	if !s.zip {
		return s.parts
	}
	var out []part
	for _, p := range s.parts {
		if ok, _ := path.Match(pattern, path.Base(p.name)); ok {
			out = append(out, p)
		}
	}
	return out
}

// decode calls fn with a JSON decoder of each part that matches.
func (s *source) decode(pattern string, fn func(*json.Decoder) error) error {
	found := s.like(pattern)
	if len(found) == 0 {
		return memory.Invalid("file", "holds no %s", pattern)
	}
	for _, p := range found {
		if err := p.json(fn); err != nil {
			return err
		}
	}
	return nil
}

// json calls fn with a JSON decoder of the part.
func (p part) json(fn func(*json.Decoder) error) error {
	return p.read(func(in *limited) error {
		in.decoder, in.text = json.NewDecoder(in), true
		err := fn(in.decoder)
		var syntax *json.SyntaxError
		var kind *json.UnmarshalTypeError
		if errors.As(err, &syntax) || errors.As(err, &kind) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
			return p.broken(err)
		}
		return err
	})
}

// each calls fn for each element of the array that comes next, which fn has to decode. null is an empty array.
func each(d *json.Decoder, fn func() error) error { return walk(d, fn, nil) }

// object calls the function for each known field of the object that comes next, which the function has to decode.
// Others are skipped. null is an empty object.
func object(d *json.Decoder, fields map[string]func() error) error { return walk(d, nil, fields) }

// walk reads the value that comes next: an array, whose elements element decodes, or an object, whose known fields their
// functions decode. A value of the kind for which there is nil is an error.
func walk(d *json.Decoder, element func() error, fields map[string]func() error) error {
	t, err := d.Token()
	switch {
	case err != nil:
		return err
	case t == nil:
		return nil
	case t == json.Delim('[') && element != nil:
	case t == json.Delim('{') && fields != nil:
	default:
		return memory.Invalid("file", "has %v before byte %d, where %s was expected", describe(t), d.InputOffset(), expected(element, fields))
	}
	for d.More() {
		read := element
		if t == json.Delim('{') {
			name, err := d.Token()
			if err != nil {
				return err
			}
			if read = fields[name.(string)]; read == nil {
				read = func() error { return d.Decode(&nothing{}) }
			}
		}
		if err := read(); err != nil {
			return err
		}
	}
	_, err = d.Token()
	return err
}

func expected(element func() error, fields map[string]func() error) string {
	switch {
	case element == nil:
		return "an object"
	case fields == nil:
		return "an array"
	}
	return "an array or an object"
}

// nothing is a value that is read and dropped.
type nothing struct{}

func (*nothing) UnmarshalJSON([]byte) error { return nil }

func describe(t json.Token) string {
	switch t {
	case json.Delim('['):
		return "an array"
	case json.Delim('{'):
		return "an object"
	}
	if s, ok := t.(string); ok {
		return fmt.Sprintf("the text %q", shorten(s, 40))
	}
	return fmt.Sprint(t)
}

// next decodes the value that comes next. A value of another shape is skipped: ok is false, and nothing of it is read.
func next[T any](d *json.Decoder) (v T, ok bool, err error) {
	var raw json.RawMessage
	if err := d.Decode(&raw); err != nil {
		return v, false, err
	}
	return v, json.Unmarshal(raw, &v) == nil, nil
}
