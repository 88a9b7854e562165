package rules

import (
	"html"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/text"
	"github.com/eunoe-memory/eunoe/pkg/text/date"
	"github.com/eunoe-memory/eunoe/pkg/text/pattern"
	"github.com/eunoe-memory/eunoe/pkg/text/worth"
)

// sentence is one sentence of a message in the speaker's own words.
type sentence struct {
	text  string      // with white space merged and without marks of lists and platforms
	said  string      // the same without what it quotes: what the classifier reads
	dates []date.Span // that its speaker names
	talk  *date.Span  // the days that were named last before it
	worth.Verdict
	listed bool // it stood in a list or a heading
	worked bool // it asks to work on the text behind it, or plays a part
	asks   bool // it is a question
}

// quoted stands for a quotation while a message is cut into sentences.
const quoted = "\uFFFC"

// own returns the sentences of a message that are its speaker's own: without code, quotations, forwarded and pasted text,
// and what is to be translated, corrected or played.
func (t *drafter) own(m memory.Message) []sentence {
	content, quotes := withoutQuotes(withoutPlatformMarks(m.Content))
	var out []sentence
	for _, block := range paragraphs(content) {
		var list []string
		if len(block) > maxText {
			list = excerpts(block)
		} else {
			list = text.Sentences(emoticons.Replace(block + " "))
		}
		for _, s := range list {
			listed := strings.HasPrefix(s, "-") || strings.HasPrefix(s, "*") || strings.HasPrefix(s, "#") || strings.HasPrefix(s, "•") || strings.HasPrefix(s, "|")
			s, ok := worded(s)
			if !ok {
				continue
			}
			s = tag.ReplaceAllString(s, ".")
			said := t.withoutName(strings.TrimSpace(strings.ReplaceAll(s, quoted, " ")))
			for strings.Contains(s, quoted) && len(quotes) > 0 {
				s = strings.Replace(s, quoted, quotes[0], 1)
				quotes = quotes[1:]
			}
			out = append(out, sentence{text: s, said: said, asks: worth.Asks(s), listed: listed})
		}
	}
	out = t.withoutSlips(spread(out))
	t.judge(out)
	return out
}

// tag finds a question that only asks the other one to marvel or to agree.
var tag = pattern.New(`(?i), (?:can you believe (?:it|that)|you know|right|okay|ok)\?+!*$`)

// withoutSlips corrects each sentence by what its speaker says in it, or at the beginning of the next one, to have meant.
func (t *drafter) withoutSlips(list []sentence) []sentence {
	var out []sentence
	for _, s := range list {
		if n := len(out); n > 0 {
			if at := slips.FindStringIndex(s.text); at != nil && at[0] == 0 {
				if whole, ok := t.corrected(out[n-1].text + " " + s.text); ok {
					out[n-1].text, out[n-1].said = whole, whole
					continue
				}
			}
		}
		if whole, ok := t.corrected(s.text); ok {
			s.text, s.said = whole, whole
		}
		out = append(out, s)
	}
	return out
}

// judge sets what each sentence is, and leaves nothing of those that belong to a text that is worked on.
func (t *drafter) judge(list []sentence) {
	working := false
	for i := range list {
		s := &list[i]
		s.talk = t.talk
		s.dates = t.dates(s.said)
		t.named(s.dates)
		if head, rest, ok := strings.Cut(s.said, ": "); ok && wordsIn(head) < 14 && wordsIn(rest) > 0 && reportsOrWorks(t.verdict(head+":", list, i, len(s.dates) > 0), head, rest) {
			s.worked = true
			s.Verdict = worth.Verdict{}
			working = working || !firstPerson.MatchString(rest)
			continue
		}
		if working || wordsIn(s.said) == 0 {
			s.Verdict = worth.Verdict{}
			continue
		}
		t.withoutTask(list, i)
		s.Verdict = t.verdict(s.said, list, i, len(s.dates) > 0)
		s.asks = s.asks || s.Best == worth.Question && s.Worth < least // "who's coming on Sunday"
		if s.worked = s.Best == worth.Worked || strings.HasSuffix(s.said, ":") && s.Best == worth.Question; s.worked {
			working = true
			s.Worth, s.Goes = 0, 0
		}
	}
}

// withoutTask cuts off a task with which a sentence begins: "Help me with this, my printer is an HL-1110" tells of a printer.
func (t *drafter) withoutTask(list []sentence, i int) {
	s := &list[i]
	head, rest, ok := strings.Cut(s.said, ", ")
	if !ok || s.said != s.text || wordsIn(rest) < 3 || s.asks {
		return
	}
	asked := t.verdict(head, list, i, false)
	if (asked.Best == worth.Worked || asked.Best == worth.Question) && asked.Worth < least && len(t.dates(head)) == 0 {
		if dates := t.dates(rest); t.verdict(rest, list, i, len(dates) > 0).Worth >= .5 {
			s.text, s.said, s.dates = rest, rest, dates
		}
	}
}

// reportsOrWorks reports whether what stands before a colon asks to work on what is behind it, or only says whose words those are:
// a name, or somebody who is named, before an "I" that is not the speaker's.
func reportsOrWorks(head worth.Verdict, before, behind string) bool {
	return head.Best == worth.Worked || beginsInFirstPerson.MatchString(behind) && (len(text.Names(before)) > 0 || isName.MatchString(before))
}

