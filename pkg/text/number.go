package text

import "strings"

// Numbers returns the numbers of text in order, repeats included, in one form for equal values: digits without
// thousands separators and ordinal endings ("1,000" and "1000", "5th" and "five" are the same), clock times and ratios
// with their colon, units kept ("10km"). "one" is no number, for it is most often a pronoun.
func Numbers(text string) []string {
	if !hasNumber(text) {
		return nil
	}
	var out []string
	words := Words(text)
	for i := 0; i < len(words); i++ {
		w := words[i]
		if w.Digit {
			out = append(out, PlainNumber(w.Lower))
			continue
		}
		v, ok := numberWords[w.Lower]
		if !ok {
			continue
		}
		if len(v) == 2 && v[1] == '0' && i+1 < len(words) && words[i+1].Start-w.End == 1 { // twenty-five
			if u := unitDigit(words[i+1].Lower); u != "" {
				out = append(out, v[:1]+u)
				i++
				continue
			}
		}
		out = append(out, v)
	}
	return out
}

func hasNumber(text string) bool {
	for i := 0; i < len(text); i++ {
		if text[i] >= '0' && text[i] <= '9' || text[i] >= 0x80 {
			return true
		}
	}
	for _, w := range Words(text) {
		if numberWords[w.Lower] != "" {
			return true
		}
	}
	return false
}

// PlainNumber drops thousands separators and an ordinal ending from a number: "1,000th" gives "1000".
func PlainNumber(s string) string {
	if strings.IndexByte(s, ',') >= 0 {
		s = strings.ReplaceAll(s, ",", "")
	}
	for _, suffix := range []string{"st", "nd", "rd", "th"} {
		if base, ok := strings.CutSuffix(s, suffix); ok && base != "" && base[len(base)-1] <= '9' {
			return base
		}
	}
	return s
}

// unitDigit returns the digit behind the tens in "twenty-five", "" for no number from one to nine.
func unitDigit(s string) string {
	if s == "one" || s == "first" {
		return "1"
	}
	if v := numberWords[s]; len(v) == 1 && v != "0" {
		return v
	}
	return ""
}

// numberWords maps number words to digits: "five" and "fifth" to "5". "one" and "first" are none.
var numberWords = map[string]string{
	"zero": "0", "two": "2", "three": "3", "four": "4", "five": "5", "six": "6", "seven": "7", "eight": "8",
	"nine": "9", "ten": "10", "eleven": "11", "twelve": "12", "thirteen": "13", "fourteen": "14", "fifteen": "15",
	"sixteen": "16", "seventeen": "17", "eighteen": "18", "nineteen": "19", "twenty": "20", "thirty": "30",
	"forty": "40", "fifty": "50", "sixty": "60", "seventy": "70", "eighty": "80", "ninety": "90", "hundred": "100",
	"thousand": "1000", "million": "1000000", "billion": "1000000000", "dozen": "12",
	"third": "3", "fourth": "4", "fifth": "5", "sixth": "6", "seventh": "7", "eighth": "8", "ninth": "9", "tenth": "10",
	"twice": "2",
}

// Negated reports whether text denies what it says: it holds a negation word or a negated auxiliary, with an apostrophe
// or without. A tag at the end ("right, isn't it?") and the answer "No, …" at the start of a text do not count.
func Negated(text string) bool {
	words := Words(text)
	for i, w := range words {
		if !negations.Has(w.Lower) {
			continue
		}
		switch {
		case w.Lower == "no" && i == 0 && i+1 < len(words) && words[1].Gap: // No, …
			continue
		case strings.HasSuffix(w.Lower, "n't") && i+2 == len(words) && pronouns[words[i+1].Lower]: // …, isn't it?
			continue
		case w.Lower == "not" && i+1 < len(words) && words[i+1].Lower == "only":
			continue
		}
		return true
	}
	return false
}

// pronouns may follow the auxiliary of a tag.
var pronouns = map[string]bool{"i": true, "you": true, "he": true, "she": true, "it": true, "we": true, "they": true}

// negations are the words that deny.
var negations = NewWordSet(`no not never none nobody nothing nowhere neither nor without cannot unable
	isn't aren't wasn't weren't don't doesn't didn't won't wouldn't shan't shouldn't can't couldn't mayn't mightn't
	mustn't haven't hasn't hadn't ain't needn't
	isnt arent wasnt werent dont doesnt didnt wouldnt shouldnt cant couldnt mustnt havent hasnt hadnt aint`)
