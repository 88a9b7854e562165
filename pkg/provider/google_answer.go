package provider

import (
	"encoding/json"
	"io"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// googleAnswer is an answer, or a piece of one.
type googleAnswer struct {
	Candidates []struct {
		Content googleContent `json:"content"`
		Finish  string        `json:"finishReason"`
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

// googleGathering is what was read of an answer so far.
type googleGathering struct {
	text   []byte
	calls  []memory.ToolCall
	finish string
	usage  memory.Usage

	answered bool // there was a candidate
}

func (g *googleGathering) add(data []byte, to *emitter) error {
	var a googleAnswer
	if json.Unmarshal(data, &a) != nil {
		return garbled("the answer is no content but %s", kind(data))
	}
	if u := a.Usage; u != nil {
		g.usage = memory.Usage{PromptTokens: whole(u.Prompt), CachedTokens: whole(u.Cached), CompletionTokens: whole(u.Answer) + whole(u.Thoughts)}
	}
	switch {
	case len(a.Error) > 0 && string(a.Error) != "null":
		message, _ := explain(data)
		return garbled("an error in place of an answer: %s", message)
	case a.Feedback.Block != "":
		return declined("the provider's filter refused the prompt (%s)", oneLine(a.Feedback.Block))
	case len(a.Candidates) == 0:
		return nil
	}
	c := a.Candidates[0]
	g.answered = true
	if c.Finish != "" {
		g.finish = c.Finish
	}
	for _, part := range c.Content.Parts {
		switch {
		case part.Thought:
		case part.Call != nil && part.Call.Name != "" && len(g.calls) < maxCalls:
			id := callID(part.Call.ID, 0, len(g.calls))
			if len(part.Signature) > 0 {
				id += signed + string(part.Signature)
			}
			args := string(part.Call.Args)
			if args == "" {
				args = "{}"
			}
			g.calls = append(g.calls, memory.ToolCall{ID: id, Name: part.Call.Name, Arguments: args})
			if err := to.arguments(len(g.calls)-1, part.Call.Name, args); err != nil {
				return err
			}
		case part.Text != "":
			g.text = append(g.text, part.Text...)
			if err := to.text(part.Text); err != nil {
				return err
			}
		}
	}
	return nil
}

// readGoogle reads an answer, whole or as a stream. The usage is told with an error too.
func readGoogle(r io.Reader, to *emitter) (memory.Completion, error) {
	var g googleGathering
	var err error
	if to == nil {
		var raw []byte
		if raw, err = io.ReadAll(r); err == nil {
			err = g.add(raw, nil)
		}
	} else {
		_, err = events(r, func(data []byte) (bool, error) { return false, g.add(data, to) })
	}
	if err == nil {
		err = g.verdict(to != nil)
	}
	return memory.Completion{Text: string(g.text), Calls: g.calls, Truncated: g.finish == "MAX_TOKENS", Usage: g.usage}, err
}

func (g *googleGathering) verdict(stream bool) error {
	switch g.finish {
	case "SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII":
		return declined("the provider's filter stopped the answer (%s)", g.finish)
	case "MAX_TOKENS":
		return nil
	case "":
		if stream {
			return garbled("the stream ended before the answer did")
		}
	}
	switch {
	case !g.answered:
		return garbled("the answer has no candidates")
	case len(g.text) == 0 && len(g.calls) == 0 && g.finish != "" && g.finish != "STOP":
		return garbled("there is no answer (%s)", oneLine(g.finish))
	}
	return nil
}
