package worth

import (
	"math"
	"strings"
	"unicode"
	"unicode/utf8"
)

// buckets is how many weights a class has: features are hashed into them.
const buckets = 1 << 17

// feature is a bucket and how much of it a sentence has.
type feature struct {
	bucket uint32
	value  float32
}

// features returns what the classifier sees of a sentence: its words, pairs of words and parts of words, and its form.
// Nothing in it belongs to one language.
func features(s Sentence) []feature {
	f := make(featureList, 0, 96)
	low := strings.ToLower(s.Text)
	f.lexical(low)
	for i := range f {
		f[i].value = float32(1 / math.Sqrt(float64(len(f))))
	}
	f.form(s, low)
	return f
}

type featureList []feature

func (f *featureList) add(parts ...string) {
	h := uint32(2166136261)
	for _, p := range parts {
		for i := 0; i < len(p); i++ {
			h = (h ^ uint32(p[i])) * 16777619
		}
		h = (h ^ 0xff) * 16777619
	}
	*f = append(*f, feature{(h ^ h>>15) % buckets, 1})
}

// lexical adds the words of a text in lower case, its pairs of neighbours, and the parts of longer words; of a script
// without spaces its characters, pairs and triples.
func (f *featureList) lexical(low string) {
	before, n := "^", 0
	for word := range words(low) {
		if n++; n > 60 {
			break
		}
		if r, _ := utf8.DecodeRuneInString(word); dense(r) {
			f.grams(word)
			continue
		}
		word = digitsAs0(word)
		f.add("w", word)
		f.add("p", before, word)
		if n <= 2 {
			f.add("first", word)
		}
		before = word
		runes := []rune(word)
		if len(runes) < 4 {
			continue
		}
		padded := append(append([]rune{'<'}, runes...), '>')
		for i := 0; i+4 <= len(padded); i++ {
			f.add("g", string(padded[i:i+4]))
		}
	}
	f.add("p", before, "$")
	f.add("last", before)
}

// grams adds the characters of a run without spaces, and their pairs and triples.
func (f *featureList) grams(run string) {
	runes := []rune(run)
	padded := append(append([]rune{'^'}, runes...), '$')
	for i := range padded {
		for n := 1; n <= 3 && i+n <= len(padded); n++ {
			if n > 1 || i > 0 && i < len(padded)-1 {
				f.add("c", string(padded[i:i+n]))
			}
		}
	}
}

// form adds what tells a statement apart in any language.
func (f *featureList) form(s Sentence, low string) {
	role := "user"
	if s.Assistant {
		role = "assistant"
	}
	set := func(name string, is bool) {
		if is {
			f.add("f", name)
			f.add("f", name, role)
		}
	}
	f.add("role", role)
	n := 0
	for word := range words(low) {
		if r, _ := utf8.DecodeRuneInString(word); dense(r) {
			n += (utf8.RuneCountInString(word) + 1) / 2
		} else {
			n++
		}
	}
	f.add("n", size(n), role)
	set("question", strings.ContainsAny(s.Text, "?？؟;") && Asks(s.Text))
	set("digit", strings.ContainsFunc(s.Text, unicode.IsDigit))
	set("exclamation", strings.ContainsAny(s.Text, "!！"))
	set("emoji", strings.ContainsFunc(s.Text, func(r rune) bool { return r >= 0x1F300 && r < 0x1FB00 || r >= 0x2600 && r < 0x27C0 }))
	set("quote", strings.ContainsAny(s.Text, "\"“„«»「『”"))
	set("code", strings.ContainsAny(s.Text, "`{}=<>|"))
	set("mark", strings.HasPrefix(s.Text, "-") || strings.HasPrefix(s.Text, "#") || strings.HasPrefix(s.Text, "*") || strings.HasPrefix(s.Text, ">") || s.Listed)
	set("colon end", strings.HasSuffix(strings.TrimSpace(s.Text), ":"))
	set("dated", s.Dated)
	set("named", capitals(s.Text))
	set("ellipsis", strings.Contains(s.Text, "…") || strings.Contains(s.Text, "..."))
	set("answer", s.Answers)
	set("alone", s.Count == 1)
	set("first", s.Index == 0 && s.Count > 1)
	set("long message", s.Count > 4)
	set("very long message", s.Count > 9)
	set("after question", s.AfterQuestion)
}

// size is the class of a length.
func size(n int) string {
	switch {
	case n <= 3:
		return string(rune('0' + n))
	case n <= 5:
		return "5"
	case n <= 8:
		return "8"
	case n <= 13:
		return "13"
	case n <= 21:
		return "21"
	}
	return "more"
}

// Asks reports whether a sentence ends with a question mark.
func Asks(s string) bool {
	s = strings.TrimRightFunc(s, func(r rune) bool {
		return unicode.IsSpace(r) || strings.ContainsRune("!.)\"'”»」』", r) || r > 0x2190 && r != '？' && !unicode.IsLetter(r)
	})
	return strings.HasSuffix(s, "?") || strings.HasSuffix(s, "？") || strings.HasSuffix(s, "؟")
}

// capitals reports whether a word behind the first has a capital and small letters behind it.
func capitals(s string) bool {
	for i, w := range strings.Fields(s) {
		r, n := utf8.DecodeRuneInString(w)
		if next, _ := utf8.DecodeRuneInString(w[n:]); i > 0 && unicode.IsUpper(r) && unicode.IsLower(next) {
			return true
		}
	}
	return false
}

// words yields the words of a text: letters, digits, marks and inner apostrophes.
func words(s string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		start, script := -1, false
		for i, r := range s {
			in := unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) || (r == '\'' || r == '’') && start >= 0
			if start >= 0 && (!in || dense(r) != script && !unicode.IsMark(r)) {
				if !yield(strings.Trim(s[start:i], "'’")) {
					return
				}
				start = -1
			}
			if in && start < 0 {
				start, script = i, dense(r)
			}
		}
		if start >= 0 {
			yield(strings.Trim(s[start:], "'’"))
		}
	}
}

// dense reports whether a letter is of a script that puts no spaces between words.
func dense(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar) || r == 'ー'
}

func digitsAs0(s string) string {
	if !strings.ContainsFunc(s, unicode.IsDigit) {
		return s
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsDigit(r) {
			return '0'
		}
		return r
	}, s)
}
