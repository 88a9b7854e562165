package text

import (
	"unicode"
	"unicode/utf8"
)

// maxIndexWord is the longest word in bytes that an index word holds. The rest of a longer one is cut off.
const maxIndexWord = 64

// IndexWord is one word of a text as the full-text index has it.
type IndexWord struct {
	Folded     []byte // lower case, diacritics removed; valid during the call only
	Start, End int    // byte offsets in the text
	Upper      bool   // begins with an upper-case letter
	CJK        bool   // is one character, or two neighbours, of a script without spaces
}

// EachIndexWord calls fn for every word of text, in order.
//
// It differs from Words because it must cut as the full-text index does, SQLite's unicode61, or a term of a question
// would not be found: a word is a maximal run of letters and digits, so "don't" is "don" and "t", and letters lose their
// diacritics. A run of Chinese, Japanese or Korean characters gives every pair of neighbours, or its one character.
// Words are at most 64 bytes long. Invalid UTF-8 and NUL separate words. Nothing is allocated: ranking reads hundreds of
// texts for each question.
func EachIndexWord(text string, fn func(IndexWord)) {
	var buf [maxIndexWord + utf8.UTFMax]byte
	var w IndexWord
	w.Folded = buf[:0]
	var before rune // the CJK character before this one in its run, 0 for none
	beforeAt, paired := 0, false
	flush := func(end int) {
		if len(w.Folded) > 0 {
			w.End = end
			fn(w)
			w.Folded, w.Upper = w.Folded[:0], false
		}
	}
	flushCJK := func(end int) {
		if before != 0 && !paired {
			fn(IndexWord{Folded: utf8.AppendRune(buf[:0], before), Start: beforeAt, End: end, CJK: true})
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
			w.Upper = w.Upper || len(w.Folded) == 0
			w.add(byte(r)+'a'-'A', i)
		case r < utf8.RuneSelf || r == utf8.RuneError:
			flush(i)
			flushCJK(i)
		case isCJK(r):
			flush(i)
			if before != 0 {
				pair := utf8.AppendRune(utf8.AppendRune(buf[:0], before), r)
				fn(IndexWord{Folded: pair, Start: beforeAt, End: i + utf8.RuneLen(r), CJK: true})
				paired = true
			}
			before, beforeAt = r, i
		case unicode.IsLetter(r) || unicode.IsNumber(r):
			flushCJK(i)
			w.Upper = w.Upper || (len(w.Folded) == 0 && unicode.IsUpper(r))
			w.addRune(foldRune(r), i)
		case unicode.IsMark(r):
			if len(w.Folded) > 0 && (r < 0x300 || r > 0x36f) {
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

func (w *IndexWord) add(b byte, at int) {
	if len(w.Folded) == 0 {
		w.Start = at
	}
	if len(w.Folded) < maxIndexWord {
		w.Folded = append(w.Folded, b)
	}
}

func (w *IndexWord) addRune(r rune, at int) {
	if len(w.Folded) == 0 {
		w.Start = at
	}
	if len(w.Folded) < maxIndexWord {
		w.Folded = utf8.AppendRune(w.Folded, r)
	}
}

// latin holds, from U+00C0 on, the base letter of each Latin letter with a diacritic. A dot leaves the letter as it is.
const latin = "aaaaaa.ceeeeiiii.nooooo..uuuuy..aaaaaa.ceeeeiiii.nooooo..uuuuy.y" +
	"aaaaaaccccccccdd..eeeeeeeeeegggggggghh..iiiiiiiii...jjkk.llllll." +
	"...nnnnnn...oooooo..rrrrrrsssssssstttt..uuuuuuuuuuuuwwyyyzzzzzz."

// foldRune returns r in lower case, without its diacritic if r is a Latin letter below U+0180.
func foldRune(r rune) rune {
	if r >= 0xc0 && int(r-0xc0) < len(latin) {
		if b := latin[r-0xc0]; b != '.' {
			return rune(b)
		}
	}
	return unicode.ToLower(r)
}
