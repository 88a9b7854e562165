package rules

import (
	"regexp"
	"strings"

	"github.com/eunoe-memory/eunoe/pkg/text/date"
	"github.com/eunoe-memory/eunoe/pkg/text/pattern"
)

// slips are the words by which speakers take back what they have just said: "Friday, no wait, Saturday".
var slips = pattern.New(`(?i)[,;.!…—–-]* *(?:(?:^|[^\pL])(?:(?:oh |er |erm |uh )?(?:no,? ?(?:wait|sorry)|wait,? no|hang on,? no|scratch that|make that|correction|sorry,? i mean|(?:no,? )?i mean(?:t)?)` +
	`|(?:äh,? |ähm,? |ach )?nein,? (?:sorry|moment|quatsch|warte|entschuldigung|stopp)|(?:quatsch|äh),? nein|ich mein(?:t)?e|besser gesagt` +
	`|(?:ah |euh )?non,? (?:pardon|attends?|attendez)|(?:je )?voulais dire|je veux dire|no,? (?:espera|perdón|perdona|digo)|quise decir|quiero decir|mejor dicho` +
	`|(?:no,? )?(?:aspetta|scusa),? (?:no|anzi)|anzi,? no|volevo dire|no,? scusa|não,? (?:espera|desculpa|perdão)|quer dizer|quis dizer|aliás` +
	`|nee,? (?:wacht|sorry)|ik bedoel(?:de)?|nej,? (?:vänta|förlåt|vent|undskyld)|jag menar(?:de)?|jeg mente|nei,? vent|nie,? (?:czekaj|przepraszam|sorry)|to znaczy|ne,? (?:počkej|pardon)|teda` +
	`|(?:нет|ой),? (?:нет|подожди|погоди|прости|стоп)|вернее|точнее|ні,? (?:почекай|чекай|стоп)|тобто|(?:yok|hayır),? (?:pardon|bekle|dur)|pardon|demek istediğim|لا،? (?:قصدي|أقصد|آسف|اسف)|قصدي|(?:नहीं|अरे),? (?:नहीं|रुको|मतलब|सॉरी)|मतलब|όχι,? (?:συγγνώμη|περίμενε)|לא,? (?:רגע|סליחה)|התכוונתי)(?:$|[^\pL])` +
	`|(?:哦|啊|噢|呃)?(?:不对|不對|说错了|說錯了|搞错了|不是)[,,、 ]*(?:应该)?是?|(?:あ|いや)?[、,]?(?:じゃなくて|ではなくて?|間違えた|違う|違った)|(?:아|앗)? ?아니(?:다|,)? ?(?:참)?)[,;:.!…、,，。 ]*`)

// unit is a time or a number in a text.
type unit struct {
	start, end int
	digits     bool
}

var numeral = regexp.MustCompile(`[\p{Nd}]+(?:[.,:][\p{Nd}]+)*\.?`)

// units returns the times and numbers of a text in order.
func units(s string, dates []date.Span) []unit {
	var out []unit
	for _, d := range dates {
		out = append(out, unit{d.Start, d.End, hasNumeral(d.Text)})
	}
	for _, at := range numeral.FindAllStringIndex(s, -1) {
		within := false
		for _, d := range dates {
			within = within || at[0] < d.End && d.Start < at[1]
		}
		if !within {
			out = append(out, unit{at[0], at[1], true})
		}
	}
	return out
}

func hasNumeral(s string) bool { return numeral.MatchString(s) }

// corrected returns a text in which what its speaker took back is replaced by what they meant, and whether there was such a
// slip: "Python 3.11, no wait, I meant 3.12" is "Python 3.12".
func (t *drafter) corrected(s string) (string, bool) {
	at := slips.FindStringIndex(s)
	if at == nil || at[0] == 0 {
		return s, false
	}
	for again := slips.FindStringIndex(s[at[1]:]); again != nil && again[0] == 0; again = slips.FindStringIndex(s[at[1]:]) { // "no wait, I meant"
		at[1] += again[1]
	}
	before, behind := s[:at[0]], s[at[1]:]
	meant := units(behind, t.dates(behind))
	said := units(before, t.dates(before))
	var is unit
	for _, u := range meant {
		if is.end == 0 || u.start < is.start {
			is = u
		}
	}
	if is.end == 0 || wordsIn(behind[:is.start]) > 4 {
		return s, false
	}
	was := unit{}
	for _, u := range said {
		if u.digits == is.digits && u.start >= was.start {
			was = u
		}
	}
	if was.end == 0 {
		return s, false
	}
	rest := strings.TrimLeft(behind[is.end:], " ,")
	tail := before[was.end:]
	out := before[:was.start] + behind[is.start:is.end] + tail
	if rest != "" {
		if strings.TrimSpace(tail) != "" && wordsIn(rest) > 0 {
			out += ","
		}
		out += " " + rest
	}
	return strings.TrimSpace(out), true
}
