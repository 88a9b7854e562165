package date

// kind is what a phrase of a table means for the grammar.
type kind uint8

const (
	kNone      kind = iota
	kMonth          // 1 to 12
	kWeekday        // 0 Sunday to 6 Saturday
	kUnit           // a unit
	kDay            // days from the day of saying
	kRel            // a unit of the calendar, shifted: unit*16 + 8 + units
	kDir            // units from the present one: last -1, this 0, next 1
	kNear           // the nearest before -1, the nearest after 1: past, coming
	kNumber         // its value
	kOrdinal        // its value; -1 for "last"
	kFew            // how many at least
	kAgoPre         // stands before an amount that lies back
	kAgoPost        // stands behind it
	kInPre          // stands before an amount that lies ahead
	kInPost         // stands behind it
	kBefore         // before a date
	kAfter          // after a date
	kSince          // from a date of the past on
	kFrom           // opens a range
	kTo             // joins the ends of a range
	kBetween        // opens a range whose ends are joined by "and"
	kToPost         // closes a range behind its last end
	kAnd            // joins the ends of what "between" opens
	kOf             // joins a part to its whole
	kIn             // makes a bare month, season or year a time
	kUntil          // up to a date: looks ahead
	kOn             // stands before a day
	kArticle        // skipped
	kPart           // 0 early, 1 middle, 2 late, 3 first half, 4 second half, 5 rest, 6 earlier, 7 later, 8 end
	kSeason         // first month
	kHoliday        // index
	kEvery          // repeats
	kDayPart        // belongs to the day before it
	kNow            // the day of saying
	kMarkYear       // stands behind the number of a year
	kMarkMonth      // behind the number of a month
	kMarkDay        // behind the number of a day
	kSuffix         // makes the digits before it an ordinal
	kDecade         // makes the digits before it a decade
	kYearWord       // stands before the number of a year
	kQuarter        // a quarter of the year by its number
	kEra            // year before the first of an era
	kFor            // stands before how long something lasts
	kMovedTo        // stands before the date that something is moved to
	kNot            // denies the date behind it
	kWeekdays       // several of a weekday: 0 Sunday to 6 Saturday
	kHence          // makes a weekday behind "a week" or before it the one a week later: "a week on Sunday", "Sunday week"
	kHalf           // a half and so many whole units, "anderthalb" 1; or half a unit more, behind a count or its unit
	kOr             // stands between the least and the most that a count may be
	kNumbered       // a week that is counted through the year
	kLike           // compares with a time
	kOccasion       // is counted: "for the third time"
	kNaming         // stands before a name
	kTitled         // stands before the name of a work or a street
	kOpens          // a form of a weekday or month that says "from": "hétfőtől péntekig"
	kWeak           // a month or weekday that is a common word too
)

// kinds maps the names of a table to kinds. A kind in the second list takes no value.
var kinds = map[string]kind{
	"month": kMonth, "weekday": kWeekday, "weekdays": kWeekdays, "unit": kUnit, "day": kDay, "rel": kRel, "dir": kDir, "near": kNear, "number": kNumber,
	"ordinal": kOrdinal, "few": kFew, "part": kPart, "season": kSeason, "holiday": kHoliday, "quarter": kQuarter, "era": kEra,

	"ago before": kAgoPre, "ago": kAgoPost, "in before": kInPre, "in behind": kInPost, "before": kBefore, "after": kAfter, "since": kSince,
	"from": kFrom, "to": kTo, "between": kBetween, "to behind": kToPost, "and": kAnd, "of": kOf, "in": kIn, "until": kUntil, "on": kOn,
	"article": kArticle, "every": kEvery, "daypart": kDayPart, "now": kNow, "mark year": kMarkYear, "mark month": kMarkMonth,
	"mark day": kMarkDay, "ordinal suffix": kSuffix, "decade suffix": kDecade, "year word": kYearWord, "not": kNot, "word": kNone, "for": kFor, "moved to": kMovedTo, "weak": kWeak, "naming": kNaming, "like": kLike, "occasion": kOccasion, "hence": kHence, "titled": kTitled,
	"opens": kOpens, "half": kHalf, "halved": kHalf, "or": kOr, "numbered": kNumbered,
}

// unit is a unit of the calendar. Minutes count as hours: no date is finer than a day.
type unit int

const (
	uHour unit = iota
	uDay
	uWeek
	uWeekend
	uWorkweek
	uFortnight
	uMonth
	uQuarter
	uHalf
	uYear
	uDecade
	uCentury
	uWorkday
)

var units = []string{"hour", "day", "week", "weekend", "workweek", "fortnight", "month", "quarter", "half", "year", "decade", "century", "workday"}
