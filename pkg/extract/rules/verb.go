package rules

import (
	"strings"

	"github.com/eunoe-memory/eunoe/pkg/text"
)

// unbending are words behind "I" that stay as they are, besides past forms: modals, words that are no verbs, and forms
// that talk does not inflect.
var unbending = text.NewWordSet(`could would should will can may might must shall ought cannot can't couldn't wouldn't shouldn't won't didn't wasn't
	hadn't mustn't is are and or but nor the a an in on at to for with from of as not too that this who gonna better n't
	just`)

// unbent reports whether a word behind "I" stays as it is behind a name.
func unbent(w string) bool { return unbending.Has(w) || text.IsPastForm(w) }

// irregular are present forms with a third person of their own.
var irregular = map[string]string{
	"am": "is", "have": "has", "do": "does", "go": "goes", "be": "is", "don't": "doesn't", "haven't": "hasn't", "dont": "doesn't",
	"havent": "hasn't", "ain't": "isn't", "wanna": "wants to", "gotta": "has to", "undergo": "undergoes", "redo": "redoes", "cant": "can't", "wont": "won't",
	"run": "runs", "come": "comes", "become": "becomes", "overcome": "overcomes", "didnt": "didn't", "couldnt": "couldn't", "wouldnt": "wouldn't",
}

// regularPresent are verbs that look like a past form or a plural and are neither.
var regularPresent = text.NewWordSet(`need feed succeed exceed proceed speed bleed breed embed heed seed weed shed wed bring sing ring swing
	cling fling wing string ping miss pass guess discuss possess process stress press dress kiss cross focus bus apply rely reply
	supply multiply imply comply fly`)

// thirdPerson returns the form of a verb behind a name, given the one behind "I".
func thirdPerson(verb string) string {
	if v, ok := irregular[verb]; ok {
		return v
	}
	switch {
	case unbent(verb), len(verb) < 3, strings.ContainsAny(verb, "0123456789'"):
		return verb
	case regularPresent.Has(verb):
	case strings.HasSuffix(verb, "ed"), strings.HasSuffix(verb, "ing"), strings.HasSuffix(verb, "ly"), strings.HasSuffix(verb, "s"):
		return verb
	}
	last := verb[len(verb)-1]
	switch {
	case strings.HasSuffix(verb, "ss"), strings.HasSuffix(verb, "ch"), strings.HasSuffix(verb, "sh"), strings.HasSuffix(verb, "zz"),
		last == 'x', last == 'o', last == 's':
		return verb + "es"
	case last == 'y' && !strings.ContainsRune("aeiou", rune(verb[len(verb)-2])):
		return verb[:len(verb)-1] + "ies"
	}
	return verb + "s"
}

// adverbs may stand between "I" and its verb.
var adverbs = text.NewWordSet(`also just always still often sometimes now even only already mostly mainly both first once then usually
	never ever almost rarely seldom later soon maybe perhaps kinda sorta too hardly barely currently recently finally actually
	really honestly definitely totally absolutely literally probably certainly surely generally normally regularly occasionally
	personally truly simply basically eventually seriously particularly especially clearly obviously apparently fully initially
	originally lately nearly highly deeply greatly strongly randomly accidentally suddenly quickly slowly immediately`)

// commonBase are base forms that follow "and" as a second verb of "I".
var commonBase = text.NewWordSet(`love like want need have do try make work live play feel think use get take keep go hope enjoy hate know
	spend prefer plan practice run read write cook paint teach study help watch listen eat drink sleep walk swim hike travel
	believe appreciate wish miss start stop`)

// pastPart tells "I'd been", which is "had", from "I'd go", which is "would".
func pastPart(w string) bool {
	return participles.Has(w) || strings.HasSuffix(w, "ed") && !regularPresent.Has(w)
}

// participles are the irregular ones that follow "I'd"; "better" is there for "I'd better".
var participles = text.NewWordSet(`been had gone done seen taken better already got gotten lost found made met heard forgotten written known`)
