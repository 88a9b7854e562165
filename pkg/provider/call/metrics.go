package call

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// Metrics counts the requests to models and what they took. It is a prometheus.Collector.
type Metrics struct {
	calls   *prometheus.CounterVec
	tokens  *prometheus.CounterVec
	seconds *prometheus.HistogramVec
}

// NewMetrics makes metrics without any series.
func NewMetrics() *Metrics {
	return &Metrics{
		calls: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "eunoe_model_calls_total", Help: "Requests to models, repeated and failed ones too.",
		}, []string{"stage", "model", "outcome"}),
		tokens: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "eunoe_model_tokens_total", Help: "Tokens as the providers report them; cached ones are among the prompt's.",
		}, []string{"stage", "model", "kind"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "eunoe_model_seconds", Help: "Time of one request to a model.", Buckets: prometheus.ExponentialBuckets(.01, 2.5, 11),
		}, []string{"stage", "model"}),
	}
}

// Register creates the series of a stage's model, so that they start at 0.
func (m *Metrics) Register(stage, model string) {
	for _, o := range outcomes {
		m.calls.WithLabelValues(stage, model, o)
	}
	for _, kind := range []string{"prompt", "cached", "completion"} {
		m.tokens.WithLabelValues(stage, model, kind)
	}
	m.seconds.WithLabelValues(stage, model)
}

func (m *Metrics) attempt(stage, model, outcome string, u memory.Usage, took time.Duration) {
	m.calls.WithLabelValues(stage, model, outcome).Inc()
	m.tokens.WithLabelValues(stage, model, "prompt").Add(float64(u.PromptTokens))
	m.tokens.WithLabelValues(stage, model, "cached").Add(float64(u.CachedTokens))
	m.tokens.WithLabelValues(stage, model, "completion").Add(float64(u.CompletionTokens))
	m.seconds.WithLabelValues(stage, model).Observe(took.Seconds())
}

func (m *Metrics) skipped(stage, model string) {
	m.calls.WithLabelValues(stage, model, outcomeSkipped).Inc()
}

// Describe implements prometheus.Collector.
func (m *Metrics) Describe(ch chan<- *prometheus.Desc) { prometheus.DescribeByCollect(m, ch) }

// Collect implements prometheus.Collector.
func (m *Metrics) Collect(ch chan<- prometheus.Metric) {
	m.calls.Collect(ch)
	m.tokens.Collect(ch)
	m.seconds.Collect(ch)
}
