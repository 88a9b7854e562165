package llm

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// Metrics counts the questions of a Worker and their answers since it started, and reads from the store how many are
// pending. It is a prometheus.Collector.
type Metrics struct {
	answers *prometheus.CounterVec
	items   *prometheus.CounterVec
	rests   *prometheus.CounterVec
	store   Store
	pending *prometheus.Desc
	lag     *prometheus.Desc
}

func newMetrics(s Store) *Metrics {
	vec := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: "eunoe_consolidate_model_" + name, Help: help}, labels)
	}
	desc := func(name, help string) *prometheus.Desc {
		return prometheus.NewDesc("eunoe_consolidate_model_"+name, help, []string{"stage"}, nil)
	}
	m := &Metrics{
		store:   s,
		pending: desc("pending", "Facts, composites and requests that wait for a language model."),
		lag:     desc("lag_seconds", "How long the oldest of them waits."),
		answers: vec("answers_total", "Questions put to a language model, by what came back.", "stage", "outcome"),
		items:   vec("items_total", "Items of its answers, and what was given up after answers without sense.", "stage", "outcome"),
		rests:   vec("rests_total", "Pauses after a failure.", "stage"),
	}
	for _, stage := range []string{memory.StageDecide, memory.StageSummarise, memory.StageObserve} {
		for _, o := range []string{"answered", "nonsense", "refused", "failed"} {
			m.answers.WithLabelValues(stage, o)
		}
		for _, o := range []string{"taken", "refused", "dropped"} {
			m.items.WithLabelValues(stage, o)
		}
		m.rests.WithLabelValues(stage)
	}
	return m
}

func (m *Metrics) answered(stage, outcome string) { m.answers.WithLabelValues(stage, outcome).Inc() }
func (m *Metrics) counted(stage, outcome string, n int) {
	m.items.WithLabelValues(stage, outcome).Add(float64(n))
}
func (m *Metrics) failed(stage string) { m.rests.WithLabelValues(stage).Inc() }

// Describe implements prometheus.Collector.
func (m *Metrics) Describe(ch chan<- *prometheus.Desc) {
	for _, v := range []*prometheus.CounterVec{m.answers, m.items, m.rests} {
		v.Describe(ch)
	}
	ch <- m.pending
	ch <- m.lag
}

// Collect implements prometheus.Collector. The store is asked for at most two seconds.
func (m *Metrics) Collect(ch chan<- prometheus.Metric) {
	for _, v := range []*prometheus.CounterVec{m.answers, m.items, m.rests} {
		v.Collect(ch)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	list, err := m.store.Backlogs(ctx)
	if err != nil {
		return // asked again at the next look
	}
	pending, oldest := map[string]int{}, map[string]time.Time{}
	older := func(stage string, at time.Time) {
		if !at.IsZero() && (oldest[stage].IsZero() || at.Before(oldest[stage])) {
			oldest[stage] = at
		}
	}
	for _, b := range list {
		pending[memory.StageDecide] += b.Decisions
		pending[memory.StageSummarise] += b.Summaries
		pending[memory.StageObserve] += b.Requests
		older(memory.StageDecide, b.OldestDecision)
		older(memory.StageSummarise, b.OldestSummary)
	}
	for _, stage := range []string{memory.StageDecide, memory.StageSummarise, memory.StageObserve} {
		ch <- prometheus.MustNewConstMetric(m.pending, prometheus.GaugeValue, float64(pending[stage]), stage)
	}
	for _, stage := range []string{memory.StageDecide, memory.StageSummarise} {
		age := time.Duration(0)
		if at := oldest[stage]; !at.IsZero() {
			age = max(0, time.Since(at))
		}
		ch <- prometheus.MustNewConstMetric(m.lag, prometheus.GaugeValue, age.Seconds(), stage)
	}
}
