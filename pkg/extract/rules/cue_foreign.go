package rules

import (
	"strings"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/text"
	"github.com/eunoe-memory/eunoe/pkg/text/pattern"
)

// constraints finds what somebody must not have, in any language: the stems of allergies and of ways to eat are much the
// same in most.
var constraints = pattern.New(`(?:^|[^\pL])(?:[\pL-]*al+erg|alérg|alergik|uczulen|z[öo]e?liak|coeliak|celíac|celiac|celiach|cœliaque|coeliaque|celiaki|vegan|végan|veget?ari|végétari|` +
	`wegetaria|laktoseintoleran|lactose|intoler[ae]n|intoléran|intolleran|unverträglich|vertr[aä]g\pL* (?:kein|nicht)|аллерги|непереносим|веган|вегетариан|диабет|diabeti|diabéti|halal|koscher|kosher|kasher)` +
	`|アレルギー|菜食|ビーガン|过敏|過敏|素食|不耐受|알레르기|알러지|채식|비건|alerj|แพ้|حساسية|אלרגי|एलर्जी|αλλεργ|dị ứng`)

// preferences finds what somebody likes, dislikes or prefers, by language, over a sentence in lower case.
var preferences = map[text.Language]*pattern.Pattern{
	"de": words(`mag|magst|mögen|liebe|liebt|lieben|hasse|hasst|am liebsten|bevorzuge|bevorzugt|lieblings\pL+|kann \pL+ nicht (?:leiden|ausstehen)|bin \pL*fan|gefällt mir`),
	"es": words(`me gustan?|me encantan?|odio|detesto|prefiero|favorit[oa]s?|no soporto|no me gustan?|me chiflan?|le gustan?|le encantan?`),
	"fr": words(`j'aime|j'adore|je déteste|je préfère|préférée?s?|je n'aime|il aime|elle aime|on adore|on aime|ça me plaît|je ne supporte pas`),
	"it": words(`mi piac(?:e|ciono)|adoro|odio|detesto|preferisco|preferit[oaie]|gli piace|le piace|non sopporto|amo`),
	"pt": words(`gosto|gosta|adoro|adora|odeio|odeia|prefiro|prefere|favorit[oa]s?|preferid[oa]s?|detesto|não suporto|amo`),
	"nl": words(`hou van|houd van|houdt van|haat|lievelings\pL+|liever|favoriete?|vind \pL+ (?:leuk|lekker|vies)`),
	"sv": words(`gillar|älskar|hatar|föredrar|favorit\pL*|tycker om|avskyr`),
	"da": words(`elsker|hader|foretrækker|yndlings\pL+|kan (?:godt|ikke) lide`),
	"nb": words(`elsker|hater|foretrekker|favoritt\pL*|yndlings\pL+|liker`),
	"pl": words(`lubię|lubi|uwielbiam|uwielbia|kocham|nienawidzę|nie znoszę|wolę|woli|ulubion\pL+`),
	"ru": words(`люблю|любит|обожаю|обожает|ненавижу|терпеть не могу|предпочитаю|предпочитает|любим(?:ый|ая|ое|ые)|нравится|нравятся`),
	"tr": words(`seviyorum|severim|sevmiyorum|sevmem|bayılırım|nefret ed\pL+|tercih ed\pL+|en sevdiğim`),
	"ja": pattern.New(`大?好き|嫌い|苦手|お気に入り`),
	"zh": pattern.New(`喜欢|喜歡|最爱|最愛|讨厌|討厭|偏爱|更爱|受不了`),
	"ko": pattern.New(`좋아[하해합]|좋아요|싫어[하해]|싫어요|최애|선호`),
}

// words returns an expression that finds any of some words, whole.
func words(list string) *pattern.Pattern {
	return pattern.New(`(?:^|[^\pL'])(?:` + list + `)(?:[^\pL]|$)`)
}

// foreignType returns the type of a statement in another language. dated reports whether it names a time.
func foreignType(s string, lang text.Language, dated bool) memory.Type {
	low := strings.ToLower(straighten(s))
	switch {
	case constraints.MatchString(low):
		return memory.TypeConstraint
	case dated:
		return memory.TypeEvent
	}
	if p := preferences[lang]; p != nil && p.MatchString(low) {
		return memory.TypePreference
	}
	return memory.TypeFact
}
