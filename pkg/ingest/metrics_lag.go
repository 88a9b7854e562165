package ingest

import (
	"context"
	"maps"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/eunoe-memory/eunoe/pkg/events"
)

// lag tells how far the owned partitions are behind.
type lag struct {
	conn *events.Conn
	desc *prometheus.Desc
	mu   sync.Mutex
	at   map[int]uint64 // position by owned partition
}

func (l *lag) begin(c *events.Conn) {
	l.conn, l.at = c, map[int]uint64{}
	l.desc = prometheus.NewDesc("eunoe_ingest_lag_seconds", "Age of the oldest event that is not cut into windows yet, over the owned partitions.", nil, nil)
}

// stands says where a partition stands.
func (l *lag) stands(part int, seq uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.at[part] = seq
}

// lost says that a partition is not owned any more.
func (l *lag) lost(part int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.at, part)
}

// lagWait bounds the asking for all partitions.
const lagWait = 2 * time.Second

// Describe implements prometheus.Collector.
func (l *lag) Describe(ch chan<- *prometheus.Desc) { ch <- l.desc }

// Collect implements prometheus.Collector. Without an answer of the broker
// there is no lag to show.
func (l *lag) Collect(ch chan<- prometheus.Metric) {
	l.mu.Lock()
	at := maps.Clone(l.at)
	l.mu.Unlock()
	if !l.conn.NC.IsConnected() {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), lagWait)
	defer cancel()
	oldest, now := time.Duration(0), time.Now()
	for part, seq := range at {
		age, err := l.conn.Waiting(ctx, l.conn.Naming.Messages(), l.conn.Naming.StoredMessages(part), seq, now)
		if err != nil {
			return
		}
		oldest = max(oldest, age)
	}
	ch <- prometheus.MustNewConstMetric(l.desc, prometheus.GaugeValue, oldest.Seconds())
}
