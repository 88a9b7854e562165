package rules

import (
	"strings"

	"github.com/eunoe-memory/eunoe/pkg/text"
)

// voice turns what speakers say of themselves into what is said of them.
type voice struct {
	me  string // the speaker
	you string // the one spoken to, "" where that is not known
}

// persons are the grammatical persons of a sentence.
type persons struct {
	I    bool // a form of I
	we   bool // a form of we
	you  bool // a form of you
	open bool // "you" begins the sentence
}

// personsOf returns the grammatical persons of a sentence.
func personsOf(ps []piece) persons {
	var h persons
	first := true
	for _, p := range ps {
		if p.low == "" {
			continue
		}
		switch base, _, _ := strings.Cut(p.low, "'"); base {
		case "i", "me", "my", "mine", "myself", "im", "ive":
			h.I = true
		case "we", "us", "our", "ours", "ourselves":
			h.we = true
		case "you", "your", "yours", "yourself", "youre", "youve", "u", "ur":
			h.you = true
			h.open = h.open || first
		}
		first = false
	}
	return h
}

// rewrite returns the sentence in the third person. Text between double quotation marks stays as it was said.
func (v voice) rewrite(ps []piece, h persons) string {
	out := make([]piece, len(ps))
	copy(out, ps)
	quoted, group, asMe := false, together(ps), false
	present := false // the last verb of "I" was put in the third person
	for i := range out {
		p := &out[i]
		if p.low == "" {
			if strings.Count(p.text, `"`)%2 == 1 || strings.ContainsAny(p.text, "“”") {
				quoted = !quoted
			}
			present = present && strings.Trim(p.text, " ") == ""
			continue
		}
		if quoted {
			continue
		}
		base, rest, _ := strings.Cut(p.low, "'")
		switch {
		case base == "i" || base == "im" || base == "ive":
			present = v.subjectI(out, i, base, rest)
			asMe = true
		case base == "me" && rest == "":
			p.text = v.me
			asMe = true
		case base == "my" || base == "mine":
			if asMe && base == "my" && !group {
				p.text = "their"
			} else {
				p.text = possessive(v.me)
				asMe = true
			}
		case base == "myself":
			p.text = "themself"
		case group && base == "we" && (rest == "" || rest == "re" || rest == "ve" || rest == "ll" || rest == "d"):
			p.text = "they" + contraction[rest]
			asMe = true
		case group && (base == "our" || base == "ours"):
			p.text = map[string]string{"our": "their", "ours": "theirs"}[base]
		case group && base == "us" && p.text != "US":
			p.text = "them"
		case group && base == "ourselves":
			p.text = "themselves"
		case v.you != "" && h.I && youForms.Has(base):
			v.subjectYou(out, i, base, rest)
		case present && (p.low == "and" || p.low == "but" || p.low == "or"):
			if j := next(out, i+1); j < len(out) && commonBase.Has(out[j].low) {
				out[j].text = thirdPerson(out[j].low)
			}
		case p.low == "to" || unbent(p.low) && p.low != "the" && p.low != "a" && p.low != "an" && p.low != "in" && p.low != "at":
			present = false
		}
	}
	return join(out)
}

var contraction = map[string]string{"": "", "re": " are", "ve": " have", "ll": " will", "d": " would"}

var youForms = text.NewWordSet("you your yours yourself youre youve")

// lastTime reports whether the word at piece j is "last" as an adverb: "since I last smoked".
func lastTime(ps []piece, j int) bool {
	k := next(ps, j+1)
	return ps[j].low == "last" && k < len(ps) && spaces(ps, j, k) && (text.IsPastForm(ps[k].low) || strings.HasSuffix(ps[k].low, "ed"))
}

// subjectI replaces "I" at piece i and inflects its verb. It reports whether the verb is a present form.
func (v voice) subjectI(ps []piece, i int, base, rest string) bool {
	plural := false
	if k := before(ps, i); k >= 0 {
		switch ps[k].low {
		case "and", "or", "nor", "neither":
			plural = ps[k].low == "and" && k > 0 && before(ps, k) >= 0 && rest == ""
			if plural {
				plural = compound(ps, k)
			}
		case "am", "do", "have", "can", "should", "could", "would", "will", "did", "was", "had", "may", "must", "don't", "haven't":
			if rest == "" && (before(ps, k) < 0 || inverting.Has(ps[before(ps, k)].low)) {
				ps[k].text = matchCase(ps[k].text, thirdPerson(ps[k].low))
				ps[i].text = v.me
				return false
			}
		}
	}
	j := next(ps, i+1)
	for j < len(ps) && (adverbs.Has(ps[j].low) || noLonger(ps, j) || lastTime(ps, j)) && spaces(ps, i, j) {
		j = next(ps, j+1)
	}
	verb := ""
	if j < len(ps) && spaces(ps, i, j) {
		verb = ps[j].low
	}
	switch {
	case base == "im" || rest == "m":
		ps[i].text = v.me + map[bool]string{false: " is", true: " are"}[plural]
	case base == "ive" || rest == "ve":
		ps[i].text = v.me + map[bool]string{false: " has", true: " have"}[plural]
	case rest == "ll":
		ps[i].text = v.me + " will"
	case rest == "d" && pastPart(verb):
		ps[i].text = v.me + " had"
	case rest == "d":
		ps[i].text = v.me + " would"
	default:
		ps[i].text = v.me
		if verb != "" && !plural && verb != "and" {
			third := thirdPerson(verb)
			ps[j].text = matchCase(ps[j].text, third)
			return third != verb
		}
	}
	return false
}

