package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/eunoe-memory/eunoe/internal/console"
	"github.com/eunoe-memory/eunoe/pkg/client"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

const importHelp = `Imports JSON lines. A line is a message with its session, and its bank where it
is not --bank:

  {"session":"chat-1","speaker":"Alice","content":"I moved to Lisbon.","time":"2026-05-20T09:14:00Z"}
  {"session":"chat-1","flush":true}

A flush says that the conversation paused. The last messages of a session are
flushed at the end anyway, unless --no-flush.

It also reads what export writes. Its messages are published with their ids, its
flushes where they stood, and what was written by request (retain, edit, …) is
written again when the messages are settled. So facts are extracted again, and by
rules they are the same, with the same ids, sources and times. Facts that did not
come again (a model worded them) are retained as they were exported, with their
sources. An export with requests other than retain needs the credentials of an operator
who may restore (eunoe auth add-operator NAME --restore).

The whole file is checked before anything is sent. Interrupted, the import says
how far it came in FILE` + progressSuffix + ` and the next one continues there. Nothing
is doubled: a message without an id gets one that is the same each time.`

func (a *cli) importCommand() *cobra.Command {
	var noFlush, noWait bool
	var settle time.Duration
	cmd := &cobra.Command{
		Use:     "import FILE",
		Short:   "Import messages, or an export, from JSON lines",
		Long:    importHelp,
		Example: "  eunoe import chats.jsonl --bank alice\n  eunoe export --bank alice | eunoe import - --url nats://other:4222",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			file, remove, err := openImport(args[0], cmd.InOrStdin())
			defer remove()
			if err != nil {
				return err
			}
			c, err := a.connect(cmd.Context())
			if err != nil {
				return err
			}
			defer c.Close() //nolint:errcheck // every publish was acknowledged
			im := &importer{client: c, file: file, bank: a.bankID(), force: cmd.Flags().Changed("bank"), flush: !noFlush, wait: !noWait,
				settle: settle, progress: cmd.ErrOrStderr(), names: map[memory.MessageID]memory.MessageID{}}
			if args[0] != "-" {
				im.checkpoint = args[0] + progressSuffix
				im.mark = checkpoint{File: file.hash, Target: fmt.Sprintf("%s %s %s %t", a.URL, a.Prefix, a.Bank, im.force)}
			}
			err = im.run(cmd.Context())
			if err != nil && im.checkpoint != "" && im.done > 0 {
				fmt.Fprintf(cmd.ErrOrStderr(), "\n%d of %d lines are in; run the same command again to go on\n", im.done, file.lines)
			}
			if err != nil {
				return err
			}
			return a.showImport(cmd.OutOrStdout(), im.report)
		},
	}
	cmd.Flags().BoolVar(&noFlush, "no-flush", false, "leave the last messages of each session open")
	cmd.Flags().BoolVar(&noWait, "no-wait", false, "return when everything is published, without waiting for processing")
	cmd.Flags().DurationVar(&settle, "settle", 10*time.Minute, "how long processing may take")
	return cmd
}

// importReport is what an import did.
type importReport struct {
	Resumed  int `json:"resumed,omitempty"` // lines an earlier run had sent
	Messages int `json:"messages"`
	Flushes  int `json:"flushes"`
	Requests int `json:"requests"`
	Same     int `json:"facts_same"`     // exported facts that are there again, with the same sources
	Differ   int `json:"facts_differ"`   // there, with other sources
	Retained int `json:"facts_retained"` // not there: retained by hand as exported
	Missing  int `json:"facts_missing"`  // not there and no longer held: left out
}

func (a *cli) showImport(w io.Writer, r importReport) error {
	if a.JSON {
		return console.PrintJSON(w, r)
	}
	fmt.Fprintf(w, "imported %s, %s, %s\n", count(r.Messages, "message"), plural(r.Flushes, "flush", "flushes"), count(r.Requests, "request"))
	if r.Same+r.Differ+r.Retained+r.Missing > 0 {
		fmt.Fprintf(w, "of the exported facts %d came again, %d with other sources, %d were retained as exported, %d past ones are gone\n", r.Same, r.Differ, r.Retained, r.Missing)
	}
	return nil
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// run sends the file and waits until it is processed.
func (im *importer) run(ctx context.Context) (err error) {
	skip := 0
	if im.checkpoint != "" {
		if skip, err = readCheckpoint(im.checkpoint, im.mark); err != nil {
			return err
		}
	}
	im.report.Resumed, im.done = skip, skip
	if err := im.send(ctx, skip); err != nil {
		return errors.Join(err, im.save())
	}
	if im.flush {
		if err := im.flushOpen(ctx); err != nil {
			return errors.Join(err, im.save())
		}
	}
	if im.wait {
		if err := im.settled(ctx); err != nil {
			return errors.Join(err, im.save())
		}
		if err := im.compare(ctx); err != nil {
			return errors.Join(err, im.save())
		}
	}
	if im.checkpoint == "" {
		return nil
	}
	if err := os.Remove(im.checkpoint); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("checkpoint: %w", err)
	}
	return nil
}

// save writes the progress of the import.
func (im *importer) save() error {
	if im.checkpoint == "" {
		return nil
	}
	im.mark.Lines = im.done
	return im.mark.write(im.checkpoint)
}

// importer sends a file and keeps what later lines need to know of earlier ones.
type importer struct {
	client   *client.Client
	file     *importFile
	bank     memory.BankID
	force    bool // --bank was given: it stands over the file's
	flush    bool
	wait     bool
	settle   time.Duration
	progress io.Writer

	checkpoint string
	mark       checkpoint
	done       int // lines sent

	names map[memory.MessageID]memory.MessageID // seq:N of the log it came from → id it got
	open  []target                              // sessions whose last line is a message, in order
	banks []memory.BankID                       // in order
	facts []exportedFact

	report importReport
}

// target is a session of a bank.
type target struct {
	bank    memory.BankID
	session memory.SessionID
}
