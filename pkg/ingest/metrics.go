package ingest

import (
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// Metrics counts what ingest did since it started. It is a prometheus.Collector.
type Metrics struct {
	Messages      atomic.Int64 // taken into a session
	Flushes       atomic.Int64
	IdleFlushes   atomic.Int64 // published for idle sessions
	Foreign       atomic.Int64 // a broker's acknowledgements, ignored
	Dead          atomic.Int64 // malformed
	Throttled     atomic.Int64 // carried: over the bank's quota
	Skipped       atomic.Int64 // carried: filtered or recalled
	WindowsCount  atomic.Int64 // cut by the number of messages
	WindowsTokens atomic.Int64 // by their text
	WindowsFlush  atomic.Int64
	WindowsTopic  atomic.Int64
	Partitions    atomic.Int64 // owned now
	Retries       atomic.Int64 // batches begun again after a failure

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

// Windows is the number of windows cut, for whatever reason.
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

// counts is what one batch adds to the metrics once it is stored.
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
