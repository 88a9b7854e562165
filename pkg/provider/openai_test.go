package provider_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/provider"
)

func TestOpenAI(t *testing.T) {
	t.Parallel()
	t.Run("a prompt becomes messages, and the answer comes with its usage", func(t *testing.T) {
		t.Parallel()
		s := serve(t, says(200, hello))
		m := open(t, config("openai:gpt-4o-mini", s.URL+"/v1")).Language(memory.StageExtract)
		ctx, took := metered()
		got, err := m.Complete(ctx, memory.Prompt{System: "Be brief.", User: "Say hello.", Limit: 100})
		if err != nil {
			t.Fatal(err)
		}
		used := memory.Usage{Calls: 1, PromptTokens: 11, CachedTokens: 4, CompletionTokens: 3}
		if diff := cmp.Diff(memory.Completion{Text: "hello", Usage: used}, got); diff != "" {
			t.Error(diff)
		}
		if sum := took(); sum != used {
			t.Errorf("the meter counted %+v, want %+v", sum, used)
		}
		r := s.requests()[0]
		if r.path != "/v1/chat/completions" || r.header.Get("Authorization") != "Bearer sk-secret-key" {
			t.Errorf("asked %s with %q", r.path, r.header.Get("Authorization"))
		}
		want := map[string]any{
			"model": "gpt-4o-mini", "temperature": 0.0, "max_tokens": 100.0,
			"messages": []any{map[string]any{"role": "system", "content": "Be brief."}, map[string]any{"role": "user", "content": "Say hello."}},
		}
		if diff := cmp.Diff(want, r.body); diff != "" {
			t.Error(diff)
		}
		if m.Name() != "openai:gpt-4o-mini" {
			t.Errorf("its name is %q", m.Name())
		}
	})
	t.Run("tool calls and their results make the round trip", func(t *testing.T) {
		t.Parallel()
		s := serve(t, says(200, `{"choices":[{"message":{"content":null,"tool_calls":[
			{"id":"c3","type":"function","function":{"name":"search_memory","arguments":"{\"query\":\"Lisbon\"}"}},
			{"type":"function","function":{"name":"done","arguments":{"answer":1}}}]},"finish_reason":"tool_calls"}]}`))
		m := open(t, config("openai:gpt-4o-mini", s.URL+"/v1")).Language(memory.StageReflect)
		got, err := m.Complete(context.Background(), memory.Prompt{
			User: "Where?", MustCall: true, Tools: []memory.Tool{{Name: "search_memory", Description: "Finds.", Schema: []byte(`{"type":"object","properties":{}}`)}},
			Turns: []memory.Turn{{Text: "Let me see.", Calls: []memory.ToolCall{{ID: "c1", Name: "search_memory", Arguments: "{}"}, {Name: "expand", Arguments: "not json"}}, Results: []string{"one", "two"}}},
		})
		if err != nil {
			t.Fatal(err)
		}
		want := []memory.ToolCall{{ID: "c3", Name: "search_memory", Arguments: `{"query":"Lisbon"}`}, {ID: "call_2", Name: "done", Arguments: `{"answer":1}`}}
		if diff := cmp.Diff(want, got.Calls); diff != "" {
			t.Error(diff)
		}
		body := s.requests()[0].body
		if dig(body, "tool_choice") != "required" || dig(body, "tools", 0, "function", "name") != "search_memory" || dig(body, "tools", 0, "function", "parameters", "type") != "object" {
			t.Errorf("tools: %v, choice %v", body["tools"], body["tool_choice"])
		}
		wantTurns := []any{
			map[string]any{"role": "user", "content": "Where?"},
			map[string]any{"role": "assistant", "content": "Let me see.", "tool_calls": []any{
				map[string]any{"id": "c1", "type": "function", "function": map[string]any{"name": "search_memory", "arguments": "{}"}},
				map[string]any{"id": "call_1_2", "type": "function", "function": map[string]any{"name": "expand", "arguments": "not json"}}}},
			map[string]any{"role": "tool", "content": "one", "tool_call_id": "c1"},
			map[string]any{"role": "tool", "content": "two", "tool_call_id": "call_1_2"},
		}
		if diff := cmp.Diff(wantTurns, body["messages"]); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("a schema is strict where it can be, and a server without schemas is asked for an object, then in words", func(t *testing.T) {
		t.Parallel()
		no := says(400, `{"error":{"message":"response_format is not supported"}}`)
		s := serve(t, no, no, says(200, hello))
		m := open(t, config("openai:local", s.URL+"/v1")).Language(memory.StageExtract)
		p := memory.Prompt{System: "Extract.", User: "text", Schema: []byte(factSchema), SchemaName: "facts"}
		ctx, took := metered()
		for range 2 {
			if _, err := m.Complete(ctx, p); err != nil {
				t.Fatal(err)
			}
		}
		r := s.requests()
		if len(r) != 4 {
			t.Fatalf("%d requests; the fourth should have been the last, in words at once", len(r))
		}
		if dig(r[0].body, "response_format", "json_schema", "strict") != true || dig(r[0].body, "response_format", "json_schema", "name") != "facts" {
			t.Errorf("first: %v", r[0].body["response_format"])
		}
		if dig(r[1].body, "response_format", "type") != "json_object" || !strings.Contains(r[1].raw, "JSON schema") {
			t.Errorf("second: %s", r[1].raw)
		}
		for _, i := range []int{2, 3} {
			if r[i].body["response_format"] != nil || !strings.Contains(r[i].raw, "JSON schema") {
				t.Errorf("request %d: %s", i, r[i].raw)
			}
		}
		if sum := took(); sum.Calls != 4 || sum.Failed != 2 {
			t.Errorf("counted %+v", sum)
		}
	})
	t.Run("an open schema is not strict", func(t *testing.T) {
		t.Parallel()
		s := serve(t, says(200, hello))
		m := open(t, config("openai:local", s.URL)).Language(memory.StageExtract)
		if _, err := m.Complete(context.Background(), memory.Prompt{User: "x", Schema: []byte(openSchema)}); err != nil {
			t.Fatal(err)
		}
		if dig(s.requests()[0].body, "response_format", "json_schema", "strict") != false {
			t.Error("strict was asked for a schema that allows more")
		}
	})
	t.Run("a model that refuses a parameter is asked without it from then on", func(t *testing.T) {
		t.Parallel()
		s := serve(t, says(400, `{"error":{"message":"Unsupported value: 'temperature' does not support 0"}}`),
			says(400, `{"error":{"message":"Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."}}`), says(200, hello))
		m := open(t, config("openai:o-next", s.URL)).Language(memory.StageExtract)
		for range 2 {
			if _, err := m.Complete(context.Background(), memory.Prompt{User: "x", Limit: 5}); err != nil {
				t.Fatal(err)
			}
		}
		r := s.requests()
		if len(r) != 4 || r[3].body["temperature"] != nil || r[3].body["max_tokens"] != nil || r[3].body["max_completion_tokens"] != 5.0 {
			t.Errorf("%d requests, the last %v", len(r), r[len(r)-1].body)
		}
	})
	t.Run("a stream hands its pieces on, puts calls together, and ends with its usage", func(t *testing.T) {
		t.Parallel()
		s := serve(t, streams(
			`{"choices":[{"delta":{"role":"assistant","content":"Lis"}}],"usage":null}`, `{"choices":[{"delta":{"content":"bon"}}]}`,
			`{"choices":[{"delta":{"tool_calls":[{"index":1,"id":"b","function":{"name":"two","arguments":"{}"}}]}}]}`,
			`{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"one","arguments":"{\"q\":"}}]}}]}`,
			`{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"1}"}}]}}]}`,
			`{"choices":[{"delta":{},"finish_reason":"length"}]}`, `{"choices":[],"usage":{"prompt_tokens":5,"completion_tokens":2}}`, `[DONE]`))
		m := open(t, config("ollama:llama", s.URL)).Language(memory.StageReflect)
		var pieces []string
		got, err := m.Complete(context.Background(), memory.Prompt{User: "x", Stream: func(p string) error { pieces = append(pieces, p); return nil }})
		if err != nil {
			t.Fatal(err)
		}
		want := memory.Completion{
			Text: "Lisbon", Truncated: true, Usage: memory.Usage{Calls: 1, PromptTokens: 5, CompletionTokens: 2},
			Calls: []memory.ToolCall{{ID: "a", Name: "one", Arguments: `{"q":1}`}, {ID: "b", Name: "two", Arguments: "{}"}},
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff([]string{"Lis", "bon"}, pieces); diff != "" {
			t.Error(diff)
		}
		body := s.requests()[0].body
		if body["stream"] != true || dig(body, "stream_options", "include_usage") != true {
			t.Errorf("asked %v", body)
		}
	})
	t.Run("a stream hands the arguments of calls on as they are written, by their place and name", func(t *testing.T) {
		t.Parallel()
		s := serve(t, streams(
			`{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"a"}}]}}]}`, // before its name
			`{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"done"}}]}}]}`,
			`{"choices":[{"delta":{"tool_calls":[{"index":1,"id":"b","function":{"name":"expand","arguments":"{}"}}]}}]}`,
			`{"choices":[{"delta":{"content":"aside","tool_calls":[{"index":0,"function":{"arguments":"\":1}"}}]}}]}`,
			`{"choices":[{"delta":{},"finish_reason":"tool_calls"}]}`, `[DONE]`))
		var pieces []string
		got, err := open(t, config("openai:m", s.URL)).Language(memory.StageReflect).Complete(context.Background(), memory.Prompt{User: "x", StreamCall: noted(&pieces)})
		if diff := cmp.Diff([]string{`0 done {"a`, "1 expand {}", `0 done ":1}`}, pieces); err != nil || diff != "" || got.Calls[0].Arguments != `{"a":1}` || got.Text != "aside" {
			t.Error(err, got, diff)
		}
		if body := s.requests()[0].body; body["stream"] != true {
			t.Errorf("asked %v", body)
		}
	})
	t.Run("answers are read in the forms that servers other than OpenAI's write", func(t *testing.T) {
		t.Parallel()
		s := serve(t, says(200, `{"id":7,"created":1.5,"choices":[{"index":0,"logprobs":[],"message":{"content":[{"type":"text","text":"Lis"},{"text":"bon"}]},"finish_reason":"stop"}],
			"usage":{"prompt_tokens":11.0,"completion_tokens":3,"prompt_cache_hit_tokens":4}}`))
		got, err := open(t, config("openai:m", s.URL)).Language(memory.StageExtract).Complete(context.Background(), memory.Prompt{User: "x"})
		want := memory.Completion{Text: "Lisbon", Usage: memory.Usage{Calls: 1, PromptTokens: 11, CachedTokens: 4, CompletionTokens: 3}}
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Error(err, diff)
		}
	})
	t.Run("a stream may write parts and objects, a piece of any length, and more after its end", func(t *testing.T) {
		t.Parallel()
		long := strings.Repeat("é\u0001", 60_000)
		inJSON, err := json.Marshal(long)
		if err != nil {
			t.Fatal(err)
		}
		s := serve(t, streams(`{"id":7,"choices":[{"delta":{"content":[{"text":"a"}]}}]}`, `{"id":7,"choices":[{"delta":{"content":"b"}}],"usage":{"prompt_tokens":1.5}}`, `{"choices":[{"delta":{"content":`+string(inJSON)+`}}]}`,
			`{"choices":[{"delta":{"tool_calls":[{"function":{"name":"done","arguments":{"a":1}}}]},"finish_reason":"length"}]}`,
			`{"choices":[{"delta":{},"finish_reason":null}],"usage":{"prompt_tokens":5}}`, `[DONE]`))
		var text strings.Builder
		got, err := open(t, config("openai:m", s.URL)).Language(memory.StageExtract).Complete(context.Background(),
			memory.Prompt{User: "x", Stream: func(p string) error { text.WriteString(p); return nil }})
		want := memory.Completion{
			Text: "ab" + long, Truncated: true, Usage: memory.Usage{Calls: 1, PromptTokens: 5},
			Calls: []memory.ToolCall{{ID: "call_1", Name: "done", Arguments: `{"a":1}`}},
		}
		if diff := cmp.Diff(want, got); err != nil || diff != "" || text.String() != want.Text {
			t.Error(err, len(got.Text), len(text.String()), got.Calls, got.Usage)
		}
	})
	t.Run("a stream that is cut amid a call is not begun again, and its receiver's error ends it", func(t *testing.T) {
		t.Parallel()
		begun := `{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"done","arguments":"{"}}]}}]}`
		s := serve(t, then(streams(begun)))
		m := open(t, config("openai:m", s.URL)).Language(memory.StageReflect)
		if _, err := m.Complete(context.Background(), memory.Prompt{User: "x", StreamCall: noted(new([]string))}); !errors.Is(err, memory.ErrUnavailable) || len(s.requests()) != 1 {
			t.Errorf("%d requests, %v", len(s.requests()), err)
		}
		gone := errors.New("the reader is gone")
		_, err := m.Complete(context.Background(), memory.Prompt{User: "x", StreamCall: func(int, string, string) error { return gone }})
		if !errors.Is(err, gone) || len(s.requests()) != 2 {
			t.Errorf("%d requests, %v", len(s.requests()), err)
		}
	})
	t.Run("a stream that is cut after a piece is not begun again", func(t *testing.T) {
		t.Parallel()
		s := serve(t, then(streams(`{"choices":[{"delta":{"content":"Lis"}}]}`)))
		m := open(t, config("openai:m", s.URL)).Language(memory.StageReflect)
		_, err := m.Complete(context.Background(), memory.Prompt{User: "x", Stream: func(string) error { return nil }})
		if !errors.Is(err, memory.ErrUnavailable) || len(s.requests()) != 1 {
			t.Errorf("%d requests, %v", len(s.requests()), err)
		}
	})
	t.Run("a stream that ends early before any piece is begun again", func(t *testing.T) {
		t.Parallel()
		s := serve(t, streams(`{"choices":[{"delta":{"role":"assistant"}}]}`), streams(`{"choices":[{"delta":{"content":"ok"},"finish_reason":"stop"}]}`, `[DONE]`))
		m := open(t, config("openai:m", s.URL)).Language(memory.StageReflect)
		got, err := m.Complete(context.Background(), memory.Prompt{User: "x", Stream: func(string) error { return nil }})
		if err != nil || got.Text != "ok" || len(s.requests()) != 2 {
			t.Errorf("%d requests, %q, %v", len(s.requests()), got.Text, err)
		}
	})
	t.Run("the receiver's error ends the call and is its error", func(t *testing.T) {
		t.Parallel()
		s := serve(t, streams(`{"choices":[{"delta":{"content":"a"}}]}`, `{"choices":[{"delta":{"content":"b"},"finish_reason":"stop"}]}`))
		m := open(t, config("openai:m", s.URL)).Language(memory.StageReflect)
		gone := errors.New("the reader is gone")
		_, err := m.Complete(context.Background(), memory.Prompt{User: "x", Stream: func(string) error { return gone }})
		if !errors.Is(err, gone) || len(s.requests()) != 1 {
			t.Errorf("%d requests, %v", len(s.requests()), err)
		}
	})
	t.Run("a server that needs no key is sent none", func(t *testing.T) {
		t.Parallel()
		s := serve(t, says(200, hello))
		c := config("ollama:llama3.2", s.URL+"/v1")
		c.Stages[memory.StageExtract] = provider.Model{Name: "ollama:llama3.2", URL: s.URL + "/v1/"}
		if _, err := open(t, c).Language(memory.StageExtract).Complete(context.Background(), memory.Prompt{User: "x"}); err != nil {
			t.Fatal(err)
		}
		if got := s.requests()[0].header; got.Get("Authorization") != "" || s.requests()[0].path != "/v1/chat/completions" {
			t.Errorf("asked %s with %v", s.requests()[0].path, got)
		}
	})
	t.Run("a model that declines is invalid and asked once", func(t *testing.T) {
		t.Parallel()
		for _, body := range []string{
			`{"choices":[{"message":{"refusal":"I cannot."},"finish_reason":"stop"}]}`,
			`{"choices":[{"message":{"content":"","role":"assistant"},"finish_reason":"content_filter"}]}`,
		} {
			s := serve(t, says(http.StatusOK, body))
			_, err := open(t, config("openai:m", s.URL)).Language(memory.StageExtract).Complete(context.Background(), memory.Prompt{User: "x"})
			if !errors.Is(err, memory.ErrInvalid) || len(s.requests()) != 1 {
				t.Errorf("%d requests, %v", len(s.requests()), err)
			}
		}
	})
}
