package prompt

import (
	"fmt"
	"strings"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// MaxShown is how many items a model may be shown; numbers have at most three digits.
const MaxShown = 999

// ItemList holds what a model was shown, each item under a number from 1 on, in the order they were first shown. The zero
// value is an empty list.
type ItemList struct {
	// Redact takes secrets out of every text that is shown; nil = nothing is taken out.
	Redact func(string) string
	items  []memory.Item
	number map[string]int
}

// Shown is an item with what a line tells about it besides its text.
type Shown struct {
	Item     memory.Item
	Quote    *memory.Item // the message that says it, quoted after the text; nil = none
	Disputed bool
	Reasons  bool // tell what an observation was concluded from
	Part     bool // indented, as a part of the item above it
}

// Len returns how many items were shown.
func (l *ItemList) Len() int { return len(l.items) }

// Number returns the number of an item, a new one if it was not shown before; 0 when the list is full.
func (l *ItemList) Number(i memory.Item) (number int, first bool) {
	key := string(i.Record) + " " + i.ID
	if n, ok := l.number[key]; ok {
		return n, false
	}
	if len(l.items) == MaxShown {
		return 0, false
	}
	if l.number == nil {
		l.number = map[string]int{}
	}
	l.items = append(l.items, i)
	l.number[key] = len(l.items)
	return len(l.items), true
}

// Item returns the item that was shown under a number.
func (l *ItemList) Item(number int) (memory.Item, bool) {
	if number < 1 || number > len(l.items) {
		return memory.Item{}, false
	}
	return l.items[number-1], true
}

// Line shows an item: its number, its text, and how far it can be trusted. An item that was shown before is named by its
// number alone. The result is "" when the list is full.
func (l *ItemList) Line(x Shown) string {
	n, first := l.Number(x.Item)
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
	fmt.Fprintf(&b, "%s[%d] %s (%s)", indent, n, l.quote(i.Text), strings.Join(l.about(x), "; "))
	if x.Quote != nil {
		fmt.Fprintf(&b, " in the words of %s: %s", l.quote(x.Quote.Speaker), l.quote(x.Quote.Text))
	}
	if x.Reasons && i.Reasoning != "" {
		b.WriteString(" because: " + l.quote(i.Reasoning))
	}
	b.WriteString("\n")
	return b.String()
}

func (l *ItemList) quote(text string) string {
	if l.Redact != nil {
		text = l.Redact(text)
	}
	return Quote(text)
}

// about tells what an item is, who said it and when, and how far it can be trusted.
func (l *ItemList) about(x Shown) []string {
	i := x.Item
	out := []string{string(i.Record)}
	if i.Record == memory.RecordFact && i.Kind != "" && i.Kind != memory.KindWorld {
		out[0] = string(i.Kind)
	}
	if i.Record == memory.RecordMessage && i.Speaker != "" {
		out = append(out, "by "+l.quote(i.Speaker))
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
		out = append(out, intervals(i)...)
	}
	if i.Record == memory.RecordFact || i.Record == memory.RecordObservation {
		out = append(out, fmt.Sprintf("confidence %.2f", i.Confidence))
	}
	if x.Disputed {
		out = append(out, "disputed")
	}
	return out
}

// intervals tells when a fact was valid, unless it still is.
func intervals(i memory.Item) []string {
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
