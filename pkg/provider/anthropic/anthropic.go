// Package anthropic speaks Anthropic's protocol of messages, through Anthropic's own client. langchaingo cannot carry
// it: it has no forced tools, rewrites the numbers in a tool's input, fails at kinds of content it does not know, and
// reports nothing of a streamed tool input before its end.
package anthropic

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"
	"github.com/anthropics/anthropic-sdk-go/packages/param"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/provider/call"
)

// URL is the address of Anthropic's models.
const URL = "https://api.anthropic.com/v1"

// The limits of tokens that a request names when the prompt has none: the protocol demands one, and older models refuse
// the first.
const (
	defaultLimit = 8192
	lowerLimit   = 4096
)

// Chat is a chat model. It is safe for concurrent use.
type Chat struct {
	client *call.Client
	model  string // the provider's name of it
}

// New makes the chat model that the provider calls model; it sends nothing.
func New(client *call.Client, model string) *Chat { return &Chat{client: client, model: model} }

// Complete answers a prompt in the given form. An answer that must meet a schema comes as the input of a tool.
func (c *Chat) Complete(ctx context.Context, stage string, p memory.Prompt, form call.Form) (memory.Completion, error) {
	params, at := c.params(p, form), c.client.Endpoint()
	return c.client.Complete(ctx, stage, p, func(ctx context.Context, x *call.Exchange) (memory.Completion, error) {
		x.URL = at.URL + "/messages"
		a := answer{x: x, asText: answersByTool(p, form)}
		if a.asText {
			x.Receive(nil, firstCallAsText(p.Stream))
		}
		messages := anthropic.NewMessageService(option.WithoutEnvironmentDefaults(), option.WithoutOpenTelemetry(),
			option.WithAPIKey(string(at.Key)), option.WithBaseURL(at.URL), option.WithHTTPClient(x.HTTPClient()),
			option.WithMaxRetries(0), option.WithRequestTimeout(time.Hour)) // the exchange and its client bound both
		var err error
		if call.Streamed(p) {
			err = a.stream(messages.NewStreaming(ctx, params))
		} else {
			err = a.whole(messages.New(ctx, params))
		}
		if err != nil {
			return memory.Completion{}, err
		}
		return a.completion(p)
	})
}

// params returns the request of a prompt.
func (c *Chat) params(p memory.Prompt, form call.Form) anthropic.MessageNewParams {
	out := anthropic.MessageNewParams{Model: anthropic.Model(c.model), MaxTokens: int64(limit(p, form)), Messages: messages(p)}
	if !form.NoTemperature {
		out.Temperature = anthropic.Float(0)
	}
	if system := form.System(p); system != "" {
		out.System = []anthropic.TextBlockParam{{Text: system}}
	}
	for _, t := range p.Tools {
		out.Tools = append(out.Tools, tool(t.Name, t.Description, t.Schema))
	}
	switch {
	case answersByTool(p, form):
		name := cmp.Or(p.SchemaName, "answer")
		out.Tools = []anthropic.ToolUnionParam{tool(name, "Gives the answer.", p.Schema)}
		out.ToolChoice = anthropic.ToolChoiceParamOfTool(name)
	case p.MustCall && !form.NoForcedTool:
		out.ToolChoice = anthropic.ToolChoiceUnionParam{OfAny: &anthropic.ToolChoiceAnyParam{}}
	}
	return out
}

func limit(p memory.Prompt, form call.Form) int {
	switch {
	case form.OtherLimit:
		return lowerLimit
	case p.Limit == 0:
		return defaultLimit
	}
	return p.Limit
}

// answersByTool reports whether the answer to p comes as the input of a tool that has the prompt's schema.
func answersByTool(p memory.Prompt, form call.Form) bool {
	return p.Schema != nil && len(p.Tools) == 0 && form.Schema == call.SchemaByProvider
}

func tool(name, description string, schema []byte) anthropic.ToolUnionParam {
	t := anthropic.ToolParam{Name: name, InputSchema: param.Override[anthropic.ToolInputSchemaParam](json.RawMessage(schema))}
	if description != "" {
		t.Description = anthropic.String(description)
	}
	return anthropic.ToolUnionParam{OfTool: &t}
}

func messages(p memory.Prompt) []anthropic.MessageParam {
	var out []anthropic.MessageParam
	if p.User != "" {
		out = append(out, anthropic.NewUserMessage(anthropic.NewTextBlock(p.User)))
	}
	for i, turn := range p.Turns {
		var said, results []anthropic.ContentBlockParamUnion
		if turn.Text != "" {
			said = append(said, anthropic.NewTextBlock(turn.Text))
		}
		for k, made := range turn.Calls {
			id := call.ID(made.ID, i, k)
			said = append(said, anthropic.NewToolUseBlock(id, call.Object(made.Arguments), made.Name))
			results = append(results, anthropic.NewToolResultBlock(id, turn.Results[k], false))
		}
		if len(said) > 0 {
			out = append(out, anthropic.NewAssistantMessage(said...))
		}
		if len(results) > 0 {
			out = append(out, anthropic.NewUserMessage(results...))
		}
	}
	return out
}

// firstCallAsText returns a receiver of calls that hands the arguments of the first on as text; nil for none.
func firstCallAsText(text func(string) error) func(int, string, string) error {
	if text == nil {
		return nil
	}
	return func(call int, _, piece string) error {
		if call > 0 {
			return nil
		}
		return text(piece)
	}
}

// failure returns the reason that a server gives for an error within a stream; err itself where it gives none.
func failure(err error) error {
	var api *anthropic.Error
	if !errors.As(err, &api) {
		return err
	}
	message, _ := call.Explain([]byte(api.RawJSON()))
	return call.Garbled("an error amid the stream: %s", message)
}
