// Package openai speaks the protocol of OpenAI and of every server that follows it, Ollama included.
//
// Chat models are reached through langchaingo. What it cannot express or read is mended beneath it, in the
// http.RoundTripper of the call: the schema of a single answer and parameters a server refuses (request.go); refusals,
// errors with status 200 and the usage of failed answers (answer.go); and the tool calls of streams, whose index it
// drops (stream.go). Embeddings are asked for directly: langchaingo ignores the index of vectors and
// changes the texts it is given.
package openai

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync/atomic"

	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/llms/openai"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/provider/call"
)

// URL is the address of OpenAI's own models.
const URL = "https://api.openai.com/v1"

// Chat is a chat model. It is safe for concurrent use.
type Chat struct {
	client *call.Client
	model  string // the provider's name of it
}

// New makes the chat model that the provider calls model; it sends nothing.
func New(client *call.Client, model string) *Chat { return &Chat{client: client, model: model} }

// Complete answers a prompt in the given form.
func (c *Chat) Complete(ctx context.Context, stage string, p memory.Prompt, form call.Form) (memory.Completion, error) {
	return c.client.Complete(ctx, stage, p, func(ctx context.Context, x *call.Exchange) (memory.Completion, error) {
		x.Edit = func(body []byte) ([]byte, error) { return editRequest(body, p, form) }
		return c.attempt(ctx, x, p, form)
	})
}

func (c *Chat) attempt(ctx context.Context, x *call.Exchange, p memory.Prompt, form call.Form) (memory.Completion, error) {
	at := c.client.Endpoint()
	token := cmp.Or(string(at.Key), "none") // langchaingo demands one; the exchange does not send it
	chat, err := openai.New(openai.WithToken(token), openai.WithModel(c.model), openai.WithBaseURL(at.URL),
		openai.WithOrganization(""), openai.WithHTTPClient(x.HTTPClient()))
	if err != nil {
		return memory.Completion{}, call.Declined("the client cannot be made: %s", err)
	}
	options := c.options(p, form)
	if call.Streamed(p) {
		var s *stream
		x.Inspect = func(r io.Reader) io.Reader { s = newStream(r, x); return s }
		options = append(options, llms.WithStreamingFunc(func(context.Context, []byte) error { return nil }))
		got, err := chat.GenerateContent(ctx, messages(p, form), options...)
		if err != nil {
			return memory.Completion{}, err
		}
		return s.completion(got.Choices[0].Content)
	}
	x.Inspect = func(r io.Reader) io.Reader { return newAnswer(r, x) }
	got, err := chat.GenerateContent(ctx, messages(p, form), options...)
	if err != nil {
		return memory.Completion{}, err
	}
	choice := got.Choices[0]
	out := memory.Completion{Text: choice.Content, Truncated: choice.StopReason == stoppedByLimit}
	for i, made := range choice.ToolCalls[:min(len(choice.ToolCalls), call.MaxCalls)] {
		out.Calls = appendCall(out.Calls, i, made.ID, made.FunctionCall.Name, made.FunctionCall.Arguments)
	}
	return out, nil
}

// stoppedByLimit is the reason for stopping of an answer that reached the limit of tokens.
const stoppedByLimit = "length"

// appendCall appends the call at a place of an answer, from 0. One without a name is none; one without an id gets one.
func appendCall(calls []memory.ToolCall, place int, id, name, arguments string) []memory.ToolCall {
	if name == "" {
		return calls
	}
	id = cmp.Or(id, fmt.Sprintf("call_%d", place+1))
	return append(calls, memory.ToolCall{ID: id, Name: name, Arguments: arguments})
}

// bearer returns the header that carries a key.
func bearer(key call.Key) http.Header { return http.Header{"Authorization": {"Bearer " + string(key)}} }

// Embeddings asks an embedding model for vectors. It is safe for concurrent use.
type Embeddings struct {
	client  *call.Client
	model   string
	ownSize atomic.Bool // the server refuses to be told a dimension, and answers without one
}

// NewEmbeddings makes the embedding model that the provider calls model; it sends nothing.
func NewEmbeddings(client *call.Client, model string) *Embeddings {
	return &Embeddings{client: client, model: model}
}

// Vectors returns one vector per text, in the texts' order, by one request. dimension is asked of the model; 0 = its
// own. A model that refuses the dimension is asked without it, now and from then on: the caller checks the size.
func (e *Embeddings) Vectors(ctx context.Context, texts []string, dimension int) ([][]float64, error) {
	if e.ownSize.Load() {
		dimension = 0
	}
	out, err := e.ask(ctx, texts, dimension)
	if dimension == 0 || !errors.Is(err, memory.ErrInvalid) {
		return out, err
	}
	if out, again := e.ask(ctx, texts, 0); again == nil {
		e.ownSize.Store(true)
		return out, nil
	}
	return nil, err
}

func (e *Embeddings) ask(ctx context.Context, texts []string, dimension int) (out [][]float64, err error) {
	at := e.client.Endpoint()
	body := map[string]any{"model": e.model, "input": texts, "encoding_format": "float"}
	if dimension > 0 {
		body["dimensions"] = dimension
	}
	_, err = e.client.Do(ctx, memory.StageEmbed, func(ctx context.Context, x *call.Exchange) error {
		raw, err := x.PostJSON(ctx, at.URL+"/embeddings", bearer(at.Key), body)
		if err == nil {
			out, x.Usage, err = readVectors(raw, len(texts))
		}
		return err
	})
	return out, err
}

// readVectors reads the vectors of n texts and puts each where its index says. Without any index they stand in the
// texts' order.
func readVectors(raw []byte, n int) ([][]float64, memory.Usage, error) {
	var a struct {
		Data []struct {
			Index     *int      `json:"index"`
			Embedding []float64 `json:"embedding"`
		} `json:"data"`
		Usage *usage `json:"usage"`
	}
	if json.Unmarshal(raw, &a) != nil {
		return nil, memory.Usage{}, call.Garbled("the answer holds no vectors but %s", call.Describe(raw))
	}
	used := a.Usage.counted()
	if len(a.Data) != n {
		return nil, used, call.Garbled("%d vectors came for %d texts", len(a.Data), n)
	}
	out := make([][]float64, n)
	for i, d := range a.Data {
		at := i
		if d.Index != nil {
			at = *d.Index
		}
		if at < 0 || at >= n || out[at] != nil || len(d.Embedding) == 0 {
			return nil, used, call.Garbled("the vectors are not one for each text")
		}
		out[at] = d.Embedding
	}
	return out, used, nil
}
