package query

import (
	"context"
	"strconv"
	"time"

	"github.com/nats-io/nats.go/micro"
	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/trace"

	"github.com/eunoe-memory/eunoe/internal/telemetry"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

// Metrics counts what a Service answered since it started. It is a prometheus.Collector.
type Metrics struct {
	requests *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
	working  prometheus.Gauge
	all      []prometheus.Collector
}

// newMetrics has a series for every kind of request from the start.
func newMetrics(requests []string, store interface{ Sketches() Sketches }) *Metrics {
	m := &Metrics{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "eunoe_query_requests_total", Help: "Requests answered, by their code; 200 is success."},
			[]string{"request", "code"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "eunoe_query_request_seconds", Help: "Time from taking a request to its answer.", Buckets: prometheus.ExponentialBuckets(.0005, 2.5, 12),
		}, []string{"request"}),
		working: prometheus.NewGauge(prometheus.GaugeOpts{Name: "eunoe_query_working", Help: "Requests in work."}),
	}
	m.all = []prometheus.Collector{m.requests, m.seconds, m.working}
	for name, of := range map[string]struct {
		help  string
		value func(Sketches) int64
	}{
		"eunoe_query_sketches":          {"Vectors that are sketched in memory.", func(s Sketches) int64 { return int64(s.Rows) }},
		"eunoe_query_sketches_bytes":    {"Memory that the sketches take.", func(s Sketches) int64 { return s.Bytes }},
		"eunoe_query_sketches_building": {"Large banks, by record, of which every vector is compared until their sketches are made.", func(s Sketches) int64 { return int64(s.Building) }},
	} {
		m.all = append(m.all, prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: of.help}, func() float64 { return float64(of.value(store.Sketches())) }))
	}
	for _, r := range requests {
		m.requests.WithLabelValues(r, "200")
		m.seconds.WithLabelValues(r)
	}
	return m
}

// answered counts a request, by the code it was answered with.
func (m *Metrics) answered(request string, code int, took time.Duration) {
	m.requests.WithLabelValues(request, strconv.Itoa(code)).Inc()
	m.seconds.WithLabelValues(request).Observe(took.Seconds())
}

// Describe implements prometheus.Collector.
func (m *Metrics) Describe(ch chan<- *prometheus.Desc) {
	for _, c := range m.all {
		c.Describe(ch)
	}
}

// Collect implements prometheus.Collector.
func (m *Metrics) Collect(ch chan<- prometheus.Metric) {
	for _, c := range m.all {
		c.Collect(ch)
	}
}

// begin starts the span of a request, under the trace context of its header.
func (s *Service) begin(ctx context.Context, h wire.Handler, r micro.Request) (context.Context, telemetry.Span) {
	if s.conn.Tracer == nil {
		return ctx, telemetry.Span{}
	}
	return telemetry.Begin(telemetry.Extract(ctx, r.Headers()), s.conn.Tracer, trace.SpanKindServer, h.Name)
}

// answered sets the outcome of a request in its span, in numbers.
func answered(span telemetry.Span, bank memory.BankID, code int, reply any) telemetry.Span {
	if !span.On() {
		return span
	}
	span.Text(telemetry.Bank, string(bank)).Number(telemetry.Code, code)
	switch r := reply.(type) {
	case wire.RecallReply:
		span.Number(telemetry.Count, len(r.Items)).Number(telemetry.Degraded, len(r.Degraded))
	case wire.ReflectReply:
		span.Number(telemetry.Count, len(r.Citations)).Number(telemetry.Degraded, len(r.Degraded))
	}
	return span
}
