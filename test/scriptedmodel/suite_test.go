package scriptedmodel_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.uber.org/goleak"

	"github.com/eunoe-memory/eunoe/test/scriptedmodel"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// body is a JSON object under construction.
type body = map[string]any

// post sends a body to a path of the server and returns the answer as it came.
func post(t *testing.T, s *scriptedmodel.Server, path string, b any) (status int, header http.Header, raw []byte, err error) {
	t.Helper()
	sent, err := json.Marshal(b)
	if err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+path, bytes.NewReader(sent))
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Do(req)
	if err != nil {
		return 0, nil, nil, err
	}
	defer resp.Body.Close()
	raw, err = io.ReadAll(resp.Body)
	return resp.StatusCode, resp.Header, raw, err
}

type call struct {
	ID       string
	Type     string
	Index    int
	Function struct{ Name, Arguments string }
}

type usage struct {
	Prompt     int `json:"prompt_tokens"`
	Completion int `json:"completion_tokens"`
	Total      int `json:"total_tokens"`
	Details    struct {
		Cached int `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
}

type completion struct {
	ID, Object, Model string
	Choices           []struct {
		Message struct {
			Content *string
			Calls   []call `json:"tool_calls"`
		}
		Delta struct {
			Content string
			Calls   []call `json:"tool_calls"`
		}
		Finish string `json:"finish_reason"`
	}
	Usage *usage
}

func (c completion) text() string {
	if len(c.Choices) == 0 || c.Choices[0].Message.Content == nil {
		return ""
	}
	return *c.Choices[0].Message.Content
}

// chat sends a chat that must be answered with 200.
func chat(t *testing.T, s *scriptedmodel.Server, b body) completion {
	t.Helper()
	status, _, raw, err := post(t, s, "/chat/completions", b)
	if err != nil || status != http.StatusOK {
		t.Fatalf("status %d, %v: %s", status, err, raw)
	}
	return decode[completion](t, raw)
}

func decode[T any](t *testing.T, raw []byte) T {
	t.Helper()
	var v T
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatalf("%v in %.300s", err, raw)
	}
	return v
}

// events reads a stream to its end.
func events(t *testing.T, raw []byte) []completion {
	t.Helper()
	var out []completion
	in := bufio.NewScanner(bytes.NewReader(raw))
	in.Buffer(nil, 16<<20)
	done := false
	for in.Scan() {
		data, ok := strings.CutPrefix(in.Text(), "data: ")
		switch {
		case !ok:
		case data == "[DONE]":
			done = true
		case done:
			t.Error("an event behind [DONE]")
		default:
			out = append(out, decode[completion](t, []byte(data)))
		}
	}
	if !done {
		t.Error("the stream does not end with [DONE]")
	}
	return out
}

func messages(parts ...string) []body {
	var out []body
	for i := 0; i+1 < len(parts); i += 2 {
		out = append(out, body{"role": parts[i], "content": parts[i+1]})
	}
	return out
}

const extractSchema = `{"type":"object","additionalProperties":false,"required":["facts"],"properties":{"facts":{"type":"array","items":{"type":"object",
	"required":["s","f"],"additionalProperties":false,"properties":{"s":{"type":"array","items":{"type":"integer"}},"f":{"type":"string"},"y":{"type":"string"},
	"e":{"type":"array","items":{"type":"string"}},"d":{"type":"string"},"v":{"type":"array","items":{"type":"string"}}}}}}}`

const window = `Known: person:Ana
<context>
= Sun 2023-05-07
Bo: How was your week?
</context>
<messages>
= Mon 2023-05-08
1 Ana: I moved to Porto last Friday! My sister loves the river.
2 Bo (assistant): Great. Which street?
3 Ana: I like fado.
  And I work at the harbour.
</messages>`

// extraction is a call for the facts of a window.
func extraction(user string) body {
	return body{
		"model": "m", "messages": messages("system", "Task: extract\nNote what the messages tell.", "user", user),
		"response_format": schema("extract", extractSchema),
	}
}

func schema(name, text string) body {
	return body{"type": "json_schema", "json_schema": body{"name": name, "strict": true, "schema": json.RawMessage(text)}}
}

// meets checks an instance against a schema.
func meets(t *testing.T, schema, instance string) {
	t.Helper()
	compiled, err := jsonschema.UnmarshalJSON(strings.NewReader(schema))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("schema.json", compiled); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("schema.json")
	if err != nil {
		t.Fatal(err)
	}
	v, err := jsonschema.UnmarshalJSON(strings.NewReader(instance))
	if err != nil {
		t.Fatalf("%v in %.300s", err, instance)
	}
	if err := s.Validate(v); err != nil {
		t.Errorf("%v\n%.500s", err, instance)
	}
}

type fact struct {
	S []int
	F string
	D string
	V []string
	E []string
}

func facts(t *testing.T, text string) []fact {
	t.Helper()
	return decode[struct{ Facts []fact }](t, []byte(text)).Facts
}
