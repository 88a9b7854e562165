package transfer

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"slices"
	"unicode/utf8"

	"github.com/eunoe-memory/eunoe/internal/console"
	"github.com/eunoe-memory/eunoe/pkg/chatexport"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// maxLine is the longest line of an import file, in bytes.
const maxLine = 16 << 20

// File is a file to import, checked from end to end.
type File struct {
	Name    string
	Lines   int
	Unknown []UnknownField // fields of messages that have no meaning, each once

	Report *chatexport.Report // of the export of another program, nil for JSON Lines

	hash    string // of its content
	open    func() (io.ReadCloser, error)
	largest messageSize // of its messages
}

// messageSize is the size of a message in bytes as it is published, and the line it stands on.
type messageSize struct{ line, bytes int }

// UnknownField is a field of a message that has no meaning, and the first line that has it.
type UnknownField struct {
	Line int
	Name string
}

// Open reads and checks the whole file, so that nothing is sent of a file with a wrong line. "-" is standard
// input, which is copied to a temporary file first; so is what is converted from the export of another program. remove
// closes these files, which have no name where the system allows it: a process that is killed leaves none behind.
func Open(ctx context.Context, path string, stdin io.Reader, opt chatexport.Options) (f *File, remove func(), err error) {
	f = &File{Name: path}
	var temp []*console.TempFile
	remove = func() {
		for _, t := range temp {
			t.Remove() //nolint:errcheck // it is a temporary file
		}
	}
	create := func() (*console.TempFile, error) {
		t, err := console.CreateTemp()
		if err == nil {
			temp = append(temp, t)
		}
		return t, err
	}
	f.open = func() (io.ReadCloser, error) { return os.Open(path) }
	var real *os.File
	if path == "-" {
		f.Name = "standard input"
		in, err := create()
		if err != nil {
			return nil, remove, err
		}
		if _, err := io.Copy(in, stdin); err != nil {
			return nil, remove, fmt.Errorf("copy standard input: %w", err)
		}
		real, f.open = in.File, in.Open
	} else if real, err = os.Open(path); err != nil {
		return nil, remove, console.UsageError{Err: fmt.Errorf("import: %w", err)}
	} else {
		defer real.Close() //nolint:errcheck // it was only read
	}
	if opt.Format != "" || !jsonLines(real) {
		out, err := create()
		if err == nil {
			f.open = out.Open
			f.Report, err = convert(ctx, real, opt, out)
		}
		if err != nil {
			return nil, remove, fmt.Errorf("%s: %w", f.Name, err)
		}
	}
	return f, remove, f.check()
}

// jsonLines reports whether a file is read as JSON Lines: where it is no export of another program, the errors are those
// of its lines.
func jsonLines(in *os.File) bool {
	info, err := in.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return true
	}
	first, _ := bufio.NewReaderSize(io.NewSectionReader(in, 0, info.Size()), 64<<10).ReadSlice('\n') //nolint:errcheck // a long first line is looked at by its beginning
	if _, err := ParseLine(bytes.TrimSpace(first)); err == nil {
		return true
	}
	if bytes.HasPrefix(first, []byte("PK\x03\x04")) { // an archive has no lines
		return false
	}
	_, err = chatexport.Detect(in, info.Size())
	return err != nil
}

// convert writes an export of another program as JSON Lines.
func convert(ctx context.Context, in *os.File, opt chatexport.Options, out io.Writer) (report *chatexport.Report, err error) {
	info, err := in.Stat()
	if err != nil {
		return nil, err
	}
	w := bufio.NewWriter(out)
	r, err := chatexport.Convert(ctx, in, info.Size(), opt, w)
	if errors.Is(err, memory.ErrInvalid) {
		err = console.UsageError{Err: err}
	}
	return &r, errors.Join(err, w.Flush())
}

