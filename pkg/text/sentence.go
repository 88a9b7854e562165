package text

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Sentences cuts text into sentences in order, trimmed, never empty. It is made for what people type: a line break ends
// a sentence unless the line is plainly wrapped prose, CJK full stops need no space, a row of emoji ends the sentence
// that it follows, and "Dr.", "z. B.", "3.5", "20. Februar", addresses and "..." do not end one. Nothing but white space
// is lost.
//
// Trained splitters were compared and not taken: they know newspapers, where sentences end in a full stop and lines and
// emoji mean nothing.
func Sentences(text string) []string {
	var out []string
	start := 0
	emit := func(end int) {
		s := strings.TrimSpace(text[start:end])
		start = end
		if s == "" {
			return
		}
		if len(out) > 0 && !hasWord(s) { // emoji or stray marks belong to what they follow
			out[len(out)-1] += " " + s
			return
		}
		out = append(out, s)
	}
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		i += size
		switch {
		case r == '\n' || r == '\r':
			if !wrapped(text[start:i-size], text[i:]) {
				emit(i)
			}
		case strings.ContainsRune("。！？｡।۔؟", r):
			i = skipClosing(text, i)
			emit(i)
		case r == '.' || r == '!' || r == '?' || r == '…':
			end := skipClosing(text, i)
			if endsSentence(text, start, i-size, end, r) {
				if j := end + len(text[end:]) - len(strings.TrimLeft(text[end:], " ")); skipEmoji(text, j) > j {
					end = skipEmoji(text, j)
				}
				emit(end)
			}
			i = end
		case isEmoji(r):
			end := skipEmoji(text, i)
			if next, _ := utf8.DecodeRuneInString(strings.TrimLeft(text[end:], " ")); unicode.IsUpper(next) && end < len(text) && text[end] == ' ' && hasWord(text[start:i]) {
				emit(end)
			}
			i = end
		}
	}
	emit(len(text))
	return out
}

// skipClosing returns the index behind further end marks, closing quotes and brackets.
func skipClosing(text string, i int) int {
	for i < len(text) {
		r, size := utf8.DecodeRuneInString(text[i:])
		if !strings.ContainsRune(".!?…。！？｡।۔؟\"”’')]»」』", r) {
			break
		}
		i += size
	}
	return i
}

// skipEmoji returns the index behind a row of emoji.
func skipEmoji(text string, i int) int {
	for i < len(text) {
		r, size := utf8.DecodeRuneInString(text[i:])
		if !isEmoji(r) {
			break
		}
		i += size
	}
	return i
}

// endsSentence reports whether the mark r at byte at, whose run of marks ends at end, ends the sentence that began at
// start.
func endsSentence(text string, start, at, end int, r rune) bool {
	if end >= len(text) {
		return true
	}
	next, _ := utf8.DecodeRuneInString(text[end:])
	last := lastToken(text[start:at])
	if !unicode.IsSpace(next) && !isEmoji(next) && !isCJK(next) { // "Great!Let's go"; but "v1.2", "a.b", "http://x?Y"
		brand := len(last) > 1 && r == '!' && strings.ToUpper(last) == last // FRITZ!Box
		return r != '.' && unicode.IsUpper(next) && !brand && !strings.Contains(last, "://") && !strings.HasPrefix(last, "www.")
	}
	after := strings.TrimLeft(text[end:], " \t")
	follow, _ := utf8.DecodeRuneInString(after)
	marks := text[at:end]
	if strings.ContainsAny(marks, "\"”’»)") && unicode.IsLower(follow) { // he asked "why?" and left
		return false
	}
	if r == '…' || strings.HasPrefix(marks, "..") {
		return !unicode.IsLower(follow) || strings.ContainsAny(marks, "!?")
	}
	if r != '.' || strings.ContainsAny(marks, "!?") {
		return true
	}
	return !abbreviated(text[start:at], last, after, follow) && !ordinal(text[start:at], last, after)
}

// lastToken returns what stands behind the last white space or opening bracket.
func lastToken(s string) string {
	return s[strings.LastIndexFunc(s, func(r rune) bool { return unicode.IsSpace(r) || r == '(' })+1:]
}

