package text

import "time"

// Month returns the month that a lower-case English word names, in full or abbreviated.
func Month(word string) (time.Month, bool) {
	m, ok := monthNames[word]
	return m, ok
}

// Weekday returns the day of the week that a lower-case English word names, in full or abbreviated.
func Weekday(word string) (time.Weekday, bool) {
	d, ok := weekdayNames[word]
	return d, ok
}

// Unit is a unit of the calendar.
type Unit int

// The units of the calendar. Minutes count as hours: no date is finer than a day.
const (
	UnitHour Unit = iota
	UnitDay
	UnitWeek
	UnitMonth
	UnitQuarter
	UnitYear
	UnitDecade
	UnitWeekend
	UnitFortnight
)

// TimeUnit returns the unit that a lower-case English word names, singular or plural.
func TimeUnit(word string) (Unit, bool) {
	u, ok := units[word]
	return u, ok
}

var monthNames = map[string]time.Month{
	"january": 1, "february": 2, "march": 3, "april": 4, "may": 5, "june": 6, "july": 7, "august": 8, "september": 9,
	"october": 10, "november": 11, "december": 12, "jan": 1, "feb": 2, "mar": 3, "apr": 4, "jun": 6, "jul": 7, "aug": 8,
	"sep": 9, "sept": 9, "oct": 10, "nov": 11, "dec": 12,
}

var weekdayNames = map[string]time.Weekday{
	"sunday": 0, "monday": 1, "tuesday": 2, "wednesday": 3, "thursday": 4, "friday": 5, "saturday": 6,
	"sun": 0, "mon": 1, "tue": 2, "tues": 2, "wed": 3, "weds": 3, "thu": 4, "thur": 4, "thurs": 4, "fri": 5, "sat": 6,
}

var units = map[string]Unit{
	"minute": UnitHour, "minutes": UnitHour, "hour": UnitHour, "hours": UnitHour, "hr": UnitHour, "hrs": UnitHour,
	"day": UnitDay, "days": UnitDay, "night": UnitDay, "nights": UnitDay, "week": UnitWeek, "weeks": UnitWeek, "wk": UnitWeek,
	"wks": UnitWeek, "month": UnitMonth, "months": UnitMonth, "quarter": UnitQuarter, "quarters": UnitQuarter, "year": UnitYear,
	"years": UnitYear, "yr": UnitYear, "yrs": UnitYear, "decade": UnitDecade, "decades": UnitDecade, "weekend": UnitWeekend,
	"weekends": UnitWeekend, "fortnight": UnitFortnight, "fortnights": UnitFortnight,
}
