package main

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/eunoe-memory/eunoe/internal/console"
	"github.com/eunoe-memory/eunoe/internal/transfer"
	"github.com/eunoe-memory/eunoe/pkg/chatexport"
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
how far it came in FILE` + transfer.ProgressSuffix + ` and the next one continues there. Nothing
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
			file, remove, err := transfer.Open(cmd.Context(), args[0], cmd.InOrStdin(), opt)
			defer remove()
			if err != nil {
				return err
			}
			for _, u := range file.Unknown {
				fmt.Fprintf(cmd.ErrOrStderr(), "%s line %d: unknown field %q: it is kept, and has no meaning\n", file.Name, u.Line, console.OneLine(u.Name))
			}
			if dryRun {
				return a.showDryRun(cmd.OutOrStdout(), file)
			}
			c, err := a.connect(cmd.Context())
			if err != nil {
				return err
			}
			defer c.Close() //nolint:errcheck // every publish was acknowledged
			if err := file.CheckSize(c.Conn().NC.MaxPayload()); err != nil {
				return err
			}
			cfg := transfer.Config{Bank: a.bankID(), Force: cmd.Flags().Changed("bank"), Flush: !noFlush, Wait: !noWait,
				Settle: settle, Patience: a.Timeout, Progress: cmd.ErrOrStderr()}
			if args[0] != "-" {
				cfg.Checkpoint = args[0] + transfer.ProgressSuffix
				cfg.Target = fmt.Sprintf("%s %s %s %t", a.URL, a.Prefix, a.Bank, cfg.Force)
			}
			im := transfer.NewImporter(cfg, c, file)
			err = im.Run(cmd.Context())
			if err != nil && cfg.Checkpoint != "" && im.Sent() > 0 {
				fmt.Fprintf(cmd.ErrOrStderr(), "%d of %d lines are in; run the same command again to go on\n", im.Sent(), file.Lines)
			}
			if err != nil {
				return err
			}
			return a.showImport(cmd.OutOrStdout(), im.Report())
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
func (a *cli) showDryRun(w io.Writer, f *transfer.File) error {
	if f.Report == nil {
		f.Report = &chatexport.Report{Format: "jsonl"}
		sessions := map[[2]string]bool{}
		if err := f.Scan(func(_ int, l transfer.Line) error {
			switch l.Record {
			case transfer.RecordMessage:
				f.Report.Messages++
				sessions[[2]string{string(l.Bank), string(l.Session)}] = true
			case "fact":
				f.Report.Facts++
			}
			return nil
		}); err != nil {
			return err
		}
		f.Report.Conversations = len(sessions)
	}
	if a.JSON {
		return console.PrintJSON(w, f.Report)
	}
	fmt.Fprintf(w, "%s holds %s in %s and %s (%s); nothing was sent\n", f.Name, count(f.Report.Messages, "message"), count(f.Report.Conversations, "conversation"),
		count(f.Report.Facts, "fact"), f.Report.Format)
	showSkipped(w, f.Report)
	return nil
}

// showSkipped prints what is left out of a file, with the reasons.
func showSkipped(w io.Writer, r *chatexport.Report) {
	if r != nil && len(r.Skipped) > 0 {
		fmt.Fprintf(w, "left out: %s\n", strings.Join(r.Lines(), "; "))
	}
}

func (a *cli) showImport(w io.Writer, r transfer.Report) error {
	if a.JSON {
		return console.PrintJSON(w, r)
	}
	doubles := ""
	if r.Doubles > 0 {
		doubles = fmt.Sprintf(" (%d of them duplicates, with an id that was there before)", r.Doubles)
	}
	if r.Resumed > 0 {
		fmt.Fprintf(w, "the first %s were in from an earlier run\n", count(r.Resumed, "line"))
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

const exportHelp = `Writes the bank as JSON lines, one record a line:

  {"record":"export","format":1,"bank":"alice"}
  {"record":"bank","bank":"alice","profile":{…}}            the profile
  {"record":"message","bank":"alice","session":"…","seq":12,"id":"…","content":"…",…}
  {"record":"nested","bank":"alice","session":"…","seq":13,"body":{…}}   a message that has fields
                                                            named record, bank, session or seq
  {"record":"flush","bank":"alice","session":"…","flush":true}
  {"record":"write","bank":"alice","request":"retain","body":{…}}   what was written by request
  {"record":"fact","bank":"alice","item":{…}}               what came of it: fact, composite,
                                                            observation, entity, conflict
  {"record":"end","lines":n,"sum":"…"}                      SHA-256 of the lines before it

Messages and requests are read from the log, so an operator's credentials are
needed. import reads it back, and refuses one without its end, and one whose lines are
not those that were written: who edits it removes "sum". FILE of --out gets
its name when it is complete: an earlier one stays until then. An export that is
killed leaves FILE.N.part, which the next one to FILE removes.

What was forgotten before the end of the export is not in FILE: an export waits half
a minute for forgets that are carried out, and begins anew, at most five times, where
something of the bank is forgotten meanwhile. To standard output or a pipe it cannot
take back what it wrote: it then fails, and what it wrote has no end.`

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
			var e *transfer.Exporter
			export := func(w io.Writer) error {
				e = transfer.NewExporter(c, a.bankID(), w)
				return e.Run(cmd.Context())
			}
			if path == "" {
				err = export(cmd.OutOrStdout())
			} else if err = transfer.WriteFile(path, export); e == nil && err != nil {
				err = fmt.Errorf("--out: %w", err)
			}
			if err != nil {
				return err
			}
			if e.Left > 0 {
				fmt.Fprintf(cmd.ErrOrStderr(), "%s that could not be read left out\n", count(e.Left, "event"))
			}
			if path != "" && a.JSON {
				return console.PrintJSON(cmd.OutOrStdout(), map[string]any{
					"file": path, "lines": e.Lines,
					"messages": e.Records[transfer.RecordMessage], "facts": e.Records["fact"], "requests": e.Records[transfer.RecordWrite],
				})
			}
			if path != "" {
				fmt.Fprintf(cmd.ErrOrStderr(), "wrote %d lines to %s\n", e.Lines, path)
			}
			if !a.JSON {
				fmt.Fprintf(cmd.ErrOrStderr(), "exported %s, %s, %s\n", count(e.Records[transfer.RecordMessage], "message"),
					count(e.Records["fact"], "fact"), count(e.Records[transfer.RecordWrite], "request"))
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&path, "out", "", "write to this file (default: standard output)")
	return cmd
}
