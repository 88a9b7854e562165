package main

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/eunoe-memory/eunoe/internal/console"
	"github.com/eunoe-memory/eunoe/pkg/client"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

// textWidth is the length to which a table cuts a text, in characters.
const textWidth = 80

// print prints a result: as JSON with --json, else the text and the end of its line.
func (a *cli) print(cmd *cobra.Command, result any, text string) error {
	if a.JSON {
		return console.PrintJSON(cmd.OutOrStdout(), result)
	}
	_, err := fmt.Fprintln(cmd.OutOrStdout(), text)
	return err
}

// ask sends one request and prints the reply: the wire object with --json, else by show.
func ask[Request, Reply any](a *cli, cmd *cobra.Command, e wire.Endpoint[Request, Reply], req Request, show func(io.Writer, Reply)) error {
	c, err := a.connect(cmd.Context())
	if err != nil {
		return err
	}
	defer c.Close() //nolint:errcheck // nothing is left to send
	reply, err := client.Call(cmd.Context(), c, e, a.bankID(), req)
	if err != nil {
		return err
	}
	if a.JSON {
		return console.PrintJSON(cmd.OutOrStdout(), reply)
	}
	show(cmd.OutOrStdout(), reply)
	return nil
}

// rowsOf returns the rows of a table, one for each item.
func rowsOf[T any](items []T, row func(T) []string) [][]string {
	rows := make([][]string, len(items))
	for i, item := range items {
		rows[i] = row(item)
	}
	return rows
}

// wrap breaks a text into lines of at most width characters, each after indent.
func wrap(s string, width int, indent string) string {
	var b strings.Builder
	line := 0
	for _, word := range strings.Fields(console.Clean(s)) {
		n := utf8.RuneCountInString(word)
		switch {
		case b.Len() == 0:
			b.WriteString(indent)
		case line+1+n > width:
			b.WriteString("\n" + indent)
			line = 0
		default:
			b.WriteByte(' ')
			line++
		}
		b.WriteString(word)
		line += n
	}
	return b.String()
}

func day(t *time.Time) string {
	if t == nil || t.IsZero() {
		return "-"
	}
	return t.UTC().Format("2006-01-02")
}

func minute(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.UTC().Format("2006-01-02 15:04Z")
}

func dash(s string) string { return cmp.Or(s, "-") }

func join[T ~string](parts []T) string {
	out := make([]string, len(parts))
	for i, p := range parts {
		out[i] = string(p)
	}
	return strings.Join(out, " ")
}

// count writes a number with its noun: 1 fact, 2 facts.
func count(n int, noun string) string {
	switch {
	case n == 1:
		return "1 " + noun
	case strings.HasSuffix(noun, "y"):
		return fmt.Sprintf("%d %sies", n, strings.TrimSuffix(noun, "y"))
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// indented puts an indent before every line that is not empty.
type indented struct {
	w      io.Writer
	indent string
	within bool // a line has begun
}

func indent(w io.Writer, by string) io.Writer { return &indented{w: w, indent: by} }

// Columns returns how many columns of characters fit behind the indent, 0 for any number.
func (i *indented) Columns() int { return max(0, console.Columns(i.w)-len(i.indent)) }

func (i *indented) Write(p []byte) (int, error) {
	for line := range strings.Lines(string(p)) {
		text := line
		if !i.within && line != "\n" {
			text = i.indent + line
		}
		if _, err := io.WriteString(i.w, text); err != nil {
			return 0, err
		}
		i.within = !strings.HasSuffix(line, "\n")
	}
	return len(p), nil
}
