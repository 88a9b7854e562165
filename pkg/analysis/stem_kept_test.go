package analysis_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/eunoe-memory/eunoe/pkg/analysis"
)

// TestStemsDoNotDependOnWhatIsKept stems more words than are kept, from several
// goroutines at once, twice, and once more after all is forgotten.
func TestStemsDoNotDependOnWhatIsKept(t *testing.T) {
	t.Parallel()
	var words []string
	for i := range 40_000 {
		word := strings.Map(func(r rune) rune { return r - '0' + 'b' }, fmt.Sprint(i)) + []string{"fings", "ations", "ness", "fulness"}[i%4]
		words = append(words, word)
	}
	first := make([][]string, len(words))
	for i, w := range words {
		first[i] = analysis.ContentStems(w)
		if len(first[i]) != 1 {
			t.Fatalf("%q has the stems %q", w, first[i])
		}
	}
	var wg sync.WaitGroup
	for part := range 4 {
		wg.Go(func() {
			for i := part; i < len(words); i += 2 {
				if diff := cmp.Diff(first[i], analysis.ContentStems(words[i])); diff != "" {
					t.Errorf("%q was stemmed otherwise the second time:\n%s", words[i], diff)
					return
				}
			}
		})
	}
	wg.Wait()
	last := words[len(words)-1] // no other test says it
	if analysis.ContentStems(last); !analysis.StemIsKept(last) {
		t.Errorf("%q was stemmed and is not kept", last)
	}
	analysis.Forget()
	if analysis.StemIsKept(last) {
		t.Errorf("%q is still kept after all was forgotten", last)
	}
	for i, w := range words[:100] {
		if diff := cmp.Diff(first[i], analysis.ContentStems(w)); diff != "" {
			t.Errorf("%q was stemmed otherwise after all was forgotten:\n%s", w, diff)
		}
	}
}
