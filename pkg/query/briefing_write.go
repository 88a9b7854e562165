package query

import (
	"fmt"
	"strings"

	"github.com/eunoe-memory/eunoe/pkg/analysis"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// say is how an item reads: its time, its text, and what it is worth.
func (b *briefing) say(i memory.Item, disputed bool) string {
	var s strings.Builder
	if when := whenOf(i); when != "" {
		s.WriteString("[" + when + "] ")
	}
	quote, quoted := b.quotes[i.ID]
	switch {
	case quoted:
		s.WriteString(said(quote))
	case i.Record == memory.RecordMessage:
		s.WriteString(said(i))
	default:
		s.WriteString(oneLine(i.Text))
	}
	if i.Kind == memory.KindOpinion || i.Record == memory.RecordObservation {
		fmt.Fprintf(&s, " (confidence %.2f)", i.Confidence)
	}
	if i.Reasoning != "" && b.traits.Skepticism >= 3 {
		s.WriteString(" Because: " + oneLine(i.Reasoning))
	}
	if disputed && b.traits.Skepticism >= 3 {
		s.WriteString(" (disputed)")
	}
	return s.String()
}

// said quotes a message.
func said(m memory.Item) string { return m.Speaker + `: "` + oneLine(m.Text) + `"` }

// oneLine folds white space, so that an item cannot look like a heading.
func oneLine(s string) string {
	return strings.Join(strings.Fields(strings.ToValidUTF8(s, "\uFFFD")), " ")
}

func whenOf(i memory.Item) string {
	const day = "2006-01-02"
	if i.Occurred != nil && i.Occurred.From != nil {
		from := i.Occurred.From.Format(day)
		if i.Occurred.To != nil && i.Occurred.To.Format(day) != from {
			return from + " to " + i.Occurred.To.Format(day)
		}
		return from
	}
	if i.Said == nil {
		return ""
	}
	return "said " + i.Said.Format(day)
}

// reply writes the briefing within a budget of tokens: whole items, the least
// important ones dropped first.
func (b *briefing) reply(budget int) memory.ReflectReply {
	r := memory.ReflectReply{Citations: []memory.Citation{}, FactsUsed: []string{}, Mode: StyleContext, Degraded: []string{}}
	lines := b.lines
	text := b.write(lines)
	for len(lines) > 0 && analysis.CountTokens(text) > budget {
		over := analysis.CountTokens(text) - budget
		for over > 0 && len(lines) > 0 {
			over -= analysis.CountTokens(lines[len(lines)-1].text) + 4
			lines = lines[:len(lines)-1]
		}
		text = b.write(lines)
	}
	if len(lines) < len(b.lines) {
		r.Degraded = append(r.Degraded, fmt.Sprintf("max_tokens: %d of %d items left out", len(b.lines)-len(lines), len(b.lines)))
	}
	if len(b.lines) == 0 {
		text = nothing
	}
	for _, l := range lines {
		if l.item == nil {
			continue
		}
		r.Citations = append(r.Citations, memory.Citation{ID: l.item.ID, Text: l.item.Text})
		if l.item.Record == memory.RecordFact {
			r.FactsUsed = append(r.FactsUsed, l.item.ID)
		}
	}
	r.Response, r.Tokens = text, analysis.CountTokens(text)
	return r
}

// write gives the sections that have lines, each line numbered as its citation.
func (b *briefing) write(lines []line) string {
	number := make([]int, len(lines))
	n := 0
	for i, l := range lines {
		if l.item != nil {
			n++
			number[i] = n
		}
	}
	var s strings.Builder
	for _, section := range b.order() {
		open := false
		for i, l := range lines {
			if l.section != section {
				continue
			}
			if !open {
				if s.Len() > 0 {
					s.WriteString("\n")
				}
				s.WriteString("## " + section + "\n")
				open = true
			}
			if number[i] > 0 {
				fmt.Fprintf(&s, "- [%d] %s\n", number[i], l.text)
			} else {
				s.WriteString("- " + l.text + "\n")
			}
		}
	}
	return strings.TrimSuffix(s.String(), "\n")
}
