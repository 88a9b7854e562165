package date

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/eunoe-memory/eunoe/pkg/text"
)

// token is a word, a number, a CJK character or a mark of a text, or a phrase of several that a table knows.
type token struct {
	start, end int
	low        string
	senses     []sense
	digits     int // digits of a number, 0 for others
	n          int // value of a number
	mark       bool
	space      bool // white space stands before it
	upper      bool // begins with an upper-case letter
	first      bool // opens a sentence
	ordinal    bool // a number with the suffix of an ordinal
	cjk        bool
}

// value returns the value of the token's sense of a kind.
func (t token) value(k kind) (int, bool) {
	for _, s := range t.senses {
		if s.kind == k {
			return s.value, true
		}
	}
	return 0, false
}

// marks are marks of other scripts and those that they are read as.
var marks = map[rune]string{'،': ",", '؛': ";", '؟': "?", '।': ".", '·': ";", '־': "-", '‑': "-"}

// joiner reports whether r only says how the letters around it are drawn: "می‌روم".
func joiner(r rune) bool { return r == 0x200C || r == 0x200D }

// scan cuts text into tokens: runs of letters, runs of at most nine digits, single CJK characters and single marks. An
// apostrophe separates two words and belongs to neither, except that a short English ending keeps it ("'ll").
func scan(s string) []token {
	out := make([]token, 0, len(s)/4+2)
	space, first := false, true
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		if unicode.IsSpace(r) {
			space = true
			if r == '\n' {
				first = true
			}
			i += size
			continue
		}
		t := token{start: i, space: space, first: first}
		space, first = false, false
		switch d := digit(r); {
		case d >= 0:
			for i < len(s) && t.digits < 9 {
				r, size := utf8.DecodeRuneInString(s[i:])
				v := digit(r)
				if v < 0 {
					break
				}
				t.n, t.digits = t.n*10+v, t.digits+1
				i += size
			}
			t.low = s[t.start:i]
		case isCJK(r):
			i += size
			t.low, t.cjk = s[t.start:i], true
		case letter(r):
			t.upper = unicode.IsUpper(r)
			for i < len(s) {
				r, size := utf8.DecodeRuneInString(s[i:])
				if !letter(r) && !joiner(r) || isCJK(r) {
					break
				}
				i += size
			}
			t.low = strings.ToLower(s[t.start:i])
			if strings.ContainsFunc(t.low, joiner) {
				t.low = strings.NewReplacer("\u200c", "", "\u200d", "").Replace(t.low)
			}
			if i < len(s) { // d'avril, I'll
				r, size := utf8.DecodeRuneInString(s[i:])
				if r == '\'' || r == '’' {
					if next, _ := utf8.DecodeRuneInString(s[i+size:]); letter(next) && !isCJK(next) {
						i += size
						if t.low == "zo" && next == 'n' { // the Dutch zo'n is no Sunday
							t.low += "'n"
							i++
						} else if n := ending(s[i:]); n > 0 {
							out = append(out, t)
							out[len(out)-1].end = i - size
							t = token{start: i - size, low: "'" + strings.ToLower(s[i:i+n])}
							i += n
						} else {
							t.end = i - size
							out = append(out, t)
							continue
						}
					}
				}
			}
		default:
			i += size
			t.low, t.mark = s[t.start:i], true
			if as, ok := marks[r]; ok {
				t.low = as
			}
			first = strings.Contains(".!?…。！？:;", t.low)
		}
		t.end = i
		out = append(out, t)
	}
	return out
}

// ending returns the length of a short English ending behind an apostrophe: s, ll, m, re, ve, d, t.
func ending(s string) int {
	n := 0
	for n < len(s) && n < 3 && s[n] >= 'A' && s[n]|0x20 <= 'z' && s[n]|0x20 >= 'a' {
		n++
	}
	if n < len(s) {
		if r, _ := utf8.DecodeRuneInString(s[n:]); letter(r) || digit(r) >= 0 {
			return 0
		}
	}
	switch strings.ToLower(s[:n]) {
	case "s", "ll", "m", "re", "ve", "d", "t":
		return n
	}
	return 0
}

