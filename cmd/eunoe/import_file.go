package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/eunoe-memory/eunoe/internal/console"
	"github.com/eunoe-memory/eunoe/pkg/chatexport"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// maxImportLine is the longest line of an import file, in bytes.
const maxImportLine = 16 << 20

// progressSuffix is appended to the name of an import file for the name of its checkpoint.
const progressSuffix = ".eunoe-progress"

// importFile is a file to import, checked from end to end.
type importFile struct {
	name  string
	hash  string // of its content, "" for standard input
	lines int
	open  func() (io.ReadCloser, error)

	report *chatexport.Report // of the export of another program, nil for JSON Lines

	largest messageSize    // of its messages
	unknown []unknownField // each field once
}

// messageSize is the size of a message in bytes as it is published, and the line it stands on.
type messageSize struct{ line, bytes int }

// unknownField is a field of a message that has no meaning, and the first line that has it.
type unknownField struct {
	line int
	name string
}

// openImport reads and checks the whole file, so that nothing is sent of a file with a wrong line. "-" is standard
// input, which is copied to a temporary file first; so is what is converted from the export of another program. remove
// deletes these files.
func openImport(ctx context.Context, path string, stdin io.Reader, opt chatexport.Options) (f *importFile, remove func(), err error) {
	f = &importFile{name: path}
	dir, remove, err := console.TempDir()
	if err != nil {
		return nil, func() {}, err
	}
	real := path
	if path == "-" {
		f.name, real = "standard input", dir+"/import"
		if err := copyTo(real, stdin); err != nil {
			return nil, remove, err
		}
	}
	if converted := dir + "/import.jsonl"; opt.Format != "" || !jsonLines(real) {
		if f.report, err = convert(ctx, real, opt, converted); err != nil {
			return nil, remove, fmt.Errorf("%s: %w", f.name, err)
		}
		real = converted
	}
	f.open = func() (io.ReadCloser, error) { return os.Open(real) }
	return f, remove, f.check()
}

// jsonLines reports whether a file is read as JSON Lines: where it is no export of another program, the errors are those
// of its lines.
func jsonLines(path string) bool {
	in, err := os.Open(path)
	if err != nil {
		return true
	}
	defer in.Close() //nolint:errcheck // it was only read
	info, err := in.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return true
	}
	first, _ := bufio.NewReaderSize(in, 64<<10).ReadSlice('\n') //nolint:errcheck // a long first line is looked at by its beginning
	if _, err := ParseImportLine(bytes.TrimSpace(first)); err == nil {
		return true
	}
	if bytes.HasPrefix(first, []byte("PK\x03\x04")) { // an archive has no lines
		return false
	}
	_, err = chatexport.Detect(in, info.Size())
	return err != nil
}

// convert writes an export of another program as JSON Lines.
func convert(ctx context.Context, from string, opt chatexport.Options, to string) (report *chatexport.Report, err error) {
	in, err := os.Open(from)
	if err != nil {
		return nil, console.UsageError{Err: err}
	}
	defer in.Close() //nolint:errcheck // it was only read
	info, err := in.Stat()
	if err != nil {
		return nil, err
	}
	out, err := os.Create(to)
	if err != nil {
		return nil, err
	}
	w := bufio.NewWriter(out)
	r, err := chatexport.Convert(ctx, in, info.Size(), opt, w)
	if errors.Is(err, memory.ErrInvalid) {
		err = console.UsageError{Err: err}
	}
	return &r, errors.Join(err, w.Flush(), out.Close())
}

func copyTo(path string, in io.Reader) error {
	out, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("copy standard input: %w", err)
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

// check reads and counts every line; an export must have its end line.
func (f *importFile) check() error {
	in, err := f.open()
	if err != nil {
		return console.UsageError{Err: fmt.Errorf("import: %w", err)}
	}
	defer in.Close() //nolint:errcheck // it was only read
	sum := sha256.New()
	exported, ended := false, false
	err = scanLines(f.name, io.TeeReader(in, sum), func(number int, l importLine) error {
		exported = exported || l.Record == lineExport
		ended = l.Record == lineEnd
		if ended && l.Lines != number-1 {
			return fmt.Errorf("says that %d lines stand before it; there are %d", l.Lines, number-1)
		}
		f.lines = number
		if len(l.event) > f.largest.bytes {
			f.largest = messageSize{number, len(l.event)}
		}
		for _, name := range l.unknown {
			if !slices.ContainsFunc(f.unknown, func(u unknownField) bool { return u.name == name }) {
				f.unknown = append(f.unknown, unknownField{number, name})
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	if exported && !ended {
		return console.Usagef("%s is an export without its end: it was cut short", f.name)
	}
	f.hash = hex.EncodeToString(sum.Sum(nil))
	return nil
}

// scanLines calls fn with each line that is not blank, numbered from 1 as an editor does.
func scanLines(name string, in io.Reader, fn func(number int, l importLine) error) error {
	sc := bufio.NewScanner(in)
	sc.Buffer(make([]byte, 0, 64<<10), maxImportLine)
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
		l, err := ParseImportLine(line)
		if err == nil {
			err = fn(number, l)
		}
		if err != nil {
			return lineError(name, number, err)
		}
	}
	if errors.Is(sc.Err(), bufio.ErrTooLong) {
		return lineError(name, number+1, fmt.Errorf("has more than %d bytes: %w", maxImportLine, memory.ErrTooLarge))
	}
	if err := sc.Err(); err != nil {
		return lineError(name, number+1, err)
	}
	return nil
}

// checkSize returns an error of the line if the broker takes no message as large as the file's largest.
func (f *importFile) checkSize(most int64) error {
	if most <= 0 || int64(f.largest.bytes) <= most {
		return nil
	}
	return lineError(f.name, f.largest.line, fmt.Errorf("is a message of %d bytes, and the broker takes at most %d; nothing was sent: %w", f.largest.bytes, most, memory.ErrTooLarge))
}

// checkpoint is the progress of an import of a file.
type checkpoint struct {
	File   string `json:"file"`   // hash of its content
	Target string `json:"target"` // broker, prefix and bank it goes to
	Lines  int    `json:"lines"`  // sent and acknowledged
}

// readCheckpoint returns how many lines an earlier run sent of the same file to the same place, 0 for none. A
// checkpoint of another file is an error, so that an import that was interrupted is not silently forgotten.
func readCheckpoint(path string, want checkpoint) (int, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("checkpoint: %w", err)
	}
	var have checkpoint
	if err := json.Unmarshal(data, &have); err != nil {
		return 0, console.Usagef("checkpoint %s cannot be read (%v); delete it to start over", path, err)
	}
	if have.File != want.File {
		return 0, console.Usagef("the file changed since an import of it was interrupted; delete %s to start over", path)
	}
	if have.Target != want.Target {
		return 0, nil
	}
	return have.Lines, nil
}

// write replaces the checkpoint atomically.
func (c checkpoint) write(path string) error {
	data, err := json.Marshal(c)
	if err != nil {
		return err
	}
	if err := os.WriteFile(path+".new", data, 0o600); err != nil {
		return fmt.Errorf("checkpoint: %w", err)
	}
	return os.Rename(path+".new", path)
}
