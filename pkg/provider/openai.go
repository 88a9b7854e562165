package provider

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/llms/openai"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// newOpenAI speaks the protocol of OpenAI and of every server that follows it.
func newOpenAI(m Model, model string) (dialect, error) {
	token := string(m.Key)
	if token == "" {
		token = "none" // langchaingo asks for one; it is not sent
	}
	llm, err := openai.New(openai.WithToken(token), openai.WithModel(model), openai.WithBaseURL(m.BaseURL()),
		openai.WithOrganization(""), openai.WithHTTPClient(door{}))
	if err != nil {
		return nil, fmt.Errorf("model %s: %w", m.Name, err)
	}
	theirs := m.BaseURL() == own(OpenAI)
	return &chain{
		model: llm, read: readChat, messages: chatMessages,
		limit: func(p memory.Prompt, _ traits) int { return p.Limit },
		finish: func(body map[string]json.RawMessage, p memory.Prompt, t traits) error {
			return finishChat(body, p, t, theirs)
		},
	}, nil
}

// finishChat adds what langchaingo cannot say: a schema for one request, the
// older name for the limit of tokens, which most servers other than OpenAI's
// know alone, and that a stream ends with its usage.
func finishChat(body map[string]json.RawMessage, p memory.Prompt, t traits, theirs bool) error {
	if limit, ok := body["max_completion_tokens"]; ok && theirs == t.otherLimit {
		delete(body, "max_completion_tokens")
		body["max_tokens"] = limit
	}
	if streamed(p) && !t.noStreamUsage {
		body["stream_options"] = json.RawMessage(`{"include_usage":true}`)
	}
	if p.MustCall && !t.noChoice {
		body["tool_choice"] = json.RawMessage(`"required"`)
	}
	if p.Schema == nil {
		return nil
	}
	switch t.form {
	case formSchema:
		name := p.SchemaName
		if name == "" {
			name = "answer"
		}
		return set(body, "response_format", map[string]any{"type": "json_schema", "json_schema": map[string]any{
			"name": name, "strict": strict(p.Schema), "schema": json.RawMessage(p.Schema),
		}})
	case formObject:
		body["response_format"] = json.RawMessage(`{"type":"json_object"}`)
	}
	return nil
}

// strict reports whether a schema is one that OpenAI can hold an answer to
// strictly: every object names all of its properties as required and allows no other.
func strict(schema []byte) bool {
	var v any
	return json.Unmarshal(schema, &v) == nil && closed(v)
}

func closed(v any) bool {
	switch v := v.(type) {
	case []any:
		for _, x := range v {
			if !closed(x) {
				return false
			}
		}
	case map[string]any:
		if properties, ok := v["properties"].(map[string]any); ok {
			required, _ := v["required"].([]any) //nolint:errcheck // nil is none
			if more, said := v["additionalProperties"].(bool); !said || more || len(required) != len(properties) {
				return false
			}
		} else if v["type"] == "object" {
			return false
		}
		for _, x := range v {
			if !closed(x) {
				return false
			}
		}
	}
	return true
}

// chatMessages gives the messages of a prompt in the form of langchaingo.
func chatMessages(p memory.Prompt, system string) []llms.MessageContent {
	var out []llms.MessageContent
	put := func(role llms.ChatMessageType, parts ...llms.ContentPart) {
		out = append(out, llms.MessageContent{Role: role, Parts: parts})
	}
	if system != "" {
		put(llms.ChatMessageTypeSystem, llms.TextContent{Text: system})
	}
	if p.User != "" {
		put(llms.ChatMessageTypeHuman, llms.TextContent{Text: p.User})
	}
	for i, turn := range p.Turns {
		var said []llms.ContentPart
		if turn.Text != "" {
			said = append(said, llms.TextContent{Text: turn.Text})
		}
		for k, c := range turn.Calls {
			said = append(said, llms.ToolCall{ID: callID(c.ID, i, k), Type: "function", FunctionCall: &llms.FunctionCall{Name: c.Name, Arguments: c.Arguments}})
		}
		if len(said) > 0 {
			put(llms.ChatMessageTypeAI, said...)
		}
		for k, c := range turn.Calls {
			put(llms.ChatMessageTypeTool, llms.ToolCallResponse{ToolCallID: callID(c.ID, i, k), Name: c.Name, Content: turn.Results[k]})
		}
	}
	return out
}

// callID names a call that a server left without a name.
func callID(id string, turn, call int) string {
	if id != "" {
		return id
	}
	return fmt.Sprintf("call_%d_%d", turn+1, call+1)
}

// readChat reads a chat completion, whole or as a stream.
func readChat(r io.Reader, to *emitter) ([]byte, memory.Usage, error) {
	var a chatAnswer
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

func (a *chatAnswer) readWhole(r io.Reader) error {
	raw, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(raw, a); err != nil {
		return garbled("the answer is no chat completion but %s", kind(raw))
	}
	if len(a.Error) > 0 && string(a.Error) != "null" {
		message, _ := explain(raw)
		return garbled("an error in place of an answer: %s", message)
	}
	return nil
}

// readStream gathers the pieces of a stream. One that ends before the model
// said that it is done was cut off.
func (a *chatAnswer) readStream(r io.Reader, to *emitter) error {
	all := chatChoice{}
	ended, err := events(r, func(data []byte) (bool, error) {
		if string(data) == "[DONE]" {
			return true, nil
		}
		var piece chatAnswer
		if json.Unmarshal(data, &piece) != nil {
			return false, garbled("a piece of the stream is no completion but %s", kind(data))
		}
		if len(piece.Error) > 0 && string(piece.Error) != "null" {
			message, _ := explain(data)
			return false, garbled("an error amid the stream: %s", message)
		}
		if piece.Usage != nil {
			a.Usage = piece.Usage
		}
		if len(piece.Choices) == 0 {
			return false, nil
		}
		c := piece.Choices[0]
		if c.FinishReason != "" {
			all.FinishReason = c.FinishReason
		}
		all.Message.add(c.Delta)
		if err := to.text(string(c.Delta.Content)); err != nil {
			return false, err
		}
		return false, all.Message.tell(to)
	})
	if err != nil {
		return err
	}
	if ended && all.FinishReason == "" {
		return garbled("the stream ended before the answer did")
	}
	all.Message = all.Message.gathered()
	a.Choices = []chatChoice{all}
	return nil
}

// kind says what came in place of JSON. It tells nothing of the text, which may
// be a conversation's.
func kind(raw []byte) string {
	switch text := strings.TrimSpace(string(raw)); {
	case text == "":
		return "nothing"
	case text[0] == '<':
		return "a page for people"
	case text[0] == '{' || text[0] == '[':
		return fmt.Sprintf("JSON of another shape, or broken, of %d bytes", len(raw))
	}
	return fmt.Sprintf("%d bytes of text", len(raw))
}
