package rank

import "strings"

// questionMarks end a question in the scripts that have one.
const questionMarks = "?？؟"

// sentences walks through the sentences of a text.
type sentenceWalk struct {
	text   string
	end    int // where the sentence ends that was looked at last
	asking bool
}

func sentences(text string) *sentenceWalk { return &sentenceWalk{text: text, end: -1} }

// asks reports whether the sentence that at stands in is a question. at must not go back.
func (s *sentenceWalk) asks(at int) bool {
	if at <= s.end {
		return s.asking
	}
	i := strings.IndexAny(s.text[at:], ".!\n。！"+questionMarks)
	if i < 0 {
		s.end, s.asking = len(s.text), false
		return false
	}
	s.end = at + i
	s.asking = strings.IndexAny(s.text[s.end:], questionMarks) == 0
	return s.asking
}

// telling finds where "I" or "we" did something: "I just adopted a cat".
type telling struct {
	since int // words since "I" or "we", adverbs not counted; 0 for none
}

// deed takes the next word and reports whether it is such a verb in the past.
func (t *telling) deed(fold []byte, is cue) bool {
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
	return then && (word == "did" || irregular[word] != "" || len(word) > 3 && strings.HasSuffix(word, "ed"))
}
