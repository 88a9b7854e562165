package llm

import (
	"embed"
	"encoding/json"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/eunoe-memory/eunoe/pkg/consolidate"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

//go:embed prompts
var prompts embed.FS

// promptVersion goes up with every change of what is asked or how.
const promptVersion = "1"

// promptName is name and version of a stage's prompt.
func promptName(stage string) string { return stage + "/" + promptVersion }

// prompt gives a stage's prompt with lines of data, one JSON value each.
// JSON as it is written here has no "<" in its strings, so no text in it can
// end the data.
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

// shown writes texts as a model sees them.
type shown struct {
	redact consolidate.Redactor
	bytes  int // of a text, at most
}

// text gives a text without secrets, at most so long, cut at a character.
func (s shown) text(t string) string {
	t = s.redact.Redact(t)
	if len(t) <= s.bytes {
		return t
	}
	n := s.bytes
	for n > 0 && !utf8.RuneStart(t[n]) {
		n--
	}
	return t[:n] + "…"
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
