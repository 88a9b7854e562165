package text

import "strings"

// Names returns the capitalised spans of text ("New York", "Bank of England") as they are written, without a possessive
// 's, each once, in the order of their first occurrence. A single capitalised word that opens a sentence counts if it
// is known as a name, or if what follows says so ("Carla is", "Carla's"). Days, months and stop words in capitals do
// not count.
func Names(text string) []string {
	words := Words(text)
	var out []string
	seen := make(map[string]struct{})
	for i := 0; i < len(words); {
		end := nameSpan(text, words, i)
		if end == i {
			i++
			continue
		}
		s := spanText(text, words[i:end])
		if _, dup := seen[s]; !dup {
			seen[s] = struct{}{}
			out = append(out, s)
		}
		i = end
	}
	return out
}

// spanText returns the text of consecutive words without a final possessive.
func spanText(text string, words []Word) string {
	last := words[len(words)-1]
	end := last.End
	if last.Possessive {
		end = strings.LastIndexAny(text[:end], "'’")
		if end < last.Start {
			end = last.End
		}
	}
	return text[words[0].Start:end]
}

// nameSpan returns the index behind the name that begins at i, or i if none does.
func nameSpan(text string, words []Word, i int) int {
	if !isName(words, i) {
		return i
	}
	end := i + 1
	for end < len(words) && !words[end-1].Possessive {
		switch w := words[end]; {
		case w.Gap && !dotted(text, words[end-1], w):
			return end
		case isName(words, end):
			end++
		case (w.Lower == "of" || w.Lower == "de" || w.Lower == "del" || w.Lower == "van" || w.Lower == "von" || w.Lower == "la") &&
			end+1 < len(words) && !words[end+1].Gap && isName(words, end+1) && !isCalendar(words[end-1].Lower):
			end += 2
		case w.Digit && len(w.Lower) <= 2 && !words[end-1].Possessive && (end+1 == len(words) || words[end+1].Gap || !isUnit(words[end+1].Lower)):
			return end + 1 // iPhone 15, Formula 1
		default:
			return end
		}
	}
	return end
}

// dotted reports whether a is a title or an initial before b: "Dr. Chen", "J. Doe".
func dotted(text string, a, b Word) bool {
	if text[a.End:b.Start] != ". " {
		return false
	}
	return abbreviates(a.Lower)
}

// isName reports whether word i is part of a name.
func isName(words []Word, i int) bool {
	w := words[i]
	if !w.Upper && !w.Camel || w.Digit || len(w.Lower) < 2 && !w.Possessive {
		return false
	}
	if IsStop(w.Lower) && !(w.Caps && len(w.Lower) > 1 && w.Lower == "us") || isCalendar(w.Lower) || strings.Contains(w.Lower, "'") && IsStop(strings.ReplaceAll(w.Lower, "'", "")) {
		return false
	}
	if _, known := knownNames[w.Lower]; known || w.Camel {
		return true
	}
	if commonOpeners.Has(w.Lower) && (w.First || w.Caps) {
		return false
	}
	if w.Caps && len(w.Lower) > 1 { // NASA, LGBTQ; but not a SHOUTED SENTENCE
		return !shouted(words, i)
	}
	if !w.First {
		return true
	}
	if w.Possessive {
		return true
	}
	if i+1 >= len(words) || words[i+1].Gap {
		return false
	}
	next := words[i+1]
	if strings.HasSuffix(w.Lower, "ing") || strings.HasSuffix(w.Lower, "ly") || strings.HasSuffix(w.Lower, "ed") {
		return false
	}
	return nameVerbs.Has(next.Lower) || next.Upper && !IsStop(next.Lower) && !isCalendar(next.Lower) && !shouted(words, i+1)
}

// shouted reports whether a word in capitals has a neighbour in capitals, so that it is no name.
func shouted(words []Word, i int) bool {
	return i > 0 && !words[i].First && words[i-1].Caps || i+1 < len(words) && words[i+1].Caps && !words[i+1].First
}

// isCalendar reports names of months and weekdays, weekdays in more than three letters.
func isCalendar(w string) bool {
	if _, ok := monthNames[w]; ok {
		return true
	}
	_, day := weekdayNames[w]
	return day && len(w) > 3
}

// isUnit reports words that make the number before them an amount and no part of a name.
func isUnit(w string) bool {
	_, ok := units[w]
	return ok || w == "am" || w == "pm" || w == "percent" || w == "of" || w == "times"
}

// nameVerbs are what follows a name at the start of a sentence.
var nameVerbs = NewWordSet(`is was has had will would can could does did said says told tells asked asks and went goes lives lived works
	worked likes liked loves loved hates hated wants wanted needs needed moved moves bought got gets made makes gave gives took
	takes thinks thought believes believed feels felt knows knew plans planned prefers preferred enjoys enjoyed started starts
	joined joins visited visits met meets came comes found finds attended attends teaches taught studies studied shared shares
	isn't wasn't doesn't didn't won't can't hasn't hadn't wouldn't couldn't recently also never always just used plays played
	runs ran owns owned married divorced adopted became becomes decided decides signed signs spent spends hopes hoped
	wrote writes read reads sent sends called calls helped helps tried tries finished finishes graduated received won lost`)

// commonOpeners are words that open sentences or are shouted, and are no names.
var commonOpeners = NewWordSet(`everything everyone everybody something someone nothing nobody people life music art work school family friends food
	nature love time today tomorrow yesterday tonight anyway actually honestly basically absolutely definitely totally really sounds
	sound looks look good great nice cool awesome amazing wow congrats congratulations happy glad sorry true sure yes right exactly
	hope hopefully maybe perhaps speaking seeing being having doing going getting trying thinking looking feeling mom dad mum
	mommy daddy grandma grandpa god gosh man dude bro guys girl lol omg tbh imo fyi asap ps nb ok tv faq diy eta first second next last
	finally later lately recently once meanwhile however therefore moreover otherwise instead still then thus hence
	keep take give let tell ask try see remember note please stop start wait call write read check show make use
	morning afternoon evening night day week month year summer winter spring autumn fall weekend photography painting yoga
	running swimming hiking cooking reading writing gardening camping dancing singing coffee tea dinner lunch breakfast
	best better new old big little half part lots plenty thanks thank welcome cheers hello goodbye bye night goodnight
	talk catch rain snow sun water money health sleep error warning info todo yours mine ours each another such`)
