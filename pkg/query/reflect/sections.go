package reflect

import (
	"fmt"
	"slices"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/query/recall"
	"github.com/eunoe-memory/eunoe/pkg/text"
)

// The headings of sections.
const (
	headingFacts        = "Facts"
	headingExperiences  = "Experiences"
	headingOpinions     = "Opinions"
	headingFeelings     = "Feelings and opinions"
	headingObservations = "Observations"
	headingSummaries    = "Summaries"
	headingConflicts    = "Conflicts"
	headingMessages     = "Messages"
)

// line is an item of a section, or a conflict.
type line struct {
	heading string
	text    string // as the context shows it, without its number
	item    *memory.Item
	parties [2]memory.Item // of a conflict, which has no item
}

// sections are what was found, shaped by the bank's disposition.
type sections struct {
	found    recall.Found
	traits   memory.Disposition
	quotes   map[string]memory.Item // the messages that say facts, by fact, where the disposition is literal
	disputed map[string]bool        // facts that are party to an open conflict
	lines    []line                 // the most important first
}

func newSections(found recall.Found, quotes map[string]memory.Item) *sections {
	s := &sections{found: found, traits: found.Bank.Disposition, quotes: quotes, disputed: map[string]bool{}}
	if s.traits.Validate() != nil {
		s.traits = memory.DefaultDisposition()
	}
	for _, c := range found.Conflicts {
		s.disputed[string(c.A)], s.disputed[string(c.B)] = true, true
	}
	derived := 0 // items that are no messages
	for i := range found.Reply.Items {
		item := &found.Reply.Items[i]
		if s.doubts(*item) || item.Record == memory.RecordMessage && s.traits.Literalism <= 2 && derived > 0 {
			continue
		}
		if item.Record != memory.RecordMessage {
			derived++
		}
		s.lines = append(s.lines, line{heading: s.heading(*item), text: s.textOf(*item), item: item})
	}
	for _, c := range found.Conflicts {
		x, y := found.Parties[c.A], found.Parties[c.B]
		if x.ID == "" || y.ID == "" {
			continue
		}
		s.lines = append(s.lines, line{heading: headingConflicts, text: fmt.Sprintf("%q against %q, undecided.", x.Text, y.Text), parties: [2]memory.Item{x, y}})
	}
	return s
}

// LeastConfidence is the confidence that a fact or an observation needs to be shown, by skepticism: none up to 3, then
// 0.5 and 0.7.
func LeastConfidence(skepticism int) float64 {
	switch {
	case skepticism >= 5:
		return .7
	case skepticism == 4:
		return .5
	}
	return 0
}

// doubts reports whether skepticism leaves an item out: its confidence is too low, or, at 5, it is an opinion or
// observation that rests on fewer than two messages.
func (s *sections) doubts(i memory.Item) bool {
	if i.Record == memory.RecordMessage || i.Record == memory.RecordComposite {
		return false
	}
	if i.Confidence < LeastConfidence(s.traits.Skepticism) {
		return true
	}
	inferred := i.Record == memory.RecordObservation || i.Kind == memory.KindOpinion
	return s.traits.Skepticism >= 5 && inferred && len(i.Sources) < 2
}

// heading returns the section of an item.
func (s *sections) heading(i memory.Item) string {
	switch i.Record {
	case memory.RecordComposite:
		return headingSummaries
	case memory.RecordObservation:
		return headingObservations
	case memory.RecordMessage:
		return headingMessages
	}
	if s.traits.Empathy >= 4 && (i.Kind == memory.KindOpinion || speaksOfFeelings(i.Text)) {
		return headingFeelings
	}
	switch i.Kind {
	case memory.KindExperience:
		return headingExperiences
	case memory.KindOpinion:
		return headingOpinions
	}
	return headingFacts
}

// order returns the headings in their order. Empathy moves feelings to the front or opinions to the end; skepticism moves
// conflicts.
func (s *sections) order() []string {
	out := []string{headingFacts, headingExperiences, headingOpinions, headingObservations, headingSummaries, headingMessages}
	switch {
	case s.traits.Empathy >= 4:
		out = append([]string{headingFeelings}, out...)
	case s.traits.Empathy <= 2:
		out = append(slices.DeleteFunc(out, func(h string) bool { return h == headingOpinions }), headingOpinions)
	}
	switch {
	case s.traits.Skepticism >= 4:
		return append([]string{headingConflicts}, out...)
	case s.traits.Skepticism <= 2:
		return append(out, headingConflicts)
	}
	return slices.Insert(out, slices.Index(out, headingObservations)+1, headingConflicts)
}

// feelingWords are the words by which a text speaks of feelings.
var feelingWords = func() map[string]bool {
	set := map[string]bool{}
	for _, w := range []string{"afraid", "amazed", "angry", "annoyed", "anxious", "ashamed", "bored", "calm", "cheerful", "content", "crushed",
		"delighted", "depressed", "devastated", "disappointed", "embarrassed", "enjoy", "enjoys", "enjoyed", "excited", "exhausted", "fear", "fears", "frustrated",
		"furious", "glad", "grateful", "grief", "guilty", "happy", "hate", "hates", "hated", "heartbroken", "hope", "hopes", "hopeful", "hurt", "jealous", "joy",
		"lonely", "love", "loves", "loved", "mad", "miss", "misses", "missed", "nervous", "overwhelmed", "proud", "relaxed", "relieved", "sad", "scared",
		"shocked", "stressed", "surprised", "tense", "terrified", "thankful", "thrilled", "tired", "touched", "upset", "worried", "worries", "worry"} {
		set[w] = true
	}
	return set
}()

func speaksOfFeelings(s string) bool {
	return slices.ContainsFunc(text.Terms(s), func(t text.Term) bool { return feelingWords[t.Text] })
}
