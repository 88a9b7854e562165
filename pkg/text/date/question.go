package date

import (
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/eunoe-memory/eunoe/pkg/text"
)

// Range is the time that a question speaks of. From is inside it, To is not. The zero Range means none.
type Range struct {
	From, To time.Time
}

// IsZero reports whether the range is absent.
func (r Range) IsZero() bool { return r.From.IsZero() && r.To.IsZero() }

// seasonStart maps a season of the northern hemisphere to its first month.
var seasonStart = map[string]time.Month{"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}

// ambiguous are the months and seasons that are common words too. They are times only next to a number or behind "in".
var ambiguous = text.NewWordSet("may mar march fall spring")

// Asked returns the first time expression among the words of a question, which must be in lower case: a day, month or
// year by name ("5 January 2024", "January 5", "August", "2023"), a season, or a time relative to now ("yesterday",
// "last month"). A month or season without a year is the latest one that has begun by now.
func Asked(words []string, now time.Time) Range {
	for i, w := range words {
		if m, ok := text.Month(w); ok && (!ambiguous.Has(w) || datedAround(words, i)) {
			return monthRange(words, i, m, now)
		}
		if m, ok := seasonStart[w]; ok && (!ambiguous.Has(w) || datedAround(words, i)) {
			from := startOf(yearNear(words, i, m, now), m, 1, now)
			return Range{from, from.AddDate(0, 3, 0)}
		}
		if r, ok := relativeRange(words, i, now); ok {
			return r
		}
	}
	for _, w := range words {
		if y := year(w); y != 0 {
			from := startOf(y, 1, 1, now)
			return Range{from, from.AddDate(1, 0, 0)}
		}
	}
	return Range{}
}

// mostOfQuestion is how many bytes of a question are read for its time: what is longer is a pasted text.
const mostOfQuestion = 4096

// AskedIn is Asked for a question in any language that Find knows: it takes the first expression. language is as in
// Find. A time of the year that lies ahead of now is that of the year before. A question is read up to mostOfQuestion.
func AskedIn(question string, now time.Time, language string) Range {
	if len(question) > mostOfQuestion {
		question = question[:mostOfQuestion]
		question = question[:max(0, strings.LastIndexFunc(question, unicode.IsSpace))]
	}
	for _, span := range Find(question, now, language) {
		if span.From.IsZero() || span.To.IsZero() {
			continue
		}
		r := Range{span.From, span.To.Add(time.Microsecond)}
		if before := (Range{r.From.AddDate(-1, 0, 0), r.To.AddDate(-1, 0, 0)}); span.Relative && r.From.After(now) && named(question, span, before, language) {
			return before
		}
		return r
	}
	return Range{}
}

// named reports whether an expression names the range too where the question is asked in the months before it, as "in
// May" does and "tomorrow" does not.
func named(question string, span Span, r Range, language string) bool {
	for _, other := range Find(question, r.From.AddDate(0, 0, -40), language) {
		if other.Start == span.Start {
			return other.From.Equal(r.From) && r.To.Sub(r.From) < 200*24*time.Hour
		}
	}
	return false
}

// monthRange reads the month at words[i] with the day and the year next to it.
func monthRange(words []string, i int, m time.Month, now time.Time) Range {
	y := yearNear(words, i, m, now)
	if d := dayNear(words, i); d != 0 {
		from := startOf(y, m, d, now)
		return Range{from, from.AddDate(0, 0, 1)}
	}
	from := startOf(y, m, 1, now)
	return Range{from, from.AddDate(0, 1, 0)}
}

// relativeRange reads "today", "yesterday", "tomorrow" and "last" or "this" before a week, month or year.
func relativeRange(words []string, i int, now time.Time) (Range, bool) {
	today := startOf(now.Year(), now.Month(), now.Day(), now)
	switch words[i] {
	case "today", "tonight":
		return Range{today, today.AddDate(0, 0, 1)}, true
	case "yesterday":
		return Range{today.AddDate(0, 0, -1), today}, true
	case "tomorrow":
		return Range{today.AddDate(0, 0, 1), today.AddDate(0, 0, 2)}, true
	}
	if i+1 >= len(words) {
		return Range{}, false
	}
	back := 0
	switch words[i] {
	case "last", "previous", "past":
		back = 1
	case "this":
	default:
		return Range{}, false
	}
	switch words[i+1] {
	case "week", "weekend":
		from := today.AddDate(0, 0, -(int(today.Weekday())+6)%7-7*back)
		return Range{from, from.AddDate(0, 0, 7)}, true
	case "month":
		from := startOf(now.Year(), now.Month()-time.Month(back), 1, now)
		return Range{from, from.AddDate(0, 1, 0)}, true
	case "year":
		from := startOf(now.Year()-back, 1, 1, now)
		return Range{from, from.AddDate(1, 0, 0)}, true
	}
	return Range{}, false
}

// datedAround reports whether words[i] is a time and no verb: a number is next to it, or "in", "of" or "during"
// precedes it.
func datedAround(words []string, i int) bool {
	if i > 0 && (words[i-1] == "in" || words[i-1] == "of" || words[i-1] == "during" || number(words[i-1]) != 0) {
		return true
	}
	return i+1 < len(words) && number(words[i+1]) != 0
}

// dayNear returns the day of the month next to words[i], 0 for none.
func dayNear(words []string, i int) int {
	for _, j := range []int{i - 1, i + 1, i - 2} {
		if j < 0 || j >= len(words) || (j == i-2 && words[i-1] != "of") {
			continue
		}
		if n := number(words[j]); 1 <= n && n <= 31 {
			return n
		}
	}
	return 0
}

// yearNear returns the year within two words of words[i], else the year of the latest month m that has begun by now.
func yearNear(words []string, i int, m time.Month, now time.Time) int {
	for _, j := range []int{i + 1, i + 2, i - 1, i - 2} {
		if j >= 0 && j < len(words) {
			if y := year(words[j]); y != 0 {
				return y
			}
		}
	}
	if m > now.Month() {
		return now.Year() - 1
	}
	return now.Year()
}

// number returns the leading digits of w as a number, "5th" being 5; 0 if there are none or more than four.
func number(w string) int {
	n := 0
	for n < len(w) && w[n] >= '0' && w[n] <= '9' {
		n++
	}
	if n == 0 || n > 4 {
		return 0
	}
	v, _ := strconv.Atoi(w[:n])
	return v
}

// year returns w as a year of four digits from 1900 to 2199, else 0.
func year(w string) int {
	if len(w) != 4 {
		return 0
	}
	if y := number(w); 1900 <= y && y < 2200 {
		return y
	}
	return 0
}

// startOf returns the first instant of a day in the zone of now.
func startOf(y int, m time.Month, d int, now time.Time) time.Time {
	return time.Date(y, m, d, 0, 0, 0, 0, now.Location())
}
