package statement

import (
	"regexp"
	"slices"
	"strings"

	"github.com/eunoe-memory/eunoe/pkg/text"
)

// auxiliaries may stand between the subject and its verb.
var auxiliaries = setOf(strings.Fields("is are has have been 's just still currently also now both mostly usually always only already really started starts began begun hard busy"))

// mainVerb returns the verb of the first subject in lower case, and what stands behind it: of "Ana's sister is still
// working at Nokia." "working" and "at Nokia.".
func (r Reading) mainVerb() (verb, rest string) {
	words := strings.Fields(r.body)
	at := 1
	if len(words) > 2 && strings.HasSuffix(words[0], "'s") {
		at = 2
	}
	for at < len(words) && (auxiliaries[words[at]] || strings.ToLower(words[at]) != words[at]) {
		at++
	}
	if at >= len(words) {
		return "", ""
	}
	return strings.Trim(words[at], ".,;:!?"), strings.Join(words[at+1:], " ")
}

var (
	jobVerbs = stemSet("work employ teach nurs")
	// workedOn is what follows a verb of work that is no employment: "works on a puzzle", "works out".
	workedOn = regexp.MustCompile(`^(?:\p{L}+ly )?(?:on|out|towards?|through)\b|^hard\b`)
	// withoutJob finds that a job is one of the past, of the future or wished for.
	withoutJob = inPlain(` (?:los[et]|losing|loses|quit|quitting|left|leaving|leave|after|before|looking|searching|hunting|appl\p{L}+|wants?|needs?|find|finding|without|offer\p{L}*|interview\p{L}*|hopes?) `)
)

var (
	isOne   = NewPhrases("is a", "is an")
	oneMore = NewPhrases("another", "next", "second")
)

// holdsJob reports whether the text says that its subject has a job: one that can be lost or quit.
func (r Reading) holdsJob() bool {
	verb, rest := r.mainVerb()
	switch {
	case jobVerbs[text.Stem(verb)]:
		return !workedOn.MatchString(rest)
	case r.Stems["job"]:
		return !r.matches(withoutJob)
	}
	return r.HasPhrase(isOne) && r.hasStem(jobVerbs)
}

// atWorkOn reports whether the text says that its subject is busy with the thing that the newer text names: not with
// several, or with another one.
func (r Reading) atWorkOn(of []string, newer Reading) bool {
	if verb, _ := r.mainVerb(); !taskStems[text.Stem(verb)] || r.HasPhrase(oneMore) {
		return false
	}
	return slices.ContainsFunc(newer.Words, func(n Word) bool {
		return slices.Contains(of, n.Stem) && slices.ContainsFunc(r.Words, func(w Word) bool { return w.Text == n.Text })
	})
}
