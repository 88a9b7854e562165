package rules

import (
	"strings"

	"github.com/eunoe-memory/eunoe/pkg/extract"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/text"
	"github.com/eunoe-memory/eunoe/pkg/text/date"
)

// foreign drafts a sentence that is not English. It stands word for word behind its speaker's name, because a sentence
// that is rewritten by the grammar of another language is wrong. Small talk, single words, and questions and requests that
// name neither somebody nor a time make no fact; a statement with a number always does.
func (t *drafter) foreign(s string) {
	t.follows, t.about = false, ""
	lang := text.LanguageOf(s, t.habit)
	content, words := says(s, lang)
	number := hasDigit(s)
	dates := t.dates(s, t.message.Time)
	wished, tells := wishes(s, lang)
	wished = wished && t.message.Role == memory.RoleUser && !setsManner(s, lang)
	asked := !wished && instructs(s, lang)
	switch {
	case content == 0, words < 2 && !number, words < 5 && content < 2 && !number && addresses.Has(firstWord(split(straighten(s)))):
		return
	case asked: // also as a question
	case wished && len(dates) == 0 && (content < 3 || content < 8 && !tells && (lang == "de" || len(text.Names(s)) == 0)):
		return
	case asks(s) && len(dates) == 0 && (content < 3 || !number && (lang == "de" || len(text.Names(s)) == 0)): // German nouns look like names
		return
	}
	typ := foreignType(s, lang, len(dates) > 0)
	switch {
	case asked:
		typ = memory.TypeInstruction
	case asks(s), wished:
		typ = memory.TypeQuestion
	}
	said := capitalise(t.me) + ": " + date.Annotate(s, dates)
	d := extract.Draft{Text: said, Type: typ, Kind: t.kind(typ, false), Speaker: t.message.Speaker, Sources: []memory.MessageID{t.message.ID},
		Occurred: occurred(dates), Confidence: 1, Entities: t.entities(said)}
	t.drafts = append(t.drafts, candidate{Draft: d, weight: weight(d, persons{}, content, len(dates)) + numberWeight(s)})
}

// addresses are words in front of somebody who is spoken to, or of what is asked of them: "Salut les voisins", "Bitte bleib".
var addresses = text.NewWordSet(`hallo moin servus hey hi bitte tschüss hola buenas adiós chao coucou salut bonjour bonsoir ciao buongiorno buonasera olá oi tchau hoi dag
	doei hej cześć привет`)

// dates returns the time expressions of a sentence in any language.
func (t *drafter) dates(s string, said memory.Instant) []date.Span {
	return date.Find(s, said, string(text.LanguageOf(s, t.habit)))
}

// asks reports whether a sentence is a question by its mark.
func asks(s string) bool {
	s = strings.TrimRight(s, " !.)\"'”»」』")
	return strings.HasSuffix(s, "?") || strings.HasSuffix(s, "？") || strings.HasSuffix(s, "؟")
}

func hasDigit(s string) bool {
	return strings.ContainsAny(s, "0123456789０１２３４５６７８９")
}

// numberWeight is what a sentence with a number weighs more than one without: numbers and codes are asked for word for
// word.
func numberWeight(s string) int {
	if hasDigit(s) {
		return 4
	}
	return 0
}
