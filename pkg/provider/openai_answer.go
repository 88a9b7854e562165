package provider

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// chatAnswer is a chat completion, or a piece of one, as servers send it.
type chatAnswer struct {
	Choices []chatChoice    `json:"choices"`
	Usage   *chatUsage      `json:"usage"`
	Error   json.RawMessage `json:"error"`
}

type chatChoice struct {
	Message      chatMessage `json:"message"`
	Delta        chatMessage `json:"delta"`
	FinishReason string      `json:"finish_reason"`
}

type chatMessage struct {
	Content loose      `json:"content"`
	Refusal string     `json:"refusal"`
	Calls   []chatCall `json:"tool_calls"`

	text []byte // what a stream brought of the content
}

type chatCall struct {
	Index    *int   `json:"index"`
	ID       string `json:"id"`
	Function struct {
		Name      string `json:"name"`
		Arguments loose  `json:"arguments"`
	} `json:"function"`

	arguments []byte // what a stream brought of them
	told      int    // bytes of them that were handed on
}

func (c chatCall) named() bool { return c.Function.Name != "" }

type chatUsage struct {
	Prompt     float64 `json:"prompt_tokens"`
	Completion float64 `json:"completion_tokens"`
	Details    struct {
		Cached float64 `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
	CacheHit float64 `json:"prompt_cache_hit_tokens"` // another name for it
}

func (u *chatUsage) usage() memory.Usage {
	if u == nil {
		return memory.Usage{}
	}
	return memory.Usage{PromptTokens: whole(u.Prompt), CachedTokens: whole(max(u.Details.Cached, u.CacheHit)), CompletionTokens: whole(u.Completion)}
}

// whole makes a count of a number that a server sent.
func whole(n float64) int { return int(min(max(0, n), 1<<30)) }

// loose is a text that servers send as a string, as a list of parts, as
// nothing, or, for arguments, as the object itself.
type loose string

// UnmarshalJSON takes each of the forms.
func (l *loose) UnmarshalJSON(b []byte) error {
	b = bytes.TrimSpace(b)
	switch {
	case len(b) == 0 || string(b) == "null":
		*l = ""
		return nil
	case b[0] == '"':
		return json.Unmarshal(b, (*string)(l))
	case b[0] != '[':
		*l = loose(b)
		return nil
	}
	var parts []struct {
		Text string `json:"text"`
	}
	if err := json.Unmarshal(b, &parts); err != nil {
		return err
	}
	var text strings.Builder
	for _, p := range parts {
		text.WriteString(p.Text)
	}
	*l = loose(text.String())
	return nil
}

// maxCalls bounds the tool calls of one answer.
const maxCalls = 128

// add appends a piece of a stream. The pieces of a call name it by its index;
// one without an index continues the last call, unless it brings a new id.
func (m *chatMessage) add(d chatMessage) {
	m.text = append(m.text, d.Content...)
	if m.Refusal == "" {
		m.Refusal = d.Refusal
	}
	for _, c := range d.Calls {
		at := len(m.Calls) - 1
		switch {
		case c.Index != nil:
			at = *c.Index
		case at < 0 || c.ID != "" && m.Calls[at].ID != "" && c.ID != m.Calls[at].ID:
			at++
		}
		if at < 0 || at >= maxCalls {
			continue
		}
		for len(m.Calls) <= at {
			m.Calls = append(m.Calls, chatCall{})
		}
		to := &m.Calls[at]
		if c.ID != "" {
			to.ID = c.ID
		}
		if to.Function.Name == "" {
			to.Function.Name = c.Function.Name
		}
		to.arguments = append(to.arguments, c.Function.Arguments...)
	}
}

// tell hands on what came of the arguments of calls whose name is known.
func (m *chatMessage) tell(to *emitter) error {
	for i := range m.Calls {
		c := &m.Calls[i]
		if !c.named() {
			continue
		}
		piece := string(c.arguments[c.told:])
		c.told = len(c.arguments)
		if err := to.arguments(i, c.Function.Name, piece); err != nil {
			return err
		}
	}
	return nil
}

// gathered gives a message that came in pieces.
func (m chatMessage) gathered() chatMessage {
	m.Content = loose(m.text)
	for i := range m.Calls {
		m.Calls[i].Function.Arguments = loose(m.Calls[i].arguments)
	}
	return m
}

// verdict says what is wrong with an answer that could be read.
func (a *chatAnswer) verdict() error {
	if len(a.Choices) == 0 {
		return garbled("the answer has no choices")
	}
	c := a.Choices[0]
	switch {
	case c.Message.Refusal != "":
		return declined("the model declined to answer")
	case c.FinishReason == "content_filter":
		return declined("the provider's filter stopped the answer")
	}
	return nil
}

// plain is the answer in the form that langchaingo reads in full.
func (a *chatAnswer) plain() map[string]any {
	c := a.Choices[0]
	var calls []map[string]any
	for i, made := range c.Message.Calls {
		if i >= maxCalls || !made.named() {
			continue
		}
		id := made.ID
		if id == "" {
			id = fmt.Sprintf("call_%d", i+1)
		}
		calls = append(calls, map[string]any{"id": id, "type": "function", "function": map[string]any{
			"name": made.Function.Name, "arguments": string(made.Function.Arguments),
		}})
	}
	return map[string]any{"choices": []any{map[string]any{
		"message":       map[string]any{"role": "assistant", "content": string(c.Message.Content), "tool_calls": calls},
		"finish_reason": c.FinishReason,
	}}}
}
