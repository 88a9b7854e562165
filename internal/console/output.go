package console

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
	"unicode"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// PrintJSON prints a value on one line.
func PrintJSON(w io.Writer, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "%s\n", data)
	return err
}

// Degraded prints what could not run.
func Degraded(w io.Writer, reasons []string) {
	for _, r := range reasons {
		fmt.Fprintf(w, "degraded: %s\n", OneLine(r))
	}
}

// Clean replaces what could control a terminal by spaces: control characters other than line breaks, and directional
// marks.
func Clean(s string) string {
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

// OneLine returns a text cleaned and on one line, with single spaces.
func OneLine(s string) string { return strings.Join(strings.Fields(Clean(s)), " ") }

// IsTerminal reports whether w is a terminal.
func IsTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// EndBar ends a bar: one that did not get to its end because of an error is wiped away, so that the error begins a line.
func EndBar(bar *progressbar.ProgressBar, err error) {
	if err == nil {
		bar.Finish() //nolint:errcheck // a bar that cannot be drawn changes nothing
		return
	}
	bar.Clear() //nolint:errcheck // a bar that cannot be drawn changes nothing
}

// NewBar draws progress with its rate and the time left, or nothing without a terminal.
func NewBar(w io.Writer, total int, what string) *progressbar.ProgressBar {
	return progressbar.NewOptions(total, progressbar.OptionSetWriter(w), progressbar.OptionSetDescription(what),
		progressbar.OptionShowCount(), progressbar.OptionShowIts(), progressbar.OptionSetPredictTime(true),
		progressbar.OptionSetVisibility(IsTerminal(w)), progressbar.OptionThrottle(100*time.Millisecond),
		progressbar.OptionOnCompletion(func() { fmt.Fprintln(w) }))
}
