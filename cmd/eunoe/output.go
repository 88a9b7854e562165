package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/eunoe-memory/eunoe/pkg/client"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// textWidth is how many characters of a text a table shows.
const textWidth = 80

// ask sends one request to the bank and prints the reply: as it came with
// --json, else by show.
func ask[Reply any](a *cli, cmd *cobra.Command, endpoint string, req any, show func(io.Writer, Reply)) error {
	return a.asking(cmd, req, func(ctx context.Context, c *client.Client, body []byte) ([]byte, error) {
		return c.Raw(ctx, a.bankID(), endpoint, body)
	}, func(w io.Writer, data []byte) error { return showAs(w, data, show) })
}

// askAdmin is ask at the operator's door.
func askAdmin[Reply any](a *cli, cmd *cobra.Command, endpoint string, req any, show func(io.Writer, Reply)) error {
	return a.asking(cmd, req, func(ctx context.Context, c *client.Client, body []byte) ([]byte, error) {
		return c.Admin().Raw(ctx, endpoint, body)
	}, func(w io.Writer, data []byte) error { return showAs(w, data, show) })
}

// patience is how long a write waits for its outcome: the rest of the time is
// for the way there and back.
func (a *cli) patience() time.Duration { return a.timeout / 5 * 4 }

// patient has a write wait for its outcome as long as the command may take.
func (a *cli) patient(req any) any {
	wait := memory.Duration(a.patience())
	set := func(w *memory.WriteControl) {
		if w.Wait == nil && wait > 0 {
			w.Wait = &wait
		}
	}
	switch r := req.(type) {
	case memory.RetainRequest:
		set(&r.WriteControl)
		return r
	case memory.EditRequest:
		set(&r.WriteControl)
		return r
	case memory.ForgetRequest:
		set(&r.WriteControl)
		return r
	case memory.ObserveRequest:
		set(&r.WriteControl)
		return r
	case memory.ConsolidateRequest:
		set(&r.WriteControl)
		return r
	case memory.FeedbackRequest:
		set(&r.WriteControl)
		return r
	case memory.ConflictRequest:
		if r.ID != "" { // else it lists
			set(&r.WriteControl)
		}
		return r
	}
	return req
}

func (a *cli) asking(cmd *cobra.Command, req any, send func(context.Context, *client.Client, []byte) ([]byte, error),
	show func(io.Writer, []byte) error,
) error {
	body, err := json.Marshal(a.patient(req))
	if err != nil {
		return err
	}
	c, err := a.connect(cmd.Context())
	if err != nil {
		return err
	}
	defer c.Close() //nolint:errcheck // nothing is left to send
	data, err := send(cmd.Context(), c, body)
	if err != nil {
		return err
	}
	if a.json {
		return printWire(cmd.OutOrStdout(), data)
	}
	return show(cmd.OutOrStdout(), data)
}

func showAs[Reply any](w io.Writer, data []byte, show func(io.Writer, Reply)) error {
	var r Reply
	if err := memory.DecodeEvent(data, &r); err != nil {
		return fmt.Errorf("reply: %w", err)
	}
	show(w, r)
	return nil
}

// printWire prints the wire object as it came, on one line.
func printWire(w io.Writer, data []byte) error {
	_, err := fmt.Fprintf(w, "%s\n", bytes.TrimSpace(data))
	return err
}

func printJSON(w io.Writer, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return printWire(w, data)
}

// table prints rows in columns two spaces apart. Cells are cleaned and put on
// one line.
func table(w io.Writer, header []string, rows [][]string) {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	if len(header) > 0 {
		io.WriteString(tw, strings.Join(header, "\t")+"\n") //nolint:errcheck // the writer under it reports its own errors
	}
	for _, row := range rows {
		cells := make([]string, len(row))
		for i, c := range row {
			cells[i] = oneLine(c)
		}
		io.WriteString(tw, strings.Join(cells, "\t")+"\n") //nolint:errcheck // the writer under it reports its own errors
	}
	tw.Flush() //nolint:errcheck // the writer under it reports its own errors
}

// clean drops what could steer a terminal: control characters other than line breaks.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' {
			return r
		}
		if unicode.IsControl(r) || r == '\u2028' || r == '\u2029' || r >= '\u202a' && r <= '\u202e' || r >= '\u2066' && r <= '\u2069' {
			return ' '
		}
		return r
	}, s)
}

func oneLine(s string) string { return strings.Join(strings.Fields(clean(s)), " ") }

// short cuts a text to at most n characters on one line.
func short(s string, n int) string {
	s = oneLine(s)
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	return strings.TrimRight(string([]rune(s)[:n-1]), " ") + "…"
}

// wrap breaks a text into lines of at most width characters, each after indent.
func wrap(s string, width int, indent string) string {
	var b strings.Builder
	line := 0
	for _, word := range strings.Fields(clean(s)) {
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

func dash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

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

// degraded says what could not run.
func degraded(w io.Writer, reasons []string) {
	for _, r := range reasons {
		fmt.Fprintf(w, "degraded: %s\n", oneLine(r))
	}
}

// indented puts an indent before every line that is not empty.
type indented struct {
	w      io.Writer
	indent string
	within bool // a line has begun
}

func indent(w io.Writer, by string) io.Writer { return &indented{w: w, indent: by} }

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
