package deploy_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

var (
	guarantee = regexp.MustCompile(`(?m)^## [1-9]\. `)
	proof     = regexp.MustCompile("(?m)^\\| `([a-z0-9/]+)` \\| `([A-Za-z0-9_]+)(?:/([^`]+))?` \\| .+ \\|$")
	literal   = regexp.MustCompile(`"(?:[^"\\\n]|\\.)*"`)
)

// TestEveryGuaranteeNamesTestsThatExist checks that docs/GUARANTEES.md names existing folders, tests and prefixes of subtest names.
func TestEveryGuaranteeNamesTestsThatExist(t *testing.T) {
	t.Parallel()
	page := read(t, "docs/GUARANTEES.md")
	sections := guarantee.FindAllStringIndex(page, -1)
	if len(sections) != 7 {
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

// missing describes what of a test a folder lacks; "" means nothing.
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
		s, err := strconv.Unquote(l)
		rest, begins := strings.CutPrefix(s, subtest)
		if next, _ := utf8.DecodeRuneInString(rest); err == nil && begins && !unicode.IsLetter(next) {
			return ""
		}
	}
	return "no subtest begins with " + subtest
}
