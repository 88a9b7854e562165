package date_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/text/date"
)

// TestFigures reads labelled sentences, dates-dev.json of EUNOE_BENCH_DIR, and holds how many are given one of the days
// that their label allows, how many another, and how many none.
func TestFigures(t *testing.T) {
	t.Parallel()
	dir := os.Getenv("EUNOE_BENCH_DIR")
	if dir == "" {
		t.Skip("EUNOE_BENCH_DIR names no folder of datasets")
	}
	b, err := os.ReadFile(filepath.Join(dir, "dates-dev.json"))
	if err != nil {
		t.Skipf("the folder of EUNOE_BENCH_DIR has no labelled dates: %v", err)
	}
	var cases []struct {
		Lang, Text string
		Now        time.Time
		Spans      [][2]string
	}
	if err := json.Unmarshal(b, &cases); err != nil {
		t.Fatal(err)
	}
	type tally struct{ all, right, wrong int }
	tallies := map[string]*tally{}
	for _, c := range cases {
		group := "other languages"
		if c.Lang == "English" {
			group = c.Lang
		}
		for _, name := range []string{group, c.Lang + " alone"} {
			n := tallies[name]
			if n == nil {
				n = &tally{}
				tallies[name] = n
			}
			n.all++
			d, ok := date.Main(date.Find(c.Text, c.Now, ""))
			switch {
			case ok && slices.Contains(c.Spans, [2]string{d.From.Format(time.DateOnly), d.To.Format(time.DateOnly)}):
				n.right++
			case ok:
				n.wrong++
			}
		}
	}
	for name, n := range tallies {
		right, wrong := 100*float64(n.right)/float64(n.all), 100*float64(n.wrong)/float64(n.all)
		t.Logf("%-18s n %3d  right %5.1f %%  wrong %4.1f %%", name, n.all, right, wrong)
		if (name == "English" || name == "other languages") && (right < 80 || wrong > 8) {
			t.Errorf("%s: %.1f %% right and %.1f %% wrong, want at least 80 and at most 8", name, right, wrong)
		}
	}
}
