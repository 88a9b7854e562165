package gateway

import (
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// metrics counts the requests of a Gateway since its start.
type metrics struct {
	requests *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
	streams  prometheus.Gauge
	all      []prometheus.Collector
}

func newMetrics(routes []Route, k *keys) *metrics {
	m := &metrics{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "eunoe_http_requests_total", Help: "HTTP requests answered, by route and status."}, []string{"route", "code"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "eunoe_http_request_seconds", Help: "Time from the headers of a request to its answer.", Buckets: prometheus.ExponentialBuckets(.0005, 2.5, 12),
		}, []string{"route"}),
		streams: prometheus.NewGauge(prometheus.GaugeOpts{Name: "eunoe_http_streams", Help: "Streams of events that are open."}),
	}
	open := prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "eunoe_http_connections", Help: "Connections to the broker, one for each key in use."},
		func() float64 { return float64(k.count()) })
	m.all = []prometheus.Collector{m.requests, m.seconds, m.streams, open}
	for _, r := range routes {
		m.requests.WithLabelValues(r.Method+" "+r.Path, "200")
		m.seconds.WithLabelValues(r.Method + " " + r.Path)
	}
	return m
}

// answered counts a request.
func (m *metrics) answered(route string, status int, took time.Duration) {
	m.requests.WithLabelValues(route, strconv.Itoa(status)).Inc()
	m.seconds.WithLabelValues(route).Observe(took.Seconds())
}

func (m *metrics) describe(ch chan<- *prometheus.Desc) {
	for _, c := range m.all {
		c.Describe(ch)
	}
}

func (m *metrics) collect(ch chan<- prometheus.Metric) {
	for _, c := range m.all {
		c.Collect(ch)
	}
}
