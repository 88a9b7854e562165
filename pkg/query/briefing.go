package query

import (
	"fmt"
	"slices"
	"strings"

	"github.com/eunoe-memory/eunoe/pkg/analysis"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// The sections of a briefing, by their headings.
const (
	sectionFacts        = "Facts"
	sectionExperiences  = "Experiences"
	sectionOpinions     = "Opinions"
	sectionFeelings     = "Feelings and opinions"
	sectionObservations = "Observations"
	sectionSummaries    = "Summaries"
	sectionConflicts    = "Conflicts"
	sectionMessages     = "Messages"
)

// line is one item of a briefing.
type line struct {
	section string
	text    string // without its number
	item    *memory.Item
}

// briefing is what was found, on its way to being a context.
type briefing struct {
	found  found
	traits memory.Disposition
	quotes map[string]memory.Item // what was said, by fact; for the literal
	lines  []line                 // in order of importance
}

func newBriefing(f found, quotes map[string]memory.Item) *briefing {
	b := &briefing{found: f, traits: f.bank.Disposition, quotes: quotes}
	if b.traits.Validate() != nil {
		b.traits = memory.DefaultDisposition()
	}
	disputed := map[string]bool{}
	for _, c := range f.conflicts {
		disputed[string(c.A)], disputed[string(c.B)] = true, true
	}
	facts := 0
	for i := range f.reply.Items {
		item := &f.reply.Items[i]
		if b.doubts(*item) || item.Record == memory.RecordMessage && b.traits.Literalism <= 2 && facts > 0 {
			continue
		}
		if item.Record != memory.RecordMessage {
			facts++
		}
		b.lines = append(b.lines, line{b.section(*item), b.say(*item, disputed[item.ID]), item})
	}
	for _, c := range f.conflicts {
		x, y := f.parties[c.A], f.parties[c.B]
		if x.ID == "" || y.ID == "" {
			continue
		}
		b.lines = append(b.lines, line{sectionConflicts, fmt.Sprintf("%q against %q, undecided.", x.Text, y.Text), nil})
	}
	return b
}

// LeastConfidence is what a belief or an observation needs to be shown, by
// skepticism: nothing up to 3, then 0.5 and 0.7.
func LeastConfidence(skepticism int) float64 {
	switch {
	case skepticism >= 5:
		return .7
	case skepticism == 4:
		return .5
	}
	return 0
}

// doubts reports whether skepticism leaves an item out: too little confidence,
// or, at 5, a belief or observation that rests on fewer than two messages.
func (b *briefing) doubts(i memory.Item) bool {
	if i.Record == memory.RecordMessage || i.Record == memory.RecordComposite {
		return false
	}
	if i.Confidence < LeastConfidence(b.traits.Skepticism) {
		return true
	}
	derived := i.Record == memory.RecordObservation || i.Kind == memory.KindOpinion
	return b.traits.Skepticism >= 5 && derived && len(i.Sources) < 2
}

func (b *briefing) section(i memory.Item) string {
	switch i.Record {
	case memory.RecordComposite:
		return sectionSummaries
	case memory.RecordObservation:
		return sectionObservations
	case memory.RecordMessage:
		return sectionMessages
	}
	if b.traits.Empathy >= 4 && (i.Kind == memory.KindOpinion || feels(i.Text)) {
		return sectionFeelings
	}
	switch i.Kind {
	case memory.KindExperience:
		return sectionExperiences
	case memory.KindOpinion:
		return sectionOpinions
	}
	return sectionFacts
}

// order gives the sections in the order they stand. Empathy moves feelings to
// the front or opinions to the end; skepticism moves conflicts.
func (b *briefing) order() []string {
	out := []string{sectionFacts, sectionExperiences, sectionOpinions, sectionObservations, sectionSummaries, sectionMessages}
	switch {
	case b.traits.Empathy >= 4:
		out = append([]string{sectionFeelings}, out...)
	case b.traits.Empathy <= 2:
		out = append(slices.DeleteFunc(out, func(s string) bool { return s == sectionOpinions }), sectionOpinions)
	}
	switch {
	case b.traits.Skepticism >= 4:
		return append([]string{sectionConflicts}, out...)
	case b.traits.Skepticism <= 2:
		return append(out, sectionConflicts)
	}
	at := slices.Index(out, sectionObservations) + 1
	return slices.Insert(out, at, sectionConflicts)
}

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
	r := memory.ReflectReply{Citations: []memory.Citation{}, FactsUsed: []string{}, Usage: map[string]any{}, Mode: StyleContext, Degraded: []string{}}
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
