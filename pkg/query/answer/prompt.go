package answer

import (
	"embed"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// The names and versions of the prompts.
const (
	ReflectPrompt  = "reflect/1"
	JudgePrompt    = "judge/1"
	AdequacyPrompt = "adequacy/1"
)

//go:embed prompts/*.txt
var prompts embed.FS

// file gives a prompt file. It is part of the program: not finding it is a
// mistake in the build.
func file(name string) string {
	b, err := prompts.ReadFile("prompts/" + name + ".txt")
	if err != nil {
		panic(fmt.Sprintf("the prompt %s is not in the program: %v", name, err))
	}
	return string(b)
}

// Setting is what the system prompt of reflect depends on.
type Setting struct {
	Traits     memory.Disposition // a trait outside 1 to 5 reads as 3
	Mission    string             // of the bank; "" = none
	Background string
	Turns      int
	Now        time.Time
	AsOf       *time.Time
	Plain      bool // the answer is to be the message itself: it is shown as it is written
}

// The two ways to answer. A stream is asked for as a message: its first words
// come at once from every provider, while some hold a call back until its
// arguments are whole. An answer that comes as a call all the same is streamed
// as far as the provider does.
const (
	byDone  = "When you can answer, call done with the answer and the numbers of the items it rests on."
	byPlain = "When you can answer, write the answer as your message and call nothing: it is shown as you write it. Write nothing beside a call."
)

// System gives the system prompt of reflect. Equal settings give equal prompts.
func System(s Setting) string {
	bank := ""
	if s.Mission != "" || s.Background != "" {
		bank = "What this memory is for, as its owner says\n<memory>\n"
		if s.Mission != "" {
			bank += "mission: " + Quote(s.Mission) + "\n"
		}
		if s.Background != "" {
			bank += "background: " + Quote(s.Background) + "\n"
		}
		bank += "</memory>\n\n"
	}
	asOf := ""
	if s.AsOf != nil {
		asOf = " The question is about what held at " + moment(*s.AsOf) + ", and the items are what held then."
	}
	end, found := byDone, " and found false"
	if s.Plain {
		end, found = byPlain, ""
	}
	return strings.NewReplacer("[[end]]", end, "[[found]]", found, "[[turns]]", strconv.Itoa(s.Turns), "[[skepticism]]", trait("skepticism", s.Traits.Skepticism),
		"[[literalism]]", trait("literalism", s.Traits.Literalism), "[[empathy]]", trait("empathy", s.Traits.Empathy),
		"[[bank]]", bank, "[[now]]", moment(s.Now), "[[as_of]]", asOf).Replace(strings.TrimSpace(file("reflect.v1")))
}

// trait gives the sentence of one trait at one strength.
func trait(name string, strength int) string {
	if strength < 1 || strength > 5 {
		strength = 3
	}
	start := name + " " + strconv.Itoa(strength) + ": "
	for line := range strings.Lines(file("traits.v1")) {
		if text, ok := strings.CutPrefix(line, start); ok {
			return strings.TrimSpace(text)
		}
	}
	return ""
}

// LastTurn tells a model that it has no more searches.
const LastTurn = "No searches are left. Answer now, from what was found, or say that memory does not hold it, with [none]."

// Ask gives the first message of reflect: the question and what was found first.
func Ask(question, found string, last bool) string {
	out := "<question>\n" + Quote(question) + "\n</question>\n\n" + found
	if last {
		out += "\n\n" + LastTurn
	}
	return out
}

// JudgeSystem gives the system prompt of the judge.
func JudgeSystem() string { return strings.TrimSpace(file("judge.v1")) }

// AdequacySystem gives the system prompt of an adequacy round.
func AdequacySystem() string { return strings.TrimSpace(file("adequacy.v1")) }

// AdequacyAsk gives the message of an adequacy round. asked are the queries so
// far, the question first.
func AdequacyAsk(asked []string, found string) string {
	var s strings.Builder
	s.WriteString("<question>\n" + Quote(asked[0]) + "\n</question>\n\n" + found)
	if len(asked) > 1 {
		s.WriteString("\n\nAlready asked:")
		for _, q := range asked[1:] {
			s.WriteString("\n- " + Quote(q))
		}
	}
	return s.String()
}

func moment(t time.Time) string { return t.UTC().Format("Monday, 2006-01-02 15:04 UTC") }
