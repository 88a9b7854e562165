package state

import (
	"regexp"
	"slices"
	"strings"

	"github.com/eunoe-memory/eunoe/pkg/text"
)

// questionForms are how questions ask for an attribute without its name: "Where does Alice live?" for her residence.
var questionForms = map[string]*regexp.Regexp{
	Residence: regexp.MustCompile(`\b(?:where|city|town|country)\b.*\b(?:lives?|living|resides?|residing|home)\b|` +
		`(?:\b(?:my|your|his|her|its|their|our|home|street|postal|current)|['’]s) address\b`),
	Employer: regexp.MustCompile(`\b(?:where|whom?|company|firm)\b.*\b(?:works?|working|employed|employs|employer)\b`),
	Job:      regexp.MustCompile(`\bwhat\b.*\b(?:job|occupation|profession|for a living|works? as)\b`),
	Vehicle: regexp.MustCompile(`\b(?:what|which)\b.*\b(?:drives?|driving)\b|` +
		`\b(?:what|which)(?: (?:kind|type|sort|make|model|brand) of)? (?:car|vehicle)(?: (?:do|does|did|is|am|are|was|has|have|will|would)\b|[?.! ]*$)`),
	Age:           regexp.MustCompile(`\bhow old\b|\bwhat(?: is|['’]s)\b.*\bage\b`),
	MaritalStatus: regexp.MustCompile(`\b(?:is|are)\b.*\b(?:married|single|divorced|widowed|engaged)\b`),
}

// Asked returns those of the names of attributes that a question asks for: by a form of its own, or by every word of
// the name. The order of names is kept, and names is not changed.
func Asked(question string, names []string) []string {
	asked := strings.ToLower(strings.ReplaceAll(question, "avorite", "avourite"))
	stems := text.ContentStems(asked)
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		if form := questionForms[name]; form != nil {
			return !form.MatchString(asked)
		}
		words := text.ContentStems(name)
		if things, counts := strings.CutPrefix(name, CountPrefix); counts {
			if !strings.Contains(asked, "how many") {
				return true
			}
			words = strings.Fields(things)
		}
		return len(words) == 0 || slices.ContainsFunc(words, func(w string) bool { return !slices.Contains(stems, w) })
	})
}
