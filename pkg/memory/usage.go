package memory

import (
	"cmp"
	"context"
	"slices"
	"sync"
)

// The stages that call models. Usage is counted by them.
const (
	StageExtract   = "extract"
	StageDecide    = "decide"
	StageSummarise = "summarise"
	StageObserve   = "observe"
	StageReflect   = "reflect"
	StageJudge     = "judge"
	StageEmbed     = "embed"
	StageRerank    = "rerank"
)

// Usage is what calls of a model used, as the provider reported it. Failed calls are among Calls, and what they used is
// counted when it is known.
type Usage struct {
	Calls            int `json:"calls"`
	Failed           int `json:"failed"`
	PromptTokens     int `json:"prompt_tokens"` // cached ones included
	CachedTokens     int `json:"cached_tokens"`
	CompletionTokens int `json:"completion_tokens"`
}

// Plus returns the sum of two usages.
func (u Usage) Plus(v Usage) Usage {
	return Usage{u.Calls + v.Calls, u.Failed + v.Failed, u.PromptTokens + v.PromptTokens, u.CachedTokens + v.CachedTokens,
		u.CompletionTokens + v.CompletionTokens}
}

// Tokens returns what counts against a budget: prompt and completion.
func (u Usage) Tokens() int { return u.PromptTokens + u.CompletionTokens }

// StageUsage is the usage of one model by one stage.
type StageUsage struct {
	Stage string `json:"stage"`
	Model string `json:"model"` // provider and model
	Usage
}

// Meter sums up what model calls used. It travels in a context down to the provider, so that every call counts,
// repeated and failed ones too. A nil Meter counts nothing. It is safe for concurrent use.
type Meter struct {
	mu   sync.Mutex
	list []StageUsage
}

type meterKey struct{}

// WithMeter returns a context whose model calls count in m.
func WithMeter(ctx context.Context, m *Meter) context.Context {
	return context.WithValue(ctx, meterKey{}, m)
}

// MeterOf returns the Meter of a context, nil without one.
func MeterOf(ctx context.Context) *Meter {
	m, _ := ctx.Value(meterKey{}).(*Meter)
	return m
}

// Add counts u.
func (m *Meter) Add(u StageUsage) {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.list = AddUsage(m.list, u)
}

// Take returns what was counted since the last Take, by stage and model; nil for nothing.
func (m *Meter) Take() []StageUsage {
	if m == nil {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	out := m.list
	m.list = nil
	return out
}

// AddUsage adds u to a list that is ordered by stage and model.
func AddUsage(list []StageUsage, u StageUsage) []StageUsage {
	i, found := slices.BinarySearchFunc(list, u, func(a, b StageUsage) int {
		return cmp.Or(cmp.Compare(a.Stage, b.Stage), cmp.Compare(a.Model, b.Model))
	})
	if found {
		list[i].Usage = list[i].Plus(u.Usage)
		return list
	}
	return slices.Insert(list, i, u)
}
