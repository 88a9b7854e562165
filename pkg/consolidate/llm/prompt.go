package llm

import (
	"embed"
	"encoding/json"
	"strings"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/consolidate"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

//go:embed prompts
var prompts embed.FS

// promptVersion is incremented with every change of a prompt.
const promptVersion = "1"

// promptName returns the name and version of a stage's prompt.
func promptName(stage string) string { return stage + "/" + promptVersion }

// prompt returns a stage's prompt with lines of data, one JSON value each. json.Marshal escapes "<" in strings, so that
// no text can end the data.
func prompt(stage string, lines []any) (memory.Prompt, error) {
	system, err := prompts.ReadFile("prompts/" + stage + ".txt")
	if err != nil {
		return memory.Prompt{}, err
	}
	schema, err := prompts.ReadFile("prompts/" + stage + ".json")
	if err != nil {
		return memory.Prompt{}, err
	}
	var user strings.Builder
	user.WriteString("<data>\n")
	for _, l := range lines {
		b, err := json.Marshal(l)
		if err != nil {
			return memory.Prompt{}, err
		}
		user.Write(b)
		user.WriteByte('\n')
	}
	user.WriteString("</data>")
	return memory.Prompt{System: strings.TrimSpace(string(system)), User: user.String(), Schema: schema, SchemaName: stage}, nil
}

// shown renders texts as a model sees them: redacted and shortened.
type shown struct {
	redact consolidate.Redactor
	bytes  int // of a text, at most
}

// text returns a text without secrets, at most so long, cut at a character.
func (s shown) text(t string) string {
	t = s.redact.Redact(t)
	if len(t) <= s.bytes {
		return t
	}
	return memory.Truncate(t, s.bytes) + "…"
}

// statement is a fact as a model sees it.
type statement struct {
	N    int    `json:"n"`
	Said string `json:"said"`
	Text string `json:"text"`
}

func (s shown) statement(n int, f memory.Fact) statement {
	return statement{N: n, Said: f.Said.UTC().Format(time.DateOnly), Text: s.text(f.Text)}
}

func (w *Worker) shown() shown { return shown{redact: w.deps.Redactor, bytes: w.cfg.TextBytes} }
