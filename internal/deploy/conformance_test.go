package deploy_test

import (
	"regexp"
	"strings"
	"testing"
)

// promiseTest is a test that a row of docs/CONFORMANCE.md names: folder, function and the beginning of a subtest's
// name.
var promiseTest = regexp.MustCompile("`([a-z0-9/]+)` `(Test[A-Za-z0-9_]+)(?:/([^`]+))?`")

// fewestPromises is the minimum number of rows of the page; fewer means that this test no longer parses it.
const fewestPromises = 80

// TestEveryPromiseNamesTestsThatExist reads the tables of docs/CONFORMANCE.md: a promise and the tests that hold it, or
// the reason why there is none.
func TestEveryPromiseNamesTestsThatExist(t *testing.T) {
	t.Parallel()
	promises := map[string]bool{}
	for _, line := range strings.Split(read(t, "docs/CONFORMANCE.md"), "\n") {
		cells := strings.Split(strings.Trim(line, "| "), " | ")
		if !strings.HasPrefix(line, "| ") || cells[0] == "promise" {
			continue
		}
		promise := cells[0]
		if len(cells) != 2 || promises[promise] {
			t.Errorf("%q has %d cells, or stands twice", promise, len(cells))
			continue
		}
		promises[promise] = true
		if reason, none := strings.CutPrefix(cells[1], "none: "); none {
			if len(strings.Fields(reason)) < 3 {
				t.Errorf("%q has neither a test nor a reason", promise)
			}
			continue
		}
		for _, named := range strings.Split(cells[1], "<br>") {
			m := promiseTest.FindStringSubmatch(named)
			if m == nil || m[0] != named {
				t.Errorf("%q: %q is not a folder and a test", promise, named)
			} else if why := missing(t, m[1], m[2], m[3]); why != "" {
				t.Errorf("%q: %s %s: %s", promise, m[1], m[2], why)
			}
		}
	}
	if len(promises) < fewestPromises {
		t.Errorf("the page has %d promises", len(promises))
	}
}
