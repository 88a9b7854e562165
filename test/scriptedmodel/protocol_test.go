package scriptedmodel_test

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"math"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/eunoe-memory/eunoe/pkg/text"
	"github.com/eunoe-memory/eunoe/test/scriptedmodel"
)

const searchTool = `{"type":"object","properties":{"queries":{"type":"array","items":{"type":"string"},"minItems":1}}}`
const doneTool = `{"type":"object","required":["answer","citations"],"properties":{"answer":{"type":"string"},"citations":{"type":"array","items":{"type":"integer"}}}}`

func tools() []body {
	return []body{
		{"type": "function", "function": body{"name": "search_memory", "parameters": json.RawMessage(searchTool)}},
		{"type": "function", "function": body{"name": "done", "parameters": json.RawMessage(doneTool)}},
	}
}

func TestChat(t *testing.T) {
	t.Parallel()
	t.Run("an answer has the protocol's shape, and its usage counts real tokens", func(t *testing.T) {
		t.Parallel()
		s := scriptedmodel.Start(t, (&scriptedmodel.Script{}).Answer("", "Hello there, Bo."))
		got := chat(t, s, body{"model": "m", "messages": messages("user", "Hi, I am Bo.")})
		if got.text() != "Hello there, Bo." || got.Object != "chat.completion" || got.Model != "m" || got.Choices[0].Finish != "stop" {
			t.Errorf("got %+v", got)
		}
		if u := got.Usage; u.Completion != text.CountTokens("Hello there, Bo.") || u.Prompt < text.CountTokens("Hi, I am Bo.") || u.Total != u.Prompt+u.Completion || u.Details.Cached != 0 {
			t.Errorf("got %+v", u)
		}
	})
	t.Run("a prompt prefix that was seen before counts as cached", func(t *testing.T) {
		t.Parallel()
		s := scriptedmodel.Start(t, nil)
		for i, want := range []bool{false, true} {
			u := chat(t, s, body{"messages": messages("system", "You are terse.", "user", strings.Repeat("x", i+1))}).Usage
			if (u.Details.Cached > 0) != want || u.Details.Cached >= u.Prompt {
				t.Errorf("call %d: %+v", i, u)
			}
		}
		if total := s.Stats().Total(); total.Calls != 2 || total.CachedTokens == 0 {
			t.Errorf("got %+v", total)
		}
	})
	t.Run("a limit of tokens cuts the answer and says so", func(t *testing.T) {
		t.Parallel()
		for _, field := range []string{"max_tokens", "max_completion_tokens"} {
			s := scriptedmodel.Start(t, (&scriptedmodel.Script{}).Answer("", strings.Repeat("word after word ", 50)))
			got := chat(t, s, body{"messages": messages("user", "Go on."), field: 10})
			if n := text.CountTokens(got.text()); n > 10 || n < 8 || got.Choices[0].Finish != "length" {
				t.Errorf("%d tokens, %q", n, got.Choices[0].Finish)
			}
		}
	})
	t.Run("a malformed call is 400 and says what is wrong", func(t *testing.T) {
		t.Parallel()
		s := scriptedmodel.Start(t, nil)
		for says, b := range map[string]body{
			"messages": {"model": "m"}, "role": {"messages": messages("poet", "x")}, "json_schema": {"messages": messages("user", "x"), "response_format": body{"type": "json_schema"}},
			"tool_choice": {"messages": messages("user", "x"), "tool_choice": "required"}, "tool_call_id": {"messages": []body{{"role": "tool", "tool_call_id": "c", "content": "x"}}},
			"without its result": {"messages": []body{{"role": "assistant", "tool_calls": []body{{"id": "c", "function": body{"name": "f", "arguments": "{}"}}}}}},
		} {
			status, _, raw, err := post(t, s, "/chat/completions", b)
			if err != nil || status != http.StatusBadRequest || !strings.Contains(string(raw), says) {
				t.Errorf("%s: %d %v %s", says, status, err, raw)
			}
		}
		if status, _, _, _ := post(t, s, "/nowhere", body{}); status != http.StatusNotFound {
			t.Errorf("got %d", status)
		}
	})
	t.Run("the tool choice is obeyed, and parallel calls are made only where allowed", func(t *testing.T) {
		t.Parallel()
		s := scriptedmodel.Start(t, nil)
		for _, tc := range []struct {
			choice   any
			parallel bool
			calls    []string
		}{
			{"auto", true, []string{"search_memory", "search_memory"}}, {"required", true, []string{"search_memory", "search_memory"}}, {"auto", false, []string{"search_memory"}},
			{"none", true, nil}, {body{"type": "function", "function": body{"name": "done"}}, true, []string{"done"}},
		} {
			got := chat(t, s, body{
				"messages": messages("system", "Task: reflect", "user", "<question>\n\"Where does Ana live now?\"\n</question>"), "tools": tools(),
				"tool_choice": tc.choice, "parallel_tool_calls": tc.parallel,
			})
			var made []string
			for _, c := range got.Choices[0].Message.Calls {
				made = append(made, c.Function.Name)
				if c.ID == "" || c.Type != "function" || !json.Valid([]byte(c.Function.Arguments)) {
					t.Errorf("got %+v", c)
				}
			}
			if !slices.Equal(made, tc.calls) || (got.Choices[0].Finish == "tool_calls") != (len(tc.calls) > 0) || (got.text() == "") != (len(tc.calls) > 0) {
				t.Errorf("%v: %v, %q", tc.choice, made, got.Choices[0].Finish)
			}
		}
	})
	t.Run("models are listed, and statistics served over HTTP", func(t *testing.T) {
		t.Parallel()
		s := scriptedmodel.Start(t, &scriptedmodel.Script{Model: "small"})
		chat(t, s, body{"messages": messages("user", "x")})
		for path, says := range map[string]string{"/models": `"small"`, "/testmodel/stats": `"chat":{"calls":1`} {
			if raw := get(t, s.URL+path); !strings.Contains(raw, says) {
				t.Errorf("%s: %s", path, raw)
			}
		}
	})
}

