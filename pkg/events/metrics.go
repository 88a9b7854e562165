package events

import (
	"context"
	"errors"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// Metrics shows the connection, and how the streams stand: every process of a
// deployment shows the same of them. It is a prometheus.Collector.
type Metrics struct {
	conn                                  *Conn
	connected, reconnects, messages, size *prometheus.Desc
	renewals                              *prometheus.Desc
}

// NewMetrics makes the metrics of a connection. Each look asks the broker
// once for every stream.
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

// metricsWait bounds what one look at the broker takes.
const metricsWait = 2 * time.Second

// Collect implements prometheus.Collector. Streams that the broker does not
// tell of in two seconds are left out.
func (m *Metrics) Collect(ch chan<- prometheus.Metric) {
	up := 0.0
	if m.conn.NC.IsConnected() {
		up = 1
	}
	ch <- prometheus.MustNewConstMetric(m.connected, prometheus.GaugeValue, up)
	ch <- prometheus.MustNewConstMetric(m.reconnects, prometheus.CounterValue, float64(m.conn.NC.Stats().Reconnects))
	for _, r := range m.conn.Renewals() {
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

// Waiting gives how long the first event of a stream behind a sequence has been
// waiting at now, 0 where none is. filter is on stored subjects, "" = all.
func (c *Conn) Waiting(ctx context.Context, stream, filter string, after uint64, now time.Time) (time.Duration, error) {
	if filter == "" {
		filter = c.Naming.prefix() + ".>"
	}
	e, err := c.nextOf(ctx, stream, filter, after+1)
	if errors.Is(err, memory.ErrNotFound) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	return max(0, now.Sub(e.Stored)), nil
}
