package statement

import (
	"cmp"
	"slices"
	"strings"

	"github.com/eunoe-memory/eunoe/pkg/text"
)

// otherValue compares two texts that differ in a number, a date, a name or an adjective of one subject. They are a
// correction if the newer one announces a change, and a contradiction if both state what something is.
func otherValue(newer, older Reading) Relation {
	if newer.Negated != older.Negated || len(newer.Words) > longestValue || len(older.Words) > longestValue || newer.Change != nil || older.Change != nil || older.isPast() || !newer.sameSubject(older) {
		return Unrelated
	}
	isNews := newer.HasPhrase(news)
	states := older.HasPhrase(copulas) && (newer.HasPhrase(copulas) || newer.HasPhrase(shifts)) || older.HasPhrase(prefers) && newer.HasPhrase(prefers)
	nowNames, wasNames := namesBesides(newer, older), namesBesides(older, newer)
	nowWords, wasWords := frame(newer), frame(older)
	attribute := strings.Contains(newer.subject(), " ") // of something: "Ana's rent", not "Ana"
	common := (len(wasWords) > 0 || attribute) && slices.Equal(nowWords, wasWords)
	relation := Unrelated
	switch {
	case len(newer.Dates) > 0 && len(older.Dates) > 0:
		if common && !slices.Equal(newer.Dates, older.Dates) && states && len(nowNames)+len(wasNames) == 0 {
			relation = Contradiction
		}
	case len(newer.Dates)+len(older.Dates) > 0:
		return Unrelated
	case len(newer.Numbers) > 0 && len(older.Numbers) > 0 && !slices.Equal(newer.Numbers, older.Numbers):
		if common && (len(nowNames)+len(wasNames) == 0 || isNews && attribute) && (states || isNews) {
			relation = Contradiction
		}
	case len(newer.Numbers)+len(older.Numbers) > 0:
		return Unrelated
	case len(nowNames) > 0 && len(wasNames) > 0:
		called := newer.HasPhrase(calls) && older.HasPhrase(calls)
		switch {
		case !common || !called && (!states && !attribute || older.hasStem(several)):
		case isNews:
			return Correction
		case called:
			return Contradiction
		}
	case isNews && states:
		now, was := without(nowWords, wasWords), without(wasWords, nowWords)
		one := len(now) == 1 && len(was) == 1
		same := one && len(wasWords) > len(was)+len(strings.Fields(newer.subject()))-1 // "in first grade", "in second grade"
		thing := attribute && len(now) > 0 && len(was) > 0 && !older.hasStem(several) && !older.hasStem(persons)
		if same || thing || one && attribute && !newer.HasPhrase(articles) && !older.HasPhrase(articles) {
			return Correction
		}
	}
	if relation == Contradiction && isNews {
		return Correction
	}
	return relation
}

// prefers are verbs of one wish at a time.
var prefers = NewPhrases("prefers", "prefer", "wants to be", "want to be", "wants to become", "want to become")

// counts reports whether the newer text states, as news, another number of what the older one counts or numbers for the
// same subject: "has two children now", "is down to 76 kilos", "is in Year 13 now".
func counts(newer, older Reading) bool {
	if !newer.HasPhrase(news) || newer.Negated || older.Negated || older.isPast() || newer.Change != nil || older.Change != nil ||
		len(newer.Words) > longestInstead || len(older.Words) > longestInstead {
		return false
	}
	n, now, unit := counted(newer)
	o, was, ofOld := counted(older)
	if unit == "" || unit != ofOld || n == o {
		return false
	}
	alike := len(without(was, now)) < len(was)
	a, b := first(newer), first(older)
	switch {
	case strings.EqualFold(a, b) && !strings.HasSuffix(a, "'s"), newer.sameSubject(older):
		return alike || len(now) == 0 || len(was) == 0
	case strings.EqualFold(a, "the") || strings.EqualFold(strings.TrimSuffix(a, "'s"), strings.TrimSuffix(b, "'s")):
		return alike
	}
	return false
}

// counted returns the one number of a text, the stems of its topic, and the stem of what the number counts or numbers:
// the word behind it or, where that is none, the word before it; "" where there is none, or several numbers.
func counted(r Reading) (number string, topic []string, unit string) {
	words := strings.Fields(r.Plain)
	content, digits := map[string]string{}, map[string]bool{"one": true}
	for _, w := range r.Words {
		content[w.Text], digits[w.Text] = w.Stem, w.Number
	}
	at := slices.IndexFunc(words, func(w string) bool { return digits[w] })
	if at < 0 || slices.ContainsFunc(words[at+1:], func(w string) bool { return digits[w] }) {
		return "", nil, ""
	}
	of := ""
	for _, i := range []int{at + 1, at - 1} {
		if i >= 0 && i < len(words) && content[words[i]] != "" && !newsStems[content[words[i]]] {
			of = words[i]
			break
		}
	}
	subject := setOf(text.ContentStems(first(r)))
	for w, stem := range content {
		if w != words[at] && w != of && !newsStems[stem] && !subject[stem] && !measures[stem] {
			topic = append(topic, stem)
		}
	}
	return words[at], topic, cmp.Or(plurals[of], content[of])
}