// abbreviated reports whether the full stop behind a token marks an abbreviation, after which the sentence goes on.
func abbreviated(said, last, after string, follow rune) bool {
	if last == "" {
		return false
	}
	if first, size := utf8.DecodeRuneInString(last); size == len(last) && unicode.IsLetter(first) && !isCJK(first) {
		if unicode.IsUpper(first) && last != "I" { // an initial: J. Doe
			return true
		}
		before := strings.TrimSuffix(lastToken(strings.TrimSpace(strings.TrimSuffix(said, last))), ".")
		f, n := utf8.DecodeRuneInString(after)
		if unicode.IsLetter(f) && strings.HasPrefix(after[n:], ".") || utf8.RuneCountInString(before) == 1 && unicode.IsLower(follow) {
			return true // z. B., d. h., т. е.
		}
	}
	l := strings.ToLower(last)
	switch {
	case monthAbbreviations.Has(l) && (unicode.IsDigit(follow) || unicode.IsLower(follow)) && behindDay(strings.TrimSuffix(said, last)):
		return true
	case abbreviations.Has(l):
		return !unicode.IsUpper(follow)
	case titles.Has(l), strings.HasSuffix(l, "str") && unicode.IsDigit(follow):
		return true
	case beforeNumber.Has(l):
		return unicode.IsDigit(follow)
	}
	return len(last) > 2 && strings.ToUpper(last) == last && initials(last) // J.R.R. Tolkien
}

// behindDay reports whether a text ends in the number of a day, or in "of".
func behindDay(said string) bool {
	before := strings.ToLower(strings.TrimRight(lastToken(strings.TrimSpace(said)), ".ºªer"))
	if before == "d" || before == "van" || before == "di" {
		return true
	}
	return before != "" && len(before) <= 2 && strings.Trim(before, "0123456789") == ""
}

// initials reports whether a token is single letters with a full stop between each two.
func initials(s string) bool {
	letter := false
	for _, r := range s {
		if letter = !letter; letter != unicode.IsLetter(r) || !letter && r != '.' {
			return false
		}
	}
	return letter
}

// ordinal reports whether the full stop behind a number makes it an ordinal ("am 20. Februar") or the number of a list
// item, and does not end the sentence. said is the sentence up to the full stop.
func ordinal(said, last, after string) bool {
	for _, dash := range []string{"–", "-", "—"} { // "22.–24. Januar"
		if first, second, ok := strings.Cut(last, dash); ok && strings.Trim(first, "0123456789.") == "" && first != "" {
			said, last = "am "+second, second
		}
	}
	if last == "" || len(last) > 4 || strings.Trim(last, "0123456789") != "" {
		return false
	}
	if strings.TrimSpace(said) == last { // the number of a list item, or "20. Februar" at the front
		return true
	}
	if len(last) > 2 {
		return false
	}
	if namesMonth(after) {
		return true
	}
	if !writesOrdinals.Has(string(LanguageOf(said + ". " + lead(after)))) {
		return false
	}
	follow, _ := utf8.DecodeRuneInString(after)
	before := strings.ToLower(lastToken(strings.TrimSpace(strings.TrimSuffix(said, last))))
	return unicode.IsLower(follow) || unicode.IsDigit(follow) || beforeOrdinal.Has(strings.Trim(before, ",.;"))
}

// namesMonth reports whether text begins with a month of a language that writes ordinals with a full stop.
func namesMonth(s string) bool {
	return monthsBehind.Has(strings.ToLower(strings.TrimRight(lead(s), ".,;:!?)")))
}

// IsOrdinal reports whether a number and the full stop behind it, at the front of a sentence, are an ordinal ("20.
// Februar") and no number of a list: after is what follows them.
func IsOrdinal(number, after string) bool {
	follow, _ := utf8.DecodeRuneInString(after)
	return len(number) <= 2 && (namesMonth(after) || (unicode.IsLower(follow) || unicode.IsDigit(follow)) && writesOrdinals.Has(string(LanguageOf(after))))
}

// lead returns what stands before the first white space.
func lead(s string) string {
	if i := strings.IndexFunc(s, unicode.IsSpace); i >= 0 {
		return s[:i]
	}
	return s
}

