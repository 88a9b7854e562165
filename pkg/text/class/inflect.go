package class

import (
	_ "embed"
	"strings"
	"sync"

	"github.com/eunoe-memory/eunoe/pkg/text"
)

// endings has the regular endings of nouns and verbs.
//
//go:embed endings.txt
var endings string

// ending is an ending in the dictionary form, and what takes its place in other forms.
type ending struct {
	end   string
	forms []string
}

// endingsOf has the endings of a kind of word of a language: "de noun".
var endingsOf = sync.OnceValue(func() map[string][]ending {
	out := map[string][]ending{}
	for line := range strings.Lines(endings) {
		head, forms, found := strings.Cut(line, ">")
		if !found || strings.HasPrefix(line, "#") {
			continue
		}
		kind, end, _ := strings.Cut(head, " -")
		e := ending{end: strings.TrimSpace(end)}
		for f := range strings.FieldsSeq(forms) {
			e.forms = append(e.forms, f[1:])
		}
		out[kind] = append(out[kind], e)
	}
	return out
})

// inflected returns a folded word of a kind and the forms that the first of its endings makes.
func inflected(word, kind string) []string {
	out := []string{word}
	for _, e := range endingsOf()[kind] {
		stem, fits := strings.CutSuffix(word, e.end)
		if !fits || stem == "" {
			continue
		}
		for _, f := range e.forms {
			out = append(out, stem+f)
		}
		break
	}
	return out
}

// nounForms returns a folded noun of a language and its regular forms.
func nounForms(noun string, l text.Language) []string {
	out := inflected(noun, string(l)+" noun")
	if l == "nl" {
		out = append(out, dutchPlurals(noun)...)
	}
	return out
}

// verbForms returns a folded verb of a language and its regular forms.
func verbForms(verb string, l text.Language) []string {
	out := inflected(verb, string(l)+" verb")
	switch l {
	case "de": // the participles
		stem := strings.TrimSuffix(strings.TrimSuffix(verb, "n"), "e")
		out = append(out, "ge"+stem+"t", "ge"+verb)
	case "nl":
		stem := strings.TrimSuffix(verb, "en")
		if n := len(stem); n > 2 && stem[n-1] == stem[n-2] {
			stem = stem[:n-1]
		}
		for _, end := range []string{"", "t", "te", "ten", "de", "den"} {
			out = append(out, stem+end)
		}
		out = append(out, "ge"+stem+"t", "ge"+stem+"d", "ge"+verb)
	}
	return out
}

// dutchPlurals returns the plurals of Dutch that change the noun: "kat" and "katten", "banaan" and "bananen", "muis" and
// "muizen".
func dutchPlurals(noun string) []string {
	n := len(noun)
	if n < 3 || strings.IndexByte("bdfgklmnprst", noun[n-1]) < 0 {
		return nil
	}
	end := noun[n-1:]
	voiced := end
	switch end {
	case "f":
		voiced = "v"
	case "s":
		voiced = "z"
	}
	before := noun[:n-1]
	vowel := strings.IndexByte("aeiou", noun[n-2]) >= 0
	switch {
	case vowel && noun[n-3] == noun[n-2]:
		return []string{noun[:n-2] + end + "en", noun[:n-2] + voiced + "en"}
	case vowel && strings.IndexByte("aeiou", noun[n-3]) < 0:
		return []string{noun + end + "en", before + voiced + "en", noun + "etje"}
	}
	return []string{before + voiced + "en"}
}
