package state

import (
	"strings"

	"github.com/eunoe-memory/eunoe/pkg/text/pattern"
)

// Statement says that an attribute of a subject has a value.
type Statement struct {
	Subject   string // as the sentence names it
	Relation  string // "'s sister Lena" where the subject is somebody's relative; only in drafts
	Attribute string
	Value     string // normalised as memory.NormalText does; a value that holds no longer begins with DeniedPrefix
	Text      string // the part of the sentence that states it
}

// Form is a form of sentence that states a value of a subject.
type Form struct {
	Cues      []string // a sentence without any of them does not have the form
	NeedsDate bool     // counts only where the sentence says when: a plan without a date is no state

	cues      *pattern.Words // the same
	attribute string         // "" means that the sentence names it
	pattern   *pattern.Pattern
}

// newForm returns a form with comma-separated cues. The groups of the expression are s the subject, k the
// relation, a the attribute and v the value.
func newForm(attribute, cues, expr string) Form {
	f := Form{attribute: attribute, pattern: pattern.New(expr)}
	for cue := range strings.SplitSeq(cues, ",") {
		f.Cues = append(f.Cues, strings.TrimSpace(cue))
	}
	f.cues = pattern.NewWords(f.Cues...)
	return f
}

// capture returns the groups of the first match by name, and where the subject begins; nil without a match.
func (f Form) capture(s string) (groups map[string]string, subjectAt int) {
	m := f.pattern.FindStringSubmatchIndex(s)
	if m == nil {
		return nil, 0
	}
	groups = map[string]string{"": s[m[0]:m[1]]}
	for i, name := range f.pattern.SubexpNames() {
		if name != "" && m[2*i] >= 0 {
			groups[name] = s[m[2*i]:m[2*i+1]]
		}
	}
	if s := f.pattern.SubexpIndex("s"); s >= 0 {
		return groups, m[2*s]
	}
	return groups, m[0]
}

// cutAt ends a value where the sentence goes on: before each of the connectives in turn. tail is what follows the value
// while a connective is looked for.
func cutAt(v, tail string, connectives []string) string {
	for _, c := range connectives {
		if i := strings.Index(v+tail, c); i > 0 {
			v = v[:min(i, len(v))]
		}
	}
	return v
}
