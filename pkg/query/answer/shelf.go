package answer

import (
	"fmt"
	"strings"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// MaxShown is how many items one talk with a model may show; numbers have at
// most three digits.
const MaxShown = 999

// Shelf holds what a model was shown, each item under a number from 1 on in
// the order they were first shown. The zero value is an empty shelf.
type Shelf struct {
	// Redact takes secrets out of every text that is shown; nil = none.
	Redact func(string) string
	items  []memory.Item
	number map[string]int
}

// Shown is an item with what is told about it beside its text.
type Shown struct {
	Item     memory.Item
	Quote    *memory.Item // the message to quote it from; nil = the item's text alone
	Disputed bool
	Reasons  bool // say what an observation rests on
	Part     bool // a part of the item above it: indented
}

// Len is how many items were shown.
func (s *Shelf) Len() int { return len(s.items) }

// Put gives the number of an item, a new one where it was not shown before; 0
// when the shelf is full.
func (s *Shelf) Put(i memory.Item) (number int, first bool) {
	key := string(i.Record) + " " + i.ID
	if n, ok := s.number[key]; ok {
		return n, false
	}
	if len(s.items) == MaxShown {
		return 0, false
	}
	if s.number == nil {
		s.number = map[string]int{}
	}
	s.items = append(s.items, i)
	s.number[key] = len(s.items)
	return len(s.items), true
}

// Item gives the item shown under a number.
func (s *Shelf) Item(number int) (memory.Item, bool) {
	if number < 1 || number > len(s.items) {
		return memory.Item{}, false
	}
	return s.items[number-1], true
}

// Line shows an item: its number, text, and what it is worth. What was shown
// before is named by its number alone. "" when the shelf is full.
func (s *Shelf) Line(x Shown) string {
	n, first := s.Put(x.Item)
	indent := ""
	if x.Part {
		indent = "  "
	}
	switch {
	case n == 0:
		return ""
	case !first:
		return fmt.Sprintf("%s[%d] as shown above\n", indent, n)
	}
	i := x.Item
	var b strings.Builder
	fmt.Fprintf(&b, "%s[%d] %s (%s)", indent, n, s.quote(i.Text), strings.Join(s.about(x), "; "))
	if x.Quote != nil {
		fmt.Fprintf(&b, " in the words of %s: %s", s.quote(x.Quote.Speaker), s.quote(x.Quote.Text))
	}
	if x.Reasons && i.Reasoning != "" {
		b.WriteString(" because: " + s.quote(i.Reasoning))
	}
	b.WriteString("\n")
	return b.String()
}

func (s *Shelf) quote(text string) string {
	if s.Redact != nil {
		text = s.Redact(text)
	}
	return Quote(text)
}

// about says what an item is, who said it and when, and how far it holds.
func (s *Shelf) about(x Shown) []string {
	i := x.Item
	out := []string{string(i.Record)}
	if i.Record == memory.RecordFact && i.Kind != "" && i.Kind != memory.KindWorld {
		out[0] = string(i.Kind)
	}
	if i.Record == memory.RecordMessage && i.Speaker != "" {
		out = append(out, "by "+s.quote(i.Speaker))
	}
	if i.Occurred != nil && i.Occurred.From != nil {
		when := "happened " + day(*i.Occurred.From)
		if to := i.Occurred.To; to != nil && day(*to) != day(*i.Occurred.From) {
			when += " to " + day(*to)
		}
		out = append(out, when)
	}
	if i.Said != nil {
		out = append(out, "said "+i.Said.UTC().Format("Mon 2006-01-02 15:04"))
	}
	if i.Record == memory.RecordFact {
		out = append(out, held(i)...)
	}
	if i.Record == memory.RecordFact || i.Record == memory.RecordObservation {
		out = append(out, fmt.Sprintf("confidence %.2f", i.Confidence))
	}
	if x.Disputed {
		out = append(out, "disputed")
	}
	return out
}

// held says over which times a fact was held, where it is not held still.
func held(i memory.Item) []string {
	if n := len(i.Valid); n > 0 && i.Valid[n-1].To == nil {
		return nil
	}
	var out []string
	for _, v := range i.Valid {
		if v.To != nil {
			out = append(out, "held "+day(v.From)+" to "+day(*v.To))
		}
	}
	if i.Superseded != "" || i.Merged != "" || len(i.Valid) == 0 {
		out = append(out, "no longer holds")
	}
	return out
}

func day(t time.Time) string { return t.UTC().Format("2006-01-02") }
