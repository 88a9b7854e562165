package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/eunoe-memory/eunoe/internal/console"
	"github.com/eunoe-memory/eunoe/pkg/client"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

// published is what publish prints with --json: the sequences that the broker acknowledged.
type published struct {
	Bank    memory.BankID    `json:"bank"`
	Session memory.SessionID `json:"session"`
	Seq     uint64           `json:"seq,omitempty"`
	Flush   uint64           `json:"flush,omitempty"`
}

func (a *cli) publishCommand() *cobra.Command {
	var session, at, role string
	var m memory.Message
	var flush bool
	var captions []string
	cmd := &cobra.Command{
		Use:   "publish [TEXT…]",
		Short: "Publish one chat message",
		Long: "Publishes one chat message. The text is the arguments, or standard input where\n" +
			"the only argument is \"-\". With --flush the conversation is said to pause, so that\n" +
			"what is left of it is extracted now; --flush without a text only does that.",
		Example: "  eunoe publish --speaker Alice I moved to Lisbon in May.\n  eunoe publish --session chat-1 --flush",
		RunE: func(cmd *cobra.Command, args []string) error {
			text, err := argsOrInput(cmd.InOrStdin(), args)
			if err != nil {
				return err
			}
			if text == "" && len(captions) == 0 && !flush {
				return console.Usagef("nothing to publish: give a text, --image or --flush")
			}
			m.Content, m.Role = text, memory.Role(role)
			t, err := timeFlag("--time", at, false)
			if err != nil {
				return err
			}
			if t != nil {
				m.Time = *t
			}
			for _, c := range captions {
				m.Images = append(m.Images, memory.Image{Caption: c})
			}
			c, err := a.connect(cmd.Context())
			if err != nil {
				return err
			}
			defer c.Close() //nolint:errcheck // every publish was acknowledged
			return a.publish(cmd, c, memory.SessionID(session), m, flush)
		},
	}
	f := cmd.Flags()
	f.StringVar(&session, "session", "default", "the conversation that the message belongs to")
	f.StringVar(&m.Speaker, "speaker", "", "speaker of the message (default: the role)")
	f.StringVar(&role, "role", "", "user, assistant, system or tool (default user)")
	f.StringVar((*string)(&m.ID), "id", "", "message id, unique in the bank (default: from the stream)")
	f.StringVar(&at, "time", "", "when it was said (default: now)")
	f.StringVar((*string)(&m.Replaces), "replaces", "", "id of the message that this one replaces")
	f.StringVar(&m.Topic, "topic", "", "topic of the message")
	f.StringArrayVar(&captions, "image", nil, "caption of an image in the message")
	f.BoolVar(&m.Recalled, "recalled", false, "the text was recalled from memory: store it, extract nothing")
	f.BoolVar(&flush, "flush", false, "the conversation pauses here; extract what is left of it now")
	return cmd
}

func (a *cli) publish(cmd *cobra.Command, c *client.Client, session memory.SessionID, m memory.Message, flush bool) error {
	done := published{Bank: a.bankID(), Session: session}
	var err error
	if m.Content != "" || len(m.Images) > 0 {
		if done.Seq, err = c.Publish(cmd.Context(), done.Bank, session, m); err != nil {
			return err
		}
	}
	if flush {
		if done.Flush, err = c.Flush(cmd.Context(), done.Bank, session); err != nil {
			return err
		}
	}
	if a.JSON {
		return console.PrintJSON(cmd.OutOrStdout(), done)
	}
	if done.Seq > 0 {
		fmt.Fprintf(cmd.OutOrStdout(), "stored as message %d of session %s in bank %s\n", done.Seq, console.OneLine(string(session)), console.OneLine(string(done.Bank)))
	}
	if done.Flush > 0 {
		fmt.Fprintf(cmd.OutOrStdout(), "flushed session %s\n", console.OneLine(string(session)))
	}
	return nil
}

// argsOrInput joins the arguments; a single "-" reads standard input.
func argsOrInput(in io.Reader, args []string) (string, error) {
	if len(args) != 1 || args[0] != "-" {
		return strings.Join(args, " "), nil
	}
	data, err := io.ReadAll(io.LimitReader(in, 8<<20))
	if err != nil {
		return "", fmt.Errorf("standard input: %w", err)
	}
	return strings.TrimRight(string(data), "\n"), nil
}

// tailed is a change with the last token of its subject, as tail prints it with --json.
type tailed struct {
	What string `json:"what"`
	memory.Change
}

