package date

import (
	"time"
	"unicode/utf8"
)

// Annotate writes behind each relative expression of s, in brackets, the days it names, so that the sentence can be
// read at any time: "We met yesterday (7 May 2023)." spans must be those that Find returned for s.
func Annotate(s string, spans []Span) string {
	for i := len(spans) - 1; i >= 0; i-- {
		if d := spans[i]; d.Relative && d.End <= len(s) {
			space := " "
			if r, _ := utf8.DecodeLastRuneInString(s[:d.End]); isCJK(r) {
				space = ""
			}
			s = s[:d.End] + space + "(" + d.String() + ")" + s[d.End:]
		}
	}
	return s
}

// String returns the range in words: a day, a month, a year, or the first and the last of each.
func (s Span) String() string {
	from, to := s.From, s.To
	if !s.shown.IsZero() {
		to = s.shown
	}
	behind := to.Add(time.Microsecond)
	switch {
	case !from.AddDate(0, 0, 1).Before(behind):
		return from.Format("2 January 2006")
	case from.Day() == 1 && from.AddDate(0, 1, 0).Equal(behind):
		return from.Format("January 2006")
	case from.YearDay() == 1 && from.AddDate(1, 0, 0).Equal(behind):
		return from.Format("2006")
	case from.YearDay() == 1 && behind.YearDay() == 1:
		return from.Format("2006") + " to " + to.Format("2006")
	case from.Day() == 1 && behind.Day() == 1 && from.Year() == to.Year():
		return from.Format("January") + " to " + to.Format("January 2006")
	case from.Day() == 1 && behind.Day() == 1, from.AddDate(2, 0, 0).Before(to):
		return from.Format("January 2006") + " to " + to.Format("January 2006")
	case from.Year() == to.Year() && from.Month() == to.Month():
		return from.Format("2") + " to " + to.Format("2 January 2006")
	case from.Year() == to.Year():
		return from.Format("2 January") + " to " + to.Format("2 January 2006")
	}
	return from.Format("2 January 2006") + " to " + to.Format("2 January 2006")
}

// Main returns the time that a sentence is about: the first of its expressions that is not set aside. It reports false
// for a sentence without expressions.
func Main(spans []Span) (Span, bool) {
	for _, s := range spans {
		if !s.Aside {
			return s, true
		}
	}
	if len(spans) > 0 {
		return spans[0], true
	}
	return Span{}, false
}
