package consolidate

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// scrapeTimeout bounds what one scrape asks of the store and the broker.
const scrapeTimeout = 2 * time.Second

// Metrics counts what a Consolidator did since it started, and reads from the store how many messages are in each state
// and how far it is behind the log. It is a prometheus.Collector.
type Metrics struct {
	store Store
	conn  *events.Conn

	active                                    prometheus.Gauge
	messages, dead, changes, erased, retries  prometheus.Counter
	writes                                    *prometheus.CounterVec
	seconds                                   *prometheus.HistogramVec
	tokens, calls                             *prometheus.CounterVec
	messageStates, appliedSequence, lagOfLogs *prometheus.Desc
}

func newMetrics(s Store, conn *events.Conn) *Metrics {
	counter := func(name, help string) prometheus.Counter {
		return prometheus.NewCounter(prometheus.CounterOpts{Name: "eunoe_consolidate_" + name, Help: help})
	}
	vec := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	}
	m := &Metrics{
		store: s, conn: conn,
		active: prometheus.NewGauge(prometheus.GaugeOpts{Name: "eunoe_consolidate_active",
			Help: "1 while this process writes the store, 0 while it stands by."}),
		messages: counter("messages_total", "Message events applied."),
		dead:     counter("dead_total", "Writes that can never be applied."),
		changes:  counter("changes_total", "Change events published."),
		erased:   counter("erased_total", "Stream events erased for a forget."),
		retries:  counter("retries_total", "What failed and was begun again."),
		writes:   vec("eunoe_consolidate_writes_total", "Writes applied.", "kind"),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "eunoe_consolidate_commit_seconds",
			Help: "Time of one transaction.", Buckets: prometheus.ExponentialBuckets(.001, 4, 8)}, []string{"stream"}),
		tokens: vec("eunoe_usage_tokens_total", "Tokens that models took; cached ones are among the prompt's.", "stage", "model", "kind"),
		calls:  vec("eunoe_usage_calls_total", "Calls of models.", "stage", "model", "outcome"),

		messageStates:   prometheus.NewDesc("eunoe_messages", "Message events of the store by what became of them.", []string{"state"}, nil),
		appliedSequence: prometheus.NewDesc("eunoe_applied_sequence", "Last sequence applied.", []string{"stream"}, nil),
		lagOfLogs: prometheus.NewDesc("eunoe_consolidate_lag_seconds",
			"Age of the oldest event that is not applied, and of the oldest change that is not published.", []string{"stream"}, nil),
	}
	for _, k := range []memory.WriteKind{memory.WriteWindow, memory.WriteRetain, memory.WriteObserve, memory.WriteConsolidate, memory.WriteEdit,
		memory.WriteConflict, memory.WriteAlias, memory.WriteApply, memory.WriteUndo, memory.WriteFeedback, memory.WriteBank, memory.WriteForget, memory.WriteDecide, memory.WriteSummary} {
		m.writes.WithLabelValues(string(k))
	}
	m.seconds.WithLabelValues("messages")
	m.seconds.WithLabelValues("writes")
	return m
}

func (m *Metrics) counters() []prometheus.Collector {
	return []prometheus.Collector{m.tokens, m.calls, m.active, m.messages, m.writes, m.dead, m.changes, m.erased, m.retries, m.seconds}
}

// applied counts a write and the usage it reports. A write that an erasure appended anew reports usage that was counted
// when the write was new: its time is not the one at which the stream stored it.
func (m *Metrics) applied(w Write) {
	m.writes.WithLabelValues(string(w.Write.Kind)).Inc()
	if !w.Write.Time.Equal(memory.At(w.Event.Stored)) {
		return
	}
	for _, u := range w.Write.Usage {
		for kind, n := range map[string]int{"prompt": u.PromptTokens, "cached": u.CachedTokens, "completion": u.CompletionTokens} {
			m.tokens.WithLabelValues(u.Stage, u.Model, kind).Add(float64(max(0, n)))
		}
		m.calls.WithLabelValues(u.Stage, u.Model, "failed").Add(float64(max(0, u.Failed)))
		m.calls.WithLabelValues(u.Stage, u.Model, "ok").Add(float64(max(0, u.Calls-u.Failed)))
	}
}

// Describe implements prometheus.Collector.
func (m *Metrics) Describe(ch chan<- *prometheus.Desc) {
	for _, c := range m.counters() {
		c.Describe(ch)
	}
	ch <- m.messageStates
	ch <- m.appliedSequence
	ch <- m.lagOfLogs
}

// Collect implements prometheus.Collector. It asks the store and the broker for at most two seconds, and leaves out
// what they do not answer.
func (m *Metrics) Collect(ch chan<- prometheus.Metric) {
	for _, c := range m.counters() {
		c.Collect(ch)
	}
	ctx, cancel := context.WithTimeout(context.Background(), scrapeTimeout)
	defer cancel()
	if messages, writes, err := m.store.Applied(ctx); err == nil {
		ch <- prometheus.MustNewConstMetric(m.appliedSequence, prometheus.GaugeValue, float64(messages), "messages")
		ch <- prometheus.MustNewConstMetric(m.appliedSequence, prometheus.GaugeValue, float64(writes), "writes")
		m.collectLag(ctx, ch, messages, writes)
	}
	states, err := m.store.MessageStates(ctx)
	if err != nil {
		return
	}
	for _, s := range []memory.MessageState{memory.StateForgotten, memory.StateDead, memory.StateDuplicate, memory.StateThrottled,
		memory.StateSkipped, memory.StateCommitted, memory.StateEmpty, memory.StatePending} {
		ch <- prometheus.MustNewConstMetric(m.messageStates, prometheus.GaugeValue, float64(states[s]), string(s))
	}
}

// collectLag collects how far the store is behind the log, and the outbox behind the store.
func (m *Metrics) collectLag(ctx context.Context, ch chan<- prometheus.Metric, messages, writes uint64) {
	now := time.Now()
	collect := func(stream string, age time.Duration) {
		ch <- prometheus.MustNewConstMetric(m.lagOfLogs, prometheus.GaugeValue, max(0, age).Seconds(), stream)
	}
	if entries, err := m.store.Outbox(ctx, 0, 1); err == nil {
		age := time.Duration(0)
		if len(entries) > 0 {
			age = now.Sub(entries[0].Change.Time)
		}
		collect("changes", age)
	}
	if !m.conn.NC.IsConnected() {
		return
	}
	names := m.conn.Naming
	if age, err := m.conn.Waiting(ctx, names.Messages(), "", messages, now); err == nil {
		collect("messages", age)
	}
	if age, err := m.conn.Waiting(ctx, names.Writes(), "", writes, now); err == nil {
		collect("writes", age)
	}
}
