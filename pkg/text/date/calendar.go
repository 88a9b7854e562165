package date

import "time"

// Days are counted from 1 January 1970, in the zone of whoever speaks. All arithmetic is on them.

// dayNumber returns the number of a day. Months and days beyond their range count on.
func dayNumber(y, m, d int) int {
	return int(time.Date(y, time.Month(m), d, 0, 0, 0, 0, time.UTC).Unix() / 86400)
}

// civil returns the year, month and day of a day.
func civil(day int) (y, m, d int) {
	yy, mm, dd := time.Unix(int64(day)*86400, 0).UTC().Date()
	return yy, int(mm), dd
}

// valid reports whether the calendar has the day. Years are 1 to 9999.
func valid(y, m, d int) bool {
	if y < 1 || y > 9999 || m < 1 || m > 12 || d < 1 || d > 31 {
		return false
	}
	_, mm, _ := civil(dayNumber(y, m, d))
	return mm == m
}

// weekdayOf returns 0 for a Sunday to 6 for a Saturday.
func weekdayOf(day int) int { return ((day+4)%7 + 7) % 7 }

// mondayOf returns the first day of the week of day.
func mondayOf(day int) int { return day - (weekdayOf(day)+6)%7 }

// interval is a range of days, both inclusive.
type interval struct {
	from, to int
	rel      bool // depends on when it was said
	shown    int  // the last day that the words show, where it is not to; 0 for none
	core     int  // the day that amounts before and after count from, where it is neither end; 0 for none
}

func oneDay(day int, rel bool) interval { return interval{from: day, to: day, rel: rel} }

func monthOf(y, m int, rel bool) interval {
	return interval{from: dayNumber(y, m, 1), to: dayNumber(y, m+1, 1) - 1, rel: rel}
}

func yearOf(y int, rel bool) interval {
	return interval{from: dayNumber(y, 1, 1), to: dayNumber(y+1, 1, 1) - 1, rel: rel}
}

// days returns how many days the interval has.
func (s interval) days() int { return s.to - s.from + 1 }

// whole returns the unit of the calendar that lies n units from the one of day. Weeks begin on Monday.
func whole(day int, u unit, n int) (interval, bool) {
	if n > 20000 || n < -20000 {
		return interval{}, false
	}
	y, m, _ := civil(day)
	s := interval{rel: true}
	switch u {
	case uDay:
		s.from, s.to = day+n, day+n
	case uWeek:
		s.from = mondayOf(day) + 7*n
		s.to = s.from + 6
	case uFortnight:
		s.from = mondayOf(day) + 14*n
		s.to = s.from + 13
	case uWeekend:
		s.from = mondayOf(day) + 7*n + 5
		s.to = s.from + 1
	case uWorkweek:
		s.from = mondayOf(day) + 7*n
		s.to = s.from + 4
	case uMonth:
		s = monthOf(y, m+n, true)
	case uQuarter, uHalf:
		k := 3
		if u == uHalf {
			k = 6
		}
		first := (m-1)/k*k + 1 + k*n
		s.from, s.to = dayNumber(y, first, 1), dayNumber(y, first+k, 1)-1
	case uYear:
		s = yearOf(y+n, true)
	case uDecade, uCentury:
		k := 10
		if u == uCentury {
			k = 100
		}
		y = y - y%k + k*n
		s.from, s.to = dayNumber(y, 1, 1), dayNumber(y+k, 1, 1)-1
	default:
		return interval{}, false
	}
	return s, true
}

// shift moves a day by n units. The day of the month is at most the last one of the month reached.
func shift(day int, u unit, n int) (int, bool) {
	if n > 20000 || n < -20000 {
		return 0, false
	}
	months := 0
	switch u {
	case uDay:
		return day + n, true
	case uWeek, uWeekend, uWorkweek:
		return day + 7*n, true
	case uFortnight:
		return day + 14*n, true
	case uWorkday:
		step := 1
		if n < 0 {
			step, n = -1, -n
		}
		for n > 0 && n < 1000 {
			day += step
			if w := weekdayOf(day); w != 0 && w != 6 {
				n--
			}
		}
		return day, n == 0
	case uMonth:
		months = n
	case uQuarter:
		months = 3 * n
	case uHalf:
		months = 6 * n
	case uYear:
		months = 12 * n
	case uDecade:
		months = 120 * n
	default:
		return 0, false
	}
	y, m, d := civil(day)
	last := dayNumber(y, m+months+1, 0)
	return min(dayNumber(y, m+months, 1)+d-1, last), true
}

// weekOf returns the n-th week of a month or year, the last one for -1. A week belongs to where its Thursday lies.
func weekOf(s interval, n int) (interval, bool) {
	first := mondayOf(s.from + 3)
	if n < 0 {
		first = mondayOf(s.to - 3)
	} else {
		first += 7 * (n - 1)
	}
	return interval{from: first, to: first + 6, rel: s.rel}, n < 54 && first+3 <= s.to && n != 0
}

// easter returns Easter Sunday of a year, by the anonymous Gregorian algorithm.
func easter(y int) int {
	a, b, c := y%19, y/100, y%100
	d, e := b/4, b%4
	g := (8*b + 13) / 25
	h := (19*a + b - d - g + 15) % 30
	i, k := c/4, c%4
	l := (32 + 2*e + 2*i - h - k) % 7
	m := (a + 11*h + 22*l) / 451
	month := (h + l - 7*m + 114) / 31
	return dayNumber(y, month, (h+l-7*m+114)%31+1)
}

// orthodoxEaster returns Easter Sunday of a year by the Julian calendar.
func orthodoxEaster(y int) int {
	d := (19*(y%19) + 15) % 30
	e := (2*(y%4) + 4*(y%7) - d + 34) % 7
	return dayNumber(y, (d+e+114)/31, (d+e+114)%31+1) + y/100 - y/400 - 2
}

// timesOf returns the first instant and the last microsecond of an interval in a zone. It fails where one of them is
// outside the years 1 to 9999, there or in UTC.
func timesOf(s interval, zone *time.Location) (from, to time.Time, ok bool) {
	if s.from > s.to {
		return from, to, false
	}
	y, m, d := civil(s.from)
	from = time.Date(y, time.Month(m), d, 0, 0, 0, 0, zone)
	y2, m2, d2 := civil(s.to + 1)
	to = time.Date(y2, time.Month(m2), d2, 0, 0, 0, 0, zone).Add(-time.Microsecond)
	ok = y >= 1 && y <= 9999 && from.UTC().Year() >= 1 && to.Year() <= 9999 && to.UTC().Year() <= 9999
	return from, to, ok
}
