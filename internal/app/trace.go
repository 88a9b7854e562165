package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/exporters/stdout/stdouttrace"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/eunoe-memory/eunoe/internal/telemetry"
	"github.com/eunoe-memory/eunoe/pkg/events"
)

// tracing is what makes and sends the spans of a process. A nil tracing makes none.
type tracing struct {
	provider *sdktrace.TracerProvider
	spans    *exporter
}

// newTracing makes the tracing that the settings ask for, under a service's
// name; nil where they ask for none. The caller closes it.
func newTracing(ctx context.Context, c Config, service string, log zerolog.Logger) (*tracing, error) {
	if c.Trace == "" {
		return nil, nil
	}
	to, file, every, err := c.exporter(ctx)
	if err != nil {
		return nil, fmt.Errorf("traces (EUNOE_TRACE): %w", err)
	}
	out := &exporter{to: to, file: file, log: log}
	about, err := resource.New(ctx, resource.WithAttributes(attribute.String("service.name", service), attribute.String("service.version", Version)), resource.WithFromEnv())
	if err != nil {
		return nil, errors.Join(fmt.Errorf("traces: OTEL_RESOURCE_ATTRIBUTES: %w", err), out.Shutdown(ctx))
	}
	return &tracing{spans: out, provider: sdktrace.NewTracerProvider(
		sdktrace.WithResource(about), sdktrace.WithBatcher(out, sdktrace.WithBatchTimeout(every)),
		sdktrace.WithSampler(sdktrace.ParentBased(sdktrace.TraceIDRatioBased(c.TraceSample))),
	)}, nil
}

// exporter gives what sends spans, the file it writes to if it does, and how
// often it does.
func (s TraceSettings) exporter(ctx context.Context) (sdktrace.SpanExporter, io.Closer, time.Duration, error) {
	path, _ := strings.CutPrefix(s.Trace, traceFile)
	switch s.Trace {
	case traceOTLP:
		var options []otlptracehttp.Option
		if u := s.collector(); u != "" {
			options = append(options, otlptracehttp.WithEndpointURL(u))
		}
		to, err := otlptracehttp.New(ctx, options...)
		return to, nil, 2 * time.Second, err
	case traceStdout:
		to, err := stdouttrace.New(stdouttrace.WithWriter(os.Stdout))
		return to, nil, 200 * time.Millisecond, err
	}
	// One write a span, at the end: several processes may share the file.
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, nil, 0, err
	}
	to, err := stdouttrace.New(stdouttrace.WithWriter(f))
	if err != nil {
		return nil, nil, 0, errors.Join(err, f.Close())
	}
	return to, f, 200 * time.Millisecond, nil
}

// tracer begins the spans, nil where nobody traces.
func (t *tracing) tracer() trace.Tracer {
	if t == nil {
		return nil
	}
	return t.provider.Tracer(telemetry.Scope, trace.WithInstrumentationVersion(Version))
}

// logger gives log with the trace of each line where it has one.
func (t *tracing) logger(log zerolog.Logger) zerolog.Logger {
	if t == nil {
		return log
	}
	return log.Hook(telemetry.LogHook{})
}

// closeWithin bounds the sending of the last spans.
const closeWithin = 3 * time.Second

// close sends what is left, as far as it can.
func (t *tracing) close() error {
	if t == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), closeWithin)
	defer cancel()
	if err := t.provider.Shutdown(ctx); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("send the last spans: %w", err)
	}
	return nil
}

// exporter counts what another exporter sends. A failure is logged when it
// begins and when it is over, and is nobody else's concern: no stage waits for
// a collector.
type exporter struct {
	to           sdktrace.SpanExporter
	file         io.Closer // closed at the end; nil = there is none
	log          zerolog.Logger
	sent, failed atomic.Int64
	down         atomic.Bool
}

// ExportSpans implements sdktrace.SpanExporter.
func (e *exporter) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	err := e.to.ExportSpans(ctx, spans)
	if err != nil {
		e.failed.Add(int64(len(spans)))
		if e.down.CompareAndSwap(false, true) {
			e.log.Warn().Err(err).Msg("spans are lost until the collector takes them")
		}
		return nil
	}
	e.sent.Add(int64(len(spans)))
	if e.down.CompareAndSwap(true, false) {
		e.log.Info().Msg("spans are sent again")
	}
	return nil
}

// Shutdown implements sdktrace.SpanExporter.
func (e *exporter) Shutdown(ctx context.Context) error {
	err := e.to.Shutdown(ctx)
	if e.file != nil {
		err = errors.Join(err, e.file.Close())
	}
	return err
}

// metrics count the spans of a process: all zero where nobody traces.
func (t *tracing) metrics() []prometheus.Collector {
	count := func(outcome string, of func(*exporter) int64) prometheus.Collector {
		return prometheus.NewCounterFunc(prometheus.CounterOpts{
			Name: "eunoe_trace_spans_total", Help: "Spans handed on.", ConstLabels: prometheus.Labels{"outcome": outcome},
		}, func() float64 {
			if t == nil {
				return 0
			}
			return float64(of(t.spans))
		})
	}
	return []prometheus.Collector{
		count("sent", func(e *exporter) int64 { return e.sent.Load() }),
		count("failed", func(e *exporter) int64 { return e.failed.Load() }),
	}
}

// watch has the process show what becomes of its spans, and how the broker's
// streams stand.
func (p *process) watch(t *tracing) error {
	var errs []error
	for _, c := range append(t.metrics(), events.NewMetrics(p.conn)) {
		errs = append(errs, p.metrics.Register(c))
	}
	return errors.Join(errs...)
}
