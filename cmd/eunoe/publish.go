package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/eunoe-memory/eunoe/pkg/client"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// published is what publish prints with --json: the broker's word on it.
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
				return usagef("nothing to publish: give a text, --image or --flush")
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
	f.StringVar(&session, "session", "default", "the conversation it belongs to")
	f.StringVar(&m.Speaker, "speaker", "", "who says it (default: the role)")
	f.StringVar(&role, "role", "", "user, assistant, system or tool (default user)")
	f.StringVar((*string)(&m.ID), "id", "", "its id, unique in the bank (default: from the stream)")
	f.StringVar(&at, "time", "", "when it was said (default: now)")
	f.StringVar((*string)(&m.Replaces), "replaces", "", "id of the message it takes the place of")
	f.StringVar(&m.Topic, "topic", "", "what it is about")
	f.StringArrayVar(&captions, "image", nil, "caption of an image that belongs to it")
	f.BoolVar(&m.Recalled, "recalled", false, "the text came out of memory: keep it, extract nothing")
	f.BoolVar(&flush, "flush", false, "the conversation pauses here")
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
	if a.json {
		return printJSON(cmd.OutOrStdout(), done)
	}
	if done.Seq > 0 {
		fmt.Fprintf(cmd.OutOrStdout(), "stored as message %d of session %s in bank %s\n", done.Seq, oneLine(string(session)), oneLine(string(done.Bank)))
	}
	if done.Flush > 0 {
		fmt.Fprintf(cmd.OutOrStdout(), "flushed session %s\n", oneLine(string(session)))
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
