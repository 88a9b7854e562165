package provider

import (
	"encoding/json"
	"io"
)

// messageEvent is one event of a stream of Anthropic's.
type messageEvent struct {
	Type    string        `json:"type"`
	Index   int           `json:"index"`
	Message messageAnswer `json:"message"`
	Block   messageBlock  `json:"content_block"`
	Delta   struct {
		Type  string `json:"type"`
		Text  string `json:"text"`
		Piece string `json:"partial_json"`
		Stop  string `json:"stop_reason"`
	} `json:"delta"`
	Usage *messageUsage `json:"usage"`
	Error struct {
		Message string `json:"message"`
	} `json:"error"`
}

// readStream gathers the pieces of a stream. Text and the inputs of
// tools are handed on as they come.
func (a *messageAnswer) readStream(r io.Reader, to *emitter) error {
	ended, err := events(r, func(data []byte) (bool, error) {
		var e messageEvent
		if json.Unmarshal(data, &e) != nil {
			return false, garbled("a piece of the stream is no event but %s", kind(data))
		}
		switch e.Type {
		case "message_start":
			a.Usage = e.Message.Usage
		case "content_block_start", "content_block_delta":
			return false, a.add(e, to)
		case "message_delta":
			if e.Delta.Stop != "" {
				a.Stop = e.Delta.Stop
			}
			a.Usage.update(e.Usage)
		case "message_stop":
			return true, nil
		case "error":
			return false, garbled("an error amid the stream: %s", oneLine(e.Error.Message))
		}
		return false, nil
	})
	if err != nil {
		return err
	}
	if ended && a.Stop == "" {
		return garbled("the stream ended before the answer did")
	}
	for i := range a.Content {
		if b := &a.Content[i]; len(b.text)+len(b.input) > 0 {
			b.Text, b.Input = b.Text+string(b.text), b.input
		}
	}
	return nil
}

// update takes the counts that a later event tells; those it leaves out stay.
func (u *messageUsage) update(later *messageUsage) {
	if later == nil {
		return
	}
	u.Input, u.Output = max(u.Input, later.Input), max(u.Output, later.Output)
	u.Written, u.Cached = max(u.Written, later.Written), max(u.Cached, later.Cached)
}

// add begins a block or appends to one.
func (a *messageAnswer) add(e messageEvent, to *emitter) error {
	if e.Index < 0 || e.Index >= maxCalls {
		return nil
	}
	for len(a.Content) <= e.Index {
		a.Content = append(a.Content, messageBlock{})
	}
	b := &a.Content[e.Index]
	if e.Type == "content_block_start" {
		b.Type, b.ID, b.Name, b.Text = e.Block.Type, e.Block.ID, e.Block.Name, e.Block.Text
		return to.text(e.Block.Text)
	}
	switch e.Delta.Type {
	case "text_delta":
		b.text = append(b.text, e.Delta.Text...)
		return to.text(e.Delta.Text)
	case "input_json_delta":
		b.input = append(b.input, e.Delta.Piece...)
		if b.call() {
			return to.arguments(a.place(e.Index), b.Name, e.Delta.Piece)
		}
	}
	return nil
}

// call reports whether a block is a call that counts.
func (b *messageBlock) call() bool { return b.Type == "tool_use" && b.Name != "" }

// place is the place of a block among the calls of an answer.
func (a *messageAnswer) place(index int) int {
	n := 0
	for i := range a.Content[:index] {
		if a.Content[i].call() {
			n++
		}
	}
	return n
}
