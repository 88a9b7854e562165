package rules

import "strings"

// fixed are words behind "I" that stay as they are: past forms, modals, and
// what is no verb at all.
var fixed = words(`was were had did could would should will can may might must shall ought cannot can't couldn't wouldn't shouldn't
	won't didn't wasn't hadn't mustn't is are and or but nor the a an in on at to for with from of as not too that this who
	went got made saw took came found bought ran ate met felt kept left lost told brought thought taught caught gave grew knew
	drew flew threw wrote rode drove broke spoke woke chose froze stole wore swore began drank sang swam rang sank became forgot
	understood stood sat slept spent sent built lent led fed heard held hung paid said sold won fell fought sought hit hurt
	put quit set shut cut cost split spread bet beat bit hid slid lit shot shook stuck struck swung dug dealt meant dreamt
	learnt burnt spelt spilt laid lay rose rebuilt withdrew overcame undertook tore bore bound wound ground shone fled forgave
	mistook been done gone seen taken used gonna better read bred crept leapt knelt blew overslept misunderstood outgrew
	cried tried n't just`)

// irregular are present forms with a third person of their own.
var irregular = map[string]string{
	"am": "is", "have": "has", "do": "does", "go": "goes", "be": "is", "don't": "doesn't", "haven't": "hasn't", "dont": "doesn't",
	"havent": "hasn't", "ain't": "isn't", "wanna": "wants to", "gotta": "has to", "undergo": "undergoes", "redo": "redoes", "cant": "can't", "wont": "won't",
	"didnt": "didn't", "couldnt": "couldn't", "wouldnt": "wouldn't",
}

// regularPresent are verbs that look like a past form or a plural and are none.
var regularPresent = words(`need feed succeed exceed proceed speed bleed breed embed heed seed weed shed wed bring sing ring swing
	cling fling wing string ping miss pass guess discuss possess process stress press dress kiss cross focus bus apply rely reply
	supply multiply imply comply fly`)

// thirdPerson gives the form of a verb behind a name, where it stood behind "I".
func thirdPerson(verb string) string {
	if v, ok := irregular[verb]; ok {
		return v
	}
	switch {
	case fixed[verb], len(verb) < 3, strings.ContainsAny(verb, "0123456789'"):
		return verb
	case regularPresent[verb]:
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
var adverbs = words(`also just always still often sometimes now even only already mostly mainly both first once then usually
	never ever almost rarely seldom later soon maybe perhaps kinda sorta too hardly barely currently recently finally actually
	really honestly definitely totally absolutely literally probably certainly surely generally normally regularly occasionally
	personally truly simply basically eventually seriously particularly especially clearly obviously apparently fully initially
	originally lately nearly highly deeply greatly strongly randomly accidentally suddenly quickly slowly immediately`)

// commonBase are base forms that follow "and" as a second verb of "I".
var commonBase = words(`love like want need have do try make work live play feel think use get take keep go hope enjoy hate know
	spend prefer plan practice run read write cook paint teach study help watch listen eat drink sleep walk swim hike travel
	believe appreciate wish miss start stop`)

// pastPart tells "I'd been" (had) from "I'd go" (would).
func pastPart(w string) bool {
	switch w {
	case "been", "had", "gone", "done", "seen", "taken", "better", "never", "always", "just", "already", "got", "gotten", "lost", "found", "made", "met", "heard", "forgotten", "written", "known":
		return w != "never" && w != "always" && w != "just"
	}
	return strings.HasSuffix(w, "ed") && !regularPresent[w]
}
