package consolidate

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// collectLag gives how far the store is behind the log, and the outbox behind
// the store. What the broker does not tell is left out.
func (m *Metrics) collectLag(ctx context.Context, ch chan<- prometheus.Metric, messages, writes uint64) {
	now := time.Now()
	give := func(stream string, age time.Duration) {
		ch <- prometheus.MustNewConstMetric(m.lag, prometheus.GaugeValue, max(0, age).Seconds(), stream)
	}
	if entries, err := m.store.Outbox(ctx, 1); err == nil {
		age := time.Duration(0)
		if len(entries) > 0 {
			age = now.Sub(entries[0].Change.Time)
		}
		give("changes", age)
	}
	if !m.conn.NC.IsConnected() {
		return
	}
	names := m.conn.Naming
	for _, s := range []struct {
		label, name string
		after       uint64
	}{{"messages", names.Messages(), messages}, {"writes", names.Writes(), writes}} {
		if age, err := m.conn.Waiting(ctx, s.name, "", s.after, now); err == nil {
			give(s.label, age)
		}
	}
}