func get(t *testing.T, url string) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var raw json.RawMessage
	if err := json.NewDecoder(resp.Body).Decode(&raw); err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func TestStream(t *testing.T) {
	t.Parallel()
	t.Run("the pieces are the whole answer, and usage comes last where it is asked for", func(t *testing.T) {
		t.Parallel()
		long := strings.Repeat("Zürich, 東京 and \"Porto\". ", 40)
		for _, want := range []bool{true, false} {
			s := scriptedmodel.Start(t, (&scriptedmodel.Script{}).Answer("", long))
			b := body{"messages": messages("user", "Tell."), "stream": true}
			if want {
				b["stream_options"] = body{"include_usage": true}
			}
			_, header, raw, err := post(t, s, "/chat/completions", b)
			if err != nil || header.Get("Content-Type") != "text/event-stream" {
				t.Fatalf("%v, %v", err, header)
			}
			var content, finish string
			var last completion
			for _, e := range events(t, raw) {
				if last = e; len(e.Choices) > 0 {
					content += e.Choices[0].Delta.Content
					finish += e.Choices[0].Finish
				}
			}
			if content != long || finish != "stop" || (last.Usage != nil) != want {
				t.Errorf("%q, %q, %+v", content, finish, last.Usage)
			}
			if want && (len(last.Choices) != 0 || last.Usage.Completion != text.CountTokens(long)) {
				t.Errorf("got %+v", last)
			}
		}
	})
	t.Run("calls of tools are streamed in pieces under their index", func(t *testing.T) {
		t.Parallel()
		s := scriptedmodel.Start(t, nil)
		_, _, raw, err := post(t, s, "/chat/completions", body{
			"messages": messages("user", "<question>\n\"Where does Ana live now?\"\n</question>"), "tools": tools(), "stream": true,
		})
		if err != nil {
			t.Fatal(err)
		}
		arguments, names := map[int]string{}, map[int]string{}
		for _, e := range events(t, raw) {
			for _, c := range e.Choices[0].Delta.Calls {
				arguments[c.Index] += c.Function.Arguments
				names[c.Index] += c.Function.Name
			}
		}
		if len(names) != 2 || names[0] != "search_memory" || names[1] != "search_memory" {
			t.Errorf("got %v", names)
		}
		for _, a := range arguments {
			meets(t, searchTool, a)
		}
	})
}

