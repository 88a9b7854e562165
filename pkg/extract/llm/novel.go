package llm

import (
	"strings"

	"github.com/eunoe-memory/eunoe/pkg/analysis"
	"github.com/eunoe-memory/eunoe/pkg/extract"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// Novel reports whether a window may hold something new. It looks at every new
// message: one with a word of content, a number or a name that is no repetition
// of what stands before it makes the whole window new, whatever closes it; so
// does any answer to a question with content. It knows small talk in English
// alone: what it does not know is new.
func Novel(in extract.Input) bool {
	before := map[string]bool{}
	asked := false
	for _, m := range in.Context {
		before[said(m)] = true
		asked = asks(m)
	}
	for _, m := range in.New {
		text := said(m)
		if asked || !before[text] && tells(m) {
			return true
		}
		before[text], asked = true, asks(m)
	}
	return false
}

// asks reports a question that has content.
func asks(m memory.Message) bool { return strings.Contains(m.Content, "?") && tells(m) }

// said is who said what, as it is compared.
func said(m memory.Message) string {
	return m.Speaker + "\x00" + memory.NormalText(m.Content+" "+m.Caption())
}

// tells reports whether a message is more than small talk.
func tells(m memory.Message) bool {
	if m.Caption() != "" {
		return true
	}
	text := m.Content
	for _, t := range analysis.Terms(text) {
		if t.Number || !t.Stop && !chatter(t.Text) {
			return true
		}
	}
	return len(analysis.Terms(text)) == 0 && strings.ContainsFunc(text, func(r rune) bool { return r >= '0' && r <= '9' })
}

func chatter(word string) bool {
	_, filler := fillers[word]
	_, small := smallTalk[word]
	return filler || small
}

// smallTalk are words that tell nothing where they stand alone. "Yes" and "no"
// are not among them: they answer what stands before.
var smallTalk = setOf("bye goodbye cya cheers thank thanks thx ty welcome morning evening night good great nice cool awesome lovely sure fine alright right see later soon care take bye-bye hiya greetings")
