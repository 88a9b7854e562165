package text

import (
	"math/bits"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Language is a language by its ISO 639-1 code; "" is an unknown one.
type Language string

// Has reports whether a lower-case word is one of the common words by which the language is known.
func (l Language) Has(word string) bool {
	i, ok := languageIndex[l]
	return ok && languagesOfWord[word]&(1<<i) != 0
}

// English is the one language whose sentences are rewritten.
const English Language = "en"

// LanguageOf returns the language of a sentence or a longer text: by its script, else by its function words and its
// letters. Where these tell nothing or point at several alike, it is the first of habits that they do not speak against;
// "" where nothing tells.
//
// Detectors by character n-grams were compared and not taken: they need a paragraph, and what people type to a bot is a
// line. Function words decide on three words.
func LanguageOf(s string, habits ...Language) Language {
	p := profile(s)
	if p.script != "" {
		return p.script
	}
	best, second := p.best()
	for _, h := range habits {
		if h != "" && p.score[languageIndex[h]] >= p.score[best] && (p.foreign < 2 || h != English) {
			return h
		}
	}
	if p.score[best] == 0 || p.score[best] == p.score[second] && p.score[languageIndex[English]] == p.score[best] {
		return ""
	}
	return languages[best]
}

// IsEnglish reports whether a sentence is English throughout, so that English grammar may rewrite it. One with words of
// another language among its own is not, names aside. habit is the language of the talk around it, "" where it is
// unknown; it decides where the words do not.
func IsEnglish(s string, habit Language) bool {
	p := profile(s)
	if p.script != "" {
		return false
	}
	best, _ := p.best()
	english := p.score[languageIndex[English]]
	if p.rival() < len(languages) && switchesLanguage(s) {
		return false
	}
	switch {
	case p.foreign > 0 && english < exclusive/3:
		return false
	case english < exclusive/3 && !p.persons && (habit == "" || habit == English): // "Dan eats raw fish": a word by chance
		return p.hits[best] <= p.words/4
	case english < exclusive/3: // "i" and "me" alone, which many languages have
		return p.score[best] <= english && habit == English || p.score[best] == 0 && habit == ""
	case habit == English && p.foreign == 0 && p.rival() == len(languages):
		return true
	case languages[best] != English && p.score[best] >= english:
		return false
	case habit != "" && habit != English && p.score[languageIndex[habit]] >= english/2 && english < 3*exclusive:
		return false
	}
	return p.foreign*exclusive <= english && 3*p.score[p.rival()] <= 2*english
}

// switchesLanguage reports whether a clause of a sentence is in another language than English.
func switchesLanguage(s string) bool {
	for _, clause := range clauseJoints.Split(s, -1) {
		p := profile(clause)
		r := p.rival()
		if r < len(languages) && p.words > 2 && p.score[r] > p.score[languageIndex[English]] {
			return true
		}
	}
	return false
}

// clauseJoints are where a speaker may change the language.
var clauseJoints = regexp.MustCompile(`[,;:–—]+ | (?:but|and|because|so) `)

// languages are those that words tell apart, by how many people write them: of equals the first counts. languageIndex
// holds their places.
var (
	languages = []Language{English, "es", "fr", "de", "pt", "it", "nl", "pl", "tr", "id", "vi", "sv", "ro", "cs", "hu", "da", "nb", "fi", "tl",
		"sw", "hr", "sk", "sl", "ca", "lt", "lv", "et", "is", "ga"}
	languageIndex = func() map[Language]int {
		out := map[Language]int{}
		for i, l := range languages {
			out[l] = i
		}
		return out
	}()
	// languagesOfWord holds a bit for each language that has the word.
	languagesOfWord = func() map[string]uint32 {
		out := map[string]uint32{}
		for i, l := range languages {
			for w := range strings.FieldsSeq(languageWords[l]) {
				out[w] |= 1 << i
			}
		}
		for _, set := range []WordSet{functionWords, chatWords, nameVerbs, commonOpeners} {
			for w := range set {
				if len(w) > 1 {
					out[w] |= 1 << languageIndex[English]
				}
			}
		}
		return out
	}()
)

// exclusive is the weight of a word that one language alone has; words of n languages weigh an nth of it.
const exclusive = 60

// languageProfile is what the words and letters of a text say about its language.
type languageProfile struct {
	score   [32]int  // by languageIndex
	own     [32]int  // words that this language alone has, names aside
	script  Language // the language of a script other than Latin, "" for Latin
	hits    [32]int  // words that the language has, shared ones included, names aside
	words   int
	persons bool // a word that is a pronoun of the first person in English
	foreign int  // words in lower case with letters that English has not
}

func profile(s string) languageProfile {
	var p languageProfile
	if s == "" {
		return p
	}
	if !IsASCII(s) {
		if p.script = scriptOf(s); p.script != "" {
			return p
		}
	}
	first := true
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		if !unicode.IsLetter(r) {
			i += size
			continue
		}
		j := i
		ascii := true
		for j < len(s) {
			r, size := utf8.DecodeRuneInString(s[j:])
			if !unicode.IsLetter(r) && !unicode.IsMark(r) && !(apostrophe(r) && j+size < len(s) && letterAt(s, j+size)) {
				break
			}
			ascii = ascii && r < utf8.RuneSelf
			j += size
		}
		if word := s[i:j]; !inAddress(s, i, j) {
			p.word(word, ascii, first)
		}
		first = false
		i = j
	}
	return p
}

