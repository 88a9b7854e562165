package extract

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// Metrics counts what a Worker did since it started. It is a prometheus.Collector.
type Metrics struct {
	windows *prometheus.CounterVec
	facts   prometheus.Counter
	refused prometheus.Counter
	seconds prometheus.Histogram
}

func newMetrics() *Metrics {
	m := &Metrics{
		windows: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "eunoe_extract_windows_total", Help: "Windows ended."}, []string{"outcome"}),
		facts:   prometheus.NewCounter(prometheus.CounterOpts{Name: "eunoe_extract_facts_total", Help: "Facts extracted."}),
		refused: prometheus.NewCounter(prometheus.CounterOpts{Name: "eunoe_extract_refused_total", Help: "Drafts refused as no facts of their window."}),
		seconds: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "eunoe_extract_window_seconds", Help: "Time from taking a window to its write in the log.",
			Buckets: prometheus.ExponentialBuckets(.001, 4, 10),
		}),
	}
	for _, o := range []memory.WindowOutcome{memory.WindowFacts, memory.WindowEmpty, memory.WindowDead} {
		m.windows.WithLabelValues(string(o))
	}
	return m
}

// ended counts a window that was ended by w after took.
func (m *Metrics) ended(w memory.Write, took time.Duration) {
	m.windows.WithLabelValues(string(w.Window.Outcome)).Inc()
	m.facts.Add(float64(len(w.Facts)))
	m.refused.Add(float64(len(w.Refused)))
	m.seconds.Observe(took.Seconds())
}

func (m *Metrics) all() []prometheus.Collector {
	return []prometheus.Collector{m.windows, m.facts, m.refused, m.seconds}
}

// Describe implements prometheus.Collector.
func (m *Metrics) Describe(ch chan<- *prometheus.Desc) {
	for _, c := range m.all() {
		c.Describe(ch)
	}
}

// Collect implements prometheus.Collector.
func (m *Metrics) Collect(ch chan<- prometheus.Metric) {
	for _, c := range m.all() {
		c.Collect(ch)
	}
}
