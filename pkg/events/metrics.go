package events

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// Metrics exports the state of the connection and of the streams, as a prometheus.Collector. Every process of a
// deployment exports the same about streams.
type Metrics struct {
	conn                                  *Conn
	connected, reconnects, messages, size *prometheus.Desc
	renewals                              *prometheus.Desc
}

// NewMetrics returns the metrics of a connection. Each collection costs one request per stream.
func NewMetrics(c *Conn) *Metrics {
	desc := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc("eunoe_"+name, help, labels, nil)
	}
	return &Metrics{
		conn:       c,
		connected:  desc("broker_connected", "1 while the broker is connected."),
		reconnects: desc("broker_reconnects_total", "How often the connection was made again."),
		messages:   desc("stream_messages", "Events that a stream holds.", "stream"),
		size:       desc("stream_bytes", "Bytes that a stream holds.", "stream"),
		renewals:   desc("broker_renewals_total", "How often a stream was read on from a new subscription, and why.", "stream", "cause"),
	}
}

// Describe implements prometheus.Collector.
func (m *Metrics) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{m.connected, m.reconnects, m.messages, m.size, m.renewals} {
		ch <- d
	}
}

// metricsWait bounds the requests of one collection.
const metricsWait = 2 * time.Second

// Collect implements prometheus.Collector. It omits streams about which the broker does not answer within two seconds.
func (m *Metrics) Collect(ch chan<- prometheus.Metric) {
	up := 0.0
	if m.conn.NC.IsConnected() {
		up = 1
	}
	ch <- prometheus.MustNewConstMetric(m.connected, prometheus.GaugeValue, up)
	ch <- prometheus.MustNewConstMetric(m.reconnects, prometheus.CounterValue, float64(m.conn.NC.Stats().Reconnects))
	for _, r := range m.conn.Resubscriptions() {
		ch <- prometheus.MustNewConstMetric(m.renewals, prometheus.CounterValue, float64(r.Count), r.Stream, r.Cause)
	}
	if up == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), metricsWait)
	defer cancel()
	n := m.conn.Naming
	for _, s := range []struct{ label, name string }{
		{"messages", n.Messages()}, {"windows", n.Windows()}, {"writes", n.Writes()}, {"changes", n.Changes()}, {"dead", n.Dead()}, {"parked", n.Parked()},
	} {
		stream, err := m.conn.JS.Stream(ctx, s.name)
		if err != nil {
			continue
		}
		state := stream.CachedInfo().State
		ch <- prometheus.MustNewConstMetric(m.messages, prometheus.GaugeValue, float64(state.Msgs), s.label)
		ch <- prometheus.MustNewConstMetric(m.size, prometheus.GaugeValue, float64(state.Bytes), s.label)
	}
}

// Waiting returns the age at now of the first event of a stream after a sequence, 0 if there is none. filter is on
// stored subjects; "" = all.
func (c *Conn) Waiting(ctx context.Context, stream, filter string, after uint64, now time.Time) (time.Duration, error) {
	filter = cmp.Or(filter, c.Naming.prefix()+".>")
	e, err := c.NextEvent(ctx, stream, filter, after+1)
	if errors.Is(err, memory.ErrNotFound) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	return max(0, now.Sub(e.Stored)), nil
}
