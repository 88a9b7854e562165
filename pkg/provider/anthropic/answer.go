package anthropic

import (
	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/packages/ssestream"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/provider/call"
)

// answer is what was read of an answer so far.
type answer struct {
	x      *call.Exchange
	asText bool // the input of the first tool is the text
	blocks []block
	stop   string
	usage  tokens
}

// block is a piece of content: a text, a tool call, or something else.
type block struct {
	kind, id, name string
	text, input    []byte
}

func (b *block) isCall() bool { return b.kind == "tool_use" && b.name != "" }

// tokens are the counts of an answer. What was written to and read from the cache is not among the input.
type tokens struct{ input, output, written, cached int64 }

// count takes in counts; those that a later event leaves out stay.
func (a *answer) count(t tokens) {
	u := &a.usage
	*u = tokens{max(u.input, t.input), max(u.output, t.output), max(u.written, t.written), max(u.cached, t.cached)}
	n := func(v int64) int { return call.Count(float64(v)) }
	a.x.Usage = memory.Usage{PromptTokens: n(u.input) + n(u.written) + n(u.cached), CachedTokens: n(u.cached), CompletionTokens: n(u.output)}
}

// whole takes in an answer in one piece.
func (a *answer) whole(m *anthropic.Message, err error) error {
	if err != nil {
		return err
	}
	if m == nil { // the answer was null
		return call.Garbled("the answer has no content")
	}
	a.count(messageTokens(m.Usage))
	if e, ok := m.JSON.ExtraFields["error"]; ok && e.Valid() {
		message, _ := call.Explain([]byte(m.RawJSON()))
		return call.Garbled("an error in place of an answer: %s", message)
	}
	a.stop = string(m.StopReason)
	for _, b := range m.Content {
		a.blocks = append(a.blocks, block{kind: b.Type, id: b.ID, name: b.Name, text: []byte(b.Text), input: b.Input})
	}
	return nil
}

func messageTokens(u anthropic.Usage) tokens {
	return tokens{u.InputTokens, u.OutputTokens, u.CacheCreationInputTokens, u.CacheReadInputTokens}
}

// stream takes in the events of a streamed answer, and hands texts and the inputs of tools on as they come.
func (a *answer) stream(s *ssestream.Stream[anthropic.MessageStreamEventUnion]) error {
	defer s.Close() //nolint:errcheck // it was read
	for s.Next() {
		switch e := s.Current(); e.Type {
		case "message_start":
			a.count(messageTokens(e.Message.Usage))
		case "content_block_start", "content_block_delta":
			if err := a.add(e); err != nil {
				return err
			}
		case "message_delta":
			if e.Delta.StopReason != "" {
				a.stop = string(e.Delta.StopReason)
			}
			u := e.Usage
			a.count(tokens{u.InputTokens, u.OutputTokens, u.CacheCreationInputTokens, u.CacheReadInputTokens})
		case "message_stop":
			return nil
		}
	}
	if err := s.Err(); err != nil {
		return failure(err)
	}
	if a.stop == "" {
		return call.Garbled("the stream ended before the answer did")
	}
	return nil
}

// add begins a block or appends to one.
func (a *answer) add(e anthropic.MessageStreamEventUnion) error {
	at := int(e.Index)
	if at < 0 || at >= call.MaxCalls {
		return nil
	}
	for len(a.blocks) <= at {
		a.blocks = append(a.blocks, block{})
	}
	b := &a.blocks[at]
	if e.Type == "content_block_start" {
		b.kind, b.id, b.name, b.text = e.ContentBlock.Type, e.ContentBlock.ID, e.ContentBlock.Name, []byte(e.ContentBlock.Text)
		return a.x.EmitText(e.ContentBlock.Text)
	}
	switch e.Delta.Type {
	case "text_delta":
		b.text = append(b.text, e.Delta.Text...)
		return a.x.EmitText(e.Delta.Text)
	case "input_json_delta":
		b.input = append(b.input, e.Delta.PartialJSON...)
		if b.isCall() {
			return a.x.EmitArguments(a.place(at), b.name, e.Delta.PartialJSON)
		}
	}
	return nil
}

// place returns the place of a block among the calls of the answer.
func (a *answer) place(block int) int {
	n := 0
	for i := range a.blocks[:block] {
		if a.blocks[i].isCall() {
			n++
		}
	}
	return n
}

// completion returns an answer that was read to its end.
func (a *answer) completion(p memory.Prompt) (memory.Completion, error) {
	switch {
	case a.stop == "refusal":
		return memory.Completion{}, call.Declined("the model declined to answer")
	case len(a.blocks) == 0 && a.stop == "":
		return memory.Completion{}, call.Garbled("the answer has no content")
	}
	out := memory.Completion{Truncated: a.stop == "max_tokens"}
	for i, b := range a.blocks[:min(len(a.blocks), call.MaxCalls)] {
		switch {
		case b.kind == "text":
			out.Text += string(b.text)
		case b.isCall():
			out.Calls = append(out.Calls, memory.ToolCall{ID: call.ID(b.id, 0, i), Name: b.name, Arguments: string(b.input)})
		}
	}
	switch {
	case !a.asText:
	case len(out.Calls) > 0:
		out.Text, out.Calls = out.Calls[0].Arguments, nil // it was streamed as such
	case p.Stream != nil:
		a.x.Receive(p.Stream, nil)
		return out, a.x.EmitText(out.Text) // the model wrote a text in place of the tool's input
	}
	return out, nil
}
