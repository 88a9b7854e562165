package console_test

import (
	"strings"
	"testing"

	"github.com/rivo/uniseg"

	"github.com/eunoe-memory/eunoe/internal/console"
)

// screen is a terminal of a width.
type screen struct {
	strings.Builder
	columns int
}

func (s *screen) Columns() int { return s.columns }

func TestTable(t *testing.T) {
	t.Parallel()
	long := "Ana moved to Porto in May, " + strings.Repeat("a\tsentence with\nbreaks ", 20)
	rows := [][]string{{"f_0wjh1zjrc6j6e41m9bc64ktze8", "event", long}, {"f_2", "fact", "美咲は京都で陶芸を習っています。" + strings.Repeat("とても", 30)}}
	t.Run("a row fits on a line of the terminal, and ids stay whole", func(t *testing.T) {
		t.Parallel()
		s := &screen{columns: 80}
		console.Table(s, []string{"ID", "TYPE", "TEXT"}, rows)
		lines := strings.Split(strings.TrimSuffix(s.String(), "\n"), "\n")
		if len(lines) != 3 {
			t.Fatalf("%d lines:\n%s", len(lines), s.String())
		}
		for _, line := range lines[1:] {
			if n := uniseg.StringWidth(line); n < 75 || n > 80 || !strings.HasSuffix(line, "…") {
				t.Errorf("%d columns: %q", n, line)
			}
		}
		if !strings.HasPrefix(lines[1], rows[0][0]+"  event  Ana moved to Porto") || !strings.HasPrefix(lines[2], "f_2 ") {
			t.Errorf("got\n%s", s.String())
		}
	})
	t.Run("a terminal that is too narrow for ids breaks lines itself", func(t *testing.T) {
		t.Parallel()
		s := &screen{columns: 30}
		console.Table(s, nil, rows)
		if !strings.Contains(s.String(), rows[0][0]+"  event  Ana moved to Porto…") {
			t.Errorf("got\n%s", s.String())
		}
	})
	t.Run("what is no terminal gets everything, a line a row", func(t *testing.T) {
		t.Parallel()
		var b strings.Builder
		console.Table(&b, []string{"ID", "TYPE", "TEXT"}, rows)
		if !strings.Contains(b.String(), console.OneLine(long)+"\n") || strings.Count(b.String(), "\n") != 3 {
			t.Errorf("got\n%s", b.String())
		}
	})
	t.Run("a table without rows is its header", func(t *testing.T) {
		t.Parallel()
		var b strings.Builder
		console.Table(&b, []string{"ID", "TEXT"}, nil)
		console.Table(&b, nil, nil)
		if b.String() != "ID  TEXT\n" {
			t.Errorf("got %q", b.String())
		}
	})
}
