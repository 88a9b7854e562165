package query

import (
	"fmt"
	"slices"

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
	parties [2]memory.Item // of a conflict, which has no item
}

// briefing is what was found, on its way to being a context.
type briefing struct {
	found  found
	traits memory.Disposition
	quotes map[string]memory.Item // what was said, by fact; for the literal
	lines  []line                 // in order of importance

	disputed map[string]bool // facts that are party to an open conflict
}

func newBriefing(f found, quotes map[string]memory.Item) *briefing {
	b := &briefing{found: f, traits: f.bank.Disposition, quotes: quotes}
	if b.traits.Validate() != nil {
		b.traits = memory.DefaultDisposition()
	}
	b.disputed = map[string]bool{}
	for _, c := range f.conflicts {
		b.disputed[string(c.A)], b.disputed[string(c.B)] = true, true
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
		b.lines = append(b.lines, line{section: b.section(*item), text: b.say(*item, b.disputed[item.ID]), item: item})
	}
	for _, c := range f.conflicts {
		x, y := f.parties[c.A], f.parties[c.B]
		if x.ID == "" || y.ID == "" {
			continue
		}
		b.lines = append(b.lines, line{section: sectionConflicts, text: fmt.Sprintf("%q against %q, undecided.", x.Text, y.Text), parties: [2]memory.Item{x, y}})
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