// noLonger reports whether the word at j belongs to "no longer".
func noLonger(ps []piece, j int) bool {
	if ps[j].low == "longer" {
		k := before(ps, j)
		return k >= 0 && ps[k].low == "no"
	}
	k := next(ps, j+1)
	return ps[j].low == "no" && k < len(ps) && ps[k].low == "longer"
}

// inverting are the words that precede a verb which precedes its subject.
var inverting = text.NewWordSet(`so neither nor and what where when why how who never`)

// compound reports whether the "and" at k joins "I" to another subject ("my wife and I"), and not to the clause before
// ("he left and I stayed").
func compound(ps []piece, k int) bool {
	n, i := 0, before(ps, k)
	for ; i >= 0 && n < 6; n, i = n+1, before(ps, i) {
		if w := ps[i].low; unbent(w) && w != "the" && w != "a" && w != "an" && w != "of" || strings.HasSuffix(w, "ed") || w == "it" || w == "them" || w == "has" || w == "have" {
			return false
		}
	}
	return i < 0
}

// subjectYou replaces a form of "you" at piece i.
func (v voice) subjectYou(ps []piece, i int, base, rest string) {
	switch {
	case base == "your", base == "yours":
		ps[i].text = possessive(v.you)
	case base == "yourself":
		ps[i].text = "themself"
	case base == "youre" || rest == "re":
		ps[i].text = v.you + " is"
	case base == "youve" || rest == "ve":
		ps[i].text = v.you + " has"
	case rest == "ll":
		ps[i].text = v.you + " will"
	case rest == "d":
		ps[i].text = v.you + " would"
	default:
		ps[i].text = v.you
		if j := next(ps, i+1); j < len(ps) && spaces(ps, i, j) && strings.EqualFold(ps[j].low, v.you) { // "meet you, Kevin"
			ps[j].text, ps[j-1].text = "", ""
			return
		}
		k := before(ps, i)
		if k >= 0 && (objectBefore.Has(ps[k].low) || strings.HasSuffix(ps[k].low, "ing")) {
			return
		}
		j := next(ps, i+1)
		for j < len(ps) && adverbs.Has(ps[j].low) && spaces(ps, i, j) {
			j = next(ps, j+1)
		}
		if j >= len(ps) || !spaces(ps, i, j) {
			return
		}
		switch w := ps[j].low; {
		case w == "are":
			ps[j].text = "is"
		case w == "were":
			ps[j].text = "was"
		case w == "aren't":
			ps[j].text = "isn't"
		case commonBase.Has(w) || w == "don't" || w == "haven't":
			ps[j].text = thirdPerson(w)
		}
	}
}

// objectBefore are the words behind which "you" is no subject.
var objectBefore = text.NewWordSet(`to for with of about from by like than see help tell told show send give gave ask asked wish thank love miss
	meet met join let hear heard support visit call invite on at around without make made get got do does did can could will would
	should have see believe know help`)

// before returns the index of the word before piece i, -1 if there is none or something other than spaces separates the
// two.
func before(ps []piece, i int) int {
	for i--; i >= 0 && ps[i].low == ""; i-- {
		if strings.Trim(ps[i].text, " ") != "" {
			return -1
		}
	}
	return i
}

// spaces reports whether only spaces separate the words from i to j.
func spaces(ps []piece, i, j int) bool {
	for k := i + 1; k < j; k++ {
		if ps[k].low == "" && strings.Trim(ps[k].text, " ") != "" {
			return false
		}
	}
	return true
}

// matchCase gives a word the capital, or the capitals, of the one that it replaces.
func matchCase(old, new string) string {
	switch {
	case len(old) > 1 && old == strings.ToUpper(old):
		return strings.ToUpper(new)
	case old != "" && old[0] >= 'A' && old[0] <= 'Z':
		return capitalise(new)
	}
	return new
}

func possessive(name string) string {
	if strings.HasSuffix(name, "s") && !hasName(name) {
		return name + "'"
	}
	return name + "'s"
}
