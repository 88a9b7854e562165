package scriptedmodel

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// The stages besides those of package memory.
const (
	StageAdequacy = "adequacy" // is what was found enough to answer
	StageChat     = "chat"     // a call that shows no stage
)

// Request is one decoded call.
type Request struct {
	N      int         // its place among all calls, from 1
	Path   string      // of the URL
	Header http.Header // as it came
	Stage  string
	Model  string

	// Of a chat.
	System     string // all system messages, a line break between them
	User       string // all user messages, a line break between them
	Messages   []Message
	Format     string // "json_schema", "json_object" or ""
	SchemaName string
	Schema     json.RawMessage
	Tools      []memory.Tool
	ToolChoice string // "auto", "none", "required" or a tool's name
	Parallel   bool   // more than one tool call is allowed
	Limit      int    // tokens of the answer, 0 = none
	Stream     bool
	WantsUsage bool // of a stream

	// Of embeddings and rerank.
	Query     string
	Texts     []string
	Dimension int    // asked for, 0 = the model's own
	Encoding  string // "float" or "base64"

	rerank *wireRerank
}

// Message is one message of a chat.
type Message struct {
	Role    string
	Content string
	Calls   []memory.ToolCall // of an assistant
	CallID  string            // of a tool: the call it answers
}

// offers reports whether a tool of that name may be called.
func (r *Request) offers(name string) bool {
	return slices.ContainsFunc(r.Tools, func(t memory.Tool) bool { return t.Name == name })
}

// stages are those that a schema is named for.
var stages = []string{memory.StageExtract, memory.StageDecide, memory.StageSummarise, memory.StageObserve, memory.StageJudge, StageAdequacy}

// stage reads what a chat is for: the name of its schema, the line "Task: …", the tools.
func (r *Request) stage() string {
	for _, known := range stages {
		if rest, ok := strings.CutPrefix(r.SchemaName, known); ok && (rest == "" || rest[0] == '_') {
			return known
		}
	}
	for line := range strings.Lines(r.System) {
		if name, ok := strings.CutPrefix(strings.TrimSpace(line), "Task:"); ok {
			if words := strings.Fields(strings.Trim(name, " .\n")); len(words) > 0 {
				return strings.ToLower(words[0])
			}
		}
	}
	switch {
	case r.offers("search_memory") || r.offers("done"):
		return memory.StageReflect
	case r.SchemaName != "":
		return r.SchemaName
	}
	return StageChat
}

// readChat reads the body of a chat call; the error says what is wrong with it.
func (r *Request) readChat(body []byte) error {
	var in wireChat
	if err := json.Unmarshal(body, &in); err != nil {
		return err
	}
	if len(in.Messages) == 0 {
		return fmt.Errorf("messages: at least one is required")
	}
	r.Model, r.Stream, r.WantsUsage = in.Model, in.Stream, in.StreamOptions.Usage
	r.Limit = max(in.MaxTokens, in.MaxCompletion)
	r.Format, r.SchemaName, r.Schema = in.Format.Type, in.Format.Schema.Name, in.Format.Schema.Schema
	if r.Format == "json_schema" && (r.SchemaName == "" || len(r.Schema) == 0) {
		return fmt.Errorf("response_format.json_schema: name and schema are required")
	}
	r.Parallel = in.Parallel == nil || *in.Parallel
	for _, t := range in.Tools {
		if t.Function.Name == "" {
			return fmt.Errorf("tools: a function needs a name")
		}
		r.Tools = append(r.Tools, memory.Tool{Name: t.Function.Name, Description: t.Function.Description, Schema: t.Function.Parameters})
	}
	if err := r.readMessages(in.Messages); err != nil {
		return err
	}
	if err := r.readChoice(in.Choice); err != nil {
		return err
	}
	r.Stage = r.stage()
	return nil
}

