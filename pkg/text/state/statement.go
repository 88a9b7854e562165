package state

import (
	"iter"
	"strings"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/text"
	"github.com/eunoe-memory/eunoe/pkg/text/pattern"
)

// longestStatement is the longest sentence that is read, in bytes. A longer one states more than one thing.
const longestStatement = 400

const (
	anySubject   = `(?:^|[\s,:;])(?P<s>I|[Tt]he user|\p{Lu}[\p{L}\p{N}.-]*(?:\s+\p{Lu}[\p{L}\p{N}.-]*){0,3})`
	anyAdverbs   = `(?:(?:has|have|is|am|now|just|recently|currently|actually|finally|also|officially|already|still|then|permanently|since)\s+)*`
	anyProperOne = `(?P<v>(?:the\s+)?\p{Lu}[\p{L}\p{N}'’&.-]*(?:\s+(?:of\s+|de\s+|&\s+)?\p{Lu}[\p{L}\p{N}'’&.-]*){0,4})`
)

// statementForms are the forms of Statements, in the order in which they are tried.
var statementForms = []Form{
	newForm(Residence, "live, living, reside, residing, moved, relocated, based",
		anySubject+`\s+`+anyAdverbs+`(?:lives?|living|resides?|residing|moved|relocated|based)\s+(?:back\s+|over\s+)?(?:in|to)\s+`+anyProperOne),
	newForm(Employer, "work, employed, started, got",
		anySubject+`\s+`+anyAdverbs+`(?:works?|working|employed|started(?:\s+working)?|got\s+a(?:\s+new)?\s+job)\s+(?:at|for|by)\s+`+anyProperOne),
	newForm(Job, "work", anySubject+`\s+`+anyAdverbs+`(?:works?|working)\s+as\s+(?:an?\s+|the\s+)?(?P<v>\p{L}[\p{L} -]{1,60})`),
	newForm(Vehicle, "drive, driving",
		anySubject+`\s+`+anyAdverbs+`(?:drives?|driving)\s+(?:an?|the)\s+(?P<v>(?:[\p{Ll}\d-]+\s+)?\p{Lu}[\p{L}\p{N}-]+(?:\s+\p{Lu}[\p{L}\p{N}-]+)?)`),
	newForm(Age, "years", anySubject+`\s+`+anyAdverbs+`(?:turned\s+)?(?P<v>\d{1,3})\s+years\s+old`),
	newForm(MaritalStatus, "married, divorced, widowed, single, engaged",
		anySubject+`\s+(?:is|are|am|got)\s+(?:now\s+|currently\s+)?(?P<v>married|divorced|widowed|single|engaged)(?:\s+to\s|[.,!]|$)`),
	newForm(CountPrefix, "has, have, own",
		anySubject+`\s+(?:now\s+|currently\s+|actually\s+|only\s+)*(?:has|have|owns?)\s+`+
			`(?P<v>\d{1,4}|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)\s+(?P<a>\p{Ll}+(?:\s\p{Ll}+)?)[.!]?$`),
	newForm("", "'s, ’s",
		anySubject+`['’]s\s+(?:new\s+)?(?P<a>(?:favou?rite|preferred)\s+\p{L}+(?:\s+\p{L}+)?|`+
			`(?:phone|room|account)\s+number|e-?mail(?:\s+address)?|(?:home\s+)?address|birthday|nickname|employer|job|home\s?town|time\s?zone|pronouns|native\s+language|manager|boss)`+
			`\s+(?:is|are)\s+(?:now\s+|actually\s+|currently\s+)?(?P<v>[^,;!?]{1,80})`),
}

// Statements yields what a plain sentence states of its subject, form by form; most sentences state one thing or
// nothing. A sentence that something holds no longer yields the denied value. Sentences that are denied otherwise,
// quoted, asked, hypothetical, or longer than 400 bytes yield nothing. Attributes are spelled as the sentence has them.
func Statements(s string) iter.Seq[Statement] {
	return func(yield func(Statement) bool) {
		if len(s) > longestStatement || strings.ContainsAny(s, `?"“`) {
			return
		}
		s, ended := affirm(s)
		if text.Negated(s) {
			return
		}
		for _, f := range statementForms {
			if !f.cues.In(s) {
				continue
			}
			groups, at := f.capture(s)
			if groups == nil || hypothetical(strings.ToLower(strings.TrimSpace(s[:at]))) || hypothetical(strings.ToLower(firstWord(groups["s"]))) {
				continue
			}
			st := Statement{Subject: groups["s"], Attribute: f.attribute, Value: groups["v"], Text: groups[""]}
			switch f.attribute {
			case "":
				st.Attribute = groups["a"]
			case CountPrefix:
				st.Attribute += strings.Join(text.ContentStems(groups["a"]), " ")
				if n := text.Numbers(st.Value); len(n) > 0 {
					st.Value = n[0]
				}
			}
			st.Value = cutAt(memory.NormalText(st.Value), " ", statementEnds)
			st.Value = strings.TrimPrefix(strings.TrimSpace(st.Value), "the ")
			if st.Value == "" {
				continue
			}
			if ended {
				st.Value = DeniedPrefix + st.Value
			}
			if !yield(st) {
				return
			}
		}
	}
}

// statementEnds are the words behind which a sentence goes on. A value of a client's own wording ends at prepositions too.
var statementEnds = []string{" and ", " but ", " because ", " since ", " which ", " who ", " with ", " for ", " at ", " in ", " as of ", " now"}

var (
	noLonger = pattern.New(`(?i)\b(?:no longer|not any ?more)\s+`)
	anyMore  = pattern.New(`(?i)\s+any ?more\b`)
	doesNot  = pattern.New(`(?i)\b(?:(?:does|do)(?:n['’]t| not)\s+|(is|are|am)(?:n['’]t| not)\b)`)
)

// affirm turns a sentence that something holds no longer into the sentence that it holds, and reports whether it was
// one. A denial that does not say that it held before is returned as it is.
func affirm(s string) (affirmed string, ended bool) {
	if noLonger.MatchString(s) {
		return noLonger.ReplaceAllString(s, ""), true
	}
	if anyMore.MatchString(s) && doesNot.MatchString(s) {
		return doesNot.ReplaceAllString(anyMore.ReplaceAllString(s, ""), "$1"), true
	}
	return s, false
}

// hypothetical reports whether the words before a subject keep the sentence from being a plain statement.
func hypothetical(before string) bool {
	return conditions.Has(before[strings.LastIndexByte(before, ' ')+1:])
}

func firstWord(s string) string {
	w, _, _ := strings.Cut(s, " ")
	return w
}

var conditions = text.NewWordSet("if when and or before until thinks believes hopes wishes that said asked whether unless")
