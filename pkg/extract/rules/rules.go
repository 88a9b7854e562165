// Package rules is the extractor without a model: sentences in, facts out, the same ones every time.
//
// It cuts a message into the sentences that are its speaker's own words, asks package worth which of them deserve a fact, and
// dates those, names their entities and their state.
// An English sentence is written in the third person, so that it can be read without its conversation; one of another
// language, or of two, stands word for word behind the name of its speaker. A short answer stands behind its question.
// The words that the rules look for are lists beside the code that reads them.
package rules

import (
	"context"
	"slices"
	"strings"
	"unicode"

	"github.com/eunoe-memory/eunoe/pkg/extract"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/text"
)

// Name is this extractor and its version. Another version may word facts differently.
const Name = "rules/1"

const (
	maxFacts     = 10      // facts of a message of ordinary length
	maxLongFacts = 60      // facts of the longest
	longMessage  = 1200    // bytes from which a message may give more
	longStep     = 200     // bytes for each fact more
	maxSentence  = 2000    // bytes of a sentence; the rest of a longer one stays in the message
	maxJoined    = 320     // bytes up to which a sentence is joined to the one it speaks of
	maxRead      = 600     // sentences of a message that are read; of more, runs of a longer one are, evenly spread
	readTogether = 10      // sentences of such a run
	maxText      = 120_000 // bytes of a message whose sentences are all looked at: of a longer one as many, in runs
)

// Extractor drafts facts by rules. The zero value works. It is safe for concurrent use.
type Extractor struct{}

var (
	_ extract.Extractor     = (*Extractor)(nil)
	_ extract.ContextReader = (*Extractor)(nil)
)

// New returns the extractor.
func New() *Extractor { return &Extractor{} }

// Name returns "rules/1".
func (*Extractor) Name() string { return Name }

// NeedsContext returns true: the messages before tell whom "you" means.
func (*Extractor) NeedsContext() bool { return true }

// Extract drafts the facts of each new message, in order: at most ten of a message, more of one longer than 1,200
// bytes. Of a message of more than 600 sentences it reads 600 in runs of ten, from the first to the last. It fails only
// when ctx ends.
func (*Extractor) Extract(ctx context.Context, in extract.Input) ([]extract.Draft, error) {
	cast := newCast(in)
	var out []extract.Draft
	cast.before = in.Context
	for i := range in.New {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		out = append(out, cast.message(in.New[i])...)
		cast.before = append(cast.before[:len(cast.before):len(cast.before)], in.New[i])
	}
	return out, nil
}

// lastOf returns the last message, nil for none.
func lastOf(messages []memory.Message) *memory.Message {
	if len(messages) == 0 {
		return nil
	}
	return &messages[len(messages)-1]
}

// cast holds who takes part in a window and which entities the bank knows.
type cast struct {
	people []string // names of those who talk, in order
	known  []alias
	habits map[string]text.Language // of those who talk, by name; "" is that of all
	bot    bool                     // an assistant takes part
	before []memory.Message         // those before the one that is read
}

// alias is one spelling of a known entity.
type alias struct {
	phrase string // " lower case words "
	id     memory.EntityID
}

func newCast(in extract.Input) cast {
	var c cast
	for _, list := range [][]memory.Message{in.Context, in.New} {
		for _, m := range list {
			c.bot = c.bot || m.Role == memory.RoleAssistant
			if n := nameOf(m); !slices.Contains(c.people, n) {
				c.people = append(c.people, n)
			}
		}
	}
	c.habits = habits(in)
	for _, e := range in.Entities {
		for _, n := range append([]string{e.Name}, e.Aliases...) {
			if p := phrase(split(n)); len(p) > 4 && len(c.known) < 2000 {
				c.known = append(c.known, alias{p, e.ID})
			}
		}
	}
	return c
}

// nameOf returns how facts call the speaker of a message: by name, else by role ("the user").
func nameOf(m memory.Message) string {
	name := strings.Join(strings.Fields(m.Speaker), " ")
	switch {
	case name == "" || name == string(m.Role):
		return "the " + string(m.Role)
	case strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsLower(r) && r != ' ' }): // a handle stays as it is
		return name
	}
	return capitalise(name)
}

