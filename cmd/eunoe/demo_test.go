package main_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/eunoe-memory/eunoe/test/scriptedmodel"
)

func TestTheDemoWithAModel(t *testing.T) {
	t.Parallel()
	parts := []string{
		"is asked for the facts, once for each session", ", 0 dead letters", "Mara is allergic to shellfish.", "demo-04",
		"The wording of a composite is the model's", "Biscuit is afraid of thunder. Pixel is afraid of nobody.", "supersede, decided by openai:", "with decide/1",
		"Observations: what several facts show together.", "Of Mara:", "What is Mara's phone number?\n     → Mara's phone number is 555 0124.",
		"Mara is allergic to shellfish [1]. Mara lives in Lisbon, in a small flat in Alfama [2].", "It rests on:\n     [1]  Mara is allergic to shellfish.",
		"What the models took", "What to do next",
	}
	check := func(t *testing.T, out string) {
		t.Helper()
		for _, want := range parts {
			if !strings.Contains(out, want) {
				t.Errorf("%q is not in\n%s", want, out)
			}
		}
		for _, stage := range []string{"extract", "decide", "summarise", "observe", "reflect"} {
			if !regexp.MustCompile(`(?m)^ +` + stage + ` +openai:\S+ +[1-9]\d* +0 `).MatchString(out) {
				t.Errorf("no usage of %s in\n%s", stage, out)
			}
		}
		if n := strings.Count(out, "\n"); n > 130 {
			t.Errorf("nobody reads %d lines in two minutes", n)
		}
	}
	t.Run("the configured model runs every stage", func(t *testing.T) {
		t.Parallel()
		s := scriptedmodel.Start(t, nil)
		out := ok(t, []string{"EUNOE_MODEL=openai:small", "EUNOE_MODEL_URL=" + s.URL}, "demo")
		check(t, out)
		if !strings.Contains(out, "openai:small answers from memory, piece by piece") {
			t.Errorf("the model is not named in\n%s", out)
		}
		if calls := s.Calls("extract"); len(calls) != 5 {
			t.Errorf("%d calls for five sessions", len(calls))
		}
		for _, c := range s.Calls("reflect") {
			if !c.Stream {
				t.Error("the answer was not streamed")
			}
		}
	})
	t.Run("with a failing model the rules' results remain, and the demo says so", func(t *testing.T) {
		t.Parallel()
		script := &scriptedmodel.Script{}
		script.Inject(scriptedmodel.Fault{Kind: scriptedmodel.Unauthorised, Stage: "reflect"})
		s := scriptedmodel.Start(t, script)
		out := ok(t, []string{"EUNOE_MODEL=openai:small", "EUNOE_MODEL_URL=" + s.URL}, "demo")
		if !strings.Contains(out, "degraded: answer: the language model failed; the context is given") || !strings.Contains(out, "What to do next") {
			t.Errorf("got %s", out)
		}
	})
}
