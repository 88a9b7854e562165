package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"

	"github.com/eunoe-memory/eunoe/bench/dataset"
	"github.com/eunoe-memory/eunoe/internal/console"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/text"
	"github.com/eunoe-memory/eunoe/test/scriptedmodel"
)

// The bounds of what building a memory takes: calls of a model per 1,000 turns, and tokens a turn beyond the turn's own
// text.
const (
	mostCalls  = 51
	mostTokens = 72
)

// lightmem is what LightMem's authors report for building LoCoMo's ten conversations. Its tokens include the turns' own
// text.
var lightmem = struct {
	turns, calls int
	tokens       float64
}{5882, 298, 851_800}

// buildFigures is what build prints with --json.
type buildFigures struct {
	Conversations    int                      `json:"conversations"`
	Turns            int                      `json:"turns"`
	TextTokens       int                      `json:"text_tokens"` // of the turns, captions included, each once
	Stages           []buildStage             `json:"stages"`
	Total            memory.Usage             `json:"total"`
	CallsPer1000     float64                  `json:"calls_per_1000_turns"`
	TokensPerTurn    float64                  `json:"tokens_per_turn"`
	BeyondPerTurn    float64                  `json:"tokens_per_turn_beyond_text"`
	Equal            bool                     `json:"usage_equal"` // the banks report what the model served
	Facts            *scriptedmodel.FactStats `json:"facts,omitempty"`
	Took             string                   `json:"took"`
	reported, served map[string]memory.Usage
}

// buildStage is what one stage took.
type buildStage struct {
	Stage string `json:"stage"`
	memory.Usage
	// Fixed counts the prompt tokens that are the same in every call: the task and the schema of the answer.
	Fixed int `json:"fixed_tokens"`
}

func newBuildFigures(sets []dataset.Conversation, used map[string]memory.Usage, model *scriptedmodel.Server) buildFigures {
	stats := model.Stats()
	f := buildFigures{Conversations: len(sets), Equal: sameUsage(used, stats.Stages), Facts: stats.Facts, reported: used, served: stats.Stages}
	for _, set := range sets {
		for _, m := range set.Turns() {
			f.Turns++
			f.TextTokens += text.CountTokens(m.Content) + text.CountTokens(m.Caption())
		}
	}
	fixed := map[string]int{}
	for _, c := range model.Calls("") {
		fixed[c.Stage] += text.CountTokens(string(c.Schema))
		for _, m := range c.Messages {
			if m.Role == "system" {
				fixed[c.Stage] += text.CountTokens(m.Content)
			}
		}
	}
	for _, stage := range slices.Sorted(maps.Keys(used)) {
		f.Stages = append(f.Stages, buildStage{stage, used[stage], fixed[stage]})
		f.Total = f.Total.Plus(used[stage])
	}
	if turns := float64(f.Turns); turns > 0 {
		f.CallsPer1000 = 1000 * float64(f.Total.Calls) / turns
		f.TokensPerTurn = float64(f.Total.Tokens()) / turns
		f.BeyondPerTurn = float64(f.Total.Tokens()-f.TextTokens) / turns
	}
	return f
}

// sameUsage reports whether two counts by stage are equal, but for cached tokens.
func sameUsage(a, b map[string]memory.Usage) bool {
	return maps.EqualFunc(a, b, func(x, y memory.Usage) bool {
		return x.Calls == y.Calls && x.Failed == y.Failed && x.PromptTokens == y.PromptTokens && x.CompletionTokens == y.CompletionTokens
	})
}

func (f buildFigures) show(w io.Writer) {
	per := func(n int) string { return fmt.Sprintf("%.1f", float64(n)/float64(max(1, f.Turns))) }
	row := func(name string, u memory.Usage, fixed int) []string {
		return []string{name, strconv.Itoa(u.Calls), strconv.Itoa(u.Failed), strconv.Itoa(u.PromptTokens), strconv.Itoa(fixed), strconv.Itoa(u.CompletionTokens),
			per(1000 * u.Calls), per(u.Tokens())}
	}
	var rows [][]string
	fixed := 0
	for _, s := range f.Stages {
		rows = append(rows, row(s.Stage, s.Usage, s.Fixed))
		fixed += s.Fixed
	}
	rows = append(rows, row("all", f.Total, fixed))
	console.Table(w, []string{"stage", "calls", "failed", "prompt", "of it fixed", "completion", "calls/1,000 turns", "tokens/turn"}, rows)
	same := "the banks say the same as the model"
	if !f.Equal {
		same = "THE BANKS SAY OTHERWISE THAN THE MODEL"
	}
	fmt.Fprintf(w, "\n%d conversations, %d turns of %s tokens of text each; %s; built in %s\n", f.Conversations, f.Turns, per(f.TextTokens), same, f.Took)
	if f.Facts != nil {
		fmt.Fprintf(w, "facts: %d published, %d answered, %d without a turn\n", f.Facts.Published, f.Facts.Answered, f.Facts.Unplaced)
	}
	fmt.Fprintf(w, "calls per 1,000 turns      %6.1f   at most %d\n", f.CallsPer1000, mostCalls)
	fmt.Fprintf(w, "tokens a turn beyond text  %6.1f   at most %d\n", f.BeyondPerTurn, mostTokens)
	fmt.Fprintf(w, "tokens a turn, text and all%6.1f\n\n", f.TokensPerTurn)
	fmt.Fprintf(w, "LightMem tells of %d calls and %.1fk tokens for LoCoMo's %d turns: %.1f calls per 1,000 turns and %.1f tokens a turn, text and all.\n",
		lightmem.calls, lightmem.tokens/1000, lightmem.turns, 1000*float64(lightmem.calls)/float64(lightmem.turns), lightmem.tokens/float64(lightmem.turns))
	fmt.Fprint(w, "Calls compare, and tokens with the text. The turns here are some of those; what is extracted was published and is not made\n"+
		"up by this prompt; LightMem has a small model shorten the text before.\n")
}
