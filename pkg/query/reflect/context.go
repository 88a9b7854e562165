package reflect

import (
	"fmt"
	"strings"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/text"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

// context writes the sections as a reply of at most budget tokens: whole items, the least important ones dropped first.
func (s *sections) context(budget int) wire.ReflectReply {
	r := wire.ReflectReply{Citations: []wire.Citation{}, FactsUsed: []string{}, Mode: StyleContext, Degraded: []string{}}
	lines := s.lines
	written := s.write(lines)
	for len(lines) > 0 && text.CountTokens(written) > budget {
		over := text.CountTokens(written) - budget
		for over > 0 && len(lines) > 0 {
			over -= text.CountTokens(lines[len(lines)-1].text) + 4
			lines = lines[:len(lines)-1]
		}
		written = s.write(lines)
	}
	if len(lines) < len(s.lines) {
		r.Degraded = append(r.Degraded, fmt.Sprintf("max_tokens: %d of %d items left out", len(s.lines)-len(lines), len(s.lines)))
	}
	if len(s.lines) == 0 {
		written = nothingFound
	}
	for _, l := range lines {
		if l.item == nil {
			continue
		}
		r.Citations = append(r.Citations, wire.Citation{ID: l.item.ID, Text: l.item.Text})
		if l.item.Record == memory.RecordFact {
			r.FactsUsed = append(r.FactsUsed, l.item.ID)
		}
	}
	r.Response, r.Tokens = written, text.CountTokens(written)
	return r
}

// write writes the sections that have lines. The number of a line is that of its citation.
func (s *sections) write(lines []line) string {
	number := make([]int, len(lines))
	n := 0
	for i, l := range lines {
		if l.item != nil {
			n++
			number[i] = n
		}
	}
	var out strings.Builder
	if s.found.Reply.Confidence < unsure && len(lines) > 0 {
		out.WriteString(nothingSure + "\n")
	}
	for _, heading := range s.order() {
		open := false
		for i, l := range lines {
			if l.heading != heading {
				continue
			}
			if !open {
				if out.Len() > 0 {
					out.WriteString("\n")
				}
				out.WriteString("## " + heading + "\n")
				open = true
			}
			if number[i] > 0 {
				fmt.Fprintf(&out, "- [%d] %s\n", number[i], l.text)
			} else {
				out.WriteString("- " + l.text + "\n")
			}
		}
	}
	return strings.TrimSuffix(out.String(), "\n")
}

// textOf returns an item as the context shows it: its time, its text or the quoted message, and how far it can be trusted.
func (s *sections) textOf(i memory.Item) string {
	var out strings.Builder
	if when := timeOf(i); when != "" {
		out.WriteString("[" + when + "] ")
	}
	message, quoted := s.quotes[i.ID]
	if i.Record == memory.RecordMessage && !quoted {
		message, quoted = i, true
	}
	if quoted {
		out.WriteString(escaped(message.Speaker) + `: "` + escaped(message.Text) + `"`)
	} else {
		out.WriteString(oneLine(i.Text))
	}
	if i.Kind == memory.KindOpinion || i.Record == memory.RecordObservation {
		fmt.Fprintf(&out, " (confidence %.2f)", i.Confidence)
	}
	if i.Reasoning != "" && s.traits.Skepticism >= 3 {
		out.WriteString(" Because: " + oneLine(i.Reasoning))
	}
	if s.disputed[i.ID] && s.traits.Skepticism >= 3 {
		out.WriteString(" (disputed)")
	}
	return out.String()
}

// oneLine replaces every run of white space by a space, so that an item cannot look like a heading.
func oneLine(s string) string {
	return strings.Join(strings.Fields(strings.ToValidUTF8(s, "\uFFFD")), " ")
}

// escaped returns a text on one line that cannot end the quotes around it, nor begin some.
func escaped(s string) string { return strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(oneLine(s)) }

// timeOf returns when an item happened, else when it was said; "" if neither is known.
func timeOf(i memory.Item) string {
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
