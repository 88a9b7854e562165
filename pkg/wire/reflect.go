package wire

import "github.com/eunoe-memory/eunoe/pkg/memory"

// ReflectRequest asks for an answer, or for packed context for a caller's own model.
type ReflectRequest struct {
	RecallRequest
	Style    string `json:"style,omitempty"` // answer or context
	MaxTurns *int   `json:"max_turns,omitempty"`
	Stream   bool   `json:"stream,omitempty"`
}

// Citation is an item that a response rests on.
type Citation struct {
	ID   string `json:"id"`
	Text string `json:"text"`
}

// ReflectReply answers a ReflectRequest.
type ReflectReply struct {
	Response  string       `json:"response"`
	Citations []Citation   `json:"citations"` // [n] in the response is the nth of them
	FactsUsed []string     `json:"facts_used"`
	Turns     int          `json:"turns"` // of the language model
	Usage     memory.Usage `json:"usage"` // of every model call of the request, failed ones too
	Mode      string       `json:"mode"`  // answer or context
	Degraded  []string     `json:"degraded"`
	Fresh     bool         `json:"fresh"`
	Tokens    int          `json:"tokens"`
	Judged    *Judged      `json:"judged,omitempty"` // of the first search, as in a recall
}

// Delta is a piece of a streamed response; the whole reply follows last.
type Delta struct {
	Delta string `json:"delta"`
	// Reset discards the pieces so far: the response starts over.
	Reset bool `json:"reset,omitempty"`
}
