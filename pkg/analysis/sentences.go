package analysis

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Sentences cuts text into sentences in order, trimmed, never empty. It is made
// for what people type: a line break ends a sentence (unless the line is
// plainly wrapped prose), CJK full stops need no space, a row of emoji ends the
// sentence it follows, "Dr.", "e.g.", "3.5" and "..." do not end one. Nothing
// but white space is lost. A trained splitter was tried beside it and left: it
// knows newspapers, where sentences end in a stop and lines and emoji mean nothing.
func Sentences(text string) []string {
	var out []string
	start := 0
	emit := func(end int) {
		s := strings.TrimSpace(text[start:end])
		start = end
		if s == "" {
			return
		}
		if len(out) > 0 && !hasWord(s) { // emoji or stray marks belong to what they follow
			out[len(out)-1] += " " + s
			return
		}
		out = append(out, s)
	}
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		i += size
		switch {
		case r == '\n' || r == '\r':
			if !wrapped(text[start:i-size], text[i:]) {
				emit(i)
			}
		case r == '。' || r == '！' || r == '？' || r == '｡':
			i = skipClosing(text, i)
			emit(i)
		case r == '.' || r == '!' || r == '?' || r == '…':
			end := skipClosing(text, i)
			if endsSentence(text, start, i-size, end, r) {
				if j := end + len(text[end:]) - len(strings.TrimLeft(text[end:], " ")); skipEmoji(text, j) > j {
					end = skipEmoji(text, j)
				}
				emit(end)
			}
			i = end
		case isEmoji(r):
			end := skipEmoji(text, i)
			if next, _ := utf8.DecodeRuneInString(strings.TrimLeft(text[end:], " ")); unicode.IsUpper(next) && end < len(text) && text[end] == ' ' && hasWord(text[start:i]) {
				emit(end)
			}
			i = end
		}
	}
	emit(len(text))
	return out
}

// skipClosing steps over further end marks, closing quotes and brackets.
func skipClosing(text string, i int) int {
	for i < len(text) {
		r, size := utf8.DecodeRuneInString(text[i:])
		if !strings.ContainsRune(".!?…。！？\"”’')]»", r) {
			break
		}
		i += size
	}
	return i
}

func skipEmoji(text string, i int) int {
	for i < len(text) {
		r, size := utf8.DecodeRuneInString(text[i:])
		if !isEmoji(r) {
			break
		}
		i += size
	}
	return i
}

// endsSentence decides on the mark r at byte at, whose run of marks ends at end.
func endsSentence(text string, start, at, end int, r rune) bool {
	if end >= len(text) {
		return true
	}
	next, _ := utf8.DecodeRuneInString(text[end:])
	if !unicode.IsSpace(next) && !isEmoji(next) && !isCJK(next) {
		return r != '.' && unicode.IsUpper(next) // "Great!Let's go"; but "v1.2", "a.b", "http://x?y"
	}
	after := strings.TrimLeft(text[end:], " \t")
	follow, _ := utf8.DecodeRuneInString(after)
	marks := text[at:end]
	if r == '…' || strings.HasPrefix(marks, "..") {
		return !unicode.IsLower(follow) || strings.ContainsAny(marks, "!?")
	}
	if r != '.' || strings.ContainsAny(marks, "!?") {
		return true
	}
	last := text[start:at]
	if i := strings.LastIndexFunc(last, func(r rune) bool { return unicode.IsSpace(r) || r == '(' }); i >= 0 {
		last = last[i+1:]
	}
	if utf8.RuneCountInString(last) == 1 && last >= "A" && last <= "Z" && last != "I" { // an initial: J. Doe
		return false
	}
	l := strings.ToLower(last)
	if _, title := titles[l]; title {
		return false
	}
	if _, abbr := abbreviations[l]; abbr {
		return unicode.IsUpper(follow)
	}
	if last != "" && strings.Trim(last, "0123456789") == "" && strings.TrimSpace(text[start:at]) == last {
		return false // the number of a list item
	}
	return true
}

// wrapped reports whether a line break only wraps prose: a long line without an
// end mark, followed by a word in lower case.
func wrapped(before, after string) bool {
	if i := strings.LastIndexByte(before, '\n'); i >= 0 {
		before = before[i+1:]
	}
	before = strings.TrimRight(before, " \t\r")
	if len(before) < 50 || strings.HasSuffix(before, ":") {
		return false
	}
	next, _ := utf8.DecodeRuneInString(after)
	return unicode.IsLower(next)
}

func hasWord(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return isWordRune(r) })
}

// isEmoji reports pictographs and what joins and varies them.
func isEmoji(r rune) bool {
	return r >= 0x1F000 && r <= 0x1FAFF || r >= 0x2600 && r <= 0x27BF || r >= 0x2B00 && r <= 0x2BFF || r == 0x200D || isVariation(r) ||
		r >= 0xE0020 && r <= 0xE007F
}

var titles = set(`mr mrs ms dr prof st sr jr mt rev gen col sgt capt lt gov sen rep hon fr vs no fig vol pp approx e.g i.e eg ie cf`)

// abbreviations end a sentence only before a capital.
var abbreviations = set(`etc inc ltd co corp dept est al a.m p.m am pm u.s u.k u.s.a ph.d b.a m.a b.sc m.sc
	jan feb mar apr jun jul aug sep sept oct nov dec mon tue tues wed thu thurs fri sat sun ave blvd rd ft min max`)