// check reads and counts every line; an export must have its end line.
func (f *File) check() error {
	in, err := f.open()
	if err != nil {
		return console.UsageError{Err: fmt.Errorf("import: %w", err)}
	}
	defer in.Close() //nolint:errcheck // it was only read
	sum, said := sha256.New(), sha256.New()
	exported, ended := false, false
	err = Scan(f.Name, io.TeeReader(in, sum), func(number int, l Line) error {
		exported = exported || l.Record == lineExport
		ended = l.Record == lineEnd
		switch {
		case ended && l.Lines != number-1:
			return memory.Invalid("lines", "says that %d lines stand before it; there are %d", l.Lines, number-1)
		case ended && l.Sum != "" && l.Sum != hex.EncodeToString(said.Sum(nil)):
			return memory.Invalid("sum", "is not that of the lines before it: the file is damaged, or was edited, and can be imported without this field")
		}
		addLine(said, l.raw)
		f.Lines = number
		if len(l.Event) > f.largest.bytes {
			f.largest = messageSize{number, len(l.Event)}
		}
		for _, name := range l.unknown {
			if !slices.ContainsFunc(f.Unknown, func(u UnknownField) bool { return u.Name == name }) {
				f.Unknown = append(f.Unknown, UnknownField{number, name})
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	if f.Lines == 0 && f.Report == nil {
		return console.Usagef("%s is empty: a message or an export has at least one line", f.Name)
	}
	if exported && !ended {
		return console.Usagef("%s is an export without its end: it was cut short", f.Name)
	}
	f.hash = hex.EncodeToString(sum.Sum(nil))
	return nil
}

// addLine adds a line of an export, without its end, to the sum of its lines: line ends and byte order marks change with the
// programs that a file passes through.
func addLine(sum hash.Hash, line []byte) {
	sum.Write(bytes.TrimSpace(line)) //nolint:errcheck // a hash takes everything
	sum.Write([]byte("\n"))          //nolint:errcheck // a hash takes everything
}

// Scan calls fn with each line of the file.
func (f *File) Scan(fn func(number int, l Line) error) error {
	in, err := f.open()
	if err != nil {
		return fmt.Errorf("import: %w", err)
	}
	defer in.Close() //nolint:errcheck // it was only read
	return Scan(f.Name, in, fn)
}

// Scan calls fn with each line that is not blank, numbered from 1 as an editor does. name stands in errors.
func Scan(name string, in io.Reader, fn func(number int, l Line) error) error {
	sc := bufio.NewScanner(in)
	sc.Buffer(make([]byte, 0, 64<<10), maxLine)
	number := 0
	for sc.Scan() {
		number++
		line := sc.Bytes()
		if number == 1 {
			line = bytes.TrimPrefix(line, []byte("\ufeff")) // a byte order mark, as some editors write it
		}
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		l, err := ParseLine(line)
		switch l.raw = line; {
		case err == nil:
			err = fn(number, l)
		case bytes.IndexByte(line, 0) >= 0:
			err = fmt.Errorf("it holds a zero byte: the file is damaged, or in UTF-16 and has to be saved as UTF-8: %w", err)
		case !utf8.Valid(line):
			err = fmt.Errorf("the file is damaged, or in another encoding, as Latin-1 or UTF-16, and has to be saved as UTF-8: %w", err)
		case number == 1 && line[0] != '{':
			err = fmt.Errorf("the file is neither JSON lines nor an export that is known here; if it is one, --from names its program: %w", err)
		}
		if err != nil {
			return lineError(name, number, err)
		}
	}
	if errors.Is(sc.Err(), bufio.ErrTooLong) {
		return lineError(name, number+1, fmt.Errorf("has more than %d bytes: %w", maxLine, memory.ErrTooLarge))
	}
	if err := sc.Err(); err != nil {
		return lineError(name, number+1, err)
	}
	return nil
}

// CheckSize returns an error of the line if the broker takes no message as large as the file's largest.
func (f *File) CheckSize(most int64) error {
	if most <= 0 || int64(f.largest.bytes) <= most {
		return nil
	}
	return lineError(f.Name, f.largest.line, fmt.Errorf("is a message of %d bytes, and the broker takes at most %d; nothing was sent: %w", f.largest.bytes, most, memory.ErrTooLarge))
}