func (a *cli) tailCommand() *cobra.Command {
	var what string
	var limit int
	var after uint64
	cmd := &cobra.Command{
		Use:   "tail",
		Short: "Follow the changes of the bank",
		Long: "Prints a line for each change of the bank as it is committed, with the text of the\n" +
			"record, until Ctrl-C. With --after it first prints the changes since a sequence, for\n" +
			"who was away. A change itself carries ids alone, and so does --json.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.tail(cmd, what, limit, after, cmd.Flags().Changed("after"))
		},
	}
	cmd.Flags().StringVar(&what, "what", "", "only these: message, fact, composite, observation, entity, conflict, bank, usage, forget")
	cmd.Flags().IntVar(&limit, "count", 0, "stop after this many changes; 0 = never")
	cmd.Flags().Uint64Var(&after, "after", 0, "first print the changes after this sequence; 0 = all that are kept")
	return cmd
}

func (a *cli) tail(cmd *cobra.Command, what string, limit int, after uint64, past bool) error {
	ctx := cmd.Context()
	c, err := a.connect(ctx)
	if err != nil {
		return err
	}
	defer c.Close() //nolint:errcheck // nothing is left to send
	sub, err := c.Subscribe(ctx, a.bankID(), what)
	if err != nil {
		return err
	}
	defer sub.Close() //nolint:errcheck // the connection ends with it
	fmt.Fprintf(cmd.ErrOrStderr(), "following bank %s; Ctrl-C ends\n", console.OneLine(a.Bank))
	seen, printed := map[string]bool{}, 0
	show := func(ch memory.Change) (more bool, err error) {
		if err := a.printChange(cmd, c, ch); err != nil {
			return false, err
		}
		printed++
		return limit == 0 || printed < limit, nil
	}
	for past {
		p, err := c.Changes(ctx, a.bankID(), wire.ChangesRequest{After: after})
		if err != nil {
			return err
		}
		for _, ch := range p.Items {
			seen[ch.ID] = true
			after = max(after, ch.Seq)
			if what != "" && ch.What != what {
				continue
			}
			if more, err := show(ch); err != nil || !more {
				return err
			}
		}
		past = len(p.Items) > 0
	}
	for ch, err := range sub.All(ctx) {
		if err != nil {
			return err
		}
		if seen[ch.ID] {
			continue
		}
		if more, err := show(ch); err != nil || !more {
			return err
		}
	}
	return nil
}

func (a *cli) printChange(cmd *cobra.Command, c *client.Client, ch memory.Change) error {
	if a.JSON {
		return console.PrintJSON(cmd.OutOrStdout(), tailed{ch.What, ch})
	}
	line := fmt.Sprintf("%s  %-11s %-10s %s", ch.Time.UTC().Format("2006-01-02 15:04:05Z"), dash(ch.What), ch.Op, ch.Record)
	if ids := ch.IDs; len(ids) > 0 {
		line += "  " + strings.Join(ids[:min(2, len(ids))], " ")
		if len(ids) > 2 {
			line += fmt.Sprintf(" and %d more", len(ids)-2)
		}
	}
	text, err := a.textOf(cmd.Context(), c, ch)
	if err != nil { // the change is known all the same
		fmt.Fprintf(cmd.ErrOrStderr(), "the text of %s could not be read: %v\n", console.OneLine(ch.Record), err)
	}
	if line = strings.ReplaceAll(console.Clean(line), "\n", " "); text != "" {
		if columns := console.Columns(cmd.OutOrStdout()); columns > 0 {
			text = console.Short(text, max(textWidth/4, columns-utf8.RuneCountInString(line)-2))
		}
		line += "  " + console.OneLine(text)
	}
	_, err = fmt.Fprintln(cmd.OutOrStdout(), line)
	return err
}

// textOf returns the text of the record that a change is about, as it is now: "" where it has none any more.
func (a *cli) textOf(ctx context.Context, c *client.Client, ch memory.Change) (string, error) {
	switch ch.What {
	case "message", "fact", "composite", "observation":
	default:
		return "", nil
	}
	if ch.Op == "removed" {
		return "", nil
	}
	it, err := client.Call(ctx, c, wire.Get, a.bankID(), wire.GetRequest{ID: ch.Record})
	if errors.Is(err, memory.ErrNotFound) || ctx.Err() != nil {
		return "", nil
	}
	return spoken(it), err
}