// plurals are the singulars of nouns whose plural has another stem.
var plurals = map[string]string{"children": "child", "people": "person", "feet": "foot", "mice": "mouse"}

// measures are the stems of verbs of having, measuring and saying, which say nothing of what is counted.
var measures = stemSet("weigh measur have has own earn pai pay cost get got take run said told")

// instead reports whether the newer text states that the same subject does something else instead, with the same verb.
func instead(newer, older Reading) bool {
	if !newer.matches(atLast) || len(newer.Words) > longestInstead || len(older.Words) > longestInstead || older.HasPhrase(corrections) || newer.Negated || older.Negated || older.isPast() ||
		!strings.EqualFold(first(newer), first(older)) {
		return false
	}
	was := setOf(strings.Fields(older.Plain))
	return slices.ContainsFunc(strings.Fields(newer.Plain), func(w string) bool {
		return was[w] && !little[w] && !slices.Contains(newer.Names, w)
	})
}

// atLast finds a sentence that ends in "instead", without naming what is replaced.
var atLast = inText(`(?i)\binstead[.!]*(?: \([^)]*\))?[.!]*$`)

// longestInstead is the largest number of content words of two texts that instead compares.
const longestInstead = 7

// first returns the first word of the body of a text.
func first(r Reading) string {
	w, _, _ := strings.Cut(r.body, " ")
	return w
}

// little are words that two texts about different things may share.
var little = setOf(strings.Fields("the a an is are am be to in on at of for with and or their his her its my our this that now instead from by said"))

// persons are the stems of relatives and friends, of whom many statements are true at the same time.
var persons = stemSet("mother father mom mum dad wife husband partner boyfriend girlfriend boss manag grandmoth grandfath grandma grandpa teacher doctor landlord")

var articles = NewPhrases("is a", "is an", "are a", "on a", "on an", "on the", "likes", "has", "in", "at", "with", "from", "for")

// several are the stems of things of which somebody may have more than one.
var several = stemSet(`friend brother sister cousin colleagu coworker neighbour neighbor aunt uncl child children kid son daughter nephew niec hobbi interest book
	song film movi pet dog cat student teammat flatmat roommat housemat client custom project cours class club languag grandchild grandson granddaught goal`)

// frame returns the sorted stems of the topic of a text: without names, numbers, dates and news words.
func frame(r Reading) []string {
	dated := map[string]bool{}
	for _, d := range r.Dates {
		for _, w := range strings.FieldsFunc(d, func(c rune) bool { return c == ' ' || c == ',' || c == '(' || c == ')' }) {
			dated[w] = true
		}
	}
	var out []string
	called := r.HasPhrase(calls)
	for _, w := range r.Words {
		if called && (w.Stem == "call" || w.Stem == "name") {
			continue
		}
		if !w.Name && !w.Number && !dated[w.Text] && !inCalendar(w.Text) && !newsStems[w.Stem] {
			out = append(out, w.Stem)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// namesBesides returns the names of a text that another does not have and that belong to no date.
func namesBesides(r, o Reading) []string {
	return slices.DeleteFunc(without(r.Names, o.Names), inCalendar)
}

// inCalendar reports whether a word names a month or a weekday.
func inCalendar(w string) bool {
	_, month := text.Month(w)
	_, weekday := text.Weekday(w)
	return month || weekday
}

func without(a, b []string) []string {
	return slices.DeleteFunc(slices.Clone(a), func(s string) bool { return slices.Contains(b, s) })
}

// newNumber finds a number by which somebody is to be reached from now on, reachedBy one that was said before.
var (
	newNumber = inBody(`^(\S+'s) new (?:(?:phone|mobile|cell|telephone) )?number is \D*\d`)
	reachedBy = inBody(`^(\S+'s) (?:(?:phone|mobile|cell|telephone) )?number is \D*\d`)
)

// renumbers reports whether the newer text tells a new telephone number of whom the older one tells another.
func renumbers(newer, older Reading) bool {
	n, o := newer.submatch(newNumber), older.submatch(reachedBy)
	return n != nil && o != nil && strings.EqualFold(n[1], o[1]) && !slices.Equal(newer.Numbers, older.Numbers)
}
