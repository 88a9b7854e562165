package providertest

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// The stages beside those of package memory.
const (
	StageAdequacy = "adequacy" // is what was found enough to answer
	StageChat     = "chat"     // a call that shows no stage
)

// Request is one call as the model reads it.
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
