package rules

import (
	"time"

	"github.com/eunoe-memory/eunoe/pkg/analysis"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// occurred is the first time expression, cut to instants.
func occurred(dates []analysis.DateSpan) memory.Span {
	if len(dates) == 0 {
		return memory.Span{}
	}
	from, to := memory.At(dates[0].From), memory.At(dates[0].To)
	return memory.Span{From: &from, To: &to}
}

// withDates writes behind each expression that depends on when it was said
// what it stands for, so that the sentence can be read at any time.
func withDates(s string, dates []analysis.DateSpan) string {
	for i := len(dates) - 1; i >= 0; i-- {
		if d := dates[i]; d.Relative && d.End <= len(s) {
			s = s[:d.End] + " (" + showSpan(d.From, d.To) + ")" + s[d.End:]
		}
	}
	return s
}

// showSpan writes a day, a month, a year, or first and last day.
func showSpan(from, to time.Time) string {
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
	case from.Day() == 1 && behind.Day() == 1:
		return from.Format("January 2006") + " to " + to.Format("January 2006")
	case from.AddDate(2, 0, 0).Before(to):
		return from.Format("January 2006") + " to " + to.Format("January 2006")
	case from.Year() == to.Year() && from.Month() == to.Month():
		return from.Format("2") + " to " + to.Format("2 January 2006")
	case from.Year() == to.Year():
		return from.Format("2 January") + " to " + to.Format("2 January 2006")
	}
	return from.Format("2 January 2006") + " to " + to.Format("2 January 2006")
}
