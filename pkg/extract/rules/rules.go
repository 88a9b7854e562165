// Package rules is the extractor with no model: sentences in, facts out, the
// same ones every time. It keeps what a sentence states, writes it so that it
// can be read without its conversation, and leaves out talk that carries
// nothing. It knows English; sentences of other languages are kept as said.
package rules

import (
	"context"
	"strings"

	"github.com/eunoe-memory/eunoe/pkg/analysis"
	"github.com/eunoe-memory/eunoe/pkg/extract"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// Name is this extractor and its version; another version may word facts differently.
const Name = "rules/1"

const (
	maxFacts     = 6    // facts of a message of ordinary length
	maxLongFacts = 60   // facts of the longest
	longMessage  = 1200 // bytes from which a message may give more
	longStep     = 200  // bytes for each fact more
	maxSentence  = 2000 // bytes of a sentence; the rest of a longer one stays in the message
	maxJoined    = 320  // bytes up to which a sentence is joined to the one it speaks of
)

// Extractor drafts facts by rules. The zero value works; it is safe for
// concurrent use.
type Extractor struct{}

var (
	_ extract.Extractor     = (*Extractor)(nil)
	_ extract.ContextReader = (*Extractor)(nil)
)

// New gives the extractor.
func New() *Extractor { return &Extractor{} }

// Name is "rules/1".
func (*Extractor) Name() string { return Name }

// NeedsContext asks for the messages before: they tell whom "you" means.
func (*Extractor) NeedsContext() bool { return true }

// Extract drafts the facts of each new message, in order: at most six of a
// message, more of one longer than 1,200 bytes. It fails only when ctx ends.
func (*Extractor) Extract(ctx context.Context, in extract.Input) ([]extract.Draft, error) {
	cast := newCast(in)
	var out []extract.Draft
	for _, m := range in.New {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		out = append(out, cast.message(m)...)
	}
	return out, nil
}

// cast is who takes part in a window and what is known of the bank.
type cast struct {
	people []string // names of those who talk, in order
	known  []alias
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
			if n := nameOf(m); !contains(c.people, n) {
				c.people = append(c.people, n)
			}
		}
	}
	for _, e := range in.Entities {
		for _, n := range append([]string{e.Name}, e.Aliases...) {
			if p := phrase(split(n)); len(p) > 4 && len(c.known) < 2000 {
				c.known = append(c.known, alias{p, e.ID})
			}
		}
	}
	return c
}

// nameOf is how facts call the speaker of a message.
func nameOf(m memory.Message) string {
	name := strings.Join(strings.Fields(m.Speaker), " ")
	if name == "" || name == string(m.Role) {
		return "the " + string(m.Role)
	}
	return name
}

// named reports whether a speaker has a name of his own.
func named(speaker string) bool { return !strings.HasPrefix(speaker, "the ") }

// other is the one other who talks, "" where there are more or none.
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

func contains(list []string, s string) bool {
	for _, v := range list {
		if v == s {
			return true
		}
	}
	return false
}

// message drafts the facts of one message.
func (c cast) message(m memory.Message) []extract.Draft {
	t := &teller{cast: c, message: m, me: nameOf(m)}
	t.you = c.other(t.me)
	for _, s := range prose(m) {
		t.sentence(s)
	}
	out := t.best()
	for _, img := range m.Images {
		if d, ok := t.picture(img.Caption); ok {
			out = append(out, d)
		}
	}
	return out
}

// prose gives the sentences of a message that are written in words: no code,
// no data. White space is folded and apostrophes are straight.
func prose(m memory.Message) []string {
	var out []string
	for i, block := range strings.Split(m.Content, "```") {
		if i%2 == 1 {
			continue
		}
		for _, s := range analysis.Sentences(emoticons.Replace(block + " ")) {
			s = strings.Join(strings.Fields(apostrophes.Replace(s)), " ")
			if s = shorten(withoutNumber(s)); worded(s) {
				out = append(out, s)
			}
		}
	}
	return out
}

// emoticons end a sentence, as emoji do.
var emoticons = strings.NewReplacer(" :) ", ". ", " :-) ", ". ", " :D ", ". ", " :( ", ". ", " ;) ", ". ", " :P ", ". ", " xD ", ". ", " <3 ", ". ", " :') ", ". ", " ^^ ", ". ")

var apostrophes = strings.NewReplacer("’", "'", "‘", "'", "\x00", "")

// worded reports whether most of s is letters and spaces.
func worded(s string) bool {
	plain, odd := 0, 0
	for _, r := range s {
		switch {
		case strings.ContainsRune("{}[]<>|\\=_;/#^~`", r):
			odd += 2
		case r >= '0' && r <= '9':
			odd++
		default:
			plain++
		}
	}
	return plain > 2*odd
}

// cut shortens s to at most n bytes, at a space where one is near.
func cut(s string, n int) string {
	for n > 0 && s[n]&0xC0 == 0x80 {
		n--
	}
	s = s[:n]
	if i := strings.LastIndexByte(s, ' '); i > n-100 && i > 0 {
		s = s[:i]
	}
	return s
}

// picture drafts the fact that an image was shown.
func (t *teller) picture(caption string) (extract.Draft, bool) {
	caption = strings.TrimRight(strings.Join(strings.Fields(apostrophes.Replace(caption)), " "), ".!… ")
	if caption == "" {
		return extract.Draft{}, false
	}
	what := "a photo: " + caption
	for _, p := range []string{"a photo of ", "an image of ", "a picture of ", "a photography of ", "photo of ", "image of ", "picture of "} {
		if rest, ok := strings.CutPrefix(caption, p); ok {
			what = "a photo of " + rest
			break
		}
	}
	text := capitalise(t.me) + " shared " + shorten(what) + "."
	return extract.Draft{
		Text: text, Kind: t.kind(memory.TypeEvent, false), Type: memory.TypeEvent, Confidence: 1, Speaker: t.message.Speaker,
		Entities: t.entities(text), Tags: []string{"image"}, Sources: []memory.MessageID{t.message.ID},
	}, true
}
