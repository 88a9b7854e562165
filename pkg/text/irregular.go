package text

import (
	"slices"
	"strings"
)

// BaseForm returns the dictionary form of an irregular English form in lower case, verb or noun, and of a few words that
// talk spells in several ways: "bought" is "buy", "children" is "child", "mum" is "mom". It reports false for others.
func BaseForm(word string) (string, bool) {
	base, ok := baseForms[word]
	return base, ok
}

// IsPastForm reports whether a lower-case word is a past form of an irregular verb that can stand behind "I".
func IsPastForm(word string) bool { return pastForms.Has(word) }

// BaseStem returns the stem of the dictionary form of a lower-case word. Only words of ASCII letters are stemmed.
func BaseStem(word string) string {
	if base, ok := baseForms[word]; ok {
		word = base
	}
	for i := 0; i < len(word); i++ {
		if word[i] < 'a' || word[i] > 'z' {
			return word
		}
	}
	return Stem(word)
}

// FormsOf returns the dictionary form that has the stem, with its irregular forms, sorted: the words that a text may
// have for it. A stem without irregular forms has none. The result must not be changed.
func FormsOf(stem string) []string { return formsOf[stem] }

// irregularVerbs are irregular verbs with their past forms. A form with a minus does not stand behind "I" by itself: a
// participle, besides "swept" and "wept", which rewriting does not know. A form with a plus is not reduced to its base:
// it is a common word of another meaning too (bit, rose, ground), equals its base, or brought ranking nothing.
const irregularVerbs = `be:was,were,been bear:bore+ beat:beat+ become:became begin:began,begun- bet:bet+ bind:bound+ bite:bit+
	blow:blew,blown- break:broke,broken- breed:bred+ bring:brought build:built burn:burnt buy:bought catch:caught
	choose:chose,chosen- come:came cost:cost+ creep:crept+ cry:cried+ cut:cut+ deal:dealt dig:dug do:did+,done+
	draw:drew,drawn- dream:dreamt drink:drank,drunk- drive:drove,driven- eat:ate,eaten- fall:fell,fallen- feed:fed
	feel:felt fight:fought find:found flee:fled+ fly:flew,flown- forget:forgot,forgotten- forgive:forgave,forgiven-
	freeze:froze,frozen- get:got,gotten- give:gave,given- go:went,gone grind:ground+ grow:grew,grown- hang:hung
	have:had+ hear:heard hide:hid,hidden- hit:hit+ hold:held hurt:hurt+ keep:kept kneel:knelt+ know:knew,known-
	lay:laid+ lead:led leap:leapt+ learn:learnt leave:left lend:lent lie:lay+ light:lit+ lose:lost make:made mean:meant
	meet:met mistake:mistook+ misunderstand:misunderstood+ outgrow:outgrew+ overcome:overcame+ oversleep:overslept+
	pay:paid put:put+ quit:quit+ read:read+ rebuild:rebuilt+ ride:rode,ridden- ring:rang,rung- rise:risen-,rose+ run:ran
	say:said see:saw,seen seek:sought sell:sold send:sent set:set+ shake:shook,shaken- shine:shone shoot:shot
	show:shown- shut:shut+ sing:sang,sung- sink:sank,sunk- sit:sat sleep:slept slide:slid+ speak:spoke,spoken-
	spell:spelt+ spend:spent spill:spilt+ split:split+ spread:spread+ stand:stood steal:stole,stolen- stick:stuck
	strike:struck swear:swore+ sweep:swept- swim:swam,swum- swing:swung take:took,taken teach:taught tear:tore,torn-
	tell:told think:thought throw:threw,thrown- try:tried+ understand:understood undertake:undertook+ use:used+
	wake:woke,woken- wear:wore,worn- weep:wept- win:won wind:wound+ withdraw:withdrew+ write:wrote,written-`

// irregularNouns are the irregular plurals.
const irregularNouns = `child:children man:men woman:women person:people foot:feet tooth:teeth mouse:mice goose:geese wife:wives
	knife:knives shelf:shelves wolf:wolves`

// spellings are words that talk spells in several ways.
const spellings = `kid:kiddo,kiddos mom:mum,mommy,mama dad:daddy photo:pic,pics,picture,pictures tv:television
	favorite:favourite,fav,fave color:colour neighbor:neighbour theater:theatre center:centre
	grandma:grandmother,granny,gran grandpa:grandfather vacation:vacay,holiday`

var baseForms, pastForms = readForms(irregularVerbs, irregularNouns, spellings)

func readForms(verbs, nouns, spellings string) (base map[string]string, past WordSet) {
	base, past = make(map[string]string, 256), make(WordSet, 256)
	for entry := range strings.FieldsSeq(verbs) {
		verb, forms, _ := strings.Cut(entry, ":")
		for form := range strings.SplitSeq(forms, ",") {
			word := strings.TrimRight(form, "+-")
			if !strings.HasSuffix(form, "+") {
				base[word] = verb
			}
			if !strings.HasSuffix(form, "-") {
				past[word] = struct{}{}
			}
		}
	}
	for entry := range strings.FieldsSeq(nouns + " " + spellings) {
		word, forms, _ := strings.Cut(entry, ":")
		for form := range strings.SplitSeq(forms, ",") {
			base[form] = word
		}
	}
	return base, past
}

var formsOf = func() map[string][]string {
	m := make(map[string][]string, len(baseForms))
	for form, base := range baseForms {
		at := BaseStem(base)
		m[at] = append(m[at], form, base)
	}
	for at, list := range m {
		slices.Sort(list)
		m[at] = slices.Compact(list)
	}
	return m
}()
