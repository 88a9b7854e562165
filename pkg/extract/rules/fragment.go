package rules

import "strings"

// fragment gives a sentence that leaves out its "I" the subject back: "Went to
// Rome", "Gonna try it", "Trying to sleep". "" where there is nothing to add.
func fragment(ps []piece, low string) string {
	i := next(ps, 0)
	for i < len(ps) && adverbs[ps[i].low] {
		j := next(ps, i+1)
		if !spaces(ps, i, j) {
			return ""
		}
		i = j
	}
	if i >= len(ps) {
		return ""
	}
	second := ""
	if j := next(ps, i+1); j < len(ps) && spaces(ps, i, j) {
		second = ps[j].low
	}
	w := ps[i].low
	with := ""
	switch {
	case second == "":
	case (w == "gonna" || w == "going") && strings.Contains(low, " be "), w == "felt" && (second == "so" || second == "like" || second == "really"):
	case w == "gonna" || w == "going" && second == "to" || ongoing[w] && !nounVerb(ps, i):
		with = "I'm"
	case (w == "excited" || w == "happy" || w == "glad" || w == "proud" || w == "sorry" || w == "sad" || w == "grateful" || w == "thankful" || w == "thrilled" || w == "stoked") &&
		behind[second]:
		with = "I'm"
	case w == "so" && (second == "excited" || second == "proud" || second == "grateful"):
		with = "I'm"
	case w == "been" && (strings.HasSuffix(second, "ing") || second == "to" || second == "in" || second == "a" || adverbs[second]):
		with = "I've"
	case w == "don't" && (second == "know" || second == "think" || second == "like" || second == "have" || second == "want" || second == "need" || second == "remember"):
		with = "I"
	case omitted[w] && !isBe(second) && second != "you" && !(w == "hope" && (second == "all" || second == "that")):
		with = "I"
	case strings.HasSuffix(w, "ed") && !regularPresent[w] && len(w) > 4 && behind[second] && !passive[w]:
		with = "I"
	case stated[w] && stateObject[second]:
		with = "I"
	}
	if with == "" {
		return ""
	}
	copied := append([]piece(nil), ps...)
	uncapitalise(copied)
	return with + " " + join(copied)
}

// ongoing are verbs whose -ing form opens sentences that leave "I am" out.
var ongoing = words(`trying working thinking looking planning hoping getting feeling doing learning taking making starting having heading
	considering preparing studying training saving moving living staying spending enjoying loving dealing struggling writing building
	dreaming wondering going reading`)

// nounVerb reports an -ing form that is the subject of a verb: "Reading a book
// helps me", and no "Trying to sleep but it's loud".
func nounVerb(ps []piece, i int) bool {
	for n, j := 0, next(ps, i+1); j < len(ps) && n < 16; n, j = n+1, next(ps, j+1) {
		w := ps[j].low
		if isBe(w) || finite[w] {
			return true
		}
		if clause[w] || strings.Contains(ps[j].low, "'") || ps[j-1].low == "" && strings.Contains(ps[j-1].text, " -") {
			return false
		}
	}
	return false
}

// finite are verbs of a third person; clause are words that begin another clause.
var (
	finite = words(`has can makes helps gives keeps will helped made brings takes feels would requires sounds seems means gave brought took
		reminds inspires lets allows`)
	clause = words(`but so because since which who what how if when while where as i we you he she it they`)
)

func isBe(w string) bool {
	switch w {
	case "is", "was", "are", "were", "isn't", "wasn't", "be":
		return true
	}
	return false
}

// omitted are verbs that open sentences that leave "I" out.
var omitted = words(`went got had made took saw met came bought ran spent found felt can't won't couldn't didn't haven't gotta wanna
	need want wish hate miss enjoy prefer plan hope forgot lost won left thought kept grew ate wrote began`)

// stated verbs do so only before something that is loved: "Love is blind" does not.
var (
	stated      = words(`love like loved liked appreciate`)
	stateObject = words(`the this that these those my our to how it a going spending being having your her his`)
	passive     = words(`based given packed filled loaded located inspired surrounded known called named covered compared followed needed
		allowed related`)
	behind = words(`a an the my our to up out with it in on from for about at by some two three that this of and over his her their him them`)
)
