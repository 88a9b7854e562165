package extract

import (
	"context"
	"errors"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/events/deadletter"
	"github.com/eunoe-memory/eunoe/pkg/events/work"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// Metrics counts what a Worker did since it started. It is a prometheus.Collector.
type Metrics struct {
	windows    *prometheus.CounterVec
	facts      prometheus.Counter
	refused    prometheus.Counter
	unembedded prometheus.Counter
	seconds    prometheus.Histogram
	tries      *prometheus.CounterVec
	working    prometheus.Gauge
	lag        *prometheus.Desc
	conn       *events.Conn
}

func newMetrics(c *events.Conn) *Metrics {
	m := &Metrics{
		conn:       c,
		tries:      prometheus.NewCounterVec(prometheus.CounterOpts{Name: "eunoe_extract_tries_total", Help: "Tries of windows, by how they ended."}, []string{"outcome"}),
		working:    prometheus.NewGauge(prometheus.GaugeOpts{Name: "eunoe_extract_working", Help: "Windows in work."}),
		lag:        prometheus.NewDesc("eunoe_extract_lag_seconds", "Age of the oldest window on the queue, those in work included.", nil, nil),
		windows:    prometheus.NewCounterVec(prometheus.CounterOpts{Name: "eunoe_extract_windows_total", Help: "Windows ended."}, []string{"outcome"}),
		facts:      prometheus.NewCounter(prometheus.CounterOpts{Name: "eunoe_extract_facts_total", Help: "Facts extracted."}),
		refused:    prometheus.NewCounter(prometheus.CounterOpts{Name: "eunoe_extract_refused_total", Help: "Drafts refused as no facts of their window."}),
		unembedded: prometheus.NewCounter(prometheus.CounterOpts{Name: "eunoe_extract_unembedded_total", Help: "Facts that went without vectors, for the embedder was away."}),
		seconds: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "eunoe_extract_window_seconds", Help: "Time from taking a window to its write in the log.",
			Buckets: prometheus.ExponentialBuckets(.001, 4, 10),
		}),
	}
	for _, o := range []memory.WindowOutcome{memory.WindowFacts, memory.WindowEmpty, memory.WindowDead} {
		m.windows.WithLabelValues(string(o))
	}
	for _, o := range []string{tryDone, tryParked, tryAgain, tryLater, tryDead} {
		m.tries.WithLabelValues(o)
	}
	return m
}

// How a try of a window ends.
const (
	tryDone   = "done"
	tryParked = "parked"
	tryAgain  = "again" // failed; tried again, or dead after the last one
	tryLater  = "later" // put off: what it needs is away
	tryDead   = "dead"  // trying again will not help
)

// tried counts a try.
func (m *Metrics) tried(parked bool, err error) {
	var later *work.RetryLaterError
	var dead *deadletter.PermanentError
	outcome := tryAgain
	switch {
	case err == nil && parked:
		outcome = tryParked
	case err == nil:
		outcome = tryDone
	case errors.As(err, &later):
		outcome = tryLater
	case errors.As(err, &dead):
		outcome = tryDead
	}
	m.tries.WithLabelValues(outcome).Inc()
}

// ended counts a window that was ended by w after the time took.
func (m *Metrics) ended(w memory.Write, took time.Duration) {
	m.windows.WithLabelValues(string(w.Window.Outcome)).Inc()
	m.facts.Add(float64(len(w.Facts)))
	m.refused.Add(float64(len(w.Refused)))
	m.seconds.Observe(took.Seconds())
}

func (m *Metrics) all() []prometheus.Collector {
	return []prometheus.Collector{m.windows, m.facts, m.refused, m.unembedded, m.seconds, m.tries, m.working}
}

// Describe implements prometheus.Collector.
func (m *Metrics) Describe(ch chan<- *prometheus.Desc) {
	for _, c := range m.all() {
		c.Describe(ch)
	}
	ch <- m.lag
}

// Collect implements prometheus.Collector. It asks the broker for at most two seconds; without an answer there is no
// lag.
func (m *Metrics) Collect(ch chan<- prometheus.Metric) {
	for _, c := range m.all() {
		c.Collect(ch)
	}
	if !m.conn.NC.IsConnected() {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	if age, err := m.conn.Waiting(ctx, m.conn.Naming.Windows(), "", 0, time.Now()); err == nil {
		ch <- prometheus.MustNewConstMetric(m.lag, prometheus.GaugeValue, age.Seconds())
	}
}
