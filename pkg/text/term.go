package text

// Term is a Word with its meaning looked up.
type Term struct {
	Text   string // lower case, without a possessive 's; apostrophes are '
	Stem   string // English stem without diacritics; the Text itself for stop words, numbers and CJK characters
	Stop   bool   // carries no content of its own
	Name   bool   // is capitalised inside a sentence, or is known as a name
	Number bool   // begins with a digit, or is a number word from two up
	Start  int    // byte offset of the word in the text
	End    int    // byte offset behind the word, a possessive 's included
}

// Terms returns the words of text in order, as Words finds them. Text without words gives nil.
func Terms(text string) []Term {
	words := Words(text)
	if len(words) == 0 {
		return nil
	}
	out := make([]Term, len(words))
	for i, w := range words {
		t := Term{Text: w.Lower, Stem: w.Lower, Stop: IsStop(w.Lower), Name: isName(words, i), Start: w.Start, End: w.End}
		t.Number = w.Digit || numberWords[w.Lower] != ""
		if !t.Stop {
			t.Stem = w.stem()
		}
		out[i] = t
	}
	return out
}

// ContentStems returns the stems of the words of text that are no stop words, names included, each once, in the order
// of their first occurrence. The result is nil where there are none.
func ContentStems(text string) []string {
	words := Words(text)
	out := make([]string, 0, len(words))
	seen := make(map[string]struct{}, len(words))
	for _, w := range words {
		if IsStop(w.Lower) {
			continue
		}
		s := w.stem()
		if _, dup := seen[s]; dup {
			continue
		}
		seen[s] = struct{}{}
		out = append(out, s)
	}
	if len(out) == 0 {
		return nil
	}
	return out
}

// longestWord is the longest word of a text that is stemmed, in bytes. A longer one is a hash or a URL.
const longestWord = 40

// stem returns the stem of a word that is no stop word.
func (w Word) stem() string {
	if w.Digit || w.CJK || len(w.Lower) > longestWord {
		return w.Lower
	}
	return Stem(w.Lower)
}