var (
	beginsInFirstPerson = pattern.New(`^(?i:I|I['’]\pL+|my|we|our) `)
	isName              = pattern.New(`^\p{Lu}[\p{L}'-]*(?: \p{Lu}[\p{L}'-]*)*$`)
)

// firstPerson finds the forms of I and my in English.
var firstPerson = pattern.New(`(?i)(?:^|[^\pL'])(?:I|I['’]m|I['’]ve|I['’]ll|my|me)(?:[^\pL]|$)`)

// verdict judges a text that stands in the place of sentence i.
func (t *drafter) verdict(said string, list []sentence, i int, dated bool) worth.Verdict {
	return worth.Judge(worth.Sentence{
		Text: said, Assistant: !t.byUser(), Index: i, Count: len(list), Listed: list[i].listed, Dated: dated,
		Answers: i == 0 && t.answering, AfterQuestion: i > 0 && list[i-1].asks,
	})
}

// wordsIn counts the words of a text; two characters of a script without spaces are one.
func wordsIn(s string) int {
	n, dense := 0, 0
	for _, p := range split(s) {
		if p.low == "" {
			continue
		}
		if r, _ := utf8.DecodeRuneInString(p.low); unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai) {
			dense += utf8.RuneCountInString(p.low)
		} else {
			n++
		}
	}
	return n + (dense+1)/2
}

// platformMarks are what chat programs put around words: mentions, codes of emoji, tags, and signs of spoilers and strikes.
var platformMarks = pattern.New(`<[@#!:&a-zA-Z/][^<>\n]{0,80}>|\|\||~~|[\x{E200}-\x{E2FF}][^\x{E200}-\x{E2FF}\n]{0,80}[\x{E200}-\x{E2FF}]|【[^】\n]*†[^】\n]*】`)

// withoutPlatformMarks returns what somebody typed of what a chat program delivers.
func withoutPlatformMarks(s string) string {
	if strings.Contains(s, "&") {
		s = html.UnescapeString(s)
	}
	s = platformMarks.ReplaceAllString(s, "")
	s = strings.TrimLeft(s, " ")
	if rest, ok := strings.CutPrefix(s, "/"); ok { // a command: "/remember I am left-handed"
		if i := strings.IndexByte(rest, ' '); i > 1 && strings.IndexByte(rest[:i], '/') < 0 {
			s = rest[i+1:]
		}
	}
	return s
}

// paragraphs returns the parts of a message that its speaker wrote: without code, lines that quote (">"), a letter's head, a
// chat that was pasted (lines that begin with a name and a colon, or a time), and all behind the sign of a forwarded message.
func paragraphs(s string) []string {
	blocks := strings.Split(s, "```")
	var out []string
	for i := 0; i < len(blocks); i += 2 {
		var kept []string
		lines := strings.Split(blocks[i], "\n")
		pasted := 0
		for _, l := range lines {
			if pastedLine.MatchString(strings.TrimSpace(l)) {
				pasted++
			}
		}
		for n, l := range lines {
			line := strings.TrimSpace(l)
			switch {
			case strings.HasPrefix(line, ">"), pasted > 1 && pastedLine.MatchString(line):
			case n+1 < len(lines) && strings.HasSuffix(line, ":") && strings.HasPrefix(strings.TrimSpace(lines[n+1]), ">"):
			case forwarded.MatchString(line):
				return append(out, strings.Join(kept, "\n"))
			default:
				kept = append(kept, l)
			}
		}
		out = append(out, strings.Join(kept, "\n"))
	}
	return out
}

var (
	pastedLine = pattern.New(`^(?:\[?\d{1,4}[-./:]\d{1,2}.{0,24}?\]?[ -]+)?\p{Lu}[\p{L}'-]*(?: [\p{L}'-]+)?(?: [-–—]|:) \S|^\[?\d{1,2}:\d{2}`)
	forwarded  = pattern.New(`(?i)^(?:-+ ?)?(?:fwd|fw|forwarded|weitergeleitet|转发|轉發|転送|reenviado|transféré|inoltrato|doorgestuurd|vidarebefordrat|пересланн\pL+)\b|^(?:转发|轉發|転送)`)
)

// The marks of quotations, opening and closing.
var quoteMarks = map[rune]rune{'"': '"', '“': '”', '„': '“', '«': '»', '»': '«', '「': '」', '『': '』'}

// withoutQuotes puts a mark in the place of each quotation of more than a few words, and returns the quotations.
func withoutQuotes(s string) (string, []string) {
	var out strings.Builder
	var quotes []string
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		closing, opens := quoteMarks[r]
		if opens {
			end := strings.IndexRune(s[i+size:], closing)
			if end < 0 && r == '„' {
				closing = '”'
				end = strings.IndexRune(s[i+size:], closing)
			}
			if end >= 0 && wordsIn(s[i+size:i+size+end]) > maxNamed {
				whole := s[i : i+size+end+utf8.RuneLen(closing)]
				quotes = append(quotes, strings.Join(strings.Fields(whole), " "))
				out.WriteString(quoted)
				if strings.ContainsAny(whole[len(whole)-min(len(whole), 6):], ".!?。！？") {
					out.WriteString(" ")
				}
				i += len(whole)
				continue
			}
		}
		out.WriteString(s[i : i+size])
		i += size
	}
	return out.String(), quotes
}

// maxNamed is how many words quotation marks may hold as a name rather than a quotation.
const maxNamed = 3
