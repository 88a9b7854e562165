package console

import (
	"io"
	"os"
	"slices"
	"strings"

	"github.com/rivo/uniseg"
	"golang.org/x/term"
)

// gap is the number of spaces between two columns of a table.
const gap = 2

// minText is the width below which no column of texts is cut.
const minText = 20

// Columns returns how many columns of characters fit on a line of w: the width of a terminal, 0 for other writers, which
// take any. A writer that wraps another one may have a method Columns of its own.
func Columns(w io.Writer) int {
	switch w := w.(type) {
	case interface{ Columns() int }:
		return w.Columns()
	case *os.File:
		if columns, _, err := term.GetSize(int(w.Fd())); err == nil {
			return columns
		}
	}
	return 0
}

// Table prints rows in columns two spaces apart. Cells are cleaned and put on one line. On a terminal, the widest columns
// of texts are cut so that a row fits on its line; other writers get everything. Ids, which have no spaces, stay whole.
func Table(w io.Writer, header []string, rows [][]string) {
	if len(header) > 0 {
		rows = slices.Concat([][]string{header}, rows)
	}
	lines := make([][]string, 0, len(rows))
	var widths []int
	var texts []bool // columns in which a cell has a space
	for _, row := range rows {
		cells := make([]string, len(row))
		for j, c := range row {
			cells[j] = OneLine(c)
			if j == len(widths) {
				widths, texts = append(widths, 0), append(texts, false)
			}
			widths[j] = max(widths[j], uniseg.StringWidth(cells[j]))
			texts[j] = texts[j] || strings.Contains(cells[j], " ")
		}
		lines = append(lines, cells)
	}
	if columns := Columns(w); columns > 0 {
		fit(widths, texts, columns)
	}
	var b strings.Builder
	for _, cells := range lines {
		for j, c := range cells {
			c = Short(c, widths[j])
			b.WriteString(c)
			if j < len(cells)-1 {
				b.WriteString(strings.Repeat(" ", max(0, widths[j]-uniseg.StringWidth(c))+gap))
			}
		}
		b.WriteByte('\n')
	}
	io.WriteString(w, b.String()) //nolint:errcheck // the writer under it reports its own errors
}

// fit narrows the columns of texts, the widest first, until a row has the width of a line.
func fit(widths []int, texts []bool, columns int) {
	excess := gap*(len(widths)-1) - columns
	for _, n := range widths {
		excess += n
	}
	for excess > 0 {
		widest := -1
		for j, n := range widths {
			if texts[j] && n > minText && (widest < 0 || n > widths[widest]) {
				widest = j
			}
		}
		if widest < 0 {
			return
		}
		widths[widest]--
		excess--
	}
}

// Short cuts a text to a width on one line.
func Short(s string, width int) string {
	s = OneLine(s)
	if uniseg.StringWidth(s) <= width {
		return s
	}
	var b strings.Builder
	left := width - 1
	for g := uniseg.NewGraphemes(s); g.Next() && g.Width() <= left; left -= g.Width() {
		b.WriteString(g.Str())
	}
	return strings.TrimRight(b.String(), " ") + "…"
}
