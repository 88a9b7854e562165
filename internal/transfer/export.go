package transfer

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/eunoe-memory/eunoe/internal/app/storage"
	"github.com/eunoe-memory/eunoe/internal/console"
	"github.com/eunoe-memory/eunoe/pkg/client"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

// format is the version of the lines that an export consists of.
const format = 1

// Exporter writes a bank as lines.
type Exporter struct {
	Records map[string]int // lines by record
	Lines   int
	Left    int // events of the log that could not be read

	client *client.Client
	bank   memory.BankID
	out    *bufio.Writer
}

// NewExporter returns an Exporter of a bank. The caller closes the client and the writer.
func NewExporter(c *client.Client, bank memory.BankID, w io.Writer) *Exporter {
	return &Exporter{Records: map[string]int{}, client: c, bank: bank, out: bufio.NewWriter(w)}
}

// Run writes the export. A bank that does not exist is memory.ErrNotFound.
func (e *Exporter) Run(ctx context.Context) error {
	bank, err := e.client.Bank(ctx, e.bank)
	if err != nil {
		return err
	}
	steps := []func() error{
		func() error { return e.line(Line{Record: lineExport, Format: format}) },
		func() error { return e.line(Line{Record: lineBank, Profile: profile(bank)}) },
		func() error { return e.messages(ctx) },
		func() error { return e.writes(ctx) },
		func() error { return e.derived(ctx) },
		func() error { return e.line(Line{Record: lineEnd, Lines: e.Lines}) },
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return fmt.Errorf("export bank %s: %w", e.bank, err)
		}
	}
	return e.out.Flush()
}

// WriteFile calls write with a file that gets its name when it is complete and on disk: until then, and if write fails,
// whatever stood at path stays. What is no regular file, such as a pipe, is written directly.
func WriteFile(path string, write func(io.Writer) error) (err error) {
	if to, err := filepath.EvalSymlinks(path); err == nil {
		path = to // a link goes on to point there
	}
	part := fmt.Sprintf("%s.%d.part", path, os.Getpid())
	mode := fs.FileMode(0o666)
	if info, err := os.Stat(path); err == nil {
		if mode = info.Mode(); !mode.IsRegular() {
			part = path
		}
	}
	file, err := os.OpenFile(part, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, mode.Perm())
	if err != nil {
		return console.UsageError{Err: err}
	}
	err = write(file)
	if part == path {
		return errors.Join(err, file.Close())
	}
	if err == nil {
		err = file.Sync()
	}
	if err = errors.Join(err, file.Close()); err == nil {
		err = os.Rename(part, path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(part))
	}
	return storage.SyncFile(filepath.Dir(path)) // its name too
}

// line writes one line of the bank.
func (e *Exporter) line(l Line) error {
	if l.Record != lineEnd {
		l.Bank = e.bank
	}
	return e.write(l.Record, l)
}

// write writes a line of a record.
func (e *Exporter) write(record string, v any) error {
	e.Records[record]++
	enc := json.NewEncoder(e.out)
	enc.SetEscapeHTML(false)
	e.Lines++
	return enc.Encode(v)
}

// profile returns the update that recreates a bank's profile.
func profile(b memory.Bank) *wire.BankUpdate {
	u := &wire.BankUpdate{Disposition: &b.Disposition, Windows: b.Windows, Thresholds: b.Thresholds, Quotas: b.Quotas}
	if b.KeepRecalls {
		u.KeepRecalls = &b.KeepRecalls
	}
	if b.Disposition.Validate() != nil {
		u.Disposition = nil
	}
	for _, f := range []struct {
		value string
		to    **string
	}{{b.Name, &u.Name}, {b.Description, &u.Description}, {b.Background, &u.Background}, {b.Mission, &u.Mission}, {b.Instructions, &u.Instructions}} {
		if f.value != "" {
			*f.to = &f.value
		}
	}
	return u
}

// derived writes the records made from the messages and requests.
func (e *Exporter) derived(ctx context.Context) error {
	for _, r := range []memory.Record{memory.RecordFact, memory.RecordComposite, memory.RecordObservation} {
		for it, err := range e.client.All(ctx, e.bank, wire.ListRequest{Record: r, Order: "oldest", Limit: 500}) {
			if err != nil {
				return err
			}
			if err := e.item(string(r), it); err != nil {
				return err
			}
		}
	}
	for en, err := range e.client.AllEntities(ctx, e.bank, wire.EntitiesRequest{Limit: 500}) {
		if err != nil {
			return err
		}
		if err := e.item("entity", en); err != nil {
			return err
		}
	}
	return e.conflicts(ctx)
}

func (e *Exporter) conflicts(ctx context.Context) error {
	for _, state := range []memory.ConflictState{memory.ConflictOpen, memory.ConflictResolved, memory.ConflictDismissed} {
		cursor := ""
		for {
			p, err := e.client.Conflicts(ctx, e.bank, wire.ConflictRequest{State: state, Cursor: cursor})
			if err != nil {
				return err
			}
			for _, c := range p.Items {
				if err := e.item("conflict", c.Conflict); err != nil {
					return err
				}
			}
			if p.Next == "" || p.Next == cursor {
				break
			}
			cursor = p.Next
		}
	}
	return nil
}

func (e *Exporter) item(record string, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return e.line(Line{Record: record, Item: data})
}
