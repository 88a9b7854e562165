package query

import (
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Metrics counts what a Service answered since it started. It is a
// prometheus.Collector.
type Metrics struct {
	requests *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
	working  prometheus.Gauge
	sketches []prometheus.Collector
}

// newMetrics has a series for each request from the start.
func newMetrics(requests []string, store interface{ Sketches() Sketches }) *Metrics {
	m := &Metrics{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "eunoe_query_requests_total", Help: "Requests answered, by their code; 200 is success."},
			[]string{"request", "code"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "eunoe_query_request_seconds", Help: "Time from taking a request to its answer.", Buckets: prometheus.ExponentialBuckets(.0005, 2.5, 12),
		}, []string{"request"}),
		working: prometheus.NewGauge(prometheus.GaugeOpts{Name: "eunoe_query_working", Help: "Requests in work."}),
	}
	for name, of := range map[string]struct {
		help  string
		value func(Sketches) int64
	}{
		"eunoe_query_sketches":          {"Vectors that are sketched in memory.", func(s Sketches) int64 { return int64(s.Rows) }},
		"eunoe_query_sketches_bytes":    {"Memory that the sketches take.", func(s Sketches) int64 { return s.Bytes }},
		"eunoe_query_sketches_building": {"Large banks, by record, of which every vector is compared until their sketches are made.", func(s Sketches) int64 { return int64(s.Building) }},
	} {
		m.sketches = append(m.sketches, prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: of.help}, func() float64 { return float64(of.value(store.Sketches())) }))
	}
	for _, r := range requests {
		m.requests.WithLabelValues(r, "200")
		m.seconds.WithLabelValues(r)
	}
	return m
}

// answered counts a request that was answered with code.
func (m *Metrics) answered(request string, code int, took time.Duration) {
	m.requests.WithLabelValues(request, strconv.Itoa(code)).Inc()
	m.seconds.WithLabelValues(request).Observe(took.Seconds())
}

// Describe implements prometheus.Collector.
func (m *Metrics) Describe(ch chan<- *prometheus.Desc) {
	m.requests.Describe(ch)
	m.seconds.Describe(ch)
	m.working.Describe(ch)
	for _, s := range m.sketches {
		s.Describe(ch)
	}
}

// Collect implements prometheus.Collector.
func (m *Metrics) Collect(ch chan<- prometheus.Metric) {
	m.requests.Collect(ch)
	m.seconds.Collect(ch)
	m.working.Collect(ch)
	for _, s := range m.sketches {
		s.Collect(ch)
	}
}
