package scriptedmodel

import (
	"regexp"
	"strings"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/text"
	"github.com/eunoe-memory/eunoe/pkg/text/date"
)

// told is a fact of an extraction's answer.
type told struct {
	text    string
	sources []any
	speaker string
	when    string
	state   []any
	typ     string
}

// extractFacts writes facts in the form the call asks for.
func extractFacts(req *Request, facts []told) Response {
	var items []hints
	for _, f := range facts {
		h := hints{
			{"f|text|fact|statement|content", f.text}, {"s|sources|source_ids|source|source_id|messages", f.sources},
			{"speaker|who", f.speaker}, {"e|entities", entities(f)}, {"confidence", 1}, {"kind", "world"}, {"type", "fact"},
		}
		if f.when != "" {
			h = append(h, hints{{"d|when|date|occurred", f.when}}...)
		}
		if f.typ != "" {
			h = append(hints{{"y|type", f.typ}}, h...)
		}
		if len(f.state) > 0 {
			h = append(h, hints{{"v|state", f.state}}...)
		}
		items = append(items, h)
	}
	return Response{Text: dump(shapeOf(req, memory.StageExtract).filled(items, nil))}
}

// extractRules makes one fact of each sentence that says something.
func extractRules(shown []item) []told {
	var out []told
	for _, it := range fresh(shown) {
		for _, s := range text.Sentences(it.text) {
			if f, ok := tell(s, it); ok {
				out = append(out, f)
			}
		}
	}
	return out
}

// fresh returns the messages to extract facts from.
func fresh(shown []item) []item {
	var out []item
	for _, it := range shown {
		if !it.before && it.number > 0 && it.section != "answer" {
			out = append(out, it)
		}
	}
	return out
}

func tell(sentence string, it item) (told, bool) {
	sentence = strings.Join(strings.Fields(sentence), " ")
	f := told{text: inThirdPerson(sentence, it.speaker), sources: []any{it.id()}, speaker: it.speaker}
	if strings.HasSuffix(sentence, "?") || len(text.ContentStems(f.text)) < 2 {
		return told{}, false
	}
	if last := f.text[len(f.text)-1]; last != '.' && last != '!' {
		f.text += "."
	}
	if spans := date.Find(sentence, it.day, ""); len(spans) > 0 {
		f.when = when(spans[0])
		f.typ = "event"
	}
	if m := homes.FindStringSubmatch(f.text); m != nil && it.speaker != "" {
		f.state = []any{"person:" + it.speaker, "home", m[1]}
	} else if likes.MatchString(f.text) {
		f.typ = "preference"
	}
	return f, true
}

var (
	homes = regexp.MustCompile(`\b(?:moved to|lives? in|living in) ((?:\p{Lu}[\p{L}'-]*)(?: \p{Lu}[\p{L}'-]*)*)`)
	likes = regexp.MustCompile(`(?i)\b(?:loves?|likes?|prefers?|enjoys?|hates?|favou?rite)\b`)
)

// anyDay is a day to ask by whether a text has a time at all.
var anyDay = time.Date(2000, 1, 3, 12, 0, 0, 0, time.UTC)

func when(s date.Span) string {
	from, to := s.From.Format(time.DateOnly), s.To.Format(time.DateOnly)
	if from == to {
		return from
	}
	return from + "/" + to
}

// entities returns who spoke and who and what is named, as type:name.
func entities(f told) []any {
	out := []any{}
	if f.speaker != "" {
		out = append(out, "person:"+f.speaker)
	}
	for _, n := range text.Names(f.text) {
		switch {
		case strings.EqualFold(n, f.speaker):
		case text.KnownPlace(n):
			out = append(out, "place:"+n)
		case text.KnownPerson(n):
			out = append(out, "person:"+n)
		default:
			out = append(out, "other:"+n)
		}
	}
	return out
}

var (
	firstPerson = regexp.MustCompile(`(?i)\b(I['’](?:m|ve|ll|d)|I (?:am|have|do|was)|I|my|mine|me|myself)\b(?: ([a-z]+))?`)
	simpleVerbs = regexp.MustCompile(`^(?:love|like|live|work|want|need|hate|prefer|think|feel|enjoy|play|own|use|take|eat|drink|run|read|write|know|speak|drive|hope|plan|collect|teach|study|sleep|wake|start|keep|get|make|see|walk|swim|paint|cook|bake|sing|dance)$`)
)

// inThirdPerson says a sentence in the third person: the speaker for I, me and my.
func inThirdPerson(sentence, name string) string {
	if name == "" {
		return sentence
	}
	return firstPerson.ReplaceAllStringFunc(sentence, func(m string) string {
		parts := firstPerson.FindStringSubmatch(m)
		rest := parts[2]
		if rest != "" {
			rest = " " + rest
		}
		switch head := strings.ToLower(strings.ReplaceAll(parts[1], "’", "'")); head {
		case "i'm", "i am":
			return name + " is" + rest
		case "i've", "i have":
			return name + " has" + rest
		case "i'll":
			return name + " will" + rest
		case "i'd":
			return name + " would" + rest
		case "i do":
			return name + " does" + rest
		case "i was":
			return name + " was" + rest
		case "my", "mine":
			return name + "'s" + rest
		case "me", "myself":
			return name + rest
		}
		if parts[1] == "i" { // a letter, not a person
			return m
		}
		if simpleVerbs.MatchString(parts[2]) {
			if strings.HasSuffix(rest, "ch") || strings.HasSuffix(rest, "sh") {
				rest += "e"
			}
			if strings.HasSuffix(rest, "y") && !strings.ContainsAny(rest[len(rest)-2:], "aeou") {
				rest = rest[:len(rest)-1] + "ie"
			}
			rest += "s"
		}
		return name + rest
	})
}
