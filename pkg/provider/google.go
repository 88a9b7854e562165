package provider

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// google speaks the protocol of Gemini. langchaingo's client for it stands on
// a library that knows neither schemas of answers nor forced tools, and loses
// the signatures that newer models want back with their calls.
type google struct {
	base string // with the model's name, up to the method
}

func newGoogle(m Model, model string) dialect {
	return &google{base: m.BaseURL() + "/models/" + url.PathEscape(model)}
}

// googleKey gives the headers of a request.
func googleKey(key Key) http.Header {
	h := http.Header{"Content-Type": {"application/json"}}
	if key != "" {
		h.Set("X-Goog-Api-Key", string(key))
	}
	return h
}

type googlePart struct {
	Text      string          `json:"text,omitempty"`
	Thought   bool            `json:"thought,omitempty"`
	Call      *googleCall     `json:"functionCall,omitempty"`
	Result    *googleResult   `json:"functionResponse,omitempty"`
	Signature json.RawMessage `json:"thoughtSignature,omitempty"`
}

type googleCall struct {
	ID   string          `json:"id,omitempty"`
	Name string          `json:"name"`
	Args json.RawMessage `json:"args,omitempty"`
}

type googleResult struct {
	ID       string            `json:"id,omitempty"`
	Name     string            `json:"name"`
	Response map[string]string `json:"response"`
}

type googleContent struct {
	Role  string       `json:"role,omitempty"`
	Parts []googlePart `json:"parts"`
}

func (g *google) complete(ctx context.Context, w *way, stage string, p memory.Prompt, t traits) (memory.Completion, error) {
	if err := check(p); err != nil {
		return memory.Completion{}, err
	}
	body, err := json.Marshal(g.body(p, t))
	if err != nil {
		return memory.Completion{}, memory.Invalid("schema", "a schema of the prompt is not JSON")
	}
	method := ":generateContent"
	if streamed(p) {
		method = ":streamGenerateContent?alt=sse"
	}
	var out memory.Completion
	var took memory.Usage
	err = w.line.exchange(ctx, request{
		stage: stage, url: g.base + method, header: googleKey(w.line.key), body: body, took: &took,
		answer: func(body io.Reader) (memory.Usage, error) {
			to := newEmitter(p)
			c, err := readGoogle(body, to)
			out = c
			return c.Usage, to.settle(err)
		},
	})
	if err != nil {
		return memory.Completion{}, err
	}
	out.Usage = took
	return out, nil
}

// body gives the request of a prompt.
func (g *google) body(p memory.Prompt, t traits) map[string]any {
	generation := map[string]any{}
	if !t.noTemperature {
		generation["temperature"] = 0
	}
	if p.Limit > 0 {
		generation["maxOutputTokens"] = p.Limit
	}
	if p.Schema != nil && len(p.Tools) == 0 && t.form != formWords {
		generation["responseMimeType"] = "application/json"
		if t.form == formSchema {
			generation["responseSchema"] = googleSchema(p.Schema)
		}
	}
	body := map[string]any{"contents": googleTurns(p), "generationConfig": generation}
	if system := t.system(p); system != "" {
		body["systemInstruction"] = googleContent{Parts: []googlePart{{Text: system}}}
	}
	if p.User == "" && len(p.Turns) == 0 {
		body["contents"] = []googleContent{{Role: "user", Parts: []googlePart{{Text: p.System}}}}
		delete(body, "systemInstruction")
	}
	if len(p.Tools) == 0 {
		return body
	}
	var tools []map[string]any
	for _, tool := range p.Tools {
		tools = append(tools, map[string]any{"name": tool.Name, "description": tool.Description, "parameters": googleSchema(tool.Schema)})
	}
	body["tools"] = []any{map[string]any{"functionDeclarations": tools}}
	if p.MustCall && !t.noChoice {
		body["toolConfig"] = map[string]any{"functionCallingConfig": map[string]any{"mode": "ANY"}}
	}
	return body
}

// signed parts a call's id from the signature that goes back with it.
const signed = "~"

func googleTurns(p memory.Prompt) []googleContent {
	var out []googleContent
	if p.User != "" {
		out = append(out, googleContent{Role: "user", Parts: []googlePart{{Text: p.User}}})
	}
	for i, turn := range p.Turns {
		var said, given []googlePart
		if turn.Text != "" {
			said = append(said, googlePart{Text: turn.Text})
		}
		for k, c := range turn.Calls {
			id, signature, has := strings.Cut(c.ID, signed)
			part := googlePart{Call: &googleCall{ID: callID(id, i, k), Name: c.Name, Args: object(c.Arguments)}}
			if has && json.Valid([]byte(signature)) {
				part.Signature = json.RawMessage(signature)
			}
			said = append(said, part)
			given = append(given, googlePart{Result: &googleResult{ID: callID(id, i, k), Name: c.Name, Response: map[string]string{"result": turn.Results[k]}}})
		}
		if len(said) > 0 {
			out = append(out, googleContent{Role: "model", Parts: said})
		}
		if len(given) > 0 {
			out = append(out, googleContent{Role: "user", Parts: given})
		}
	}
	return out
}
