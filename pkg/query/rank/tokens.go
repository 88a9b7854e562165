package rank

import (
	"unicode"
	"unicode/utf8"
)

// maxWord is the longest word in bytes that is looked at whole; what stands beyond it is cut off.
const maxWord = 64

// word is one word of a text as eachWord reports it.
type word struct {
	fold  []byte // lower case, diacritics removed; valid during the call only
	start int    // byte offset of its first rune in the text
	end   int    // byte offset after its last rune
	upper bool   // its first rune is an upper-case letter
	cjk   bool   // one character or two neighbouring ones of a script without spaces
}

// eachWord calls fn for every word of text in order. A word is a maximal run of letters and digits, as FTS5's unicode61
// sees it, so "don't" is "don" and "t". A run of Chinese, Japanese or Korean characters, which has no spaces to cut at, gives
// every pair of neighbours, or its one character. Invalid UTF-8 and NUL separate words.
func eachWord(text string, fn func(word)) {
	var buf [maxWord + utf8.UTFMax]byte
	var w word
	w.fold = buf[:0]
	var before rune // the CJK character before this one in its run, 0 for none
	beforeAt, paired := 0, false
	flush := func(end int) {
		if len(w.fold) > 0 {
			w.end = end
			fn(w)
			w.fold, w.upper = w.fold[:0], false
		}
	}
	flushCJK := func(end int) {
		if before != 0 && !paired {
			fn(word{fold: utf8.AppendRune(buf[:0], before), start: beforeAt, end: end, cjk: true})
		}
		before, paired = 0, false
	}
	for i, r := range text {
		switch {
		case r < utf8.RuneSelf && (('a' <= r && r <= 'z') || ('0' <= r && r <= '9')):
			flushCJK(i)
			w.add(byte(r), i)
		case r < utf8.RuneSelf && 'A' <= r && r <= 'Z':
			flushCJK(i)
			w.upper = w.upper || len(w.fold) == 0
			w.add(byte(r)+'a'-'A', i)
		case r < utf8.RuneSelf || r == utf8.RuneError:
			flush(i)
			flushCJK(i)
		case isCJK(r):
			flush(i)
			if before != 0 {
				pair := utf8.AppendRune(utf8.AppendRune(buf[:0], before), r)
				fn(word{fold: pair, start: beforeAt, end: i + utf8.RuneLen(r), cjk: true})
				paired = true
			}
			before, beforeAt = r, i
		case unicode.IsLetter(r) || unicode.IsNumber(r):
			flushCJK(i)
			w.upper = w.upper || (len(w.fold) == 0 && unicode.IsUpper(r))
			w.addRune(foldRune(r), i)
		case unicode.IsMark(r):
			if len(w.fold) > 0 && (r < 0x300 || r > 0x36f) {
				w.addRune(r, i)
			}
		default:
			flush(i)
			flushCJK(i)
		}
	}
	flush(len(text))
	flushCJK(len(text))
}

func (w *word) add(b byte, at int) {
	if len(w.fold) == 0 {
		w.start = at
	}
	if len(w.fold) < maxWord {
		w.fold = append(w.fold, b)
	}
}

func (w *word) addRune(r rune, at int) {
	if len(w.fold) == 0 {
		w.start = at
	}
	if len(w.fold) < maxWord {
		w.fold = utf8.AppendRune(w.fold, r)
	}
}

// isCJK reports whether r belongs to a script that is written without spaces and is cut into pairs.
func isCJK(r rune) bool {
	if r < 0x1100 {
		return false
	}
	return r == 'ー' || unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul)
}

// latin lists, from U+00C0 on, the base letter of each Latin letter with a diacritic; '.' leaves the letter as it is.
const latin = "aaaaaa.ceeeeiiii.nooooo..uuuuy..aaaaaa.ceeeeiiii.nooooo..uuuuy.y" +
	"aaaaaaccccccccdd..eeeeeeeeeegggggggghh..iiiiiiiii...jjkk.llllll." +
	"...nnnnnn...oooooo..rrrrrrsssssssstttt..uuuuuuuuuuuuwwyyyzzzzzz."

// foldRune returns r in lower case, without its diacritic where r is a Latin letter below U+0180.
func foldRune(r rune) rune {
	if r >= 0xc0 && int(r-0xc0) < len(latin) {
		if b := latin[r-0xc0]; b != '.' {
			return rune(b)
		}
	}
	return unicode.ToLower(r)
}
