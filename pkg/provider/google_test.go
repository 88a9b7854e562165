package provider_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

func TestGoogle(t *testing.T) {
	t.Parallel()
	t.Run("a prompt becomes contents, a schema the schema of the answer", func(t *testing.T) {
		t.Parallel()
		s := serve(t, says(200, `{"candidates":[{"content":{"parts":[{"text":"thinking","thought":true},{"text":"{\"facts\":[]}"}]},"finishReason":"STOP"}],
			"usageMetadata":{"promptTokenCount":20,"cachedContentTokenCount":8,"candidatesTokenCount":5,"thoughtsTokenCount":6}}`))
		ctx, took := metered()
		got, err := open(t, config("google:gemini-flash", s.URL+"/v1beta")).Language(memory.StageExtract).Complete(ctx, memory.Prompt{
			System: "Extract.", User: "Hi.", Limit: 50, SchemaName: "facts",
			Schema: []byte(`{"$schema":"x","type":"object","additionalProperties":false,"required":["facts"],"properties":{"facts":{"type":"array","items":{"type":["string","null"],"minLength":1}}}}`),
		})
		if err != nil {
			t.Fatal(err)
		}
		used := memory.Usage{Calls: 1, PromptTokens: 20, CachedTokens: 8, CompletionTokens: 11}
		if got.Text != `{"facts":[]}` || got.Usage != used || took() != used {
			t.Errorf("got %+v", got)
		}
		r := s.requests()[0]
		if r.path != "/v1beta/models/gemini-flash:generateContent" || r.header.Get("X-Goog-Api-Key") != "sk-secret-key" || r.query != "" {
			t.Errorf("asked %s?%s with %v", r.path, r.query, r.header)
		}
		want := map[string]any{
			"systemInstruction": map[string]any{"parts": []any{map[string]any{"text": "Extract."}}},
			"contents":          []any{map[string]any{"role": "user", "parts": []any{map[string]any{"text": "Hi."}}}},
			"generationConfig": map[string]any{"temperature": 0.0, "maxOutputTokens": 50.0, "responseMimeType": "application/json", "responseSchema": map[string]any{
				"type": "object", "required": []any{"facts"}, "properties": map[string]any{
					"facts": map[string]any{"type": "array", "items": map[string]any{"type": "string", "nullable": true}}}}},
		}
		if diff := cmp.Diff(want, r.body); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("tool calls and their results make the round trip with their signatures", func(t *testing.T) {
		t.Parallel()
		answer := says(200, `{"candidates":[{"content":{"parts":[{"text":"So."},{"functionCall":{"name":"search","args":{"q":"x"}},"thoughtSignature":"c2ln"},{"functionCall":{"id":"own","name":"done"}}]},"finishReason":"STOP"}]}`)
		s := serve(t, answer)
		m := open(t, config("google:m", s.URL)).Language(memory.StageReflect)
		p := memory.Prompt{User: "Where?", MustCall: true, Tools: []memory.Tool{{Name: "search", Description: "Finds.", Schema: []byte(`{"type":"object","properties":{"q":{"type":"string"}}}`)}}}
		got, err := m.Complete(context.Background(), p)
		if err != nil {
			t.Fatal(err)
		}
		if len(got.Calls) != 2 || got.Calls[0].Arguments != `{"q":"x"}` || got.Calls[1].Arguments != "{}" || got.Text != "So." {
			t.Fatalf("got %+v", got)
		}
		p.Turns = []memory.Turn{{Text: got.Text, Calls: got.Calls, Results: []string{"one", "two"}}}
		if _, err := m.Complete(context.Background(), p); err != nil {
			t.Fatal(err)
		}
		first, second := s.requests()[0].body, s.requests()[1].body
		if dig(first, "toolConfig", "functionCallingConfig", "mode") != "ANY" || dig(first, "tools", 0, "functionDeclarations", 0, "parameters", "properties", "q", "type") != "string" {
			t.Errorf("asked %v", first)
		}
		call, result := dig(second, "contents", 1, "parts", 1), dig(second, "contents", 2, "parts", 1)
		if dig(call, "thoughtSignature") != "c2ln" || dig(call, "functionCall", "name") != "search" || dig(second, "contents", 1, "role") != "model" {
			t.Errorf("the call came back as %v", call)
		}
		if dig(result, "functionResponse", "response", "result") != "two" || dig(result, "functionResponse", "id") != "own" {
			t.Errorf("its result as %v", result)
		}
	})
	t.Run("a stream passes its text on", func(t *testing.T) {
		t.Parallel()
		s := serve(t, streams(`{"candidates":[{"content":{"parts":[{"text":"Lis"}]}}]}`,
			`{"candidates":[{"content":{"parts":[{"text":"bon"}]},"finishReason":"MAX_TOKENS"}],"usageMetadata":{"promptTokenCount":2,"candidatesTokenCount":1}}`))
		var said strings.Builder
		got, err := open(t, config("google:m", s.URL)).Language(memory.StageReflect).Complete(context.Background(),
			memory.Prompt{User: "x", Stream: func(p string) error { said.WriteString(p); return nil }})
		want := memory.Completion{Text: "Lisbon", Truncated: true, Usage: memory.Usage{Calls: 1, PromptTokens: 2, CompletionTokens: 1}}
		if diff := cmp.Diff(want, got); err != nil || diff != "" || said.String() != "Lisbon" {
			t.Error(err, said.String(), diff)
		}
		if r := s.requests()[0]; r.path != "/models/m:streamGenerateContent" || r.query != "alt=sse" {
			t.Errorf("asked %s?%s", r.path, r.query)
		}
	})
	t.Run("a stream passes tool calls on whole and in order", func(t *testing.T) {
		t.Parallel()
		s := serve(t, streams(`{"candidates":[{"content":{"parts":[{"functionCall":{"name":"expand","args":{"ids":[1]}}}]}}]}`,
			`{"candidates":[{"content":{"parts":[{"functionCall":{"name":"done","args":{"answer":"x"}}}]},"finishReason":"STOP"}]}`))
		var pieces []string
		_, err := open(t, config("google:m", s.URL)).Language(memory.StageReflect).Complete(context.Background(), memory.Prompt{User: "x", StreamCall: noted(&pieces)})
		if diff := cmp.Diff([]string{`0 expand {"ids":[1]}`, `1 done {"answer":"x"}`}, pieces); err != nil || diff != "" {
			t.Error(err, diff)
		}
	})
	t.Run("an empty answer is an answer", func(t *testing.T) {
		t.Parallel()
		s := serve(t, says(200, `{"candidates":[{"content":{"parts":[]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":2}}`))
		got, err := open(t, config("google:m", s.URL)).Language(memory.StageExtract).Complete(context.Background(), memory.Prompt{User: "x"})
		if want := (memory.Completion{Usage: memory.Usage{Calls: 1, PromptTokens: 2}}); err != nil || cmp.Diff(want, got) != "" {
			t.Errorf("%+v, %v", got, err)
		}
	})
	t.Run("each failure keeps its meaning", func(t *testing.T) {
		t.Parallel()
		for name, c := range map[string]struct {
			step    step
			meaning error
			calls   int
		}{
			"a limit with its wait in the body": {says(429, `{"error":{"code":429,"message":"quota","details":[{"retryDelay":"0.002s"}]}}`), memory.ErrUnavailable, 3},
			"a long wait in the body":           {says(429, `[{"error":{"message":"quota","details":[{"retryDelay":"40s"}]}}]`), memory.ErrUnavailable, 1},
			"a long prompt":                     {says(400, `{"error":{"message":"The input token count (2000000) exceeds the maximum number of tokens allowed (1048576)."}}`), memory.ErrTooLarge, 1},
			"a refused prompt":                  {says(200, `{"promptFeedback":{"blockReason":"SAFETY"}}`), memory.ErrInvalid, 1},
			"a stopped answer":                  {says(200, `{"candidates":[{"finishReason":"SAFETY"}]}`), memory.ErrInvalid, 1},
			"nothing":                           {says(200, `{}`), memory.ErrUnavailable, 3},
			"a malformed call":                  {says(200, `{"candidates":[{"finishReason":"MALFORMED_FUNCTION_CALL"}]}`), memory.ErrUnavailable, 3},
			"another shape":                     {says(200, `{"candidates":7}`), memory.ErrUnavailable, 3},
		} {
			s := serve(t, c.step)
			_, err := open(t, config("google:m", s.URL)).Language(memory.StageExtract).Complete(context.Background(), memory.Prompt{User: "x"})
			if !errors.Is(err, c.meaning) || len(s.requests()) != c.calls {
				t.Errorf("%s: %d requests, %v", name, len(s.requests()), err)
			}
		}
	})
	t.Run("a model without schemas is asked for JSON, then in words", func(t *testing.T) {
		t.Parallel()
		no := says(400, `{"error":{"message":"responseSchema: unknown field"}}`)
		s := serve(t, no, no, says(200, `{"candidates":[{"content":{"parts":[{"text":"{}"}]},"finishReason":"STOP"}]}`))
		if _, err := open(t, config("google:m", s.URL)).Language(memory.StageExtract).Complete(context.Background(), memory.Prompt{User: "x", Schema: []byte(factSchema)}); err != nil {
			t.Fatal(err)
		}
		r := s.requests()
		if len(r) != 3 || dig(r[1].body, "generationConfig", "responseMimeType") == nil || dig(r[1].body, "generationConfig", "responseSchema") != nil ||
			dig(r[2].body, "generationConfig", "responseMimeType") != nil || !strings.Contains(r[2].raw, "JSON schema") {
			t.Errorf("asked %d times, at last %s", len(r), r[len(r)-1].raw)
		}
	})
}
