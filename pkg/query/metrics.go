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
}

// newMetrics has a series for each request from the start.
func newMetrics(requests []string) *Metrics {
	m := &Metrics{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "eunoe_query_requests_total", Help: "Requests answered, by their code; 200 is success."},
			[]string{"request", "code"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "eunoe_query_request_seconds", Help: "Time from taking a request to its answer.", Buckets: prometheus.ExponentialBuckets(.0005, 2.5, 12),
		}, []string{"request"}),
		working: prometheus.NewGauge(prometheus.GaugeOpts{Name: "eunoe_query_working", Help: "Requests in work."}),
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
}

// Collect implements prometheus.Collector.
func (m *Metrics) Collect(ch chan<- prometheus.Metric) {
	m.requests.Collect(ch)
	m.seconds.Collect(ch)
	m.working.Collect(ch)
}