func (r *Request) readMessages(in []wireMessage) error {
	open := map[string]bool{}
	for i, m := range in {
		content, err := plain(m.Content)
		if err != nil {
			return fmt.Errorf("messages[%d].content: %w", i, err)
		}
		out := Message{Role: m.Role, Content: content, CallID: m.CallID}
		for _, c := range m.Calls {
			open[c.ID] = true
			out.Calls = append(out.Calls, memory.ToolCall{ID: c.ID, Name: c.Function.Name, Arguments: c.Function.Arguments})
		}
		switch m.Role {
		case "system", "developer":
			r.System = lines(r.System, content)
		case "user":
			r.User = lines(r.User, content)
		case "tool":
			if !open[m.CallID] {
				return fmt.Errorf("messages[%d].tool_call_id: %q answers no call before it", i, m.CallID)
			}
			delete(open, m.CallID)
		case "assistant":
		default:
			return fmt.Errorf("messages[%d].role: %q is unknown", i, m.Role)
		}
		r.Messages = append(r.Messages, out)
	}
	if len(open) > 0 {
		return fmt.Errorf("messages: a tool call without its result")
	}
	return nil
}

func (r *Request) readChoice(raw json.RawMessage) error {
	r.ToolChoice = "auto"
	if len(r.Tools) == 0 {
		r.ToolChoice = "none"
	}
	if len(raw) == 0 || string(raw) == "null" {
		return nil
	}
	var named struct {
		Function struct {
			Name string `json:"name"`
		} `json:"function"`
	}
	if json.Unmarshal(raw, &r.ToolChoice) != nil {
		if err := json.Unmarshal(raw, &named); err != nil || !r.offers(named.Function.Name) {
			return fmt.Errorf("tool_choice: names no tool that is offered")
		}
		r.ToolChoice = named.Function.Name
		return nil
	}
	if !slices.Contains([]string{"auto", "none", "required"}, r.ToolChoice) {
		return fmt.Errorf("tool_choice: %q is unknown", r.ToolChoice)
	}
	if len(r.Tools) == 0 {
		return fmt.Errorf("tool_choice: no tools are offered")
	}
	return nil
}

// plain reads a message's content: a text, a list of parts, or null.
func plain(raw json.RawMessage) (string, error) {
	if len(raw) == 0 || string(raw) == "null" {
		return "", nil
	}
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text, nil
	}
	var parts []struct {
		Text string `json:"text"`
	}
	if err := json.Unmarshal(raw, &parts); err != nil {
		return "", fmt.Errorf("expected a text or a list of parts")
	}
	for _, p := range parts {
		text = lines(text, p.Text)
	}
	return text, nil
}

func lines(a, b string) string {
	if a == "" {
		return b
	}
	return a + "\n" + b
}

type wireMessage struct {
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"`
	CallID  string          `json:"tool_call_id"`
	Calls   []wireCall      `json:"tool_calls"`
}

type wireCall struct {
	Index    *int   `json:"index,omitempty"`
	ID       string `json:"id,omitempty"`
	Type     string `json:"type,omitempty"`
	Function struct {
		Name      string `json:"name,omitempty"`
		Arguments string `json:"arguments"`
	} `json:"function"`
}

type wireChat struct {
	Model    string        `json:"model"`
	Messages []wireMessage `json:"messages"`
	Format   struct {
		Type   string `json:"type"`
		Schema struct {
			Name   string          `json:"name"`
			Schema json.RawMessage `json:"schema"`
		} `json:"json_schema"`
	} `json:"response_format"`
	Tools []struct {
		Function struct {
			Name        string          `json:"name"`
			Description string          `json:"description"`
			Parameters  json.RawMessage `json:"parameters"`
		} `json:"function"`
	} `json:"tools"`
	Choice        json.RawMessage `json:"tool_choice"`
	Parallel      *bool           `json:"parallel_tool_calls"`
	MaxTokens     int             `json:"max_tokens"`
	MaxCompletion int             `json:"max_completion_tokens"`
	Stream        bool            `json:"stream"`
	StreamOptions struct {
		Usage bool `json:"include_usage"`
	} `json:"stream_options"`
}