// wrapped reports whether a line break only wraps prose: it follows a long line without an end mark and precedes a word
// in lower case.
func wrapped(before, after string) bool {
	if i := strings.LastIndexByte(before, '\n'); i >= 0 {
		before = before[i+1:]
	}
	before = strings.TrimRight(before, " \t\r")
	if len(before) < 50 || strings.HasSuffix(before, ":") {
		return false
	}
	next, _ := utf8.DecodeRuneInString(after)
	return unicode.IsLower(next)
}

func hasWord(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return IsWordRune(r) })
}

// isEmoji reports pictographs, and what joins and varies them.
func isEmoji(r rune) bool {
	return r >= 0x1F000 && r <= 0x1FAFF || r >= 0x2600 && r <= 0x27BF || r >= 0x2B00 && r <= 0x2BFF || r == 0x200D || isVariation(r) ||
		r >= 0xE0020 && r <= 0xE007F
}

// titles are abbreviations behind which a sentence goes on.
var titles = NewWordSet(`mr mrs ms dr prof st sr jr mt rev gen col sgt capt lt gov sen rep hon fr vs approx e.g i.e eg ie cf
	p ej med z.b d.h u.a o.ä i.d.r s.o s.u v.a bzw ca dipl ing mag ggf evtl vgl bspw inkl exkl sog geb zzgl hr bsp
	sra srta dra dña ud uds avda p.ej p.ex mme mlle env sig dott avv dott.ssa sig.ra dhr mevr bijv bv d.w.z o.a
	t.ex bl.a f.eks bl.a dvs resp np tzn m.in tj mgr inż ul např tzv mj napr tj.m т.е т.к г-н г-жа ул им pl esim örn`)

// beforeNumber are abbreviations behind which a number goes on with the sentence, and anything else does not.
var beforeNumber = NewWordSet(`no nr nº núm num fig vol pp pg pag pág kl tel tél str bd abs art kap č čp стр тел ul blz bl par ch chap sec cca`)

// abbreviations end a sentence only before a capital.
var abbreviations = NewWordSet(`etc inc ltd co corp dept est al a.m p.m am pm u.s u.k u.s.a ph.d b.a m.a b.sc m.sc
	jan feb mar apr jun jul aug sep sept oct nov dec mon tue tues wed thu thurs fri sat sun ave blvd rd ft min max
	usw ecc enz osv itd atd itp apod stb т.д т.п г гг др n.chr v.chr a.c d.c u.v.m uvm m.fl o.s.v`)

// monthAbbreviations are months as they are cut short in languages other than English.
var monthAbbreviations = NewWordSet(`ene abr ago dic janv févr fevr avr juil déc genn gen feb mag giu lug set sett ott fev mai out dez mrt mei okt mär mrz
	jan mar apr jun jul aug sep sept oct nov dec enero`)

// monthsBehind are the months of languages that write ordinals with a full stop.
var monthsBehind = NewWordSet(`januar jänner februar feber märz april mai juni juli august september oktober november dezember jan feb mär apr jun
	jul aug sep sept okt nov dez januari februari mars maj augusti december marts desember tammikuuta helmikuuta maaliskuuta huhtikuuta toukokuuta
	kesäkuuta heinäkuuta elokuuta syyskuuta lokakuuta marraskuuta joulukuuta ledna února března dubna května června července srpna září října
	listopadu prosince januára februára marca apríla mája júna júla augusta septembra októbra novembra decembra siječnja veljače ožujka travnja
	svibnja lipnja srpnja kolovoza rujna listopada studenog prosinca január február március április május június július augusztus szeptember
	október jaanuar veebruar märts aprill juuni juuli oktoober detsember janúar febrúar júní júlí ágúst nóvember`)

// writesOrdinals are the languages that write ordinals with a full stop, beforeOrdinal the words that precede one in
// them.
var (
	writesOrdinals = NewWordSet(`de da nb fi cs sk hr sl hu tr et lv is`)
	beforeOrdinal  = NewWordSet(`am der die das den dem des vom zum im ins bis ab seit mein meine meinen meinem unser unsere sein ihr jeder jeden
		mo di mi do fr sa so montag dienstag mittwoch donnerstag freitag samstag sonntag den d til fra på i v na ve do od az a`)
)