// word counts one word. A capital inside a sentence may begin a name, which tells little.
func (p *languageProfile) word(word string, ascii, first bool) {
	r, _ := utf8.DecodeRuneInString(word)
	name := !first && unicode.IsUpper(r) && strings.ToUpper(word) != word
	low := strings.ReplaceAll(strings.ToLower(word), "’", "'")
	p.words++
	p.persons = p.persons || firstPersons.Has(low)
	if first && unicode.IsUpper(r) && knownNames[low] != 0 {
		return
	}
	switch {
	case word == "I" && first: // Slavic and Italian sentences begin with it too
		p.score[languageIndex[English]] += exclusive / 2
	case word == "I":
		p.score[languageIndex[English]] += 2 * exclusive
		return
	}
	set, known := languagesOfWord[low]
	if !known && ascii && inflected(low) {
		set, known = 1<<languageIndex[English], true
	}
	if !known {
		if i := strings.IndexByte(low, '\''); i > 0 && i < 3 && i+1 < len(low) { // l'été, d'Espagne
			set, known = romance, true
		} else if i > 0 && (strings.HasSuffix(low, "'s") || strings.HasSuffix(low, "n't")) {
			set, known = 1<<languageIndex[English], true
		}
	}
	if n := bits.OnesCount32(set); known && n > 0 {
		weight := exclusive / n
		if name {
			weight /= 3
		}
		for rest := set; rest != 0; rest &= rest - 1 {
			p.score[bits.TrailingZeros32(rest)] += weight
			if !name {
				p.hits[bits.TrailingZeros32(rest)]++
			}
		}
		if n == 1 && !name {
			p.own[bits.TrailingZeros32(set)]++
		}
	}
	if ascii || english.Has(low) {
		return
	}
	if !name && set&(1<<languageIndex[English]) == 0 {
		p.foreign++
	}
	weight := exclusive / 2
	if name {
		weight = exclusive / 10
	}
	for _, l := range letters {
		if strings.ContainsAny(low, l.letters) {
			for rest := l.set; rest != 0; rest &= rest - 1 {
				p.score[bits.TrailingZeros32(rest)] += weight / bits.OnesCount32(l.set)
			}
		}
	}
}

// firstPersons are the words that a sentence taken for English would lose to a name.
var firstPersons = NewWordSet("i me my mine myself im ive we us our ours ourselves u ur")

// inflected reports whether a word is the form of an English verb or noun of the list: eats, walked, painting.
func inflected(word string) bool {
	for _, ending := range []string{"s", "es", "ed", "d", "ing"} {
		if base, ok := strings.CutSuffix(word, ending); ok && len(base) > 2 && languagesOfWord[base] == 1<<languageIndex[English] {
			return true
		}
	}
	return false
}

// best returns the languages with the highest scores, of equals the one that stands first in languages.
func (p *languageProfile) best() (first, second int) {
	second = 1
	for i := range languages {
		switch {
		case p.score[i] > p.score[first]:
			first, second = i, first
		case i != first && (second == first || p.score[i] > p.score[second]):
			second = i
		}
	}
	return first, second
}

// rival returns the language other than English that has the most words of its own in the text, by score where two have
// equally many.
func (p *languageProfile) rival() int {
	out := -1
	for i := range languages {
		if languages[i] == English || p.own[i] == 0 {
			continue
		}
		if out < 0 || p.own[i] > p.own[out] || p.own[i] == p.own[out] && p.score[i] > p.score[out] {
			out = i
		}
	}
	if out < 0 {
		return len(languages)
	}
	return out
}

func apostrophe(r rune) bool { return r == '\'' || r == '’' }

func letterAt(s string, i int) bool {
	r, _ := utf8.DecodeRuneInString(s[i:])
	return unicode.IsLetter(r)
}

// inAddress reports whether the word from i to j is part of a URL, an e-mail address, a path or a hashtag.
func inAddress(s string, i, j int) bool {
	return i > 0 && strings.IndexByte("/@#_\\", s[i-1]) >= 0 || j < len(s) && strings.IndexByte("/@_\\", s[j]) >= 0 && !strings.HasPrefix(s[j:], "/ ") ||
		i > 1 && s[i-1] == '.' && asciiWord(s[i-2]) || j+1 < len(s) && s[j] == '.' && asciiWord(s[j+1])
}

func asciiWord(b byte) bool {
	return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9'
}
