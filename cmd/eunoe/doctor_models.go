package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"github.com/eunoe-memory/eunoe/internal/app/process"
	"github.com/eunoe-memory/eunoe/internal/app/settings"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/provider"
)

// modelStages are the stages with a language model, in the order of the report.
var modelStages = []string{memory.StageExtract, memory.StageDecide, memory.StageSummarise, memory.StageObserve, memory.StageReflect, memory.StageJudge}

// tryModels asks every configured model a few small questions. A deployment without models is valid, not a fault.
func (a *cli) tryModels(ctx context.Context, c settings.Config) []finding {
	set, err := process.Models(c, zerolog.Nop())
	if err != nil {
		return []finding{{Check: "model", Found: errorText(err), Mend: "correct the setting"}}
	}
	defer set.Close()
	var names []string
	by := map[string][]string{}
	for _, stage := range modelStages {
		if m := set.Language(stage); m != nil {
			if by[m.Name()] == nil {
				names = append(names, m.Name())
			}
			by[m.Name()] = append(by[m.Name()], stage)
		}
	}
	var out []finding
	for _, name := range names {
		out = append(out, a.tryLanguage(ctx, set.Language(by[name][0]), by[name]))
	}
	if len(names) == 0 {
		f := finding{Check: "model", OK: true, Found: "none: facts come from rules"}
		if set.Embedder() == nil && set.Reranker() == nil {
			f.Found += ", vectors from the built-in embedder; nothing leaves this machine"
		}
		out = append(out, f)
	}
	if set.Embedder() != nil {
		out = append(out, a.tryEmbedder(ctx, set))
	}
	if r := set.Reranker(); r != nil {
		out = append(out, a.tryReranker(ctx, r))
	}
	return out
}

const (
	askCity    = "Which city does this sentence name? I moved to Lisbon in May."
	citySchema = `{"type":"object","properties":{"city":{"type":"string"}},"required":["city"],"additionalProperties":false}`
)

// tryLanguage asks for JSON, for a call of a tool, and for a stream.
func (a *cli) tryLanguage(ctx context.Context, m memory.LanguageModel, stages []string) finding {
	ctx, cancel := context.WithTimeout(ctx, a.Timeout)
	defer cancel()
	f := finding{Check: "model"}
	began := time.Now()
	got, err := m.Complete(ctx, memory.Prompt{System: "Answer in JSON.", User: askCity, Schema: []byte(citySchema), SchemaName: "city"})
	if err != nil {
		f.Found, f.Mend = errorText(err), mendModel(err, "EUNOE_MODEL")
		return f
	}
	took := time.Since(began).Round(time.Millisecond)
	var able, unable []string
	able, unable = grade(able, unable, "JSON", wellFormed(got.Text))
	called, err := m.Complete(ctx, memory.Prompt{
		User: askCity, MustCall: true, Tools: []memory.Tool{{Name: "name_city", Description: "Names the city.", Schema: []byte(citySchema)}},
	})
	able, unable = grade(able, unable, "tools", err == nil && len(called.Calls) > 0)
	pieces := 0
	_, err = m.Complete(ctx, memory.Prompt{User: askCity, Stream: func(string) error { pieces++; return nil }})
	able, unable = grade(able, unable, "streams", err == nil && pieces > 0)

	f.Found = fmt.Sprintf("%s (%s) answers in %s", m.Name(), strings.Join(stages, ", "), took)
	if len(able) > 0 {
		f.Found += "; it can: " + strings.Join(able, ", ")
	}
	if len(unable) > 0 {
		f.Found += "; it cannot: " + strings.Join(unable, ", ")
	}
	reflects := slices.Contains(stages, memory.StageReflect)
	f.OK = !slices.Contains(unable, "JSON") && (!reflects || !slices.Contains(unable, "tools"))
	if !f.OK {
		f.Mend = "choose a model that follows a JSON schema and calls tools; without tools set another in EUNOE_MODEL_REFLECT"
	}
	return f
}

func grade(able, unable []string, what string, ok bool) (_, _ []string) {
	if ok {
		return append(able, what), unable
	}
	return able, append(unable, what)
}

// wellFormed reports whether an answer is the requested JSON object.
func wellFormed(text string) bool {
	var v struct {
		City string `json:"city"`
	}
	return json.Unmarshal([]byte(text), &v) == nil && v.City != ""
}

// tryEmbedder asks for the vectors of a stored text and of a question.
func (a *cli) tryEmbedder(ctx context.Context, set *provider.Set) finding {
	ctx, cancel := context.WithTimeout(ctx, a.Timeout)
	defer cancel()
	e := set.Embedder()
	began := time.Now()
	err := set.Measure(ctx)
	if err == nil {
		_, err = e.Embed(ctx, []string{"Alice lives in Lisbon.", "The build is broken."})
	}
	if q, ok := e.(memory.QueryEmbedder); ok && err == nil {
		_, err = q.EmbedQuery(ctx, "Where does Alice live?")
	}
	if err != nil {
		return finding{Check: "embedder", Found: errorText(err), Mend: mendModel(err, "EUNOE_EMBED")}
	}
	return finding{Check: "embedder", OK: true, Found: fmt.Sprintf("%s gives vectors of %d dimensions; 3 texts took %s", e.Name(), e.Dimension(), time.Since(began).Round(time.Millisecond))}
}

// rerankPatience is how long a recall waits for the reranker.
const rerankPatience = 2 * time.Second

// tryReranker asks for an order of which there is no doubt.
func (a *cli) tryReranker(ctx context.Context, r memory.Reranker) finding {
	ctx, cancel := context.WithTimeout(ctx, a.Timeout)
	defer cancel()
	began := time.Now()
	scores, err := r.Rerank(ctx, "Where does Alice live?", []string{"The build is broken.", "Alice lives in Lisbon."})
	took := time.Since(began).Round(time.Millisecond)
	switch {
	case err != nil:
		return finding{Check: "reranker", Found: errorText(err), Mend: mendModel(err, "EUNOE_RERANK")}
	case scores[1] <= scores[0]:
		return finding{Check: "reranker", Found: "it prefers a sentence about a build for a question about a home",
			Mend: "set another EUNOE_RERANK_MODEL; a service that speaks as Cohere's does needs one"}
	case took > rerankPatience:
		return finding{Check: "reranker", Found: fmt.Sprintf("it took %s; a recall waits %s and then keeps its own order", took, rerankPatience), Mend: "use a smaller model, or a nearer service"}
	}
	return finding{Check: "reranker", OK: true, Found: fmt.Sprintf("answers in %s", took)}
}

// mendModel says what to do about a model that failed; setting is the prefix of its settings' names.
func mendModel(err error, setting string) string {
	switch {
	case errors.Is(err, provider.ErrKeyRefused):
		return "check the key (" + setting + "_KEY, or the provider's own variable)"
	case errors.Is(err, provider.ErrNotThere):
		return "check the model's name and " + setting + "_URL; Ollama gets a model by `ollama pull`"
	case errors.Is(err, memory.ErrDeadline):
		return "use a faster model, or give it more time: --timeout here, EUNOE_MODEL_TIMEOUT for the stages"
	case errors.Is(err, memory.ErrConflict):
		return "set EUNOE_EMBED_DIM to the dimension the model gives, or to 0"
	case errors.Is(err, memory.ErrInvalid):
		return "the model refuses a plain request: choose another"
	}
	return "start the service, or check " + setting + "_URL; until then what needs it waits or goes by rules"
}
