package date_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/text/date"
)

// TestALongTextIsReadInItsLength reads texts without a mark that consist of times, of a megabyte altogether: read each with
// all the others they would take days.
func TestALongTextIsReadInItsLength(t *testing.T) {
	t.Parallel()
	said := time.Date(2026, 5, 6, 9, 0, 0, 0, time.UTC) // a Wednesday
	for _, times := range []string{"Sunday", "am 4. Juni", "6月8日", "until Thursday", "not Tuesday", "3 weeks ago", "2024-02-03", "hundred thousand", "el viernes", "Whitsun", "since March", "she said he was to come on Monday"} {
		done := make(chan []date.Span, 1)
		go func() { done <- date.Find(strings.Repeat(times+" ", 90_000/len(times)), said, "") }()
		var long []date.Span
		select {
		case long = <-done:
		case <-time.After(2 * time.Minute):
			t.Fatalf("%s: 90 KB take minutes", times)
		}
		short := date.Find(strings.Repeat(times+" ", 20), said, "")
		if (len(short) == 0) != (len(long) == 0) {
			t.Errorf("%s: %d times of few, %d of many", times, len(short), len(long))
		}
		for i, s := range long {
			if i < min(len(short), 3) && (!s.From.Equal(short[i].From) || s.Text != short[i].Text) {
				t.Errorf("%s: number %d is %s, among few %s", times, i, s.From, short[i].From)
			}
		}
	}
	question := strings.Repeat("Wann kam Ida zurück, war es am 7. März oder später ", 1200)
	if got, want := date.AskedIn(question, said, "de"), date.AskedIn(question[:500], said, "de"); got != want || got.IsZero() {
		t.Errorf("a long question is about %v, its beginning about %v", got, want)
	}
	if r := date.AskedIn(strings.Repeat("x", 1<<16), said, ""); !r.IsZero() {
		t.Errorf("a word of 64 KB is %v", r)
	}
	words := strings.Fields(strings.Repeat("plum ", 60) + "on 5 June 2025 and " + strings.Repeat("pear ", 60) + "went on 7 June 2025")
	if spans := date.Find(strings.Join(words, " "), said, "en"); len(spans) != 2 || !slices.IsSortedFunc(spans, func(a, b date.Span) int { return a.From.Compare(b.From) }) {
		t.Errorf("in a long sentence: %+v", spans)
	}
}
