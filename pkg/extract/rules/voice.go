package rules

import "strings"

// voice turns what somebody says of himself into what is said of him.
type voice struct {
	me  string // the speaker
	you string // the one spoken to, "" where that is not known
}

// heard is what was found in a sentence on the way.
type heard struct {
	I    bool // a form of I
	we   bool // a form of we
	you  bool // a form of you
	open bool // "you" begins the sentence
}

// listen tells which persons a sentence speaks in.
func listen(ps []piece) heard {
	var h heard
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

// rewrite gives the sentence in the third person. Text between double
// quotation marks stays as it was said.
func (v voice) rewrite(ps []piece, h heard) string {
	out := make([]piece, len(ps))
	copy(out, ps)
	quoted, group, asMe := false, false, false
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
		case base == "we" && (rest == "" || rest == "re" || rest == "ve" || rest == "ll" || rest == "d"):
			p.text = map[bool]string{false: v.me + " and others", true: "they"}[group] + contraction[rest]
			if k := before(out, i); k >= 0 && (out[k].low == "me" || out[k].low == "us") {
				p.text = "that " + p.text
			}
			group, asMe = true, true
		case base == "our" || base == "ours":
			if group {
				p.text = map[string]string{"our": "their", "ours": "theirs"}[base]
			} else {
				p.text = possessive(v.me)
			}
		case base == "us" && p.text != "US":
			p.text = map[bool]string{false: v.me + " and others", true: "them"}[group]
			group = true
		case base == "ourselves":
			p.text = "themselves"
		case v.you != "" && h.I && isYou(base):
			v.subjectYou(out, i, base, rest)
		case present && (p.low == "and" || p.low == "but" || p.low == "or"):
			if j := next(out, i+1); j < len(out) && commonBase[out[j].low] {
				out[j].text = thirdPerson(out[j].low)
			}
		case p.low == "to" || fixed[p.low] && p.low != "the" && p.low != "a" && p.low != "an" && p.low != "in" && p.low != "at":
			present = false
		}
	}
	return join(out)
}

var contraction = map[string]string{"": "", "re": " are", "ve": " have", "ll": " will", "d": " would"}

func isYou(base string) bool {
	switch base {
	case "you", "your", "yours", "yourself", "youre", "youve":
		return true
	}
	return false
}

// subjectI replaces "I" at piece i and bends its verb. It reports whether the
// verb is a present form.
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
			if rest == "" && (before(ps, k) < 0 || inverting[ps[before(ps, k)].low]) {
				ps[k].text = match(ps[k].text, thirdPerson(ps[k].low))
				ps[i].text = v.me
				return false
			}
		}
	}
	j := next(ps, i+1)
	for j < len(ps) && (adverbs[ps[j].low] || noLonger(ps, j)) && spaces(ps, i, j) {
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
			ps[j].text = match(ps[j].text, third)
			return third != verb
		}
	}
	return false
}

// noLonger reports whether the word at j is one of "no longer".
func noLonger(ps []piece, j int) bool {
	if ps[j].low == "longer" {
		k := before(ps, j)
		return k >= 0 && ps[k].low == "no"
	}
	k := next(ps, j+1)
	return ps[j].low == "no" && k < len(ps) && ps[k].low == "longer"
}

// inverting words stand before a verb that stands before its subject.
var inverting = words(`so neither nor and what where when why how who never`)

// compound reports whether the "and" at k joins "I" to another subject ("my
// wife and I") and no clause to the one before ("he left and I stayed").
func compound(ps []piece, k int) bool {
	n, i := 0, before(ps, k)
	for ; i >= 0 && n < 6; n, i = n+1, before(ps, i) {
		if w := ps[i].low; fixed[w] && w != "the" && w != "a" && w != "an" && w != "of" || strings.HasSuffix(w, "ed") || w == "it" || w == "them" || w == "has" || w == "have" {
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
		if k >= 0 && (objectBefore[ps[k].low] || strings.HasSuffix(ps[k].low, "ing")) {
			return
		}
		j := next(ps, i+1)
		for j < len(ps) && adverbs[ps[j].low] && spaces(ps, i, j) {
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
		case commonBase[w] || w == "don't" || w == "haven't":
			ps[j].text = thirdPerson(w)
		}
	}
}

// objectBefore are words behind which "you" is no subject.
var objectBefore = words(`to for with of about from by like than see help tell told show send give gave ask asked wish thank love miss
	meet met join let hear heard support visit call invite on at around without make made get got do does did can could will would
	should have see believe know help`)

// before gives the index of the word before piece i, -1 for none.
func before(ps []piece, i int) int {
	for i--; i >= 0 && ps[i].low == ""; i-- {
		if strings.Trim(ps[i].text, " ") != "" {
			return -1
		}
	}
	return i
}

// spaces reports whether only spaces stand between the words from i to j.
func spaces(ps []piece, i, j int) bool {
	for k := i + 1; k < j; k++ {
		if ps[k].low == "" && strings.Trim(ps[k].text, " ") != "" {
			return false
		}
	}
	return true
}

// match gives a word the capital of the one it takes the place of.
func match(old, new string) string {
	if old != "" && old[0] >= 'A' && old[0] <= 'Z' {
		return capitalise(new)
	}
	return new
}

func possessive(name string) string {
	if strings.HasSuffix(name, "s") && !named(name) {
		return name + "'"
	}
	return name + "'s"
}
