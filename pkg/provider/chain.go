package provider

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/tmc/langchaingo/llms"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// chain is a dialect whose requests langchaingo builds and whose answers it
// reads. It sits between langchaingo and the exchange: it completes the request
// by what langchaingo cannot say, and gives it an answer that is whole and
// plain, whether it came in one piece or as a stream.
type chain struct {
	model llms.Model
	// finish adds to the body of a request.
	finish func(body map[string]json.RawMessage, p memory.Prompt, t traits) error
	// read reads an answer, a stream or not, and gives it in the form langchaingo
	// reads best. to is nil for an answer in one piece.
	read func(r io.Reader, to *emitter) (plain []byte, usage memory.Usage, err error)
	// messages are the turns of a prompt.
	messages func(p memory.Prompt, system string) []llms.MessageContent
	limit    func(p memory.Prompt, t traits) int
	// asText reports whether a call's arguments are the answer's text; nil = never.
	asText func(p memory.Prompt, t traits) bool
	// settle has the last word on an answer; nil = there is none to say.
	settle func(c *memory.Completion, p memory.Prompt, t traits) error
}

// call travels through langchaingo in the context.
type call struct {
	chain  *chain
	way    *way
	stage  string
	prompt memory.Prompt
	traits traits
	took   memory.Usage
	err    error
}

type callKey struct{}

func (c *chain) complete(ctx context.Context, w *way, stage string, p memory.Prompt, t traits) (memory.Completion, error) {
	if err := check(p); err != nil {
		return memory.Completion{}, err
	}
	in := &call{chain: c, way: w, stage: stage, prompt: p, traits: t}
	options := []llms.CallOption{llms.WithTemperature(0), llms.WithMaxTokens(c.limit(p, t))}
	for _, tool := range p.Tools {
		options = append(options, func(o *llms.CallOptions) {
			o.Tools = append(o.Tools, llms.Tool{Type: "function", Function: &llms.FunctionDefinition{
				Name: tool.Name, Description: tool.Description, Parameters: json.RawMessage(tool.Schema),
			}})
		})
	}
	got, err := c.model.GenerateContent(context.WithValue(ctx, callKey{}, in), c.messages(p, t.system(p)), options...)
	switch {
	case in.err != nil:
		return memory.Completion{}, in.err
	case err != nil:
		return memory.Completion{}, fmt.Errorf("%s: %w: %w", w.line.model, err, memory.ErrInvalid)
	}
	out := memory.Completion{Usage: in.took}
	for _, choice := range got.Choices {
		out.Text += choice.Content
		out.Truncated = out.Truncated || choice.StopReason == "length" || choice.StopReason == "max_tokens"
		for _, made := range choice.ToolCalls {
			out.Calls = append(out.Calls, memory.ToolCall{ID: made.ID, Name: made.FunctionCall.Name, Arguments: made.FunctionCall.Arguments})
		}
	}
	if c.settle != nil {
		if err := c.settle(&out, p, t); err != nil {
			return memory.Completion{}, err
		}
	}
	return out, nil
}

// door is what langchaingo takes for its HTTP client.
type door struct{}

// Do completes the request of the call in its context and answers from an exchange.
func (door) Do(r *http.Request) (*http.Response, error) {
	in, ok := r.Context().Value(callKey{}).(*call)
	if !ok {
		return nil, errors.New("a request without a call")
	}
	plain, err := in.exchange(r)
	if err != nil {
		in.err = err
		return nil, errors.New("the exchange failed") // its cause goes around langchaingo, which keeps texts only
	}
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}},
		Body: io.NopCloser(bytes.NewReader(plain)), Request: r,
	}, nil
}

func (c *call) exchange(r *http.Request) ([]byte, error) {
	raw, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	var body map[string]json.RawMessage
	if err := json.Unmarshal(raw, &body); err != nil {
		return nil, err
	}
	if c.traits.noTemperature {
		delete(body, "temperature")
	}
	if streamed(c.prompt) {
		body["stream"] = json.RawMessage("true")
	}
	if err := c.chain.finish(body, c.prompt, c.traits); err != nil {
		return nil, err
	}
	if raw, err = json.Marshal(body); err != nil {
		return nil, err
	}
	header := r.Header.Clone()
	if c.way.line.key == "" {
		header.Del("Authorization") // langchaingo does not work without a key
		header.Del("X-Api-Key")
	}
	var plain []byte
	err = c.way.line.exchange(r.Context(), request{
		stage: c.stage, url: r.URL.String(), header: header, body: raw, took: &c.took,
		answer: func(body io.Reader) (memory.Usage, error) {
			to := newEmitter(c.prompt)
			if to != nil && c.chain.asText != nil && c.chain.asText(c.prompt, c.traits) {
				to = &emitter{calls: first(c.prompt.Stream)}
			}
			var usage memory.Usage
			plain, usage, err = c.chain.read(body, to)
			return usage, to.settle(err)
		},
	})
	return plain, err
}

// first gives the receiver of calls that takes the arguments of the first for a text.
func first(stream func(string) error) func(int, string, string) error {
	if stream == nil {
		return nil
	}
	return func(call int, _, delta string) error {
		if call > 0 {
			return nil
		}
		return stream(delta)
	}
}

// set puts a value into a body.
func set(body map[string]json.RawMessage, key string, value any) error {
	b, err := json.Marshal(value)
	if err != nil {
		return &fault{text: key + " of the prompt is not JSON", meaning: memory.ErrInvalid, outcome: outcomeInvalid}
	}
	body[key] = b
	return nil
}
