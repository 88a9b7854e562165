package provider

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/llms/anthropic"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// The limits of tokens that an Anthropic request names when the prompt has
// none: the protocol demands one, and older models refuse the first.
const (
	anthropicLimit = 8192
	anthropicLess  = 4096
)

// newAnthropic speaks Anthropic's protocol of messages.
func newAnthropic(m Model, model string) (dialect, error) {
	token := string(m.Key)
	if token == "" {
		token = "none" // langchaingo asks for one; it is not sent
	}
	llm, err := anthropic.New(anthropic.WithToken(token), anthropic.WithModel(model), anthropic.WithBaseURL(m.BaseURL()), anthropic.WithHTTPClient(door{}))
	if err != nil {
		return nil, fmt.Errorf("model %s: %w", m.Name, err)
	}
	return &chain{
		model: llm, read: readMessage, finish: finishMessage, asText: schemaTool, settle: settleMessage, messages: messageTurns,
		limit: func(p memory.Prompt, t traits) int {
			switch {
			case t.otherLimit:
				return anthropicLess
			case p.Limit == 0:
				return anthropicLimit
			}
			return p.Limit
		},
	}, nil
}

// finishMessage adds what langchaingo cannot say: which tool must be called.
// An answer of a schema is a call of a tool whose input is the answer.
func finishMessage(body map[string]json.RawMessage, p memory.Prompt, t traits) error {
	switch {
	case schemaTool(p, t):
		name := answerTool(p)
		err := set(body, "tools", []map[string]any{{"name": name, "description": "Gives the answer.", "input_schema": json.RawMessage(p.Schema)}})
		if err != nil {
			return err
		}
		return set(body, "tool_choice", map[string]string{"type": "tool", "name": name})
	case p.MustCall && !t.noChoice:
		return set(body, "tool_choice", map[string]string{"type": "any"})
	}
	return nil
}

// schemaTool reports whether the answer to p comes as a call of a tool.
func schemaTool(p memory.Prompt, t traits) bool {
	return p.Schema != nil && len(p.Tools) == 0 && t.form == formSchema
}

// answerTool names the tool that stands for a schema.
func answerTool(p memory.Prompt) string {
	if p.SchemaName != "" {
		return p.SchemaName
	}
	return "answer"
}

// messageTurns gives each part of a turn as a message of its own, for
// langchaingo sends the first part of one alone; the provider joins messages of
// one role that follow each other.
func messageTurns(p memory.Prompt, system string) []llms.MessageContent {
	var out []llms.MessageContent
	for _, m := range chatMessages(p, system) {
		for _, part := range m.Parts {
			if c, ok := part.(llms.ToolCall); ok {
				c.FunctionCall = &llms.FunctionCall{Name: c.FunctionCall.Name, Arguments: string(object(c.FunctionCall.Arguments))}
				part = c
			}
			out = append(out, llms.MessageContent{Role: m.Role, Parts: []llms.ContentPart{part}})
		}
	}
	return out
}

// object gives arguments as the JSON object that they should have been.
func object(arguments string) json.RawMessage {
	var v map[string]any
	if json.Unmarshal([]byte(arguments), &v) == nil && v != nil {
		return json.RawMessage(arguments)
	}
	b, err := json.Marshal(map[string]string{"arguments": arguments})
	if err != nil {
		return json.RawMessage("{}")
	}
	return b
}

// messageAnswer is an answer of Anthropic's.
type messageAnswer struct {
	Content []messageBlock `json:"content"`
	Stop    string         `json:"stop_reason"`
	Usage   messageUsage   `json:"usage"`
	Error   *struct {
		Type    string `json:"type"`
		Message string `json:"message"`
	} `json:"error"`
}

type messageBlock struct {
	Type  string          `json:"type"`
	Text  string          `json:"text"`
	ID    string          `json:"id"`
	Name  string          `json:"name"`
	Input json.RawMessage `json:"input"`

	text, input []byte // what a stream brought of them
}

type messageUsage struct {
	Input   float64 `json:"input_tokens"`
	Output  float64 `json:"output_tokens"`
	Written float64 `json:"cache_creation_input_tokens"`
	Cached  float64 `json:"cache_read_input_tokens"`
}

// usage counts what was written to and read from the cache among the prompt.
func (u messageUsage) usage() memory.Usage {
	return memory.Usage{PromptTokens: whole(u.Input) + whole(u.Written) + whole(u.Cached), CachedTokens: whole(u.Cached), CompletionTokens: whole(u.Output)}
}

// readMessage reads an answer, whole or as a stream.
func readMessage(r io.Reader, to *emitter) ([]byte, memory.Usage, error) {
	var a messageAnswer
	var err error
	if to == nil {
		err = a.readWhole(r)
	} else {
		err = a.readStream(r, to)
	}
	if err == nil {
		err = a.verdict()
	}
	if err != nil {
		return nil, a.Usage.usage(), err
	}
	plain, err := json.Marshal(a.plain())
	return plain, a.Usage.usage(), err
}

func (a *messageAnswer) readWhole(r io.Reader) error {
	raw, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(raw, a); err != nil {
		return garbled("the answer is no message but %s", kind(raw))
	}
	if a.Error != nil {
		return garbled("an error in place of an answer: %s", oneLine(a.Error.Message))
	}
	return nil
}

// verdict says what is wrong with an answer that could be read.
func (a *messageAnswer) verdict() error {
	if a.Stop == "refusal" {
		return declined("the model declined to answer")
	}
	if len(a.Content) == 0 && a.Stop == "" {
		return garbled("the answer has no content")
	}
	return nil
}

// asWritten is the key under which a tool's input passes langchaingo untouched.
const asWritten = "as_written"

// settleMessage gives tool inputs back as the model wrote them, and the input
// of the tool that stands for a schema as the answer's text.
func settleMessage(c *memory.Completion, p memory.Prompt, t traits) error {
	for i := range c.Calls {
		var v map[string]string
		if json.Unmarshal([]byte(c.Calls[i].Arguments), &v) == nil {
			c.Calls[i].Arguments = v[asWritten]
		}
	}
	switch {
	case !schemaTool(p, t):
	case len(c.Calls) > 0:
		c.Text, c.Calls = c.Calls[0].Arguments, nil // it was streamed as such
	case p.Stream != nil:
		return (&emitter{stream: p.Stream}).text(c.Text) // a text in its place was held
	}
	return nil
}

// plain is the answer in the form that langchaingo reads in full: it fails at
// blocks it does not know, and at an input that is no object.
func (a *messageAnswer) plain() map[string]any {
	content := []map[string]any{}
	for i := range a.Content {
		switch b := &a.Content[i]; {
		case i >= maxCalls:
		case b.Type == "text" && b.Text != "":
			content = append(content, map[string]any{"type": "text", "text": b.Text})
		case b.Type == "tool_use" && b.Name != "":
			// As a text, for langchaingo would rewrite its numbers.
			content = append(content, map[string]any{"type": "tool_use", "id": callID(b.ID, 0, i), "name": b.Name, "input": map[string]string{asWritten: string(b.Input)}})
		}
	}
	if len(content) == 0 {
		content = append(content, map[string]any{"type": "text", "text": ""})
	}
	return map[string]any{"type": "message", "role": "assistant", "content": content, "stop_reason": a.Stop}
}
