package llm_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

// questionStages are the stages that run while a caller waits.
var questionStages = []string{memory.StageReflect, memory.StageJudge, "adequacy", memory.StageEmbed, memory.StageRerank}

// answer holds the reply to a question.
type answer struct {
	text     string // the person is called Kim
	mode     string
	degraded []string
	problems []string
}

// library is the bank that all questions query; the question names the case.
const library memory.BankID = "library"

// ask sends a request that involves the stage of the case.
func (w *pipeline) ask(ctx context.Context, p faultCase) (h answer) {
	wrong := func(format string, args ...any) { h.problems = append(h.problems, fmt.Sprintf(format, args...)) }
	query := "Which tea does Kim like with lemon, asks " + p.name + "?"
	if p.stage == "adequacy" {
		query = "Where does the cousin of Kim work, asks " + p.name + "?"
	}
	r := wire.RecallRequest{Query: query}
	var items []string
	if p.stage == memory.StageReflect {
		var grown strings.Builder
		reply, err := w.client.ReflectStream(ctx, library, wire.ReflectRequest{RecallRequest: r}, func(d wire.Delta) {
			if d.Reset {
				grown.Reset()
			}
			grown.WriteString(d.Delta)
		})
		if err != nil {
			wrong("reflect: %v", err)
		}
		if grown.String() != reply.Response {
			wrong("streamed %q, replied %q", grown.String(), reply.Response)
		}
		h.mode, h.degraded, items = reply.Mode, reply.Degraded, []string{reply.Response}
		for _, c := range reply.Citations {
			it, err := w.client.Get(ctx, library, c.ID)
			if err != nil || it.Text != c.Text {
				wrong("it cites %+v, which is %+v, %v", c, it, err)
			}
			items = append(items, c.Text)
		}
	} else {
		switch p.stage {
		case memory.StageJudge:
			r.Judge = &wire.Judge{}
		case "adequacy":
			r.Adequacy = 1
		}
		reply, err := w.client.Recall(ctx, library, r)
		if err != nil {
			wrong("recall: %v", err)
		}
		seen := map[string]bool{}
		for _, it := range reply.Items {
			if seen[it.ID] {
				wrong("%s comes twice", it.ID)
			}
			seen[it.ID] = true
			items = append(items, it.Text)
		}
		h.mode, h.degraded = "recall", reply.Degraded
	}
	h.text = strings.ReplaceAll(strings.Join(items, "\n"), p.name, "Kim")
	if !utf8.ValidString(h.text) || h.text == "" || len(h.text) > 1<<20 {
		wrong("an answer of %d bytes", len(h.text))
	}
	return h
}

func (h answer) check(t *testing.T) {
	t.Helper()
	for _, p := range h.problems {
		t.Error(p)
	}
}

// names reports whether the reply names the step that could not run.
func (h answer) names(stage string) bool {
	word := map[string]string{memory.StageReflect: "answer:", memory.StageEmbed: "semantic", memory.StageRerank: "rerank:"}[stage]
	if word == "" {
		word = stage + ":"
	}
	for _, d := range h.degraded {
		if strings.HasPrefix(d, word) || stage == memory.StageReflect && strings.HasPrefix(d, "citations:") {
			return true
		}
	}
	return false
}
