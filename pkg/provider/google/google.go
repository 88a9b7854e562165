// Package google speaks the protocol of Gemini: Chat for language models, Embeddings for vectors.
//
// It writes and reads the protocol itself. langchaingo's client for it knows neither schemas of answers nor forced tools
// and loses the signatures that newer models want back with their calls; Google's own client rewrites the numbers in the
// arguments of calls, and prints to the standard logger.
package google

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/provider/call"
)

// URL is the address of Google's own models.
const URL = "https://generativelanguage.googleapis.com/v1beta"

// Chat is a chat model. It is safe for concurrent use.
type Chat struct {
	client *call.Client
	at     string // address with the model's name, up to the method
}

// New makes the chat model that the provider calls model; it sends nothing.
func New(client *call.Client, model string) *Chat {
	return &Chat{client: client, at: address(client, model)}
}

func address(client *call.Client, model string) string {
	return client.Endpoint().URL + "/models/" + url.PathEscape(model)
}

// keyHeader returns the header that carries a key.
func keyHeader(key call.Key) http.Header { return http.Header{"X-Goog-Api-Key": {string(key)}} }

type part struct {
	Text      string            `json:"text,omitempty"`
	Thought   bool              `json:"thought,omitempty"`
	Call      *functionCall     `json:"functionCall,omitempty"`
	Result    *functionResponse `json:"functionResponse,omitempty"`
	Signature json.RawMessage   `json:"thoughtSignature,omitempty"`
}

type functionCall struct {
	ID   string          `json:"id,omitempty"`
	Name string          `json:"name"`
	Args json.RawMessage `json:"args,omitempty"`
}

type functionResponse struct {
	ID       string            `json:"id,omitempty"`
	Name     string            `json:"name"`
	Response map[string]string `json:"response"`
}

type content struct {
	Role  string `json:"role,omitempty"`
	Parts []part `json:"parts"`
}

// Complete answers a prompt in the given form.
func (c *Chat) Complete(ctx context.Context, stage string, p memory.Prompt, form call.Form) (memory.Completion, error) {
	method := ":generateContent"
	if call.Streamed(p) {
		method = ":streamGenerateContent?alt=sse"
	}
	body := request(p, form)
	return c.client.Complete(ctx, stage, p, func(ctx context.Context, x *call.Exchange) (memory.Completion, error) {
		raw, err := x.Post(ctx, c.at+method, keyHeader(c.client.Endpoint().Key), body)
		if err != nil {
			return memory.Completion{}, err
		}
		defer raw.Close() //nolint:errcheck // it was read
		return readAnswer(raw, x, call.Streamed(p))
	})
}

// request returns the request of a prompt.
func request(p memory.Prompt, form call.Form) map[string]any {
	generation := map[string]any{}
	if !form.NoTemperature {
		generation["temperature"] = 0
	}
	if p.Limit > 0 {
		generation["maxOutputTokens"] = p.Limit
	}
	if p.Schema != nil && len(p.Tools) == 0 && form.Schema != call.SchemaInPrompt {
		generation["responseMimeType"] = "application/json"
		if form.Schema == call.SchemaByProvider {
			generation["responseSchema"] = schema(p.Schema)
		}
	}
	body := map[string]any{"contents": contents(p), "generationConfig": generation}
	if system := form.System(p); system != "" {
		body["systemInstruction"] = content{Parts: []part{{Text: system}}}
	}
	if p.User == "" && len(p.Turns) == 0 {
		body["contents"] = []content{{Role: "user", Parts: []part{{Text: p.System}}}}
		delete(body, "systemInstruction")
	}
	if len(p.Tools) == 0 {
		return body
	}
	var tools []map[string]any
	for _, t := range p.Tools {
		tools = append(tools, map[string]any{"name": t.Name, "description": t.Description, "parameters": schema(t.Schema)})
	}
	body["tools"] = []any{map[string]any{"functionDeclarations": tools}}
	if p.MustCall && !form.NoForcedTool {
		body["toolConfig"] = map[string]any{"functionCallingConfig": map[string]any{"mode": "ANY"}}
	}
	return body
}

// signed separates a call's id from the signature that newer models want back with it.
const signed = "~"

