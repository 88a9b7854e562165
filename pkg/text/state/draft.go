package state

import (
	"strings"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

const (
	name       = `^(?P<s>The \p{Ll}+|\p{Lu}[\p{L}.-]*(?: \p{Lu}[\p{L}.-]*){0,2})`
	relative   = name + `(?P<k>'s \p{Ll}[\p{Ll}-]*(?: \p{Lu}\p{L}+)?)?`
	owner      = name + `'s (?:new |current |own )?`
	adverbs    = `(?: (?:now|just|recently|finally|currently|also|has|have|still|actually|already|officially|been|is|are|and others))*`
	properName = `(?P<v>(?:the )?\p{Lu}[\p{L}\p{N}'&.-]*(?:,? (?:of |de |the |& )?\p{Lu}[\p{L}\p{N}'&.-]*){0,4})`
	animals    = `dog|cat|puppy|kitten|bird|hamster|rabbit|parrot|turtle|horse`
)

// jobs are the nouns by which a job is told from what else somebody is.
var jobs = strings.Fields(`nurse teacher engineer developer doctor lawyer designer student writer artist chef manager accountant freelancer
	musician photographer electrician scientist programmer consultant analyst architect pilot therapist counselor dentist mechanic
	journalist actor coach librarian professor researcher carpenter plumber firefighter bartender waiter waitress barista cook
	farmer veterinarian pharmacist banker salesperson technician dancer singer baker driver assistant director officer attorney
	surgeon editor author contractor tutor trainer instructor`)

var draftForms = []Form{
	newForm(Residence, "live, lives, lived, living, moved, relocated, settled, based",
		relative+adverbs+` (?:lives|lived|living|moved|relocated|settled|based)(?: back| over| down| up| out| alone| here)? (?:in|to) `+properName),
	newForm(Residence, "rents, renting, shares, sharing",
		relative+adverbs+` (?:rents|renting|shares|sharing) (?:an? |the |their |his |her )(?:\p{Ll}+ ){0,2}?(?:flat|place|apartment|house|room|studio|home) (?:in|near) `+properName),
	dated(newForm(Residence, "moving, relocating", relative+adverbs+` (?:moving|relocating)(?: back| over| down| up)? to `+properName)),
	newForm(Employer, "work, works, working, worked, job, employed, started",
		relative+adverbs+` (?:works|working|worked|employed|started working|started a (?:new )?job|got (?:a|the) (?:new )?job|took a (?:new )?job|`+
			`started a new position)(?: full[- ]time| part[- ]time| remotely)? (?:at|for|by|with) `+properName),
	newForm(Job, strings.Join(jobs, ","),
		relative+adverbs+` (?:(?:works|working|a job|started) as (?:an? |the )?|became an? |is(?: now| also| currently| actually)? an? )`+
			`(?P<v>(?:[\p{Ll}-]+ ){0,3}?(?:`+strings.Join(jobs, "|")+`))(?:[,.!;]|$| (?:at|for|in|and|on|now|from|with|who|by|of|here|since) ?)`),
	newForm(MaritalStatus, "married, engaged, divorced, single, widowed, separated",
		relative+adverbs+`(?: (?:got|became|newly|happily))* (?P<v>married|engaged|divorced|single|widowed|separated)`+
			`(?: to [^.,!;]+| now| (?:yesterday|last|in|on|since|for|two|three|a|this)\b[^.,!;]*)?(?: \([^)]*\))?[.,!;]`),
	newForm(Age, "turned, turning, years old, year old, am, is, i'm",
		relative+adverbs+`(?: turned| turning)? (?P<v>\d{1,3})(?: years? old)?(?: (?:today|yesterday|last|this|on|in)\b[^.,!;]*)?(?: now)?`+
			`(?: \([^)]*\))?[.,!;]`),
	newForm(Diet, "vegetarian, vegan, pescatarian",
		relative+adverbs+`(?: (?:became|went|turned))?(?: an?)? (?P<v>vegetarian|vegan|pescatarian)(?:[,.!;]|$| (?:now|since|for|and|but|because))`),
	newForm(Vehicle, "drive, drives, driving",
		relative+adverbs+` (?:drives|driving) (?:an? |the )(?P<v>(?:[\p{Ll}\d-]+ )?\p{Lu}[\p{L}\p{N}-]+(?: \p{Lu}[\p{L}\p{N}-]+)?)`),
	newForm(Name, "name is, name's", name+`'s (?:full )?name(?: is|'s) `+properName),
	newForm("", "favourite, favorite, preferred",
		owner+`(?P<a>(?:all[- ]time )?(?:favou?rite|preferred) [\p{Ll}-]+(?: [\p{Ll}-]+){0,2}?) (?:is|are|was always) `+
			`(?:now |currently |definitely |probably )?(?:the |an? )?(?P<v>[^.,!;(]{1,80})`),
	newForm("", `number, email, e-mail, address, birthday, timezone, time zone, nickname, hometown, home town, pronouns, manager, boss, native language,
		phone`,
		owner+`(?P<a>phone(?: number)?|room number|account number|e-?mail(?: address)?|(?:home )?address|birthday|nickname|home ?town|time ?zone|`+
			`pronouns|native language|manager|boss) (?:is|are) (?:now |currently |on |actually )?(?P<v>[^,;!?(]{1,80})`),
	newForm("", strings.ReplaceAll(animals, "|", ",")+", dog's, cat's",
		owner+`(?P<a>(?:`+animals+`)(?:'s name)?) (?:is (?:named |called )?|named |called )(?P<v>\p{Lu}\p{L}+)\b`),
}

func dated(f Form) Form {
	f.NeedsDate = true
	return f
}

// DraftForms returns the forms of sentences in the third person that begin with their subject, in the order in which
// they are to be tried. The result must not be changed.
func DraftForms() []Form { return draftForms }

// Match returns what a sentence in the form states of its subject.
func (f Form) Match(s string) (Statement, bool) {
	groups, _ := f.capture(s)
	if groups == nil {
		return Statement{}, false
	}
	st := Statement{Subject: groups["s"], Relation: groups["k"], Attribute: f.attribute, Text: groups[""]}
	if f.attribute == "" {
		st.Attribute = draftAttribute(groups["a"])
	}
	v := cutAt(groups["v"], "", draftEnds)
	for _, article := range []string{"the ", "a ", "an ", "this ", "that ", "these "} {
		v = strings.TrimPrefix(v, article)
	}
	st.Value = memory.NormalText(strings.TrimSpace(v))
	return st, st.Value != ""
}

// draftEnds are the words behind which a sentence goes on. Prepositions belong to the value: "the number of the office
// in Lisbon" is one.
var draftEnds = []string{" and ", " but ", " because ", " since ", " which ", " who ", " so ", " as of ", " now", " ("}

// draftAttribute is Attribute without the words that chat adds, and with "dog" for "dog's name".
func draftAttribute(a string) string {
	a = strings.ToLower(a)
	for _, tail := range []string{" there", " here", " ever", " so far", " right now"} {
		a = strings.TrimSuffix(a, tail)
	}
	a = strings.TrimSuffix(a, "'s name")
	if strings.Contains("|"+animals+"|", "|"+a+"|") {
		return a + "'s name"
	}
	return Attribute(a)
}
