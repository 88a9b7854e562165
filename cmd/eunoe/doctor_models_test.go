package main_test

import (
	"strings"
	"testing"

	"github.com/eunoe-memory/eunoe/test/scriptedmodel"
)

func TestDoctorTriesModels(t *testing.T) {
	t.Parallel()
	doctor := func(t *testing.T, environ ...string) string {
		t.Helper()
		r := run(t, t.Context(), append(environ, "EUNOE_URL=nats://127.0.0.1:1", "EUNOE_TIMEOUT=3s"), "", "doctor")
		if strings.Contains(r.out+r.err, "sk-hidden") {
			t.Errorf("the key shows in\n%s%s", r.out, r.err)
		}
		return r.out
	}
	want := func(t *testing.T, out string, lines ...string) {
		t.Helper()
		for _, l := range lines {
			if !strings.Contains(out, l) {
				t.Errorf("%q is not in\n%s", l, out)
			}
		}
	}
	t.Run("each working model is reported once, with its stages", func(t *testing.T) {
		t.Parallel()
		script := &scriptedmodel.Script{Dimension: 24}
		script.Func("", func(r scriptedmodel.Request) scriptedmodel.Response {
			if len(r.Tools) > 0 {
				return scriptedmodel.Response{Text: "Lisbon"}
			}
			return scriptedmodel.Response{Text: `{"city":"Lisbon"}`}
		})
		s := scriptedmodel.Start(t, script)
		out := doctor(t, "EUNOE_MODEL=openai:small", "EUNOE_MODEL_REFLECT=openai:large", "EUNOE_MODEL_URL="+s.URL, "EUNOE_MODEL_KEY=sk-hidden",
			"EUNOE_EMBED=openai:embed", "EUNOE_RERANK_URL="+s.URL, "EUNOE_RERANK_MODEL=bge")
		want(t, out, "ok   model        openai:small (extract, decide, summarise, observe, judge) answers in", "it can: JSON, streams; it cannot: tools",
			"BAD  model        openai:large (reflect)", "EUNOE_MODEL_REFLECT", "ok   embedder     openai:embed gives vectors of 24 dimensions", "ok   reranker     answers in")
	})
	t.Run("each failure says what to fix", func(t *testing.T) {
		t.Parallel()
		s := scriptedmodel.Start(t, (&scriptedmodel.Script{}).Inject(scriptedmodel.Fault{Kind: scriptedmodel.Unauthorised}))
		out := doctor(t, "EUNOE_MODEL=openai:m", "EUNOE_MODEL_URL="+s.URL, "EUNOE_MODEL_KEY=sk-hidden", "EUNOE_EMBED=ollama:e", "EUNOE_EMBED_URL=http://127.0.0.1:1/v1")
		want(t, out, "BAD  model        openai:m: status 401", "check the key (EUNOE_MODEL_KEY", "BAD  embedder", "connection refused", "EUNOE_EMBED_URL")
	})
	t.Run("a configuration without a model is valid", func(t *testing.T) {
		t.Parallel()
		want(t, doctor(t), "ok   model        none: facts come from rules, vectors from the built-in embedder; nothing leaves this machine")
	})
}
