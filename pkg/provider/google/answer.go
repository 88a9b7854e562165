package google

import (
	"cmp"
	"encoding/json"
	"io"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/provider/call"
)

// message is an answer, or a piece of a streamed one.
type message struct {
	Candidates []struct {
		Content content `json:"content"`
		Finish  string  `json:"finishReason"`
	} `json:"candidates"`
	Feedback struct {
		Block string `json:"blockReason"`
	} `json:"promptFeedback"`
	Usage *struct {
		Prompt   float64 `json:"promptTokenCount"`
		Cached   float64 `json:"cachedContentTokenCount"`
		Answer   float64 `json:"candidatesTokenCount"`
		Thoughts float64 `json:"thoughtsTokenCount"`
	} `json:"usageMetadata"`
	Error json.RawMessage `json:"error"`
}

// answer is what was read of an answer so far.
type answer struct {
	x        *call.Exchange
	text     []byte
	calls    []memory.ToolCall
	finish   string
	answered bool // there was a candidate
}

// readAnswer reads an answer, whole or as a stream, and hands its pieces on as they come.
func readAnswer(r io.Reader, x *call.Exchange, stream bool) (memory.Completion, error) {
	a := answer{x: x}
	var err error
	if stream {
		_, err = call.Events(r, func(data []byte) (bool, error) { return false, a.add(data) })
	} else {
		var raw []byte
		if raw, err = io.ReadAll(r); err == nil {
			err = a.add(raw)
		}
	}
	if err == nil {
		err = a.verdict(stream)
	}
	return memory.Completion{Text: string(a.text), Calls: a.calls, Truncated: a.finish == "MAX_TOKENS"}, err
}

func (a *answer) add(data []byte) error {
	var m message
	if json.Unmarshal(data, &m) != nil {
		return call.Garbled("the answer is no content but %s", call.Describe(data))
	}
	if u := m.Usage; u != nil {
		a.x.Usage = memory.Usage{
			PromptTokens: call.Count(u.Prompt), CachedTokens: call.Count(u.Cached),
			CompletionTokens: call.Count(u.Answer) + call.Count(u.Thoughts),
		}
	}
	switch {
	case len(m.Error) > 0 && string(m.Error) != "null":
		text, _ := call.Explain(data)
		return call.Garbled("an error in place of an answer: %s", text)
	case m.Feedback.Block != "":
		return call.Declined("the provider's filter refused the prompt (%s)", call.OneLine(m.Feedback.Block))
	case len(m.Candidates) == 0:
		return nil
	}
	c := m.Candidates[0]
	a.answered = true
	if c.Finish != "" {
		a.finish = c.Finish
	}
	for _, p := range c.Content.Parts {
		if err := a.addPart(p); err != nil {
			return err
		}
	}
	return nil
}

func (a *answer) addPart(p part) error {
	switch {
	case p.Thought:
	case p.Call != nil && p.Call.Name != "" && len(a.calls) < call.MaxCalls:
		id := call.ID(p.Call.ID, 0, len(a.calls))
		if len(p.Signature) > 0 {
			id += signed + string(p.Signature)
		}
		args := cmp.Or(string(p.Call.Args), "{}")
		a.calls = append(a.calls, memory.ToolCall{ID: id, Name: p.Call.Name, Arguments: args})
		return a.x.EmitArguments(len(a.calls)-1, p.Call.Name, args)
	case p.Text != "":
		a.text = append(a.text, p.Text...)
		return a.x.EmitText(p.Text)
	}
	return nil
}

// verdict returns why an answer that was read to its end is none.
func (a *answer) verdict(stream bool) error {
	switch a.finish {
	case "SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII":
		return call.Declined("the provider's filter stopped the answer (%s)", a.finish)
	case "MAX_TOKENS":
		return nil
	case "":
		if stream {
			return call.Garbled("the stream ended before the answer did")
		}
	}
	switch {
	case !a.answered:
		return call.Garbled("the answer has no candidates")
	case len(a.text) == 0 && len(a.calls) == 0 && a.finish != "" && a.finish != "STOP":
		return call.Garbled("there is no answer (%s)", call.OneLine(a.finish))
	}
	return nil
}
