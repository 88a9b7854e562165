package memory

import (
	"encoding/json"
	"time"
)

// Span is when something happened: a closed range of instants, either end open.
type Span struct {
	From *time.Time `json:"from"`
	To   *time.Time `json:"to"`
}

// IsZero reports whether neither end is known.
func (s Span) IsZero() bool { return s.From == nil && s.To == nil }

// Overlaps reports whether the span shares an instant with [from, to]; both ends are inclusive and a nil end is open. A
// zero span overlaps nothing.
func (s Span) Overlaps(from, to *time.Time) bool {
	if s.IsZero() {
		return false
	}
	if to != nil && s.From != nil && s.From.After(*to) {
		return false
	}
	return from == nil || s.To == nil || !s.To.Before(*from)
}

// Interval is a stretch of time in which a fact is valid: from From (inclusive) to To (exclusive). A nil To is open.
type Interval struct {
	From time.Time  `json:"from"`
	To   *time.Time `json:"to"`
}

// Covers reports whether t lies in the interval.
func (i Interval) Covers(t time.Time) bool {
	return !t.Before(i.From) && (i.To == nil || t.Before(*i.To))
}

// ParseTime reads RFC 3339 with a zone and returns it in UTC, to the microsecond. A time without a zone is ErrInvalid.
func ParseTime(field, s string) (time.Time, error) {
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		return time.Time{}, Invalid(field, "%q is not a time; expected RFC 3339 with a zone, as 2026-05-20T09:14:00Z", clip(s, 40))
	}
	if y := t.UTC().Year(); y < 1 || y > 9999 {
		return time.Time{}, Invalid(field, "year %d is outside 1 to 9999", y)
	}
	return At(t), nil
}

// Duration is a time.Duration that is written as a Go duration string ("300ms").
type Duration time.Duration

// MarshalJSON writes the Go duration string.
func (d Duration) MarshalJSON() ([]byte, error) { return json.Marshal(time.Duration(d).String()) }

// UnmarshalJSON reads a Go duration string that is not negative.
func (d *Duration) UnmarshalJSON(b []byte) error {
	var s string
	if err := json.Unmarshal(b, &s); err != nil {
		return Invalid("", `a duration is a string like "300ms" or "2s"`)
	}
	v, err := time.ParseDuration(s)
	if err != nil || v < 0 {
		return Invalid("", `%q is not a duration; expected a string like "300ms" or "2s"`, clip(s, 40))
	}
	*d = Duration(v)
	return nil
}

// clip shortens s for an error message, at a rune boundary.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return Truncate(s, n) + "…"
}

// Instant is a moment of event time in UTC, to the microsecond. Every time of an event is truncated to it before it is
// compared or stored.
type Instant = time.Time

// At truncates a time to an Instant.
func At(t time.Time) Instant { return t.UTC().Truncate(time.Microsecond) }

// WallClock returns what a clock of t's own zone shows at t, as a time in UTC. Days that people name ("today", "on Friday")
// are kept so, as whole days of UTC: the day is that of the speaker, wherever it is read.
func WallClock(t time.Time) Instant {
	_, offset := t.Zone()
	return At(t.Add(time.Duration(offset) * time.Second))
}
