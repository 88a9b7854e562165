package ingest

import (
	"context"
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// Metrics counts the work of an Ingest since it started. It is a prometheus.Collector.
type Metrics struct {
	Messages      atomic.Int64 // added to a session
	Flushes       atomic.Int64
	IdleFlushes   atomic.Int64 // published for idle sessions
	Foreign       atomic.Int64 // acknowledgements of a broker, ignored
	Dead          atomic.Int64 // malformed
	Throttled     atomic.Int64 // carried because of the bank's quota
	Skipped       atomic.Int64 // carried because filtered or recalled
	WindowsCount  atomic.Int64 // cut by the number of messages
	WindowsTokens atomic.Int64 // cut by the tokens of their text
	WindowsFlush  atomic.Int64
	WindowsTopic  atomic.Int64
	Partitions    atomic.Int64 // owned at present
	Retries       atomic.Int64 // batches that were repeated after a failure

	seconds prometheus.Histogram
	lag     lag
}

func (m *Metrics) begin(c *events.Conn) {
	m.seconds = prometheus.NewHistogram(prometheus.HistogramOpts{
		Name: "eunoe_ingest_batch_seconds", Help: "Time from taking a batch of events to its position in the broker.",
		Buckets: prometheus.ExponentialBuckets(.0005, 4, 9),
	})
	m.lag.begin(c)
}

// Windows returns the number of windows cut for any reason.
func (m *Metrics) Windows() int64 {
	return m.WindowsCount.Load() + m.WindowsTokens.Load() + m.WindowsFlush.Load() + m.WindowsTopic.Load()
}

type series struct {
	desc  *prometheus.Desc
	value *atomic.Int64
	kind  prometheus.ValueType
}

func (m *Metrics) series() []series {
	one := func(name, help string, v *atomic.Int64, kind prometheus.ValueType, labels prometheus.Labels) series {
		return series{prometheus.NewDesc("eunoe_ingest_"+name, help, nil, labels), v, kind}
	}
	counter := func(name, help string, v *atomic.Int64) series {
		return one(name, help, v, prometheus.CounterValue, nil)
	}
	window := func(why memory.Trigger, v *atomic.Int64) series {
		return one("windows_total", "Windows cut.", v, prometheus.CounterValue, prometheus.Labels{"trigger": string(why)})
	}
	return []series{
		counter("messages_total", "Messages taken into a session.", &m.Messages),
		counter("flushes_total", "Flushes read.", &m.Flushes),
		counter("idle_flushes_total", "Flushes published for idle sessions.", &m.IdleFlushes),
		counter("foreign_total", "Acknowledgements of a broker found in the stream and ignored.", &m.Foreign),
		counter("dead_total", "Malformed events.", &m.Dead),
		counter("throttled_total", "Messages over their bank's quota.", &m.Throttled),
		counter("skipped_total", "Messages filtered by role or recalled.", &m.Skipped),
		window(memory.TriggerCount, &m.WindowsCount), window(memory.TriggerTokens, &m.WindowsTokens),
		window(memory.TriggerFlush, &m.WindowsFlush), window(memory.TriggerTopic, &m.WindowsTopic),
		counter("retries_total", "Batches begun again after a failure.", &m.Retries),
		one("partitions", "Partitions owned.", &m.Partitions, prometheus.GaugeValue, nil),
	}
}

// Describe implements prometheus.Collector.
func (m *Metrics) Describe(ch chan<- *prometheus.Desc) {
	for _, s := range m.series() {
		ch <- s.desc
	}
	m.seconds.Describe(ch)
	m.lag.Describe(ch)
}

// Collect implements prometheus.Collector.
func (m *Metrics) Collect(ch chan<- prometheus.Metric) {
	for _, s := range m.series() {
		ch <- prometheus.MustNewConstMetric(s.desc, s.kind, float64(s.value.Load()))
	}
	m.seconds.Collect(ch)
	m.lag.Collect(ch)
}

// counts is what one batch adds to the metrics after it was stored.
type counts struct {
	messages, flushes, foreign, throttled, skipped int64
	windows                                        map[memory.Trigger]int64
}

func (c *counts) event(e Event, set Settings, windows []memory.Window) {
	for _, w := range windows {
		if c.windows == nil {
			c.windows = map[memory.Trigger]int64{}
		}
		c.windows[w.Trigger]++
	}
	if e.Flush {
		c.flushes++
		return
	}
	c.messages++
	switch set.carry(e) {
	case memory.CarryThrottled:
		c.throttled++
	case memory.CarryFiltered, memory.CarryRecalled:
		c.skipped++
	}
}

func (m *Metrics) add(c counts, dead int) {
	m.Messages.Add(c.messages)
	m.Flushes.Add(c.flushes)
	m.Foreign.Add(c.foreign)
	m.Dead.Add(int64(dead))
	m.Throttled.Add(c.throttled)
	m.Skipped.Add(c.skipped)
	m.WindowsCount.Add(c.windows[memory.TriggerCount])
	m.WindowsTokens.Add(c.windows[memory.TriggerTokens])
	m.WindowsFlush.Add(c.windows[memory.TriggerFlush])
	m.WindowsTopic.Add(c.windows[memory.TriggerTopic])
}

// lag measures how far the owned partitions are behind the stream.
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

// set records the position of an owned partition.
func (l *lag) set(part int, seq uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.at[part] = seq
}

// remove forgets a partition that is not owned any more.
func (l *lag) remove(part int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.at, part)
}

// lagWait bounds the requests of one collection.
const lagWait = 2 * time.Second

// Describe implements prometheus.Collector.
func (l *lag) Describe(ch chan<- *prometheus.Desc) { ch <- l.desc }

// Collect implements prometheus.Collector. It exports nothing if the broker does not answer.
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
