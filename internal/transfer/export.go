package transfer

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
	"io"

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
	sum    hash.Hash // of the lines
}

// NewExporter returns an Exporter of a bank. The caller closes the client and the writer.
func NewExporter(c *client.Client, bank memory.BankID, w io.Writer) *Exporter {
	return &Exporter{Records: map[string]int{}, client: c, bank: bank, out: bufio.NewWriter(w), sum: sha256.New()}
}

// Run writes the export. A bank that does not exist is memory.ErrNotFound. Where something of the bank was forgotten
// meanwhile the error is ErrForgotten, and what was written has no end: it may hold the forgotten.
func (e *Exporter) Run(ctx context.Context) error {
	began, err := e.afterForgets(ctx)
	if err != nil {
		return fmt.Errorf("export bank %s: %w", e.bank, err)
	}
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
		func() error { return e.nothingForgotten(ctx, began) },
		func() error {
			return e.line(Line{Record: lineEnd, Lines: e.Lines, Sum: hex.EncodeToString(e.sum.Sum(nil))})
		},
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return fmt.Errorf("export bank %s: %w", e.bank, err)
		}
	}
	return e.out.Flush()
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
	var line bytes.Buffer
	enc := json.NewEncoder(&line)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return err
	}
	e.Lines++
	addLine(e.sum, line.Bytes())
	_, err := e.out.Write(line.Bytes())
	return err
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
	}{{b.Name, &u.Name}, {b.Description, &u.Description}, {b.Background, &u.Background}, {b.Mission, &u.Mission}, {b.Instructions, &u.Instructions}, {b.Zone, &u.Zone}} {
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
