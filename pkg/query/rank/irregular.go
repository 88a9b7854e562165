package rank

import (
	"sort"
	"strings"
)

// irregular maps a folded English form that no stemmer can reduce to its dictionary form: irregular verbs and plurals, and a
// few words that talk spells in several ways. Forms that are common words of another meaning (bit, rose, lives) are left out.
var irregular = forms(`be:was,were,been become:became begin:began,begun blow:blew,blown break:broke,broken bring:brought
	build:built burn:burnt buy:bought catch:caught choose:chose,chosen come:came deal:dealt dig:dug draw:drew,drawn
	dream:dreamt drink:drank,drunk drive:drove,driven eat:ate,eaten fall:fell,fallen feed:fed feel:felt fight:fought
	find:found fly:flew,flown forget:forgot,forgotten forgive:forgave,forgiven freeze:froze,frozen get:got,gotten
	give:gave,given go:went,gone grow:grew,grown hang:hung hear:heard hide:hid,hidden hold:held keep:kept know:knew,known
	lead:led learn:learnt leave:left lend:lent lose:lost make:made mean:meant meet:met pay:paid ride:rode,ridden
	ring:rang,rung rise:risen run:ran say:said see:saw,seen seek:sought sell:sold send:sent shake:shook,shaken shine:shone
	shoot:shot show:shown sing:sang,sung sink:sank,sunk sit:sat sleep:slept speak:spoke,spoken spend:spent stand:stood
	steal:stole,stolen stick:stuck strike:struck sweep:swept swim:swam,swum swing:swung take:took,taken teach:taught
	tear:tore,torn tell:told think:thought throw:threw,thrown understand:understood wake:woke,woken wear:wore,worn
	weep:wept win:won write:wrote,written
	child:children man:men woman:women person:people foot:feet tooth:teeth mouse:mice goose:geese wife:wives knife:knives
	shelf:shelves wolf:wolves
	kid:kiddo,kiddos mom:mum,mommy,mama dad:daddy photo:pic,pics,picture,pictures tv:television favorite:favourite,fav,fave
	color:colour neighbor:neighbour theater:theatre center:centre grandma:grandmother,granny,gran grandpa:grandfather
	vacation:vacay,holiday`)

func forms(list string) map[string]string {
	m := make(map[string]string, 256)
	for _, entry := range strings.Fields(list) {
		base, rest, _ := strings.Cut(entry, ":")
		for _, form := range strings.Split(rest, ",") {
			m[form] = base
		}
	}
	return m
}

// formsOf maps the stem of a dictionary form to that form and its irregular ones, sorted: the words a text may have for it.
var formsOf = func() map[string][]string {
	m := make(map[string][]string, len(irregular))
	for form, base := range irregular {
		at := stem(base)
		m[at] = appendNew(m[at], form, base)
	}
	for _, list := range m {
		sort.Strings(list)
	}
	return m
}()
