package deploy_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

var (
	guarantee = regexp.MustCompile(`(?m)^## [1-9]\. `)
	proof     = regexp.MustCompile("(?m)^\\| `([a-z0-9/]+)` \\| `([A-Za-z0-9_]+)(?:/([^`]+))?` \\| .+ \\|$")
	literal   = regexp.MustCompile(`"(?:[^"\\\n]|\\.)*"`)
)

// TestEveryGuaranteeNamesTestsThatExist reads docs/GUARANTEES.md as its reader
// would: a folder, a test in it, and the beginning of a subtest's name.
func TestEveryGuaranteeNamesTestsThatExist(t *testing.T) {
	t.Parallel()
	page := read(t, "docs/GUARANTEES.md")
	sections := guarantee.FindAllStringIndex(page, -1)
	if len(sections) != 6 {
		t.Fatalf("the page has %d guarantees", len(sections))
	}
	for i, s := range sections {
		end := len(page)
		if i+1 < len(sections) {
			end = sections[i+1][0]
		}
		section := page[s[0]:end]
		title, _, _ := strings.Cut(section, "\n")
		proofs := proof.FindAllStringSubmatch(section, -1)
		if rows := strings.Count(section, "\n| `"); rows != len(proofs) || rows < 3 {
			t.Errorf("%s: %d rows, of which %d name a test", title, rows, len(proofs))
		}
		if !strings.Contains(section, "\nNot promised: ") || !strings.Contains(section, "\nIt rests on: ") {
			t.Errorf("%s: says not what it rests on, or what is not promised", title)
		}
		for _, p := range proofs {
			if why := missing(t, p[1], p[2], p[3]); why != "" {
				t.Errorf("%s: %s %s: %s", title, p[1], p[2], why)
			}
		}
	}
}

// missing says what of a test is not in a folder, "" for nothing.
func missing(t *testing.T, folder, test, subtest string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, folder, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		text.Write(b)
	}
	if !strings.Contains(text.String(), "\nfunc "+test+"(t *testing.T) {") {
		return "there is no such test"
	}
	if subtest == "" {
		return ""
	}
	for _, l := range literal.FindAllString(text.String(), -1) {
		if s, err := strconv.Unquote(l); err == nil && (s == subtest || strings.HasPrefix(s, subtest+" ")) {
			return ""
		}
	}
	return "no subtest begins with " + subtest
}
