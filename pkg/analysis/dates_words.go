package analysis

import "time"

var monthNames = map[string]time.Month{
	"january": 1, "february": 2, "march": 3, "april": 4, "may": 5, "june": 6, "july": 7, "august": 8, "september": 9,
	"october": 10, "november": 11, "december": 12, "jan": 1, "feb": 2, "mar": 3, "apr": 4, "jun": 6, "jul": 7, "aug": 8,
	"sep": 9, "sept": 9, "oct": 10, "nov": 11, "dec": 12,
}

var weekdayNames = map[string]time.Weekday{
	"sunday": 0, "monday": 1, "tuesday": 2, "wednesday": 3, "thursday": 4, "friday": 5, "saturday": 6,
	"sun": 0, "mon": 1, "tue": 2, "tues": 2, "wed": 3, "weds": 3, "thu": 4, "thur": 4, "thurs": 4, "fri": 5, "sat": 6,
}

// seasonStart is the month a season of the northern hemisphere starts in.
var seasonStart = map[string]time.Month{"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}

type unit int

const (
	unitHour unit = iota
	unitDay
	unitWeek
	unitMonth
	unitQuarter
	unitYear
	unitDecade
	unitWeekend
	unitFortnight
)

var units = map[string]unit{
	"minute": unitHour, "minutes": unitHour, "hour": unitHour, "hours": unitHour, "hr": unitHour, "hrs": unitHour,
	"day": unitDay, "days": unitDay, "night": unitDay, "nights": unitDay, "week": unitWeek, "weeks": unitWeek, "wk": unitWeek,
	"wks": unitWeek, "month": unitMonth, "months": unitMonth, "quarter": unitQuarter, "quarters": unitQuarter, "year": unitYear,
	"years": unitYear, "yr": unitYear, "yrs": unitYear, "decade": unitDecade, "decades": unitDecade, "weekend": unitWeekend,
	"weekends": unitWeekend, "fortnight": unitFortnight, "fortnights": unitFortnight,
}

type holiday struct {
	month time.Month
	day   int
	week  int // the week-th Thursday of the month in place of a day
}

// holidays by their words; the two-word ones are looked up as "a b".
var holidays = map[string]holiday{
	"christmas": {12, 25, 0}, "xmas": {12, 25, 0}, "christmas eve": {12, 24, 0}, "christmas day": {12, 25, 0},
	"halloween": {10, 31, 0}, "thanksgiving": {11, 0, 4}, "valentine's day": {2, 14, 0}, "valentine day": {2, 14, 0},
	"valentines day": {2, 14, 0}, "new year's eve": {12, 31, 0}, "new year eve": {12, 31, 0}, "new years eve": {12, 31, 0},
	"new year's day": {1, 1, 0}, "new year day": {1, 1, 0}, "new years day": {1, 1, 0}, "independence day": {7, 4, 0},
	"boxing day": {12, 26, 0},
}

// dateWords opens the gate to the grammar.
var dateWords = func() map[string]struct{} {
	m := set(`today yesterday tomorrow tonight ago weekend last past previous this next coming upcoming following week month year decade
		christmas xmas halloween thanksgiving valentine valentine's valentines holidays boxing independence day days weeks months years quarter morning
		spring summer autumn fall winter`)
	for w := range monthNames {
		m[w] = struct{}{}
	}
	for w := range weekdayNames {
		m[w] = struct{}{}
	}
	for w := range foreignMonths {
		m[w] = struct{}{}
	}
	return m
}()

var (
	futureCues = set(`will gonna wanna plan plans planning planned next upcoming hope hopes hoping soon tomorrow scheduled shall
		excited ready coming forward until deadline due won't we'll i'll`)
	pastCues  = set(`was were went had did saw met got came took made gave bought began felt found said told ran won lost left spent yesterday ago`)
	presentBe = set(`i'm im am are is we're were you're they're he's she's it's`)
	betweenBe = set(`also just really not actually still all both`)
	// atTime are the words that make a bare month, season or year a time.
	atTime = set(`in since until till by during around before after from of last next this early mid late past through to over between and
		circa every`)
	inTheYear = set(`in since until till by during around before after from of early mid late year through to between circa and`)
	dayParts  = set(`morning afternoon evening night noon midnight`)
	modifiers = set(`early mid late beginning start middle end`)
)
