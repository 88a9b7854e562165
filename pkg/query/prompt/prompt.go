// Package prompt holds what recall and reflect tell language models, and reads what models write back: system prompts,
// the items of memory as they are shown, tools and their arguments, judgements, and citations. It does no I/O.
//
// Whatever comes from outside is quoted, one line an item, between fences that it cannot end (Quote, Fence). An ItemList
// shows every item under a number of its own, which is the only handle a model has on the memory: a number that was
// never shown names nothing. Arguments reads the object of a tool call or of a judge's answer as leniently as is safe.
// Citer rewrites the marks of an answer to citations while the answer comes, and FieldReader takes the answer out of a
// tool call while its arguments come.
package prompt

import (
	"bytes"
	"embed"
	"encoding/json"
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

// file returns a prompt file. It is embedded: a missing one is a mistake in the build.
func file(name string) string {
	b, err := prompts.ReadFile("prompts/" + name + ".txt")
	if err != nil {
		panic(fmt.Sprintf("the prompt %s is not in the program: %v", name, err))
	}
	return string(b)
}

// Quote writes a text as one line that cannot end the fence around it: a JSON string in which < and > are escaped.
func Quote(text string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(true)
	if e.Encode(strings.ToValidUTF8(strings.TrimSpace(text), "\uFFFD")) != nil {
		return `""`
	}
	return strings.ReplaceAll(strings.TrimSpace(b.String()), `\u0026`, "&")
}

// Fence puts lines, each of them quoted, between the fences of data.
func Fence(lines string) string { return "<memory>\n" + strings.TrimRight(lines, "\n") + "\n</memory>" }

// Setting is what the system prompt of reflect depends on.
type Setting struct {
	Traits     memory.Disposition // a trait outside 1 to 5 reads as 3
	Mission    string             // of the bank; "" = none
	Background string
	Turns      int
	Now        time.Time
	AsOf       *time.Time
	Streamed   bool // the answer is asked for as the model's message, which is shown as it is written
}

// The two ways to answer. A stream is asked for as a message: every provider sends its first words at once, while some
// hold a call back until its arguments are whole. An answer that comes as a call all the same is streamed as far as the
// provider does.
const (
	endByCall    = "When you can answer, call done with the answer and the numbers of the items it rests on."
	endByMessage = "When you can answer, write the answer as your message and call nothing: it is shown as you write it. Write nothing beside a call."
)

// System returns the system prompt of reflect. Equal settings give equal prompts.
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
	end, found := endByCall, " and found false"
	if s.Streamed {
		end, found = endByMessage, ""
	}
	return strings.NewReplacer("[[end]]", end, "[[found]]", found, "[[turns]]", strconv.Itoa(s.Turns), "[[skepticism]]", trait("skepticism", s.Traits.Skepticism),
		"[[literalism]]", trait("literalism", s.Traits.Literalism), "[[empathy]]", trait("empathy", s.Traits.Empathy),
		"[[bank]]", bank, "[[now]]", moment(s.Now), "[[as_of]]", asOf).Replace(strings.TrimSpace(file("reflect.v1")))
}

// trait returns the sentence of one trait at one strength.
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

// LastTurn is the message to a model that has no more searches.
const LastTurn = "No searches are left. Answer now, from what was found, or say that memory does not hold it, with [none]."

// Ask returns the first message of reflect, and the message of the judge: the question and the fenced items. last adds
// LastTurn.
func Ask(question, found string, last bool) string {
	out := "<question>\n" + Quote(question) + "\n</question>\n\n" + found
	if last {
		out += "\n\n" + LastTurn
	}
	return out
}

// JudgeSystem returns the system prompt of the judge.
func JudgeSystem() string { return strings.TrimSpace(file("judge.v1")) }

// AdequacySystem returns the system prompt of an adequacy round.
func AdequacySystem() string { return strings.TrimSpace(file("adequacy.v1")) }

// AdequacyAsk returns the message of an adequacy round. asked are the queries so far, the question first.
func AdequacyAsk(asked []string, found string) string {
	var s strings.Builder
	s.WriteString(Ask(asked[0], found, false))
	if len(asked) > 1 {
		s.WriteString("\n\nAlready asked:")
		for _, q := range asked[1:] {
			s.WriteString("\n- " + Quote(q))
		}
	}
	return s.String()
}

func moment(t time.Time) string { return t.UTC().Format("Monday, 2006-01-02 15:04 UTC") }

// The names of the tools of reflect.
const (
	ToolSearch = "search_memory"
	ToolExpand = "expand"
	ToolDone   = "done"
)

const searchSchema = `{"type":"object","additionalProperties":false,"properties":{
"queries":{"type":"array","items":{"type":"string"},"minItems":1,"maxItems":5,"description":"what to look for, each by itself"},
"query":{"type":"string","description":"one query, in place of queries"},
"records":{"type":"array","items":{"type":"string","enum":["fact","composite","observation","message"]},"description":"which records; all of them by default"},
"from":{"type":"string","description":"said or happened on or after this date or time, as 2026-05-20 or 2026-05-20T09:00:00Z"},
"to":{"type":"string","description":"said or happened on or before this date or time"},
"limit":{"type":"integer","minimum":1,"maximum":20,"description":"most items for each query"}}}`

const expandSchema = `{"type":"object","additionalProperties":false,"required":["ids"],"properties":{
"ids":{"type":"array","items":{"type":"integer"},"minItems":1,"maxItems":10,"description":"numbers of items that were shown"}}}`

const doneSchema = `{"type":"object","additionalProperties":false,"required":["answer","citations","found"],"properties":{
"answer":{"type":"string","description":"the answer, with the numbers of items in brackets behind what rests on them"},
"citations":{"type":"array","items":{"type":"integer"},"description":"numbers of the items the answer rests on; empty when memory does not hold it"},
"found":{"type":"boolean","description":"false when memory does not hold the answer"}}}`

// The schemas that the answers of the judge and of an adequacy round must match.
const (
	JudgeSchema = `{"type":"object","additionalProperties":false,"required":["judgements"],"properties":{"judgements":{"type":"array","items":{
"type":"object","additionalProperties":false,"required":["n","score"],"properties":{"n":{"type":"integer"},"score":{"type":"number"}}}}}}`
	AdequacySchema = `{"type":"object","additionalProperties":false,"required":["enough","queries"],"properties":{"enough":{"type":"boolean"},
"queries":{"type":"array","items":{"type":"string"}}}}`
)

// Tools returns the tools of a turn; in the last one a model can only answer.
func Tools(last bool) []memory.Tool {
	done := memory.Tool{Name: ToolDone, Description: "Give the answer. Call it alone.", Schema: []byte(doneSchema)}
	if last {
		return []memory.Tool{done}
	}
	return []memory.Tool{
		{Name: ToolSearch, Description: "Search this memory. Give several queries at once where the question has parts.", Schema: []byte(searchSchema)},
		{Name: ToolExpand, Description: "Show what stands around items: the parts of a composite, what an observation rests on, the messages before and after a message, the history of a fact and who said it.",
			Schema: []byte(expandSchema)},
		done,
	}
}
