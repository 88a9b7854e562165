package llm

import (
	"strings"

	"github.com/eunoe-memory/eunoe/pkg/extract"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/text"
)

// Novel reports whether a window may hold something new. It looks at every new message: a single one that has a content
// word, a number or a name and repeats no earlier message makes the whole window new, and so does any answer to a
// question that has content. It recognises small talk in English only: what it does not recognise is new.
func Novel(in extract.Input) bool {
	seen := map[string]bool{}
	asked := false
	for _, m := range in.Context {
		seen[statementKey(m)] = true
		asked = isQuestion(m)
	}
	for _, m := range in.New {
		key := statementKey(m)
		if asked || !seen[key] && hasContent(m) {
			return true
		}
		seen[key], asked = true, isQuestion(m)
	}
	return false
}

// isQuestion reports a question that has content.
func isQuestion(m memory.Message) bool { return strings.Contains(m.Content, "?") && hasContent(m) }

// statementKey is equal for repetitions: the same speaker said the same.
func statementKey(m memory.Message) string {
	return m.Speaker + "\x00" + memory.NormalText(m.Content+" "+m.Caption())
}

// hasContent reports whether a message is more than small talk.
func hasContent(m memory.Message) bool {
	if m.Caption() != "" {
		return true
	}
	s := m.Content
	for _, t := range text.Terms(s) {
		if t.Number || !t.Stop && !isSmallTalk(t.Text) {
			return true
		}
	}
	return len(text.Terms(s)) == 0 && strings.ContainsFunc(s, func(r rune) bool { return r >= '0' && r <= '9' })
}

func isSmallTalk(word string) bool {
	return fillers.Has(word) || smallTalk.Has(word)
}

// smallTalk are words that say nothing on their own. "Yes" and "no" are not among them: they answer what was said before.
var smallTalk = text.NewWordSet(`bye goodbye cya cheers thank thanks thx ty welcome morning evening night good great nice
	cool awesome lovely sure fine alright right see later soon care take bye-bye hiya greetings`)
