package consolidate

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// usageMetrics counts what models took, as the writes applied by this process
// tell. A write that was appended anew was counted when it was new.
type usageMetrics struct {
	tokens, calls *prometheus.CounterVec
}

func newUsageMetrics() usageMetrics {
	return usageMetrics{
		tokens: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "eunoe_usage_tokens_total", Help: "Tokens that models took; cached ones are among the prompt's."},
			[]string{"stage", "model", "kind"}),
		calls: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "eunoe_usage_calls_total", Help: "Calls of models."},
			[]string{"stage", "model", "outcome"}),
	}
}

func (m usageMetrics) all() []prometheus.Collector { return []prometheus.Collector{m.tokens, m.calls} }

// applied counts a write.
func (m usageMetrics) applied(p pendingWrite) {
	if !p.write.Time.Equal(memory.At(p.event.Stored)) {
		return
	}
	for _, u := range p.write.Usage {
		for _, n := range []struct {
			kind   string
			tokens int
		}{{"prompt", u.PromptTokens}, {"cached", u.CachedTokens}, {"completion", u.CompletionTokens}} {
			m.tokens.WithLabelValues(u.Stage, u.Model, n.kind).Add(float64(max(0, n.tokens)))
		}
		m.calls.WithLabelValues(u.Stage, u.Model, "failed").Add(float64(max(0, u.Failed)))
		m.calls.WithLabelValues(u.Stage, u.Model, "ok").Add(float64(max(0, u.Calls-u.Failed)))
	}
}
