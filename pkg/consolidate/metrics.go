package consolidate

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// Metrics counts what a Consolidator did since it started, and, while it is
// the active one, what became of every message of the store. It is a
// prometheus.Collector.
type Metrics struct {
	store    Store
	conn     *events.Conn
	active   prometheus.Gauge
	messages prometheus.Counter
	writes   *prometheus.CounterVec
	dead     prometheus.Counter
	changes  prometheus.Counter
	erased   prometheus.Counter
	usage    usageMetrics
	seconds  *prometheus.HistogramVec
	states   *prometheus.Desc
	applied  *prometheus.Desc
	retries  prometheus.Counter
	lag      *prometheus.Desc
}

func newMetrics(s Store, conn *events.Conn) *Metrics {
	counter := func(name, help string) prometheus.Counter {
		return prometheus.NewCounter(prometheus.CounterOpts{Name: "eunoe_consolidate_" + name, Help: help})
	}
	m := &Metrics{
		store:   s,
		conn:    conn,
		retries: counter("retries_total", "What failed and was begun again."),
		lag: prometheus.NewDesc("eunoe_consolidate_lag_seconds", "Age of the oldest event that is not applied, and of the oldest change that is not published.",
			[]string{"stream"}, nil),
		active:   prometheus.NewGauge(prometheus.GaugeOpts{Name: "eunoe_consolidate_active", Help: "1 while this process writes the store, 0 while it stands by."}),
		messages: counter("messages_total", "Message events applied."),
		writes:   prometheus.NewCounterVec(prometheus.CounterOpts{Name: "eunoe_consolidate_writes_total", Help: "Writes applied."}, []string{"kind"}),
		dead:     counter("dead_total", "Writes that can never be applied."),
		changes:  counter("changes_total", "Change events published."),
		erased:   counter("erased_total", "Stream events erased for a forget."),
		usage:    newUsageMetrics(),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "eunoe_consolidate_commit_seconds", Help: "Time of one transaction.", Buckets: prometheus.ExponentialBuckets(.001, 4, 8),
		}, []string{"stream"}),
		states:  prometheus.NewDesc("eunoe_messages", "Message events of the store by what became of them.", []string{"state"}, nil),
		applied: prometheus.NewDesc("eunoe_applied_sequence", "Last sequence applied.", []string{"stream"}, nil),
	}
	for _, k := range []memory.WriteKind{memory.WriteWindow, memory.WriteRetain, memory.WriteObserve, memory.WriteConsolidate, memory.WriteEdit,
		memory.WriteConflict, memory.WriteFeedback, memory.WriteBank, memory.WriteForget, memory.WriteDecide, memory.WriteSummary} {
		m.writes.WithLabelValues(string(k))
	}
	m.seconds.WithLabelValues("messages")
	m.seconds.WithLabelValues("writes")
	return m
}

func (m *Metrics) all() []prometheus.Collector {
	return append(m.usage.all(), m.active, m.messages, m.writes, m.dead, m.changes, m.erased, m.retries, m.seconds)
}

// Describe implements prometheus.Collector.
func (m *Metrics) Describe(ch chan<- *prometheus.Desc) {
	for _, c := range m.all() {
		c.Describe(ch)
	}
	ch <- m.states
	ch <- m.applied
	ch <- m.lag
}

// Collect implements prometheus.Collector. The store is asked for at most two seconds.
func (m *Metrics) Collect(ch chan<- prometheus.Metric) {
	for _, c := range m.all() {
		c.Collect(ch)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	if messages, writes, err := m.store.Applied(ctx); err == nil {
		ch <- prometheus.MustNewConstMetric(m.applied, prometheus.GaugeValue, float64(messages), "messages")
		ch <- prometheus.MustNewConstMetric(m.applied, prometheus.GaugeValue, float64(writes), "writes")
		m.collectLag(ctx, ch, messages, writes)
	}
	states, err := m.store.MessageStates(ctx)
	if err != nil {
		return // a store that is busy is asked again at the next scrape
	}
	for _, s := range []memory.MessageState{memory.StateForgotten, memory.StateDead, memory.StateDuplicate, memory.StateThrottled,
		memory.StateSkipped, memory.StateCommitted, memory.StateEmpty, memory.StatePending} {
		ch <- prometheus.MustNewConstMetric(m.states, prometheus.GaugeValue, float64(states[s]), string(s))
	}
}
