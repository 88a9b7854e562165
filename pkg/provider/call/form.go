package call

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// SchemaForm is how an answer is held to a schema.
type SchemaForm int

// The schema forms, from the strongest to the weakest.
const (
	SchemaByProvider SchemaForm = iota // the provider enforces the schema
	SchemaAsObject                     // the provider enforces a JSON object; the schema stands in the prompt
	SchemaInPrompt                     // the schema stands in the prompt only
)

// Form is how a model is asked, by what it turned out not to accept. The zero value uses everything.
type Form struct {
	Schema        SchemaForm
	NoTemperature bool
	OtherLimit    bool // the other name of the limit of tokens, or a smaller number
	NoStreamUsage bool // a stream is not asked to report its usage
	NoForcedTool  bool
}

// Without returns the simpler form to try after err, false when there is none.
func (f Form) Without(err error, p memory.Prompt) (Form, bool) {
	var fault *Fault
	if !errors.As(err, &fault) || !errors.Is(err, memory.ErrInvalid) ||
		fault.status != http.StatusBadRequest && fault.status != http.StatusUnprocessableEntity {
		return f, false
	}
	message := strings.ToLower(fault.text)
	switch {
	case strings.Contains(message, "content_filter") || strings.Contains(message, "content_policy"):
		return f, false
	case strings.Contains(message, "temperature") && !f.NoTemperature:
		f.NoTemperature = true
	case (strings.Contains(message, "max_tokens") || strings.Contains(message, "max_completion_tokens")) && !f.OtherLimit:
		f.OtherLimit = true
	case strings.Contains(message, "stream_options") && Streamed(p) && !f.NoStreamUsage:
		f.NoStreamUsage = true
	case strings.Contains(message, "tool_choice") && p.MustCall && !f.NoForcedTool:
		f.NoForcedTool = true
	case p.Schema != nil && f.Schema < SchemaInPrompt:
		f.Schema++
	default:
		return f, false
	}
	return f, true
}

// System returns the system prompt of p, with the schema in words where the provider does not enforce it.
func (f Form) System(p memory.Prompt) string {
	if p.Schema == nil || f.Schema == SchemaByProvider {
		return p.System
	}
	words := "Answer with one JSON object that meets this JSON schema, and with nothing else:\n" + string(p.Schema)
	if p.System == "" {
		return words
	}
	return p.System + "\n\n" + words
}

// Check refuses a prompt that no provider could make sense of. The error is memory.ErrInvalid.
func Check(p memory.Prompt) error {
	switch {
	case p.System == "" && p.User == "":
		return memory.Invalid("user", "a prompt needs a text")
	case p.MustCall && len(p.Tools) == 0:
		return memory.Invalid("must_call", "a prompt that must call needs tools")
	case p.Schema != nil && !json.Valid(p.Schema):
		return memory.Invalid("schema", "is not JSON")
	}
	for _, t := range p.Tools {
		if !json.Valid(t.Schema) {
			return memory.Invalid("tools", "the schema of %s is not JSON", t.Name)
		}
	}
	for _, turn := range p.Turns {
		if len(turn.Calls) != len(turn.Results) {
			return memory.Invalid("turns", "expected one result for each call")
		}
	}
	return nil
}

// Streamed reports whether the answer to a prompt is asked for as a stream.
func Streamed(p memory.Prompt) bool { return p.Stream != nil || p.StreamCall != nil }

// MaxCalls bounds the tool calls of one answer; further ones are dropped.
const MaxCalls = 128

// ID returns the id of a tool call, or a name by its turn and place, from 0, for one that a server left without.
func ID(id string, turn, call int) string {
	if id != "" {
		return id
	}
	return fmt.Sprintf("call_%d_%d", turn+1, call+1)
}

// Object returns the arguments of a call as a JSON object, which some providers demand: arguments that are none stand
// in one under "arguments".
func Object(arguments string) json.RawMessage {
	var v map[string]any
	if json.Unmarshal([]byte(arguments), &v) == nil && v != nil {
		return json.RawMessage(arguments)
	}
	b, err := json.Marshal(map[string]string{"arguments": arguments})
	if err != nil {
		return json.RawMessage("{}")
	}
	return b
}
