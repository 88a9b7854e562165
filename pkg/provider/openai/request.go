package openai

import (
	"cmp"
	"encoding/json"

	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/llms/openai"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/provider/call"
)

// options returns what langchaingo can express beside the messages. Most servers other than OpenAI's only know the
// older name of the limit of tokens.
func (c *Chat) options(p memory.Prompt, form call.Form) []llms.CallOption {
	out := []llms.CallOption{llms.WithTemperature(0), llms.WithMaxTokens(p.Limit)}
	if hosted := c.client.Endpoint().URL == URL; hosted == form.OtherLimit {
		out = append(out, openai.WithLegacyMaxTokensField())
	}
	if len(p.Tools) > 0 {
		var tools []llms.Tool
		for _, t := range p.Tools {
			tools = append(tools, llms.Tool{Type: "function", Function: &llms.FunctionDefinition{
				Name: t.Name, Description: t.Description, Parameters: json.RawMessage(t.Schema),
			}})
		}
		out = append(out, llms.WithTools(tools))
	}
	if p.MustCall && !form.NoForcedTool {
		out = append(out, llms.WithToolChoice("required"))
	}
	if p.Schema != nil && form.Schema == call.SchemaAsObject {
		out = append(out, llms.WithJSONMode())
	}
	return out
}

// messages returns the messages of a prompt.
func messages(p memory.Prompt, form call.Form) []llms.MessageContent {
	var out []llms.MessageContent
	put := func(role llms.ChatMessageType, parts ...llms.ContentPart) {
		out = append(out, llms.MessageContent{Role: role, Parts: parts})
	}
	if system := form.System(p); system != "" {
		put(llms.ChatMessageTypeSystem, llms.TextContent{Text: system})
	}
	if p.User != "" {
		put(llms.ChatMessageTypeHuman, llms.TextContent{Text: p.User})
	}
	for i, turn := range p.Turns {
		var parts []llms.ContentPart
		if turn.Text != "" {
			parts = append(parts, llms.TextContent{Text: turn.Text})
		}
		for k, c := range turn.Calls {
			parts = append(parts, llms.ToolCall{
				ID: call.ID(c.ID, i, k), Type: "function", FunctionCall: &llms.FunctionCall{Name: c.Name, Arguments: c.Arguments},
			})
		}
		if len(parts) > 0 {
			put(llms.ChatMessageTypeAI, parts...)
		}
		for k, c := range turn.Calls {
			put(llms.ChatMessageTypeTool, llms.ToolCallResponse{ToolCallID: call.ID(c.ID, i, k), Name: c.Name, Content: turn.Results[k]})
		}
	}
	return out
}

// editRequest mends the body of a request where langchaingo cannot express what is asked: the schema of this answer
// (langchaingo has one per client, and drops most keywords), no temperature, and a stream without its usage.
func editRequest(raw []byte, p memory.Prompt, form call.Form) ([]byte, error) {
	byProvider := p.Schema != nil && form.Schema == call.SchemaByProvider
	if !byProvider && !form.NoTemperature && !form.NoStreamUsage {
		return raw, nil
	}
	var body map[string]json.RawMessage
	if err := json.Unmarshal(raw, &body); err != nil {
		return nil, err
	}
	if form.NoTemperature {
		delete(body, "temperature")
	}
	if form.NoStreamUsage {
		delete(body, "stream_options")
	}
	if byProvider {
		name := cmp.Or(p.SchemaName, "answer")
		format, err := json.Marshal(map[string]any{"type": "json_schema", "json_schema": map[string]any{
			"name": name, "strict": isStrict(p.Schema), "schema": json.RawMessage(p.Schema),
		}})
		if err != nil {
			return nil, err
		}
		body["response_format"] = format
	}
	return json.Marshal(body)
}

// isStrict reports whether OpenAI can hold an answer to a schema strictly: every object names all of its properties as
// required and allows no other.
func isStrict(schema []byte) bool {
	var v any
	return json.Unmarshal(schema, &v) == nil && isClosed(v)
}

func isClosed(v any) bool {
	switch v := v.(type) {
	case []any:
		for _, x := range v {
			if !isClosed(x) {
				return false
			}
		}
	case map[string]any:
		if properties, ok := v["properties"].(map[string]any); ok {
			required, _ := v["required"].([]any) //nolint:errcheck // nil is none
			if more, set := v["additionalProperties"].(bool); !set || more || len(required) != len(properties) {
				return false
			}
		} else if v["type"] == "object" {
			return false
		}
		for _, x := range v {
			if !isClosed(x) {
				return false
			}
		}
	}
	return true
}
