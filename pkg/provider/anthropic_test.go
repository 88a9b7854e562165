package provider_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

const message = `{"type":"message","content":[{"type":"thinking","thinking":"hm"},{"type":"redacted_thinking","data":"x"},{"type":"text","text":"hello"}],
	"stop_reason":"end_turn","usage":{"input_tokens":10,"cache_creation_input_tokens":5,"cache_read_input_tokens":7,"output_tokens":3}}`

func TestAnthropic(t *testing.T) {
	t.Parallel()
	t.Run("a prompt becomes messages, and cached tokens are among the prompt's", func(t *testing.T) {
		t.Parallel()
		s := serve(t, says(200, message))
		ctx, took := metered()
		got, err := open(t, config("anthropic:claude-haiku", s.URL+"/v1")).Language(memory.StageExtract).Complete(ctx, memory.Prompt{System: "Be brief.", User: "Hi.", Limit: 50})
		if err != nil {
			t.Fatal(err)
		}
		used := memory.Usage{Calls: 1, PromptTokens: 22, CachedTokens: 7, CompletionTokens: 3}
		if got.Text != "hello" || got.Truncated || got.Usage != used || took() != used {
			t.Errorf("got %+v", got)
		}
		r := s.requests()[0]
		if r.path != "/v1/messages" || r.header.Get("X-Api-Key") != "sk-secret-key" || r.header.Get("Anthropic-Version") == "" {
			t.Errorf("asked %s with %v", r.path, r.header)
		}
		for name := range r.header {
			if strings.HasPrefix(name, "X-Stainless") || strings.Contains(r.header.Get(name), "Anthropic/Go") {
				t.Errorf("the header %s describes this machine", name)
			}
		}
		want := map[string]any{
			"model": "claude-haiku", "max_tokens": 50.0, "temperature": 0.0,
			"system":   []any{map[string]any{"type": "text", "text": "Be brief."}},
			"messages": []any{map[string]any{"role": "user", "content": []any{map[string]any{"type": "text", "text": "Hi."}}}},
		}
		if diff := cmp.Diff(want, r.body); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("an answer of a schema is the input of a forced tool, as it was written", func(t *testing.T) {
		t.Parallel()
		s := serve(t, says(200, `{"content":[{"type":"tool_use","id":"t","name":"facts","input":{"z":9007199254740993,"a":[1.50]}}],"stop_reason":"tool_use","usage":{}}`))
		got, err := open(t, config("anthropic:m", s.URL)).Language(memory.StageExtract).Complete(context.Background(),
			memory.Prompt{User: "x", Schema: []byte(factSchema), SchemaName: "facts"})
		if err != nil || got.Text != `{"z":9007199254740993,"a":[1.50]}` || got.Calls != nil {
			t.Fatalf("%+v, %v", got, err)
		}
		body := s.requests()[0].body
		if dig(body, "tool_choice", "type") != "tool" || dig(body, "tool_choice", "name") != "facts" || dig(body, "tools", 0, "input_schema", "type") != "object" {
			t.Errorf("asked %v", body)
		}
		if body["max_tokens"] != 8192.0 {
			t.Errorf("without a limit it asks for %v tokens", body["max_tokens"])
		}
	})
	t.Run("tool calls and their results make the round trip", func(t *testing.T) {
		t.Parallel()
		s := serve(t, says(200, `{"content":[{"type":"text","text":"So."},{"type":"tool_use","id":"t9","name":"done","input":{"a":1}}],"stop_reason":"tool_use","usage":{}}`))
		got, err := open(t, config("anthropic:m", s.URL)).Language(memory.StageReflect).Complete(context.Background(), memory.Prompt{
			User: "Where?", MustCall: true, Tools: []memory.Tool{{Name: "done", Schema: []byte(`{"type":"object"}`)}},
			Turns: []memory.Turn{{Text: "Let me see.", Calls: []memory.ToolCall{{ID: "t1", Name: "search", Arguments: `{"q":"x"}`}, {ID: "t2", Name: "search", Arguments: "broken"}}, Results: []string{"one", "two"}}},
		})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]memory.ToolCall{{ID: "t9", Name: "done", Arguments: `{"a":1}`}}, got.Calls); diff != "" || got.Text != "So." {
			t.Error(got.Text, diff)
		}
		body := s.requests()[0].body
		if dig(body, "tool_choice", "type") != "any" {
			t.Errorf("choice %v", body["tool_choice"])
		}
		var kinds []string
		list, _ := body["messages"].([]any)
		for _, m := range list {
			content, _ := dig(m, "content").([]any)
			for _, part := range content {
				kinds = append(kinds, dig(m, "role").(string)+" "+dig(part, "type").(string))
			}
		}
		want := []string{"user text", "assistant text", "assistant tool_use", "assistant tool_use", "user tool_result", "user tool_result"}
		if diff := cmp.Diff(want, kinds); diff != "" {
			t.Error(diff)
		}
		if dig(list[1], "content", 2, "input", "arguments") != "broken" || dig(list[2], "content", 1, "tool_use_id") != "t2" {
			t.Errorf("second call %v, its result %v", list[1], list[2])
		}
	})
	t.Run("a stream hands its text on and puts tool inputs together", func(t *testing.T) {
		t.Parallel()
		s := serve(t, streams(`{"type":"message_start","message":{"usage":{"input_tokens":9,"output_tokens":1}}}`, `{"type":"ping"}`,
			`{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`,
			`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Lis"}}`, `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"bon"}}`,
			`{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"t","name":"done","input":{}}}`,
			`{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"a\":"}}`,
			`{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"1}"}}`,
			`{"type":"message_delta","delta":{"stop_reason":"max_tokens"},"usage":{"output_tokens":4}}`, `{"type":"message_stop"}`))
		var said strings.Builder
		got, err := open(t, config("anthropic:m", s.URL)).Language(memory.StageReflect).Complete(context.Background(),
			memory.Prompt{User: "x", Stream: func(p string) error { said.WriteString(p); return nil }})
		if err != nil {
			t.Fatal(err)
		}
		want := memory.Completion{
			Text: "Lisbon", Calls: []memory.ToolCall{{ID: "t", Name: "done", Arguments: `{"a":1}`}}, Truncated: true,
			Usage: memory.Usage{Calls: 1, PromptTokens: 9, CompletionTokens: 4},
		}
		if diff := cmp.Diff(want, got); diff != "" || said.String() != "Lisbon" {
			t.Error(said.String(), diff)
		}
	})
	t.Run("a stream hands the inputs of tools on as they are written, by their place among the calls", func(t *testing.T) {
		t.Parallel()
		s := serve(t, streams(`{"type":"message_start","message":{}}`,
			`{"type":"content_block_start","index":0,"content_block":{"type":"text","text":"Let me"}}`,
			`{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"t","name":"expand","input":{}}}`,
			`{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{}"}}`,
			`{"type":"content_block_start","index":2,"content_block":{"type":"tool_use","id":"u","name":"done","input":{}}}`,
			`{"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"{\"a\":"}}`,
			`{"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"1}"}}`,
			`{"type":"message_delta","delta":{"stop_reason":"tool_use"}}`, `{"type":"message_stop"}`))
		var pieces []string
		got, err := open(t, config("anthropic:m", s.URL)).Language(memory.StageReflect).Complete(context.Background(), memory.Prompt{User: "x", StreamCall: noted(&pieces)})
		if diff := cmp.Diff([]string{"0 expand {}", `1 done {"a":`, "1 done 1}"}, pieces); err != nil || diff != "" || got.Calls[1].Arguments != `{"a":1}` {
			t.Error(err, got, diff)
		}
	})
	t.Run("an answer of a schema is streamed as the text that it is", func(t *testing.T) {
		t.Parallel()
		call := streams(`{"type":"message_start","message":{}}`, `{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"t","name":"facts","input":{}}}`,
			`{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{\"facts\":"}}`,
			`{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"[]}"}}`,
			`{"type":"message_delta","delta":{"stop_reason":"tool_use"}}`, `{"type":"message_stop"}`)
		words := streams(`{"type":"message_start","message":{}}`, `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":"{}"}}`,
			`{"type":"message_delta","delta":{"stop_reason":"end_turn"}}`, `{"type":"message_stop"}`)
		for want, answer := range map[string]step{`{"facts":|[]}`: call, `{}`: words} {
			s := serve(t, answer)
			var pieces []string
			got, err := open(t, config("anthropic:m", s.URL)).Language(memory.StageExtract).Complete(context.Background(),
				memory.Prompt{User: "x", Schema: []byte(factSchema), SchemaName: "facts", Stream: func(p string) error { pieces = append(pieces, p); return nil }})
			if err != nil || strings.Join(pieces, "|") != want || got.Text != strings.Join(pieces, "") {
				t.Errorf("%v: %q, %+v", err, pieces, got)
			}
		}
	})
	t.Run("an empty answer is an answer", func(t *testing.T) {
		t.Parallel()
		for _, body := range []string{`{"content":[],"stop_reason":"end_turn","usage":{"input_tokens":2}}`, `{"content":[{"type":"text","text":""}],"stop_reason":"end_turn","usage":{"input_tokens":2}}`} {
			got, err := open(t, config("anthropic:m", serve(t, says(200, body)).URL)).Language(memory.StageExtract).Complete(context.Background(), memory.Prompt{User: "x"})
			if want := (memory.Completion{Usage: memory.Usage{Calls: 1, PromptTokens: 2}}); err != nil || cmp.Diff(want, got) != "" {
				t.Errorf("%s: %+v, %v", body, got, err)
			}
		}
	})
	t.Run("each failure keeps its meaning", func(t *testing.T) {
		t.Parallel()
		for name, c := range map[string]struct {
			step    step
			meaning error
			calls   int
		}{
			"overloaded":     {says(529, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`), memory.ErrUnavailable, 3},
			"a long prompt":  {says(400, `{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 210000 tokens > 200000 maximum"}}`), memory.ErrTooLarge, 1},
			"a refusal":      {says(200, `{"content":[{"type":"text","text":"I"}],"stop_reason":"refusal","usage":{}}`), memory.ErrInvalid, 1},
			"nothing":        {says(200, `{"type":"message"}`), memory.ErrUnavailable, 3},
			"another shape":  {says(200, `"x"`), memory.ErrUnavailable, 3},
			"null":           {says(200, `null`), memory.ErrUnavailable, 3},
			"an error as ok": {says(200, `{"type":"error","error":{"type":"api_error","message":"x"}}`), memory.ErrUnavailable, 3},
		} {
			s := serve(t, c.step)
			_, err := open(t, config("anthropic:m", s.URL)).Language(memory.StageExtract).Complete(context.Background(), memory.Prompt{User: "x"})
			if !errors.Is(err, c.meaning) || len(s.requests()) != c.calls {
				t.Errorf("%s: %d requests, %v", name, len(s.requests()), err)
			}
		}
		s := serve(t, streams(`{"type":"message_start","message":{}}`, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`))
		_, err := open(t, config("anthropic:m", s.URL)).Language(memory.StageExtract).Complete(context.Background(), memory.Prompt{User: "x", Stream: func(string) error { return nil }})
		if !errors.Is(err, memory.ErrUnavailable) || len(s.requests()) != 3 {
			t.Errorf("an error in a stream: %d requests, %v", len(s.requests()), err)
		}
	})
	t.Run("an old model with a smaller output limit is asked for fewer tokens", func(t *testing.T) {
		t.Parallel()
		s := serve(t, says(400, `{"error":{"message":"max_tokens: 8192 > 4096, which is the maximum allowed number of output tokens"}}`), says(200, message))
		if _, err := open(t, config("anthropic:m", s.URL)).Language(memory.StageExtract).Complete(context.Background(), memory.Prompt{User: "x"}); err != nil {
			t.Fatal(err)
		}
		if got := s.requests()[1].body["max_tokens"]; got != 4096.0 {
			t.Errorf("asked for %v", got)
		}
	})
}
