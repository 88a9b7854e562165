package date

import (
	"embed"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// languageFiles are the tables of the languages, one file each, named by the code of the language. languages/README.md
// describes their format.
//
//go:embed languages/*.txt
var languageFiles embed.FS

// preference is the order in which languages are tried where a text has as many words of one as of another.
const preference = "en de es fr it pt nl sv pl tr ru zh ja ko da nb cs uk fi hu ro el ar fa he hi id vi"

// bracketMonths are the months as Annotate writes them.
const bracketMonths = "january february march april may june july august september october november december"

// sense is one meaning of a phrase.
type sense struct {
	kind  kind
	value int
}

// node is a node of a trie over the tokens of phrases.
type node struct {
	next   map[string]*node
	senses []sense
}

// table is what the grammar knows of a language.
type table struct {
	code           string
	phrases        node
	words          map[string]bool // every single word, for guessing the language; false where it is a common word too
	monthFirst     bool            // 5/7 is 7 May
	yearFirst      bool            // the year stands before the month, and that before the day: "2027. január 12."
	joined         bool            // no noun behind a time is what the time describes: "julmarked", "piața de Crăciun"
	postposed      bool            // "last" may stand behind its noun
	trailing       bool            // "last" stands behind its noun always
	nthDay         bool            // a number with the ending of a place in a row is a day: "14-го"
	inverted       bool            // behind a date in front, the verb stands before its subject
	dotted         bool            // 20. is an ordinal
	articleless    bool            // one of something is the bare noun
	nouns          bool            // nouns begin with a capital letter
	subjectless    bool            // verbs need no subject
	numbered       bool            // it has a word for a week that is counted through the year
	cjk            bool            // no spaces between words; numerals of Han characters
	holidays       []string
	plurals        []string       // endings that make several of a weekday
	past, future   *regexp.Regexp // words, or for CJK a piece of the sentence
	breaks, moved  *regexp.Regexp // words that begin a clause; verbs that move an appointment
	arranged       *regexp.Regexp // past forms whose date lies ahead: booked, invited
	subject        *regexp.Regexp // pronouns as subjects
	present        *regexp.Regexp // words before a past form that make it none: "is renovated"
	unpast         *regexp.Regexp // words that look like past forms and are none: "need"
	saying         *regexp.Regexp // verbs behind which stands what was said: "said he is"
	telling        *regexp.Regexp // the same, behind whom it was said to: "told me he is"
	reporting      *regexp.Regexp // both
	infinitive     *regexp.Regexp // opens what somebody is told to do: "said to come"
	possessive     *regexp.Regexp // possessives
	within         *regexp.Regexp // stands before a month and joins no day to it: "turned 12 in May"
	progressive    *regexp.Regexp // forms of what is going on, where habits have others: "I ski", "I'm skiing"
	finite         *regexp.Regexp // past participles that are forms of the present too: "er besucht"
	auxiliary      *regexp.Regexp // with which those are past
	habit          *regexp.Regexp // words that say that something happens again and again
	counterfactual *regexp.Regexp // modal verbs that with a perfect look back: "should have called"
	being          *regexp.Regexp // forms of "be" in the present
	dayArticle     *regexp.Regexp // what stands before a day of the month and not before an hour: "du 9 au 12"
	onDay          *regexp.Regexp // articles that make a number alone a day of the month: "el 14", "den 14"
	onNth          *regexp.Regexp // the same before a number with the ending of a place in a row: "de 14e"
	labels         *regexp.Regexp // words in whose clause a number with an article is the name of a thing: a bus, a player
	behindDay      *regexp.Regexp // forms of words that may follow such a day, as verbs do: "el 14 viene", and not "el 4 puertas"
	inside         *regexp.Regexp // words directly before the article that tell so too, "dans le 14", or between two numbers: "le 2 sur 10"
	perfect        *regexp.Regexp // participles whose perfect is made with "be": "est parti", where "est fermé" is the present
	reflexive      *regexp.Regexp // pronouns before "be" that make it a perfect: "s'est", "si è"
	thereafter     *regexp.Regexp // words of a day that follows one that was named: "le lendemain", "siguiente"
	therebefore    *regexp.Regexp // the same of one before: "la veille"
	cancelled      *regexp.Regexp // what becomes of an appointment that does not take place when it was to
	priced         *regexp.Regexp // words in whose clause numbers are amounts: rent, raise
	measured       *regexp.Regexp // units of which a number before them is an amount
	forbidding     *regexp.Regexp // words that say that something is not to be done: "no coffee"
	afterwards     *regexp.Regexp // words behind a day that say so: "the Saturday after"
	beforehand     *regexp.Regexp // the same of one before
	stating        *regexp.Regexp // forms of the present alone, which tell the tense of their clause: "leaves"
	denying        *regexp.Regexp // words that deny what their clause says
	proposing      *regexp.Regexp // words that propose another day: "let's say Friday"
	single         *regexp.Regexp // units of which there is one, where several have a form of their own: "month"
	lasting        *regexp.Regexp // participles that say what is until a day: "closed until Friday"
	correcting     *regexp.Regexp // words with which one corrects oneself: "Friday, no wait, Saturday"
	filling        *regexp.Regexp // words that stand beside those: "I mean", "make that"
	inflected      *regexp.Regexp // forms of a month, weekend, season or holiday that say "in" or "since"; of a weekday, that it is the last one: "måndags"
	dual           *regexp.Regexp // forms of a unit that say two of it: "شهرين"
}

// tables returns the tables in order of preference. They are read once.
var tables = sync.OnceValue(func() []*table {
	var out []*table
	for _, code := range strings.Fields(preference) {
		b, err := languageFiles.ReadFile(path.Join("languages", code+".txt"))
		if err != nil {
			continue
		}
		t, err := readTable(code, string(b))
		if err != nil {
			panic(err) // a table is part of the program; a test reads them all
		}
		out = append(out, t)
	}
	return out
})

// readTable reads a table. Its lines are "name [value]: phrase, phrase"; # begins a comment.
func readTable(code, s string) (*table, error) {
	t := &table{code: code, words: make(map[string]bool)}
	compounds, regexps := map[string]string{}, t.regexps()
	s = strings.ReplaceAll(s, "\\\n", " ")
	for n, line := range strings.Split(s, "\n") {
		line, _, _ = strings.Cut(line, " #")
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		head, list, ok := strings.Cut(line, ":")
		if !ok {
			return nil, fmt.Errorf("%s.txt:%d: no colon", code, n+1)
		}
		list = strings.TrimSpace(list)
		var err error
		if at := regexps[head]; at != nil {
			*at, err = t.compile(list)
		} else {
			err = t.line(head, list, compounds)
		}
		if err != nil {
			return nil, fmt.Errorf("%s.txt:%d: %w", code, n+1, err)
		}
	}
	t.compose(compounds)
	t.addWeekdays()
	if t.reporting = t.saying; t.saying != nil && t.telling != nil {
		t.reporting = regexp.MustCompile(t.saying.String() + "|" + t.telling.String())
	}
	for i, m := range strings.Fields(bracketMonths) { // the words that Annotate writes are read in every language
		if t.phrases.next[m] == nil {
			t.add(m, sense{kMonth, i + 1})
		}
	}
	return t, nil
}

// regexps returns where the regular expressions of a table stand, by the name of their line.
func (t *table) regexps() map[string]**regexp.Regexp {
	return map[string]**regexp.Regexp{
		"past": &t.past, "future": &t.future, "breaks": &t.breaks, "moved": &t.moved,
		"arranged": &t.arranged, "subject": &t.subject, "present": &t.present, "unpast": &t.unpast,
		"saying": &t.saying, "telling": &t.telling, "infinitive": &t.infinitive, "possessive": &t.possessive, "within": &t.within,
		"progressive": &t.progressive, "proposing": &t.proposing, "denying": &t.denying, "finite": &t.finite,
		"auxiliary": &t.auxiliary, "habit": &t.habit, "counterfactual": &t.counterfactual, "stating": &t.stating,
		"being": &t.being, "dayArticle": &t.dayArticle, "onDay": &t.onDay, "onNth": &t.onNth,
		"labels": &t.labels, "inside": &t.inside, "behindDay": &t.behindDay, "perfect": &t.perfect, "reflexive": &t.reflexive,
		"thereafter": &t.thereafter, "therebefore": &t.therebefore, "afterwards": &t.afterwards, "beforehand": &t.beforehand,
		"priced": &t.priced, "measured": &t.measured, "cancelled": &t.cancelled, "forbidding": &t.forbidding,
		"single": &t.single, "lasting": &t.lasting, "correcting": &t.correcting, "filling": &t.filling, "inflected": &t.inflected, "dual": &t.dual,
	}
}

// compile compiles a list: of whole words, or for CJK of pieces of a sentence.
func (t *table) compile(list string) (*regexp.Regexp, error) {
	if t.cjk {
		return regexp.Compile(list)
	}
	return regexp.Compile("^(?:" + strings.ReplaceAll(list, " ", "") + ")$")
}

// line reads one line of a table.
func (t *table) line(head, list string, compounds map[string]string) error {
	flags := map[string]*bool{"postposed": &t.postposed, "inverted": &t.inverted, "nthDay": &t.nthDay, "dotted": &t.dotted, "nouns": &t.nouns,
		"subjectless": &t.subjectless, "articleless": &t.articleless, "joined": &t.joined, "trailing": &t.trailing, "cjk": &t.cjk}
	if flag, ok := flags[head]; ok {
		*flag = true
		return nil
	}
	switch head {
	case "order":
		t.monthFirst, t.yearFirst = list != "dmy", list == "ymd"
		return nil
	case "compound", "ordinal compound":
		compounds[head] = list
		return nil
	case "plural":
		t.plurals = strings.Fields(list)
		return nil
	case "words":
		for _, w := range strings.Fields(list) {
			t.words[w] = true
		}
		return nil
	}
	value := 0
	if head == "half" {
		value = more
	}
	k, ok := kinds[head]
	if !ok {
		name, v, _ := strings.Cut(head, " ")
		if k, ok = kinds[name]; !ok {
			return fmt.Errorf("unknown name %q", head)
		}
		var err error
		switch k {
		case kUnit:
			if value = slices.Index(units, v); value < 0 {
				return fmt.Errorf("unknown unit %q", v)
			}
		case kRel:
			u, n, _ := strings.Cut(v, " ")
			i := slices.Index(units, u)
			value, err = strconv.Atoi(n)
			if i < 0 || err != nil || value < -7 || value > 7 {
				return fmt.Errorf("bad unit or number in %q", head)
			}
			value += i*16 + 8
		case kHoliday:
			value = len(t.holidays)
			t.holidays = append(t.holidays, v)
		default:
			if value, err = strconv.Atoi(v); err != nil {
				return err
			}
		}
	}
	t.numbered = t.numbered || k == kNumbered
	for _, phrase := range strings.Split(list, ", ") {
		for _, p := range expand(strings.TrimSpace(phrase)) {
			t.add(p, sense{k, value})
		}
	}
	return nil
}

// add adds a phrase.
func (t *table) add(phrase string, s sense) {
	at := &t.phrases
	list := scan(phrase)
	for _, tok := range list {
		if at.next == nil {
			at.next = make(map[string]*node)
		}
		next := at.next[tok.low]
		if next == nil {
			next = &node{}
			at.next[tok.low] = next
		}
		at = next
	}
	if !slices.Contains(at.senses, s) {
		at.senses = append(at.senses, s)
	}
	if s.kind == kWeak {
		t.words[list[0].low] = false
		return
	}
	if len(list) == 1 && s.kind != kSuffix && s.kind != kDecade && s.kind != kOr {
		t.words[list[0].low] = true
	}
}

// addWeekdays adds the plurals of the weekdays.
func (t *table) addWeekdays() {
	for _, w := range slices.Sorted(maps.Keys(t.phrases.next)) {
		wd, ok := token{senses: t.phrases.next[w].senses}.value(kWeekday)
		for _, ending := range t.plurals {
			if ok && len(w) > 4 {
				t.add(w+ending, sense{kWeekdays, wd})
			}
		}
	}
}

// expand writes out the alternatives of a phrase: "letzte[|n|r]" is letzte, letzten and letzter.
func expand(s string) []string {
	i := strings.IndexByte(s, '[')
	j := strings.IndexByte(s, ']')
	if i < 0 || j < i {
		return []string{s}
	}
	var out []string
	for _, rest := range expand(s[j+1:]) {
		for _, a := range strings.Split(s[i+1:j], "|") {
			out = append(out, s[:i]+a+rest)
		}
	}
	return out
}
