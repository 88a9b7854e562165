package rules

import (
	"regexp"
	"strings"
	"sync"

	"github.com/eunoe-memory/eunoe/pkg/analysis"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// stateForm reads an attribute of which a subject has one value at a time.
type stateForm struct {
	attribute string // "" = what group a captures
	cues      string // phrases; the sentence must hold one of them
	pattern   func() *regexp.Regexp
	dated     bool // only where it is said when
}

const (
	subjectName = `^(?P<s>The \p{Ll}+|\p{Lu}[\p{L}.-]*(?: \p{Lu}[\p{L}.-]*){0,2})`
	subjectPart = `^(?P<s>The \p{Ll}+|\p{Lu}[\p{L}.-]*(?: \p{Lu}[\p{L}.-]*){0,2})(?P<k>'s \p{Ll}[\p{Ll}-]*(?: \p{Lu}\p{L}+)?)?`
	ownerPart   = `^(?P<s>The \p{Ll}+|\p{Lu}[\p{L}.-]*(?: \p{Lu}[\p{L}.-]*){0,2})'s (?:new |current |own )?`
	softPart    = `(?: (?:now|just|recently|finally|currently|also|has|have|still|actually|already|officially|been|is|are|and others))*`
	properPart  = `(?P<v>(?:the )?\p{Lu}[\p{L}\p{N}'&.-]*(?:,? (?:of |de |the |& )?\p{Lu}[\p{L}\p{N}'&.-]*){0,4})`
)

// jobs are the nouns by which a job is told from what somebody otherwise is.
const jobs = `nurse|teacher|engineer|developer|doctor|lawyer|designer|student|writer|artist|chef|manager|accountant|freelancer|musician|photographer|electrician|scientist|programmer|consultant|analyst|architect|pilot|therapist|counselor|dentist|mechanic|journalist|actor|coach|librarian|professor|researcher|carpenter|plumber|firefighter|bartender|waiter|waitress|barista|cook|farmer|veterinarian|pharmacist|banker|salesperson|technician|dancer|singer|baker|driver|assistant|director|officer|attorney|surgeon|editor|author|contractor|tutor|trainer|instructor`

var stateForms = []stateForm{
	{"residence", `live, lives, lived, living, moved, relocated, settled, based`,
		once(subjectPart + softPart + ` (?:lives|lived|living|moved|relocated|settled|based)(?: back| over| down| up| out| alone| here)? (?:in|to) ` + properPart), false},
	{"residence", `moving, relocating`, once(subjectPart + softPart + ` (?:moving|relocating)(?: back| over| down| up)? to ` + properPart), true},
	{"employer", `work, works, working, worked, job, employed, started`, once(subjectPart + softPart +
		` (?:works|working|worked|employed|started working|started a (?:new )?job|got (?:a|the) (?:new )?job|took a (?:new )?job|started a new position)(?: full[- ]time| part[- ]time| remotely)? (?:at|for|by|with) ` + properPart), false},
	{"job", strings.ReplaceAll(jobs, "|", ","), once(subjectPart + softPart + ` (?:(?:works|working|a job|started) as (?:an? |the )?|became an? |is(?: now| also| currently| actually)? an? )(?P<v>(?:[\p{Ll}-]+ ){0,3}?(?:` + jobs +
		`))(?:[,.!;]|$| (?:at|for|in|and|on|now|from|with|who|by|of|here|since) ?)`), false},
	{"marital status", `married, engaged, divorced, single, widowed, separated`, once(subjectPart + softPart +
		`(?: (?:got|became|newly|happily))* (?P<v>married|engaged|divorced|single|widowed|separated)(?: to [^.,!;]+| now| (?:yesterday|last|in|on|since|for|two|three|a|this)\b[^.,!;]*)?(?: \([^)]*\))?[.,!;]`), false},
	{"age", `turned, turning, years old, year old, am, is, i'm`, once(subjectPart + softPart +
		`(?: turned| turning)? (?P<v>\d{1,3})(?: years? old)?(?: (?:today|yesterday|last|this|on|in)\b[^.,!;]*)?(?: now)?(?: \([^)]*\))?[.,!;]`), false},
	{"diet", `vegetarian, vegan, pescatarian`, once(subjectPart + softPart + `(?: (?:became|went|turned))?(?: an?)? (?P<v>vegetarian|vegan|pescatarian)(?:[,.!;]|$| (?:now|since|for|and|but|because))`), false},
	{"vehicle", `drive, drives, driving`, once(subjectPart + softPart + ` (?:drives|driving) (?:an? |the )(?P<v>(?:[\p{Ll}\d-]+ )?\p{Lu}[\p{L}\p{N}-]+(?: \p{Lu}[\p{L}\p{N}-]+)?)`), false},
	{"name", `name is, name's`, once(subjectName + `'s (?:full )?name(?: is|'s) ` + properPart), false},
	{"", `favourite, favorite, preferred`, once(ownerPart + `(?P<a>(?:all[- ]time )?(?:favou?rite|preferred) [\p{Ll}-]+(?: [\p{Ll}-]+){0,2}?) (?:is|are|was always) (?:now |currently |definitely |probably )?(?:the |an? )?(?P<v>[^.,!;(]{1,80})`), false},
	{"", `number, email, e-mail, address, birthday, timezone, time zone, nickname, hometown, home town, pronouns, manager, boss, native language, phone`, once(ownerPart +
		`(?P<a>phone(?: number)?|room number|account number|e-?mail(?: address)?|(?:home )?address|birthday|nickname|home ?town|time ?zone|pronouns|native language|manager|boss) (?:is|are) (?:now |currently |on |actually )?(?P<v>[^,;!?(]{1,80})`), false},
	{"", `dog, cat, puppy, kitten, bird, hamster, rabbit, parrot, turtle, horse, dog's, cat's`, once(ownerPart +
		`(?P<a>(?:dog|cat|puppy|kitten|bird|hamster|rabbit|parrot|turtle|horse)(?:'s name)?) (?:is (?:named |called )?|named |called )(?P<v>\p{Lu}\p{L}+)\b`), false},
}

// once compiles a pattern at its first use.
func once(pattern string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
}

// unreal words make a sentence a wish, a plan, a memory or a condition.
var unreal = lines(`might, may, would, could, should, want to, wants to, wanted to, plan to, planning to, plans to, planned to, hope to, hopes to, hoping to, thinking of, thinking about, consider,
	considering, if, used to, no longer, never, almost, nearly, wish, dream of, dreaming of, maybe, perhaps, probably, when i was, before i, lived in, ex, as if, not sure, unless, anymore, tried to, imagine`)

// state reads the attribute that a fact's text gives its subject; low is the
// sentence as it was said. Denied, wished and conditional ones give none.
func (t *teller) state(text, low string, found marks, when memory.Span) *memory.State {
	if len(text) > 400 || strings.ContainsAny(text, `?"“`) || analysis.Negated(text) {
		return nil
	}
	if found.has(markUnreal) && !strings.Contains(low, " have lived in ") && !strings.Contains(low, "'ve lived in ") && !strings.Contains(low, " has lived in ") {
		return nil
	}
	for i, f := range stateForms {
		if f.dated && when.From == nil || !found.has(markStates<<i) {
			continue
		}
		pattern := f.pattern()
		m := pattern.FindStringSubmatch(text)
		if m == nil {
			continue
		}
		group := func(name string) string {
			if i := pattern.SubexpIndex(name); i >= 0 {
				return m[i]
			}
			return ""
		}
		attribute := f.attribute
		if attribute == "" {
			attribute = attributeName(group("a"))
		}
		subject := t.subject(group("s"), group("k"))
		value := memory.NormalText(endValue(group("v")))
		if subject == "" || value == "" || f.attribute == "age" && !strings.Contains(low, "turned") && !strings.Contains(low, "old") && !ageLike(text, m[0]) {
			continue
		}
		return &memory.State{Subject: subject, Attribute: attribute, Value: value}
	}
	return nil
}

// ageLike accepts "Alice is 34." and nothing longer.
func ageLike(text, matched string) bool { return len(text) <= len(matched)+1 }

// attributeName is how an attribute is called whatever its spelling.
func attributeName(a string) string {
	a = strings.ReplaceAll(strings.ToLower(a), "favorite", "favourite")
	for _, tail := range []string{" there", " here", " ever", " so far", " right now"} {
		a = strings.TrimSuffix(a, tail)
	}
	switch a = strings.TrimSuffix(a, "'s name"); a {
	case "e-mail", "email address", "e-mail address":
		return "email"
	case "phone":
		return "phone number"
	case "timezone":
		return "time zone"
	case "home address":
		return "address"
	case "hometown":
		return "home town"
	case "dog", "cat", "puppy", "kitten", "bird", "hamster", "rabbit", "parrot", "turtle", "horse":
		return a + "'s name"
	}
	return a
}

// endValue ends a value where the sentence goes on.
func endValue(v string) string {
	for _, stop := range []string{" and ", " but ", " because ", " since ", " which ", " who ", " so ", " as of ", " now", " ("} {
		if i := strings.Index(v, stop); i > 0 {
			v = v[:i]
		}
	}
	for _, article := range []string{"the ", "a ", "an ", "this ", "that ", "these "} {
		v = strings.TrimPrefix(v, article)
	}
	return strings.TrimSpace(v)
}

// subject is the entity a state belongs to: somebody, or somebody's sister.
func (t *teller) subject(name, of string) memory.EntityID {
	if dangling[strings.ToLower(name)] || strings.HasPrefix(name, "The ") && !strings.EqualFold(name, t.me) {
		return ""
	}
	id := personID(strings.Replace(name, "The ", "the ", 1))
	if of == "" {
		return id
	}
	head := strings.Fields(of)
	if len(head) < 2 || !kin[head[1]] {
		return ""
	}
	if len(head) > 2 { // Alice's sister Carla
		return memory.NewEntityID(memory.EntityPerson, head[2])
	}
	return memory.NewEntityID(memory.EntityPerson, strings.TrimPrefix(string(id), "person:")+of)
}
