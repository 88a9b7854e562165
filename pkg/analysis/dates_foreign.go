package analysis

import (
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	dateparser "github.com/markusmobius/go-dateparser"
)

// foreignMonths are month names of other languages, in lower case, with the
// languages they belong to; the ones spelled as in English are left out.
var foreignMonths = func() map[string][]string {
	m := make(map[string][]string)
	for _, l := range []struct{ language, months string }{
		{"fr", `janvier février fevrier mars avril mai juin juillet août aout septembre octobre novembre décembre`},
		{"de", `januar jänner februar märz mai juni juli oktober dezember`},
		{"es", `enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre`},
		{"it", `gennaio febbraio marzo aprile maggio giugno luglio settembre ottobre dicembre`},
		{"pt", `janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro`},
		{"nl", `januari februari maart mei juni juli augustus oktober`},
		{"sv", `januari februari mars maj juni juli augusti oktober`},
		{"pl", `stycznia lutego marca kwietnia maja czerwca lipca sierpnia września października listopada grudnia`},
		{"ru", `января февраля марта апреля мая июня июля августа сентября октября ноября декабря`},
	} {
		for _, w := range strings.Fields(l.months) {
			m[w] = append(m[w], l.language)
		}
	}
	return m
}()

// foreignForm is a day, a month's name and a year, with the little words that
// languages put between them.
var foreignForm = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(\d{1,2})(?:er|º|\.)?\s+(?:de\s+|di\s+)?(\pL{3,14})\.?,?\s+(?:de\s+|del\s+|do\s+)?(\d{4})`)
})

var cjkForm = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(\d{4})\s*[年년]\s*(?:(\d{1,2})\s*[月월]\s*(?:(\d{1,2})\s*[日号號일])?)?`)
})

// cjkDateRunes open the gate: year, month, day and the words for days near by.
var cjkDateRunes = set("年 月 日 天 昨 今 明 前 去 后 後 년 월 일 어 오 내")

// cjkDays are the days near ref in Chinese, Japanese and Korean.
var cjkDays = []struct {
	word string
	days int
}{{"前天", -2}, {"昨天", -1}, {"昨日", -1}, {"昨晚", -1}, {"今天", 0}, {"今日", 0}, {"今晚", 0}, {"明天", 1}, {"明日", 1},
	{"後天", 2}, {"后天", 2}, {"어제", -1}, {"오늘", 0}, {"내일", 1}}

// foreignDates finds full dates in other languages than English, and the days near ref in CJK.
func foreignDates(text string, ref time.Time) []DateSpan {
	if isASCII(text) && !holdsForeignMonth(text) {
		return nil
	}
	p := dateParser{text: text, ref: ref}
	var out []DateSpan
	if holdsForeignMonth(text) {
		for _, m := range foreignForm().FindAllStringSubmatchIndex(text, 8) {
			month := strings.ToLower(text[m[4]:m[5]])
			languages := foreignMonths[month]
			if len(languages) == 0 {
				continue
			}
			d, err := dateparser.Parse(&dateparser.Configuration{
				CurrentTime: time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC), DefaultTimezone: time.UTC, StrictParsing: true, Languages: languages,
			}, text[m[0]:m[1]])
			if err != nil || d.IsZero() {
				continue
			}
			if s, ok := p.onDay(d.Time.Year(), d.Time.Month(), d.Time.Day(), false); ok {
				out = append(out, DateSpan{From: s.from, To: s.to, Text: text[m[0]:m[1]], Start: m[0], End: m[1]})
			}
		}
	}
	if isASCII(text) {
		return out
	}
	return addDates(out, p.cjk())
}

func holdsForeignMonth(text string) bool {
	digit := strings.ContainsAny(text, "0123456789")
	if !digit {
		return false
	}
	for _, f := range strings.FieldsFunc(text, func(r rune) bool { return !isWordRune(r) }) {
		if _, ok := foreignMonths[strings.ToLower(f)]; ok {
			return true
		}
	}
	return false
}

func (p dateParser) cjk() []DateSpan {
	var out []DateSpan
	if strings.ContainsAny(p.text, "年년") {
		for _, m := range cjkForm().FindAllStringSubmatchIndex(p.text, 8) {
			num := func(k int) int {
				if m[2*k] < 0 {
					return 0
				}
				n, _ := strconv.Atoi(p.text[m[2*k]:m[2*k+1]])
				return n
			}
			y, mo, d := num(1), num(2), num(3)
			s, ok := p.inYear(y, false)
			if mo > 0 {
				s, ok = span{}, false
				if d > 0 {
					s, ok = p.onDay(y, time.Month(mo), d, false)
				} else if mo <= 12 && y > 0 {
					s, ok = p.inMonth(y, time.Month(mo), false)
				}
			}
			if ok {
				out = append(out, DateSpan{From: s.from, To: s.to, Text: p.text[m[0]:m[1]], Start: m[0], End: m[1]})
			}
		}
	}
	if p.ref.IsZero() {
		return out
	}
	for _, w := range cjkDays {
		at := strings.Index(p.text, w.word)
		if at < 0 {
			continue
		}
		if s, ok := p.dayAt(p.today().AddDate(0, 0, w.days), true); ok {
			out = addDates(out, []DateSpan{{From: s.from, To: s.to, Text: w.word, Start: at, End: at + len(w.word), Relative: true}})
		}
	}
	return out
}