func contents(p memory.Prompt) []content {
	var out []content
	if p.User != "" {
		out = append(out, content{Role: "user", Parts: []part{{Text: p.User}}})
	}
	for i, turn := range p.Turns {
		var said, results []part
		if turn.Text != "" {
			said = append(said, part{Text: turn.Text})
		}
		for k, made := range turn.Calls {
			id, signature, has := strings.Cut(made.ID, signed)
			id = call.ID(id, i, k)
			one := part{Call: &functionCall{ID: id, Name: made.Name, Args: call.Object(made.Arguments)}}
			if has && json.Valid([]byte(signature)) {
				one.Signature = json.RawMessage(signature)
			}
			said = append(said, one)
			results = append(results, part{Result: &functionResponse{ID: id, Name: made.Name, Response: map[string]string{"result": turn.Results[k]}}})
		}
		if len(said) > 0 {
			out = append(out, content{Role: "model", Parts: said})
		}
		if len(results) > 0 {
			out = append(out, content{Role: "user", Parts: results})
		}
	}
	return out
}

// keywords are what the schemas of Gemini know; others are left out, so that no request fails because of them.
var keywords = []string{"description", "maxItems", "maximum", "minItems", "minimum", "nullable", "required", "title"}

// maxNesting bounds how deep a schema is followed.
const maxNesting = 32

// schema returns a JSON schema in the form that Gemini takes. A schema that is no object is returned as it is, for the
// server to refuse.
func schema(raw []byte) any {
	var v map[string]any
	if json.Unmarshal(raw, &v) != nil {
		return json.RawMessage(raw)
	}
	return node(v, 0)
}

func node(v map[string]any, depth int) map[string]any {
	out := map[string]any{}
	if depth > maxNesting {
		return out
	}
	for _, key := range keywords {
		if x, ok := v[key]; ok {
			out[key] = x
		}
	}
	switch kind := v["type"].(type) {
	case string:
		out["type"] = kind
	case []any: // a type, or null
		for _, k := range kind {
			if k == "null" {
				out["nullable"] = true
			} else if _, ok := out["type"]; !ok {
				out["type"] = k
			}
		}
	}
	if list, ok := v["enum"].([]any); ok {
		notText := func(x any) bool { _, ok := x.(string); return !ok }
		if list = slices.DeleteFunc(slices.Clone(list), notText); len(list) > 0 {
			out["enum"] = list
		}
	}
	if items, ok := v["items"].(map[string]any); ok {
		out["items"] = node(items, depth+1)
	}
	if list, ok := v["anyOf"].([]any); ok {
		var anyOf []any
		for _, x := range list {
			if one, ok := x.(map[string]any); ok {
				anyOf = append(anyOf, node(one, depth+1))
			}
		}
		out["anyOf"] = anyOf
	}
	if properties, ok := v["properties"].(map[string]any); ok {
		of := map[string]any{}
		for name, x := range properties {
			if one, ok := x.(map[string]any); ok {
				of[name] = node(one, depth+1)
			}
		}
		out["properties"] = of
	}
	return out
}

// Embeddings asks an embedding model for vectors. It is safe for concurrent use.
type Embeddings struct {
	client *call.Client
	model  string
}

// NewEmbeddings makes the embedding model that the provider calls model; it sends nothing.
func NewEmbeddings(client *call.Client, model string) *Embeddings {
	return &Embeddings{client: client, model: model}
}

// Vectors returns one vector per text, in the texts' order, by one request. dimension is asked of the model; 0 = its own.
func (e *Embeddings) Vectors(ctx context.Context, texts []string, dimension int) (out [][]float64, err error) {
	list := make([]map[string]any, len(texts))
	for i, t := range texts {
		list[i] = map[string]any{"model": "models/" + e.model, "content": content{Parts: []part{{Text: t}}}}
		if dimension > 0 {
			list[i]["outputDimensionality"] = dimension
		}
	}
	_, err = e.client.Do(ctx, memory.StageEmbed, func(ctx context.Context, x *call.Exchange) error {
		raw, err := x.PostJSON(ctx, address(e.client, e.model)+":batchEmbedContents", keyHeader(e.client.Endpoint().Key),
			map[string]any{"requests": list})
		if err == nil {
			out, err = readVectors(raw, len(texts))
		}
		return err
	})
	return out, err
}

func readVectors(raw []byte, n int) ([][]float64, error) {
	var a struct {
		Embeddings []struct {
			Values []float64 `json:"values"`
		} `json:"embeddings"`
	}
	if json.Unmarshal(raw, &a) != nil {
		return nil, call.Garbled("the answer holds no vectors but %s", call.Describe(raw))
	}
	if len(a.Embeddings) != n {
		return nil, call.Garbled("%d vectors came for %d texts", len(a.Embeddings), n)
	}
	out := make([][]float64, n)
	for i, e := range a.Embeddings {
		if len(e.Values) == 0 {
			return nil, call.Garbled("the vectors are not one for each text")
		}
		out[i] = e.Values
	}
	return out, nil
}
