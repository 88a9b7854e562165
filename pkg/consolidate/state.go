package consolidate

import (
	"regexp"
	"slices"
	"strings"

	"github.com/eunoe-memory/eunoe/pkg/analysis"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// A stateForm is a form of sentence that gives an attribute of a subject a
// value. Groups: s the subject, v the value, a the attribute where it is not fixed.
// One of the words stands in every text that has the form: looking for them is quick.
type stateForm struct {
	attribute string
	words     []string
	form      *regexp.Regexp
}

// mayBe reports whether one of the form's words stands in a text.
func (f stateForm) mayBe(text string) bool {
	return slices.ContainsFunc(f.words, func(w string) bool { return strings.Contains(text, w) })
}

const (
	subjectForm = `(?:^|[\s,:;])(?P<s>I|[Tt]he user|\p{Lu}[\p{L}\p{N}.-]*(?:\s+\p{Lu}[\p{L}\p{N}.-]*){0,3})`
	fillerForm  = `(?:(?:has|have|is|am|now|just|recently|currently|actually|finally|also|officially|already|still|then|permanently|since)\s+)*`
	properForm  = `(?P<v>(?:the\s+)?\p{Lu}[\p{L}\p{N}'’&.-]*(?:\s+(?:of\s+|de\s+|&\s+)?\p{Lu}[\p{L}\p{N}'’&.-]*){0,4})`
)

var stateForms = []stateForm{
	{"residence", []string{"live", "living", "reside", "residing", "moved", "relocated", "based"}, regexp.MustCompile(subjectForm + `\s+` + fillerForm +
		`(?:lives?|living|resides?|residing|moved|relocated|based)\s+(?:back\s+|over\s+)?(?:in|to)\s+` + properForm)},
	{"employer", []string{"work", "employed", "started", "got"}, regexp.MustCompile(subjectForm + `\s+` + fillerForm +
		`(?:works?|working|employed|started(?:\s+working)?|got\s+a(?:\s+new)?\s+job)\s+(?:at|for|by)\s+` + properForm)},
	{"job", []string{"work"}, regexp.MustCompile(subjectForm + `\s+` + fillerForm + `(?:works?|working)\s+as\s+(?:an?\s+|the\s+)?(?P<v>\p{L}[\p{L} -]{1,60})`)},
	{"vehicle", []string{"drive", "driving"}, regexp.MustCompile(subjectForm + `\s+` + fillerForm + `(?:drives?|driving)\s+(?:an?|the)\s+(?P<v>(?:[\p{Ll}\d-]+\s+)?\p{Lu}[\p{L}\p{N}-]+(?:\s+\p{Lu}[\p{L}\p{N}-]+)?)`)},
	{"age", []string{"years"}, regexp.MustCompile(subjectForm + `\s+` + fillerForm + `(?:turned\s+)?(?P<v>\d{1,3})\s+years\s+old`)},
	{"marital status", []string{"married", "divorced", "widowed", "single", "engaged"}, regexp.MustCompile(subjectForm + `\s+(?:is|are|am|got)\s+(?:now\s+|currently\s+)?(?P<v>married|divorced|widowed|single|engaged)(?:\s+to\s|[.,!]|$)`)},
	{"number of", []string{"has", "have", "own"}, regexp.MustCompile(subjectForm + `\s+(?:now\s+|currently\s+|actually\s+|only\s+)*(?:has|have|owns?)\s+` +
		`(?P<v>\d{1,4}|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)\s+(?P<a>\p{Ll}+(?:\s\p{Ll}+)?)[.!]?$`)},
	{"", []string{"'s", "’s"}, regexp.MustCompile(subjectForm + `['’]s\s+(?:new\s+)?(?P<a>(?:favou?rite|preferred)\s+\p{L}+(?:\s+\p{L}+)?|` +
		`(?:phone|room|account)\s+number|e-?mail(?:\s+address)?|(?:home\s+)?address|birthday|nickname|employer|job|home\s?town|time\s?zone|pronouns|native\s+language|manager|boss)` +
		`\s+(?:is|are)\s+(?:now\s+|actually\s+|currently\s+)?(?P<v>[^,;!?]{1,80})`)},
}

// deniedValue begins the value of a state that holds no longer: "not paris".
const deniedValue = "not "

var (
	noLonger = regexp.MustCompile(`(?i)\b(?:no longer|not any ?more)\s+`)
	anyMore  = regexp.MustCompile(`(?i)\s+any ?more\b`)
	doesNot  = regexp.MustCompile(`(?i)\b(?:(?:does|do)(?:n['’]t| not)\s+|(is|are|am)(?:n['’]t| not)\b)`)
)

// undenied gives a statement that something holds no longer as the statement
// that it holds, and whether it was one. A denial that does not say that it
// held before stays as it is.
func undenied(text string) (told string, ended bool) {
	if noLonger.MatchString(text) {
		return noLonger.ReplaceAllString(text, ""), true
	}
	if anyMore.MatchString(text) && doesNot.MatchString(text) {
		return doesNot.ReplaceAllString(anyMore.ReplaceAllString(text, ""), "$1"), true
	}
	return text, false
}

// stateOf reads the attribute a plain statement gives its subject: where
// somebody lives or works, what their favourite thing is. One that says that it
// holds no longer gives the denied value. Otherwise denied, quoted and
// hypothetical statements, and those about more than one, give none.
func stateOf(f memory.Fact) *memory.State {
	if len(f.Text) > 400 || strings.ContainsAny(f.Text, `?"“`) {
		return nil
	}
	told, ended := undenied(f.Text)
	if analysis.Negated(told) {
		return nil
	}
	for _, sf := range stateForms {
		if !sf.mayBe(told) {
			continue
		}
		m := sf.form.FindStringSubmatchIndex(told)
		if m == nil {
			continue
		}
		group := func(name string) (string, int) {
			i := sf.form.SubexpIndex(name)
			if i < 0 || m[2*i] < 0 {
				return "", 0
			}
			return told[m[2*i]:m[2*i+1]], m[2*i]
		}
		subject, at := group("s")
		before := strings.ToLower(strings.TrimSpace(told[:at]))
		if hypothetical(before) {
			continue
		}
		attribute := sf.attribute
		if attribute == "" {
			attribute, _ = group("a")
		}
		value, _ := group("v")
		if attribute == "number of" {
			what, _ := group("a")
			attribute += " " + strings.Join(analysis.ContentStems(what), " ")
			if n := analysis.Numbers(value); len(n) > 0 {
				value = n[0]
			}
		}
		value = cutValue(memory.NormalText(value))
		id := subjectID(f, subject)
		if id == "" || value == "" {
			continue
		}
		if ended {
			value = deniedValue + value
		}
		return &memory.State{Subject: id, Attribute: attribute, Value: value}
	}
	return nil
}

// attributeName is how an attribute is called whatever its spelling: lower
// case, spaces folded.
func attributeName(a string) string {
	a = strings.Join(strings.Fields(strings.ReplaceAll(strings.ToLower(a), "favorite", "favourite")), " ")
	switch a {
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
	}
	return a
}

// hypothetical reports words before the subject that make a statement no plain one.
func hypothetical(before string) bool {
	for _, w := range []string{"if", "when", "and", "or", "before", "until", "thinks", "believes", "hopes", "wishes", "that", "said", "asked", "whether", "unless"} {
		if before == w || strings.HasSuffix(before, " "+w) {
			return true
		}
	}
	return false
}

// cutValue ends a value where the sentence goes on.
func cutValue(v string) string {
	for _, stop := range []string{" and ", " but ", " because ", " since ", " which ", " who ", " with ", " for ", " at ", " in ", " as of ", " now"} {
		if i := strings.Index(v+" ", stop); i > 0 {
			v = v[:min(i, len(v))]
		}
	}
	return strings.TrimPrefix(strings.TrimSpace(v), "the ")
}

// subjectID is the entity a subject names: one of the fact's own where it fits.
func subjectID(f memory.Fact, subject string) memory.EntityID {
	name := memory.NormalText(subject)
	switch name {
	case "i", "the user":
		if f.Speaker == "" {
			return ""
		}
		name = memory.NormalText(f.Speaker)
	case "he", "she", "it", "they", "we", "you", "who", "this", "that", "there":
		return ""
	}
	for _, e := range f.Entities {
		if _, n := e.Split(); n == name {
			return e
		}
	}
	return memory.NewEntityID(memory.EntityPerson, name)
}
