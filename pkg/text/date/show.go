package date

import (
	"strings"
	"time"
	"unicode"
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

// Days returns how many days a span names.
func (s Span) Days() int { return int(s.To.Add(time.Microsecond).Sub(s.From).Hours()+12) / 24 }

// contains reports whether another span lies within s.
func (s Span) contains(o Span) bool { return !o.From.Before(s.From) && !o.To.After(s.To) }

// Main returns the time that a sentence is about: the first of its expressions that is not set aside, or
// the day that a later one names within it or more exactly. It reports false
// for a sentence without expressions.
func Main(spans []Span) (Span, bool) {
	for i, s := range spans {
		if s.Aside {
			continue
		}
		for _, o := range spans[i+1:] { // "in December, on the 17th", "that weekend, on the 20th"
			if !o.Aside && o.Days() == 1 && s.Days() > 1 && (s.contains(o) || strings.ContainsFunc(o.Text, unicode.IsDigit) && !strings.ContainsFunc(s.Text, unicode.IsDigit)) {
				return o, true
			}
		}
		return s, true
	}
	if len(spans) > 0 {
		return spans[0], true
	}
	return Span{}, false
}