func TestEmbeddings(t *testing.T) {
	t.Parallel()
	type reply struct {
		Data []struct {
			Index     int
			Embedding json.RawMessage
		}
		Usage usage
	}
	t.Run("equal texts have equal vectors, similar texts have near vectors, in both encodings", func(t *testing.T) {
		t.Parallel()
		s := scriptedmodel.Start(t, nil)
		texts := []string{"Ana moved to Porto.", "Ana has moved to Porto in May.", "The kettle is broken.", ""}
		_, _, raw, err := post(t, s, "/embeddings", body{"model": "e", "input": texts})
		if err != nil {
			t.Fatal(err)
		}
		_, _, coded, err := post(t, s, "/embeddings", body{"model": "e", "input": texts, "encoding_format": "base64"})
		if err != nil {
			t.Fatal(err)
		}
		plain, packed := decode[reply](t, raw), decode[reply](t, coded)
		var vectors [][]float32
		for i, d := range plain.Data {
			v := decode[[]float32](t, d.Embedding)
			b, err := base64.StdEncoding.DecodeString(decode[string](t, packed.Data[i].Embedding))
			if err != nil || len(b) != 4*len(v) || len(v) != scriptedmodel.DefaultDimension || d.Index != i {
				t.Fatalf("%v, %d bytes, %d numbers at %d", err, len(b), len(v), d.Index)
			}
			for k, x := range v {
				if math.Float32frombits(binary.LittleEndian.Uint32(b[4*k:])) != x {
					t.Fatalf("text %d differs at %d", i, k)
				}
			}
			if n := cosine(v, v); math.Abs(n-1) > 1e-5 {
				t.Errorf("text %d has length %v", i, n)
			}
			vectors = append(vectors, v)
		}
		if near, far := cosine(vectors[0], vectors[1]), cosine(vectors[0], vectors[2]); near < 0.6 || far > 0.3 {
			t.Errorf("near %v, far %v", near, far)
		}
		if plain.Usage.Prompt == 0 || plain.Usage.Total != plain.Usage.Prompt {
			t.Errorf("got %+v", plain.Usage)
		}
	})
	t.Run("a dimension can be asked for, and one text needs no list", func(t *testing.T) {
		t.Parallel()
		s := scriptedmodel.Start(t, &scriptedmodel.Script{Dimension: 64})
		for want, b := range map[int]body{64: {"input": "x"}, 32: {"input": "x", "dimensions": 32}} {
			_, _, raw, err := post(t, s, "/embeddings", b)
			if err != nil || len(decode[[]float32](t, decode[reply](t, raw).Data[0].Embedding)) != want {
				t.Errorf("%d: %v %s", want, err, raw)
			}
		}
		for _, b := range []body{{"input": []string{}}, {"input": 7}, {"input": "x", "dimensions": -1}, {"input": "x", "encoding_format": "hex"}} {
			if status, _, raw, _ := post(t, s, "/embeddings", b); status != http.StatusBadRequest {
				t.Errorf("%v: %d %s", b, status, raw)
			}
		}
	})
}

func cosine(a, b []float32) float64 {
	var sum float64
	for i := range a {
		sum += float64(a[i]) * float64(b[i])
	}
	return sum
}

func TestRerank(t *testing.T) {
	t.Parallel()
	texts := []string{"The kettle is broken.", "Ana is allergic to shellfish.", "Ana likes fado."}
	t.Run("documents come back as results, best first, at most top_n", func(t *testing.T) {
		t.Parallel()
		s := scriptedmodel.Start(t, nil)
		documents := []any{texts[0], body{"text": texts[1]}, texts[2]}
		_, _, raw, err := post(t, s, "/rerank", body{"model": "r", "query": "What is Ana allergic to?", "documents": documents, "top_n": 2, "return_documents": true})
		if err != nil {
			t.Fatal(err)
		}
		got := decode[struct {
			Results []struct {
				Index    int
				Score    float64 `json:"relevance_score"`
				Document struct{ Text string }
			}
		}](t, raw).Results
		if len(got) != 2 || got[0].Index != 1 || got[1].Index != 2 || !(got[0].Score > got[1].Score) || got[0].Document.Text != texts[1] {
			t.Errorf("got %s", raw)
		}
	})
	t.Run("texts come back as a bare list, at both addresses", func(t *testing.T) {
		t.Parallel()
		s := scriptedmodel.Start(t, nil)
		for _, path := range []string{"/rerank", "/../rerank"} {
			_, _, raw, err := post(t, s, path, body{"query": "What is Ana allergic to?", "texts": texts})
			if err != nil {
				t.Fatal(err)
			}
			got := decode[[]struct {
				Index int
				Score float64
			}](t, raw)
			if len(got) != 3 || got[0].Index != 1 || got[2].Score != 0 {
				t.Errorf("%s: %s", path, raw)
			}
		}
		if status, _, _, _ := post(t, s, "/rerank", body{"query": "x"}); status != http.StatusBadRequest {
			t.Errorf("got %d", status)
		}
	})
}
