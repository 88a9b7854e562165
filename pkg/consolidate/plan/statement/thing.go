package statement

import (
	"slices"
	"strings"

	"github.com/eunoe-memory/eunoe/pkg/text"
)

// has reports whether the text has the stems of a thing that another text tells of. Of several stems the vague ones may be
// missing, and so may days and whose it is, where something else says which one. "Job" matches verbs of work.
func (r Reading) has(of []string, told Reading) bool {
	whose := setOf(told.owners())
	things := slices.DeleteFunc(slices.Clone(of), func(s string) bool { return whose[s] })
	telling := slices.DeleteFunc(slices.Clone(things), func(s string) bool { return vagueStems[s] || calendarStems[s] })
	switch {
	case len(things) == 0: // "quit Nokia"
		telling = of
	case len(telling) == 0:
		telling = things
	}
	return !slices.ContainsFunc(telling, func(s string) bool {
		return !slices.ContainsFunc(r.Words, func(w Word) bool {
			return w.Stem == s || implies[s][w.Stem] && w.Text != "engaging"
		})
	})
}

// isOn reports whether the text tells of one certain thing that is to be or goes on, "our trip is in May", "booked the trip",
// and not of its kind: "beach trips", "the wonder of flight". Of names there is but one.
func (r Reading) isOn(of []string) bool {
	plain := strings.Fields(r.Plain)
	for _, w := range r.Words {
		if !slices.Contains(of, w.Stem) {
			continue
		}
		if w.Name {
			return true
		}
		at := slices.Index(plain, w.Text)
		for j := at - 1; j >= 0 && j >= at-3 && !joins[plain[j]]; j-- {
			if certain[plain[j]] || strings.HasSuffix(plain[j], "'s") {
				return len(r.Dates) > 0 || r.matches(plans) || r.HasPhrase(possession) || r.HasPhrase(copulas) && plain[j] != "a" && plain[j] != "an"
			}
		}
		if at == 0 { // "Gym on Mondays"
			return true
		}
	}
	return false
}

var (
	certain = setOf(strings.Fields("the our my his her their your a an"))
	joins   = setOf(strings.Fields("of for about with in on at to from and or"))
)

// owners returns the stems of those whose things the text tells of: "Ana's meeting".
func (r Reading) owners() []string {
	var out []string
	for w := range strings.FieldsSeq(r.body) {
		if who, ok := strings.CutSuffix(w, "'s"); ok {
			out = append(out, text.ContentStems(who)...)
		}
	}
	return out
}

// ownedByAnother reports whether one of two texts tells of the thing of a relative or friend of whom the other has no word: "Ana's
// neighbour's dog", "Ana's dog". A newer one that names the thing alone, "Rex died", may mean anybody's.
func ownedByAnother(newer, older Reading) bool {
	whose := len(newer.owners()) > 0 || newer.Change != nil && newer.Change.Subject != ""
	return newer.ownerBesides(older) || whose && older.ownerBesides(newer)
}

// ownerBesides reports whether somebody without a name owns a thing in the text whom the other text does not speak of.
func (r Reading) ownerBesides(o Reading) bool {
	for w := range strings.FieldsSeq(r.body) {
		who, ok := strings.CutSuffix(w, "'s")
		if stem := text.Stem(strings.ToLower(who)); ok && (persons[stem] || several[stem] || kin[stem]) && !o.Stems[stem] {
			return true
		}
	}
	return false
}

// tellsOfPerson reports whether what the text begins with, by its stems, is somebody: a relative or friend, or the name that
// nobody's saying stands before.
func (r Reading) tellsOfPerson(of []string) bool {
	last := of[len(of)-1]
	if persons[last] || kin[last] || people[last] {
		return true
	}
	return len(of) == 1 && r.body == r.Text && slices.Equal(text.ContentStems(first(r)), of)
}

// people are the stems of relatives and friends of whom one may have several.
var people = stemSet(`friend brother sister cousin colleagu coworker neighbour neighbor aunt uncl child children kid son daughter nephew niec teammat flatmat roommat
	housemat client custom grandchild grandson granddaught`)

var calendarStems = setOf(text.ContentStems("Monday Tuesday Wednesday Thursday Friday Saturday Sunday morning afternoon evening weekend"))

// implies maps the stem of a thing to stems that imply it.
var implies = map[string]map[string]bool{
	"job": stemSet("work employ nurs teach"), "wed": stemSet("marri engag"), "univers": stemSet("student studi"), "colleg": stemSet("student studi"),
	"school": stemSet("student pupil studi"), "gym": stemSet("gym workout"), "engag": stemSet("engag fianc marri"),
}

// longestEnded is the largest number of content words of a text that another one ends. What is longer tells of more than
// one thing: of what is felt, hoped or planned beside it.
const longestEnded = 9