// letter reports whether words are made of r: letters and marks.
func letter(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' ||
		r >= utf8.RuneSelf && r != utf8.RuneError && (text.IsWordRune(r) || unicode.Is(unicode.Mc, r)) && digit(r) < 0
}

// digit returns the value of a digit, of ordinary or full width, of Arabic, Persian or Devanagari, -1 for other runes.
func digit(r rune) int {
	switch {
	case r >= '0' && r <= '9':
		return int(r - '0')
	case r >= '０' && r <= '９':
		return int(r - '０')
	case r >= '٠' && r <= '٩':
		return int(r - '٠')
	case r >= '۰' && r <= '۹':
		return int(r - '۰')
	case r >= '०' && r <= '९':
		return int(r - '०')
	}
	return -1
}

// isCJK reports whether r is a letter of Chinese, Japanese or Korean.
func isCJK(r rune) bool {
	return r >= 0x1100 && (unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul) || r == 'ー' || r == '々')
}

// lex joins the tokens that make a phrase of the table, the longest first, reads numerals of Han characters and marks
// ordinals.
func (t *table) lex(in []token) []token {
	out := make([]token, 0, len(in))
	for i := 0; i < len(in); {
		tok, n := in[i], 1
		at := &t.phrases
		for j := i; j < len(in); j++ {
			if at = at.next[in[j].low]; at == nil {
				break
			}
			if at.senses != nil {
				n, tok.senses = j-i+1, at.senses
			}
		}
		if t.cjk && tok.low == "第" && n == 1 && i+1 < len(in) {
			if in[i+1].digits > 0 {
				tok.n, tok.digits, tok.ordinal, n = in[i+1].n, in[i+1].digits, true, 2
			} else if v, k := numeral(in[i+1:]); k > 0 {
				tok.n, tok.digits, tok.ordinal, n = v, k, true, k+1
			}
		} else if t.cjk && n == 1 && tok.cjk {
			if v, k := numeral(in[i:]); k > 0 {
				tok.n, tok.digits, n = v, k, k
				tok.senses = nil
			}
		}
		tok.end = in[i+n-1].end
		if n > 1 {
			tok.mark = false
			var b strings.Builder
			for k, p := range in[i : i+n] {
				if k > 0 && p.space {
					b.WriteByte(' ')
				}
				b.WriteString(p.low)
			}
			tok.low = b.String()
		}
		if _, suffix := tok.value(kSuffix); suffix && len(out) > 0 && !tok.space && out[len(out)-1].digits > 0 && out[len(out)-1].end == tok.start {
			out[len(out)-1].ordinal = true
			out[len(out)-1].end = tok.end
			i += n
			continue
		}
		i += n
		if _, opens := tok.value(kOpens); opens && t.dated(in[i:]) { // hétfőtől péntekig
			from := token{start: tok.start, end: tok.start, senses: []sense{{kFrom, 0}}, space: tok.space, first: tok.first}
			out = append(out, from, tok, token{start: tok.end, end: tok.end, senses: []sense{{kTo, 0}}})
			continue
		}
		out = append(out, tok)
	}
	return out
}

// dated reports whether a list of words begins with a weekday or a month.
func (t *table) dated(list []token) bool {
	at, tok := &t.phrases, token{}
	for _, w := range list {
		if at = at.next[w.low]; at == nil {
			break
		}
		if at.senses != nil {
			tok.senses = at.senses
		}
	}
	_, weekday := tok.value(kWeekday)
	_, month := tok.value(kMonth)
	return weekday || month
}

// numeral reads a number of Han characters at the front of list: 二零一八, 十二, 三十. k is how many tokens it takes.
func numeral(list []token) (v, k int) {
	const digits = "〇一二三四五六七八九"
	unit, positional := 0, true
	total := 0
	for k < len(list) && k < 8 && list[k].cjk {
		c := list[k].low
		switch c {
		case "零", "○":
			c = "〇"
		case "两", "兩":
			c = "二"
		}
		if d := strings.Index(digits, c); d >= 0 {
			unit = unit*10 + d/3
		} else if m := map[string]int{"十": 10, "百": 100, "千": 1000}[c]; m > 0 {
			positional = false
			total += max(unit, 1) * m
			unit = 0
		} else {
			break
		}
		k++
	}
	if positional {
		return unit, k
	}
	return total + unit, k
}