// hasName reports whether a speaker has a name of their own.
func hasName(speaker string) bool { return !strings.HasPrefix(speaker, "the ") }

// other returns the only other participant, "" where there are several or none.
func (c cast) other(me string) string {
	out := ""
	for _, p := range c.people {
		if p == me {
			continue
		}
		if out != "" {
			return ""
		}
		out = p
	}
	return out
}

// message drafts the facts of one message.
func (c cast) message(m memory.Message) []extract.Draft {
	before := lastOf(c.before)
	t := &drafter{cast: c, message: m, me: nameOf(m), said: m.Clock()}
	t.you = c.other(t.me)
	t.habit = c.habit(t.me)
	question := t.question(before)
	t.answering = question != ""
	sentences := t.own(m)
	out, answers := t.answer(sentences, question, before)
	if !answers {
		for _, s := range sentences {
			t.sentence(s)
		}
		out = t.best()
	}
	return out
}

// spread returns what is read of the sentences of a message: all of them, up to maxRead.
func spread(sentences []sentence) []sentence {
	if len(sentences) <= maxRead {
		return sentences
	}
	out := make([]sentence, 0, maxRead)
	const parts = maxRead / readTogether
	for i := range parts {
		from := i * (len(sentences) - readTogether) / (parts - 1)
		out = append(out, sentences[from:from+readTogether]...)
	}
	return out
}

// excerpts returns the sentences of runs of a text longer than maxText, evenly spread, each of up to readTogether ones. The
// sentences that a run begins and ends within are left out.
func excerpts(s string) []string {
	const runs, size = maxRead / readTogether, maxText / (maxRead / readTogether)
	out := make([]string, 0, maxRead)
	for i := range runs {
		from := i * (len(s) - size) / (runs - 1)
		sentences := text.Sentences(emoticons.Replace(strings.ToValidUTF8(s[from:from+size], "") + " "))
		if i > 0 && len(sentences) > 0 {
			sentences = sentences[1:]
		}
		if i < runs-1 && len(sentences) > 0 {
			sentences = sentences[:len(sentences)-1]
		}
		first := 0
		if i == runs-1 {
			first = max(0, len(sentences)-readTogether)
		}
		out = append(out, sentences[first:min(len(sentences), first+readTogether)]...)
	}
	return out
}

// emoticons end a sentence, as emoji do.
var emoticons = strings.NewReplacer(" :) ", ". ", " :-) ", ". ", " :D ", ". ", " :( ", ". ", " ;) ", ". ", " :P ", ". ", " xD ", ". ", " <3 ", ". ", " :') ", ". ", " ^^ ", ". ")

// straighten makes apostrophes straight.
func straighten(s string) string { return apostrophes.Replace(s) }

var apostrophes = strings.NewReplacer("’", "'", "‘", "'")

// worded returns a sentence with its white space merged, without the marks of lists and not too long, and whether it is words
// rather than data.
func worded(s string) (string, bool) {
	s = strings.Join(strings.Fields(strings.ReplaceAll(s, "\x00", "")), " ")
	s = shorten(withoutMarks(s))
	return s, hasWords(s)
}

// hasWords reports whether s is words rather than data: it has a word, and its letters outnumber the signs of code twice.
// Digits and addresses are neither, for numbers and codes are what people want kept.
func hasWords(s string) bool {
	letters, signs := 0, 0
	for word := range strings.FieldsSeq(s) {
		address := strings.Contains(word, "://") || strings.HasPrefix(word, "www.") || strings.HasPrefix(word, "/") || strings.HasPrefix(word, "~/")
		for _, r := range word {
			switch {
			case unicode.IsLetter(r):
				letters++
			case !address && strings.ContainsRune("{}[]<>|\\=_;/#^~`", r):
				signs += 2
			}
		}
	}
	signs += 2 * strings.Count(s, `":`)
	return letters > 1 && letters > signs || letters == 1 && signs == 0
}

// truncate shortens s to at most n bytes, at a space if one is near.
func truncate(s string, n int) string {
	s = memory.Truncate(s, n)
	if i := strings.LastIndexByte(s, ' '); i > len(s)-100 && i > 0 {
		s = s[:i]
	}
	return s
}
