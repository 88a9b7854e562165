package analysis

import (
	"strings"
)

// Names gives the capitalised spans of text ("New York", "Bank of England") as
// they are written, without a possessive 's, each once, in the order they are
// first seen. A single capitalised word that opens a sentence counts when it is
// known as a name, or when what follows it says so ("Carla is", "Carla's"); days,
// months and words in capitals that are ordinary stop words do not count.
func Names(text string) []string {
	words := scan(text)
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

// spanText is the text of consecutive words, a final possessive left out.
func spanText(text string, words []word) string {
	last := words[len(words)-1]
	end := last.end
	if last.possessive {
		end = strings.LastIndexAny(text[:end], "'’")
		if end < last.start {
			end = last.end
		}
	}
	return text[words[0].start:end]
}

// nameSpan gives the index behind the name that starts at i, i if none does.
func nameSpan(text string, words []word, i int) int {
	if !isName(words, i) {
		return i
	}
	end := i + 1
	for end < len(words) && !words[end-1].possessive {
		switch w := words[end]; {
		case w.gap && !dotted(text, words[end-1], w):
			return end
		case isName(words, end):
			end++
		case (w.lower == "of" || w.lower == "de" || w.lower == "del" || w.lower == "van" || w.lower == "von" || w.lower == "la") &&
			end+1 < len(words) && !words[end+1].gap && isName(words, end+1) && !isCalendar(words[end-1].lower):
			end += 2
		case w.digit && len(w.lower) <= 2 && !words[end-1].possessive && (end+1 == len(words) || words[end+1].gap || !isUnit(words[end+1].lower)):
			return end + 1 // iPhone 15, Formula 1
		default:
			return end
		}
	}
	return end
}

// dotted reports a title or an initial between two words of a name: "Dr. Chen", "J. Doe".
func dotted(text string, a, b word) bool {
	if text[a.end:b.start] != ". " {
		return false
	}
	return abbreviates(a.lower)
}

// isName reports whether word i is part of a name.
func isName(words []word, i int) bool {
	w := words[i]
	if !w.upper && !w.camel || w.digit || len(w.lower) < 2 && !w.possessive {
		return false
	}
	if isStop(w.lower) && !(w.caps && len(w.lower) > 1 && w.lower == "us") || isCalendar(w.lower) || strings.Contains(w.lower, "'") && isStop(strings.ReplaceAll(w.lower, "'", "")) {
		return false
	}
	if _, known := knownNames[w.lower]; known || w.camel {
		return true
	}
	if _, common := commonOpeners[w.lower]; common && (w.first || w.caps) {
		return false
	}
	if w.caps && len(w.lower) > 1 { // NASA, LGBTQ; but not a SHOUTED SENTENCE
		return !shouted(words, i)
	}
	if !w.first {
		return true
	}
	if w.possessive {
		return true
	}
	if i+1 >= len(words) || words[i+1].gap {
		return false
	}
	next := words[i+1]
	if strings.HasSuffix(w.lower, "ing") || strings.HasSuffix(w.lower, "ly") || strings.HasSuffix(w.lower, "ed") {
		return false
	}
	_, verb := nameVerbs[next.lower]
	return verb || next.upper && !isStop(next.lower) && !isCalendar(next.lower) && !shouted(words, i+1)
}

// shouted reports a word in capitals whose neighbour is in capitals too and no name.
func shouted(words []word, i int) bool {
	if i > 0 && !words[i].first && words[i-1].caps || i+1 < len(words) && words[i+1].caps && !words[i+1].first {
		return true
	}
	return false
}

func isCalendar(w string) bool {
	if _, ok := monthNames[w]; ok {
		return true
	}
	_, day := weekdayNames[w]
	return day && len(w) > 3
}

func isUnit(w string) bool {
	_, ok := units[w]
	return ok || w == "am" || w == "pm" || w == "percent" || w == "of" || w == "times"
}

// nameVerbs are what follows a name at the start of a sentence.
var nameVerbs = set(`is was has had will would can could does did said says told tells asked asks and went goes lives lived works
	worked likes liked loves loved hates hated wants wanted needs needed moved moves bought got gets made makes gave gives took
	takes thinks thought believes believed feels felt knows knew plans planned prefers preferred enjoys enjoyed started starts
	joined joins visited visits met meets came comes found finds attended attends teaches taught studies studied shared shares
	isn't wasn't doesn't didn't won't can't hasn't hadn't wouldn't couldn't recently also never always just used plays played
	runs ran owns owned married divorced adopted became becomes decided decides signed signs spent spends hopes hoped
	wrote writes read reads sent sends called calls helped helps tried tries finished finishes graduated received won lost`)

// commonOpeners are words that open sentences, or are shouted, and are no names.
var commonOpeners = set(`everything everyone everybody something someone nothing nobody people life music art work school family friends food
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
