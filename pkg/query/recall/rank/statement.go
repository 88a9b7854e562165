package rank

import (
	"strings"
	"unicode/utf8"

	"github.com/eunoe-memory/eunoe/pkg/text"
)

// isQuestionMark reports whether r ends a question, in the scripts that have a mark for it.
func isQuestionMark(r rune) bool { return r == '?' || r == '？' || r == '؟' }

// HasQuestionMark reports whether a text asks anything: whether isQuestionMark holds for one of its characters.
func HasQuestionMark(text string) bool {
	return strings.IndexByte(text, '?') >= 0 || strings.Contains(text, "？") || strings.Contains(text, "؟")
}

// isSentenceEnd reports whether r may end a sentence.
func isSentenceEnd(r rune) bool {
	switch r {
	case '.', '!', '\n', '。', '！':
		return true
	}
	return isQuestionMark(r)
}

// sentenceWalk goes through the sentences of a text.
type sentenceWalk struct {
	text   string
	end    int // of the sentence that was looked at last
	asking bool
}

func sentences(text string) *sentenceWalk { return &sentenceWalk{text: text, end: -1} }

// asks reports whether the sentence around a byte offset is a question. Offsets must not descend.
func (s *sentenceWalk) asks(at int) bool {
	if at <= s.end {
		return s.asking
	}
	i := strings.IndexFunc(s.text[at:], isSentenceEnd)
	if i < 0 {
		s.end, s.asking = len(s.text), false
		return false
	}
	s.end = at + i
	mark, _ := utf8.DecodeRuneInString(s.text[s.end:])
	s.asking = isQuestionMark(mark)
	return s.asking
}

// pastTense finds where "I" or "we" did something: "I just adopted a cat".
type pastTense struct {
	since int // words since "I" or "we", adverbs not counted; 0 for none
}

// deed takes the next word and reports whether it is such a verb in the past tense.
func (t *pastTense) deed(fold []byte, is cue) bool {
	word := string(fold)
	switch {
	case word == "i" || word == "we":
		t.since = 1
		return false
	case t.since == 1 && is&cueAdverb != 0:
		return false
	}
	then := t.since == 1
	t.since = 0
	if !then {
		return false
	}
	_, irregular := text.BaseForm(word)
	return word == "did" || irregular || len(word) > 3 && strings.HasSuffix(word, "ed")
}
