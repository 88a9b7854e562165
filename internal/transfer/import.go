package transfer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/chatexport"
	"github.com/eunoe-memory/eunoe/pkg/client"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// Report is what an import did.
type Report struct {
	Resumed  int `json:"resumed,omitempty"` // lines an earlier run had sent
	Messages int `json:"messages"`
	Doubles  int `json:"duplicates"` // of the messages, whose id was there before; 0 with --no-wait
	Flushes  int `json:"flushes"`
	Requests int `json:"requests"`
	Same     int `json:"facts_same"`     // exported facts that are there again, with the same sources
	Differ   int `json:"facts_differ"`   // there, with other sources
	Retained int `json:"facts_retained"` // not there: retained by hand as exported
	Missing  int `json:"facts_missing"`  // not there and no longer held: left out

	Source *chatexport.Report `json:"source,omitempty"` // of the export of another program
}

// Config says how a file is imported.
type Config struct {
	Bank     memory.BankID // of lines that name none
	Force    bool          // Bank stands over the banks that the lines name
	Flush    bool          // at the end, the sessions whose last line is a message are flushed
	Wait     bool          // until everything is processed
	Settle   time.Duration // how long that may take
	Patience time.Duration // how long a message is published again while the broker is away; 0 = the client's default
	Progress io.Writer     // where progress is shown

	Checkpoint string // file that keeps how far the import came; "" = none
	Target     string // names where the file goes: a checkpoint of another target does not count
}

// Importer sends a file and keeps what later lines need to know of earlier ones.
type Importer struct {
	cfg    Config
	client *client.Client
	file   *File
	done   int // lines sent

	answered bool // the broker has acknowledged something

	names map[memory.MessageID]memory.MessageID // seq:N of the log it came from → id it got
	open  []target                              // sessions whose last line is a message, in order
	banks []memory.BankID                       // in order
	facts []exportedFact

	duplicates map[memory.BankID]int // that the bank had before
	report     Report
}

// NewImporter returns an Importer of a file. The caller closes the client.
func NewImporter(cfg Config, c *client.Client, f *File) *Importer {
	return &Importer{cfg: cfg, client: c, file: f, names: map[memory.MessageID]memory.MessageID{},
		duplicates: map[memory.BankID]int{}, report: Report{Source: f.Report}}
}

// Sent returns how many lines were sent, by this run and by earlier ones that it continued.
func (im *Importer) Sent() int { return im.done }

// Report returns what was done so far.
func (im *Importer) Report() Report { return im.report }

// Run sends the file, from the checkpoint on, and waits until it is processed.
func (im *Importer) Run(ctx context.Context) (err error) {
	skip := 0
	if im.cfg.Checkpoint != "" {
		if skip, err = readCheckpoint(im.cfg.Checkpoint, im.mark()); err != nil {
			return err
		}
	}
	if skip > 0 {
		there, err := im.sentBefore(ctx, skip)
		if err != nil {
			return err
		}
		if !there {
			skip = 0
		}
	}
	im.report.Resumed, im.done = skip, skip
	if err := im.send(ctx, skip); err != nil {
		return errors.Join(err, im.save())
	}
	if im.cfg.Flush {
		if err := im.flushOpen(ctx); err != nil {
			return errors.Join(err, im.save())
		}
	}
	if im.cfg.Wait {
		if err := im.settled(ctx); err != nil {
			return errors.Join(err, im.save())
		}
		if err := im.compare(ctx); err != nil {
			return errors.Join(err, im.save())
		}
	}
	if im.cfg.Checkpoint == "" {
		return nil
	}
	if err := os.Remove(im.cfg.Checkpoint); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("checkpoint: %w", err)
	}
	return nil
}

// save writes the progress of the import. Where nothing may be written beside the file there is no checkpoint: an import
// that is interrupted then begins anew, and the messages that are in keep their ids.
func (im *Importer) save() error {
	if im.cfg.Checkpoint == "" {
		return nil
	}
	err := im.mark().write(im.cfg.Checkpoint)
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) {
		im.cfg.Checkpoint = ""
		return nil
	}
	return err
}

func (im *Importer) mark() checkpoint {
	return checkpoint{File: im.file.hash, Target: im.cfg.Target, Lines: im.done}
}

// target is a session of a bank.
type target struct {
	bank    memory.BankID
	session memory.SessionID
}
