package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/eunoe-memory/eunoe/internal/console"
	"github.com/eunoe-memory/eunoe/pkg/client"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

// exportFormat is the version of the lines that export writes.
const exportFormat = 1

const exportHelp = `Writes the bank as JSON lines, one record a line:

  {"record":"export","format":1,"bank":"alice"}
  {"record":"bank","bank":"alice","profile":{…}}            the profile
  {"record":"message","bank":"alice","session":"…","seq":12,"id":"…","content":"…",…}
  {"record":"flush","bank":"alice","session":"…","flush":true}
  {"record":"write","bank":"alice","request":"retain","body":{…}}   what was written by request
  {"record":"fact","bank":"alice","item":{…}}               what came of it: fact, composite,
                                                            observation, entity, conflict
  {"record":"end","lines":n}

Messages and requests are read from the log, so an operator's credentials are
needed; what was forgotten is not in it. import reads it back.`

func (a *cli) exportCommand() *cobra.Command {
	var path string
	cmd := &cobra.Command{
		Use: "export", Short: "Write the whole bank as JSON lines", Long: exportHelp, Args: cobra.NoArgs,
		Example: "  eunoe export --bank alice --out alice.jsonl",
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			c, err := a.connect(cmd.Context())
			if err != nil {
				return err
			}
			defer c.Close() //nolint:errcheck // nothing is left to send
			w := cmd.OutOrStdout()
			if path != "" {
				file, err := os.Create(path)
				if err != nil {
					return console.UsageError{Err: fmt.Errorf("--out: %w", err)}
				}
				defer func() {
					if cerr := file.Close(); cerr != nil && err == nil {
						fmt.Fprintf(cmd.ErrOrStderr(), "close %s: %v\n", path, cerr)
					}
				}()
				w = file
			}
			e := &exporter{client: c, bank: a.bankID(), out: bufio.NewWriter(w), records: map[string]int{}}
			if err := e.run(cmd.Context()); err != nil {
				return err
			}
			if e.left > 0 {
				fmt.Fprintf(cmd.ErrOrStderr(), "%s that could not be read left out\n", count(e.left, "event"))
			}
			if path != "" && a.JSON {
				return console.PrintJSON(cmd.OutOrStdout(), map[string]any{"file": path, "lines": e.lines, "messages": e.records[lineMessage], "facts": e.records["fact"], "requests": e.records[lineWrite]})
			}
			if path != "" {
				fmt.Fprintf(cmd.ErrOrStderr(), "wrote %d lines to %s\n", e.lines, path)
			}
			if !a.JSON {
				fmt.Fprintf(cmd.ErrOrStderr(), "exported %s, %s, %s\n", count(e.records[lineMessage], "message"), count(e.records["fact"], "fact"), count(e.records[lineWrite], "request"))
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&path, "out", "", "write to this file (default: standard output)")
	return cmd
}

type exporter struct {
	client *client.Client
	bank   memory.BankID
	out    *bufio.Writer
	lines  int
	left   int // events that are no messages

	records map[string]int // lines by record
}

// run writes the export. A bank that does not exist is ErrNotFound.
func (e *exporter) run(ctx context.Context) error {
	bank, err := e.client.Bank(ctx, e.bank)
	if err != nil {
		return err
	}
	steps := []func() error{
		func() error { return e.line(importLine{Record: lineExport, Format: exportFormat}) },
		func() error { return e.line(importLine{Record: lineBank, Profile: profile(bank)}) },
		func() error { return e.messages(ctx) },
		func() error { return e.writes(ctx) },
		func() error { return e.derived(ctx) },
		func() error { return e.line(importLine{Record: lineEnd, Lines: e.lines}) },
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return fmt.Errorf("export bank %s: %w", e.bank, err)
		}
	}
	return e.out.Flush()
}

// line writes one line of the bank.
func (e *exporter) line(l importLine) error {
	if l.Record != lineEnd {
		l.Bank = e.bank
	}
	return e.write(l.Record, l)
}

// write writes a line of a record.
func (e *exporter) write(record string, v any) error {
	e.records[record]++
	enc := json.NewEncoder(e.out)
	enc.SetEscapeHTML(false)
	e.lines++
	return enc.Encode(v)
}

// profile returns the update that recreates a bank's profile.
func profile(b memory.Bank) *wire.BankUpdate {
	u := &wire.BankUpdate{Disposition: &b.Disposition, Windows: b.Windows, Thresholds: b.Thresholds, Quotas: b.Quotas}
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
func (e *exporter) derived(ctx context.Context) error {
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

func (e *exporter) conflicts(ctx context.Context) error {
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

func (e *exporter) item(record string, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return e.line(importLine{Record: record, Item: data})
}
