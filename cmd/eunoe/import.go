package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/eunoe-memory/eunoe/internal/console"
	"github.com/eunoe-memory/eunoe/pkg/chatexport"
	"github.com/eunoe-memory/eunoe/pkg/client"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

const importHelp = `Imports conversations: JSON lines, what export writes, or what other programs
export, with the archive as it was downloaded: chatgpt, claude, slack, discord
(DiscordChatExporter's JSON), telegram, whatsapp, and the memories of mem0, zep and
letta. Which of them it is shows in the content; --from says it. --dry-run counts
what is in the file and what would be left out, and sends nothing. Imported again,
a conversation is not doubled: its messages have the same ids.

A JSON line is a message with its session, and its bank where it is not --bank:

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
	var noFlush, noWait, dryRun bool
	var settle time.Duration
	var from, zone, dates string
	var opt chatexport.Options
	cmd := &cobra.Command{
		Use:     "import FILE",
		Short:   "Import messages, an export, or the chats of another program",
		Long:    importHelp,
		Example: "  eunoe import chats.jsonl --bank alice\n  eunoe import chatgpt-export.zip --speaker Alice --dry-run\n  eunoe export --bank alice | eunoe import - --url nats://other:4222",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := importOptions(&opt, args[0], from, zone, dates); err != nil {
				return err
			}
			file, remove, err := openImport(cmd.Context(), args[0], cmd.InOrStdin(), opt)
			defer remove()
			if err != nil {
				return err
			}
			if dryRun {
				return a.showDryRun(cmd.OutOrStdout(), file)
			}
			for _, u := range file.unknown {
				fmt.Fprintf(cmd.ErrOrStderr(), "%s line %d: unknown field %q: it is kept, and has no meaning\n", file.name, u.line, console.OneLine(u.name))
			}
			c, err := a.connect(cmd.Context())
			if err != nil {
				return err
			}
			defer c.Close() //nolint:errcheck // every publish was acknowledged
			if err := file.checkSize(c.Conn().NC.MaxPayload()); err != nil {
				return err
			}
			im := &importer{client: c, file: file, bank: a.bankID(), force: cmd.Flags().Changed("bank"), flush: !noFlush, wait: !noWait,
				settle: settle, progress: cmd.ErrOrStderr(), names: map[memory.MessageID]memory.MessageID{}, duplicates: map[memory.BankID]int{},
				report: importReport{Source: file.report}}
			if args[0] != "-" {
				im.checkpoint = args[0] + progressSuffix
				im.mark = checkpoint{File: file.hash, Target: fmt.Sprintf("%s %s %s %t", a.URL, a.Prefix, a.Bank, im.force)}
			}
			err = im.run(cmd.Context())
			if err != nil && im.checkpoint != "" && im.done > 0 {
				fmt.Fprintf(cmd.ErrOrStderr(), "%d of %d lines are in; run the same command again to go on\n", im.done, file.lines)
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
	cmd.Flags().StringVar(&from, "from", "", "the program that wrote the file: chatgpt, claude, slack, discord, telegram, whatsapp, mem0, zep or letta")
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "count what is in the file and send nothing")
	cmd.Flags().StringVar(&opt.Speaker, "speaker", "", "your name, where the export has only roles (chatgpt, claude, letta)")
	cmd.Flags().StringVar(&zone, "zone", "", "time zone of times without one, like Europe/Rome; Local is this machine's (default UTC)")
	cmd.Flags().StringVar(&dates, "dates", "", "order of dates in a WhatsApp chat, dmy or mdy, where the chat does not tell it")
	return cmd
}

// importOptions checks what the flags say of the export of another program.
func importOptions(opt *chatexport.Options, path, from, zone, dates string) (err error) {
	if from != "" {
		if opt.Format, err = chatexport.ParseFormat(from); err != nil {
			return console.UsageError{Err: err}
		}
	}
	if opt.Zone, err = time.LoadLocation(zone); err != nil {
		return console.Usagef("--zone: %v", err)
	}
	switch opt.Dates = chatexport.DateOrder(strings.ToLower(dates)); opt.Dates {
	case "", chatexport.DMY, chatexport.MDY:
	default:
		return console.Usagef("--dates: %q is no order; expected dmy or mdy", dates)
	}
	if name := filepath.Base(path); name != "-" {
		opt.Name = strings.TrimSuffix(name, filepath.Ext(name))
	}
	return nil
}

// showDryRun prints what a file holds.
func (a *cli) showDryRun(w io.Writer, f *importFile) error {
	if f.report == nil {
		f.report = &chatexport.Report{Format: "jsonl"}
		in, err := f.open()
		if err != nil {
			return err
		}
		defer in.Close() //nolint:errcheck // it was only read
		sessions := map[target]bool{}
		if err := scanLines(f.name, in, func(_ int, l importLine) error {
			switch l.Record {
			case lineMessage:
				f.report.Messages++
				sessions[target{l.Bank, l.Session}] = true
			case "fact":
				f.report.Facts++
			}
			return nil
		}); err != nil {
			return err
		}
		f.report.Conversations = len(sessions)
	}
	if a.JSON {
		return console.PrintJSON(w, f.report)
	}
	fmt.Fprintf(w, "%s holds %s in %s and %s (%s); nothing was sent\n", f.name, count(f.report.Messages, "message"), count(f.report.Conversations, "conversation"),
		count(f.report.Facts, "fact"), f.report.Format)
	showSkipped(w, f.report)
	return nil
}

// showSkipped prints what is left out of a file, with the reasons.
func showSkipped(w io.Writer, r *chatexport.Report) {
	if r != nil && len(r.Skipped) > 0 {
		fmt.Fprintf(w, "left out: %s\n", strings.Join(r.Lines(), "; "))
	}
}

// importReport is what an import did.
type importReport struct {
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

func (a *cli) showImport(w io.Writer, r importReport) error {
	if a.JSON {
		return console.PrintJSON(w, r)
	}
	doubles := ""
	if r.Doubles > 0 {
		doubles = fmt.Sprintf(" (%d of them duplicates, with an id that was there before)", r.Doubles)
	}
	fmt.Fprintf(w, "imported %s%s, %s, %s\n", count(r.Messages, "message"), doubles, plural(r.Flushes, "flush", "flushes"), count(r.Requests, "request"))
	showSkipped(w, r.Source)
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

	duplicates map[memory.BankID]int // that the bank had before
	report     importReport
}

// target is a session of a bank.
type target struct {
	bank    memory.BankID
	session memory.SessionID
}
