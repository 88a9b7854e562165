package openai

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/provider/call"
)

// completion is a chat completion, or a piece of a streamed one, as servers send it.
type completion struct {
	ID      json.RawMessage `json:"id"`
	Created json.Number     `json:"created"`
	Choices []choice        `json:"choices"`
	Usage   *usage          `json:"usage"`
	Error   json.RawMessage `json:"error"`
}

type choice struct {
	Message      message         `json:"message"`
	Delta        message         `json:"delta"`
	LogProbs     json.RawMessage `json:"logprobs"`
	FinishReason string          `json:"finish_reason"`
}

type message struct {
	Content text       `json:"content"`
	Refusal string     `json:"refusal"`
	Calls   []toolCall `json:"tool_calls"`
}

type toolCall struct {
	Index    *int   `json:"index"`
	ID       string `json:"id"`
	Function struct {
		Name      string `json:"name"`
		Arguments text   `json:"arguments"`
	} `json:"function"`
}

// usage holds numbers as they are written: some servers write counts as fractions.
type usage struct {
	Prompt     json.Number `json:"prompt_tokens"`
	Completion json.Number `json:"completion_tokens"`
	Details    struct {
		Cached json.Number `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
	CacheHit json.Number `json:"prompt_cache_hit_tokens"` // another name for the cached ones
}

func (u *usage) counted() memory.Usage {
	if u == nil {
		return memory.Usage{}
	}
	count := func(n json.Number) int {
		f, _ := n.Float64() //nolint:errcheck // 0, or as large as can be
		return call.Count(f)
	}
	return memory.Usage{
		PromptTokens: count(u.Prompt), CachedTokens: max(count(u.Details.Cached), count(u.CacheHit)), CompletionTokens: count(u.Completion),
	}
}

// text is a text that servers send as a string, as a list of parts, as nothing, or, for arguments, as the object itself.
type text struct {
	value string
	odd   bool // langchaingo cannot read it: neither a string nor nothing
}

// UnmarshalJSON accepts each of the forms.
func (t *text) UnmarshalJSON(b []byte) error {
	b = bytes.TrimSpace(b)
	switch {
	case len(b) == 0 || string(b) == "null":
		*t = text{}
		return nil
	case b[0] == '"':
		*t = text{}
		return json.Unmarshal(b, &t.value)
	case b[0] != '[':
		*t = text{value: string(b), odd: true}
		return nil
	}
	var parts []struct {
		Text string `json:"text"`
	}
	if err := json.Unmarshal(b, &parts); err != nil {
		return err
	}
	var all strings.Builder
	for _, p := range parts {
		all.WriteString(p.Text)
	}
	*t = text{value: all.String(), odd: true}
	return nil
}

// failure returns what is wrong with an answer that could be read, raw, as far as langchaingo does not tell.
func (c *completion) failure(where string, raw []byte) error {
	if len(c.Error) > 0 && string(c.Error) != "null" {
		message, _ := call.Explain(raw)
		return call.Garbled("an error %s: %s", where, message)
	}
	return nil
}

// verdict returns why an answer that ended for a reason is none.
func verdict(refusal, finishReason string) error {
	switch {
	case refusal != "":
		return call.Declined("the model declined to answer")
	case finishReason == "content_filter":
		return call.Declined("the provider's filter stopped the answer")
	}
	return nil
}

// answer is an answer in one piece on its way to langchaingo. It is checked for what langchaingo does not report, and
// passed on as it is, unless langchaingo could not read its form.
type answer struct {
	from io.Reader
	x    *call.Exchange
	out  io.Reader
}

func newAnswer(from io.Reader, x *call.Exchange) *answer { return &answer{from: from, x: x} }

// Read implements io.Reader.
func (a *answer) Read(p []byte) (int, error) {
	if a.out == nil {
		checked, err := a.check()
		if err != nil {
			return 0, err
		}
		a.out = bytes.NewReader(checked)
	}
	return a.out.Read(p)
}

func (a *answer) check() ([]byte, error) {
	raw, err := io.ReadAll(a.from)
	if err != nil {
		return nil, err
	}
	var c completion
	if json.Unmarshal(raw, &c) != nil {
		return nil, call.Garbled("the answer is no chat completion but %s", call.Describe(raw))
	}
	a.x.Usage = c.Usage.counted()
	if err := c.failure("in place of an answer", raw); err != nil {
		return nil, err
	}
	if len(c.Choices) == 0 {
		return nil, call.Garbled("the answer has no choices")
	}
	if err := verdict(c.Choices[0].Message.Refusal, c.Choices[0].FinishReason); err != nil {
		return nil, err
	}
	if c.isOdd(c.Choices[0].Message) {
		return c.plain()
	}
	return raw, nil
}

// isOdd reports whether langchaingo cannot read the answer, whose message or piece is m: ids and texts must be strings,
// counts whole numbers, and nobody asked for probabilities.
func (c *completion) isOdd(m message) bool {
	odd := m.Content.odd || !isStringOrNone(c.ID)
	for _, made := range m.Calls {
		odd = odd || made.Function.Arguments.odd
	}
	for _, other := range c.Choices {
		odd = odd || len(other.LogProbs) > 0 && string(other.LogProbs) != "null"
	}
	numbers := []json.Number{c.Created}
	if u := c.Usage; u != nil {
		numbers = append(numbers, u.Prompt, u.Completion, u.Details.Cached)
	}
	for _, n := range numbers {
		_, err := n.Int64()
		odd = odd || n != "" && err != nil
	}
	return odd
}

func isStringOrNone(raw json.RawMessage) bool {
	return len(raw) == 0 || raw[0] == '"' || string(raw) == "null"
}

// plain returns the first choice in the form that langchaingo reads, for servers that write another.
func (c *completion) plain() ([]byte, error) {
	first := c.Choices[0]
	calls := make([]map[string]any, len(first.Message.Calls))
	for i, made := range first.Message.Calls {
		calls[i] = map[string]any{"id": made.ID, "type": "function", "function": map[string]any{
			"name": made.Function.Name, "arguments": made.Function.Arguments.value,
		}}
	}
	return json.Marshal(map[string]any{"choices": []any{map[string]any{
		"message":       map[string]any{"role": "assistant", "content": first.Message.Content.value, "tool_calls": calls},
		"finish_reason": first.FinishReason,
	}}})
}
