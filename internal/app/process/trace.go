package process

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

	"github.com/eunoe-memory/eunoe/internal/app/settings"
	"github.com/eunoe-memory/eunoe/internal/telemetry"
	"github.com/eunoe-memory/eunoe/pkg/events"
)

// Tracing makes and exports the spans of a process. A nil Tracing makes none.
type Tracing struct {
	provider *sdktrace.TracerProvider
	spans    *exporter
}

// NewTracing returns the tracing that the settings ask for, under the name of a service; nil where they ask for none. The
// caller closes it.
func NewTracing(ctx context.Context, c settings.Config, service string, log zerolog.Logger) (*Tracing, error) {
	if c.Trace == "" {
		return nil, nil
	}
	to, file, every, err := newExporter(ctx, c.TraceSettings)
	if err != nil {
		return nil, fmt.Errorf("traces (EUNOE_TRACE): %w", err)
	}
	out := &exporter{to: to, file: file, log: log}
	about, err := resource.New(ctx, resource.WithAttributes(attribute.String("service.name", service), attribute.String("service.version", Version)), resource.WithFromEnv())
	if err != nil {
		return nil, errors.Join(fmt.Errorf("traces: OTEL_RESOURCE_ATTRIBUTES: %w", err), out.Shutdown(ctx))
	}
	return &Tracing{spans: out, provider: sdktrace.NewTracerProvider(
		sdktrace.WithResource(about), sdktrace.WithBatcher(out, sdktrace.WithBatchTimeout(every)),
		sdktrace.WithSampler(sdktrace.ParentBased(sdktrace.TraceIDRatioBased(c.TraceSample))),
	)}, nil
}

// newExporter returns the exporter of spans, the file that it writes to (nil if none), and how often it exports.
func newExporter(ctx context.Context, s settings.TraceSettings) (sdktrace.SpanExporter, io.Closer, time.Duration, error) {
	path, _ := strings.CutPrefix(s.Trace, settings.TraceFile)
	switch s.Trace {
	case settings.TraceOTLP:
		to, err := otlptracehttp.New(ctx) // its collector and headers are in the standard variables (OTEL_EXPORTER_OTLP_…)
		return to, nil, 2 * time.Second, err
	case settings.TraceStdout:
		to, err := stdouttrace.New(stdouttrace.WithWriter(os.Stdout))
		return to, nil, 200 * time.Millisecond, err
	}
	// Each span is one write at the end of the file: several processes may share it.
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

// Tracer begins the spans of the process; nil without tracing.
func (t *Tracing) Tracer() trace.Tracer {
	if t == nil {
		return nil
	}
	return t.provider.Tracer(telemetry.Scope, trace.WithInstrumentationVersion(Version))
}

// Logger returns log with a hook that adds the trace id to each line that has one.
func (t *Tracing) Logger(log zerolog.Logger) zerolog.Logger {
	if t == nil {
		return log
	}
	return log.Hook(telemetry.LogHook{})
}

// closeTimeout bounds the export of the last spans.
const closeTimeout = 3 * time.Second

// Close exports the remaining spans, as far as the collector takes them within 3 s.
func (t *Tracing) Close() error {
	if t == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	if err := t.provider.Shutdown(ctx); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("send the last spans: %w", err)
	}
	return nil
}

// exporter counts what another exporter sends. It logs when exporting begins to fail and when it works again, and
// reports no error: no stage waits for a collector.
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

// metrics count the exported spans of a process; all are zero without tracing.
func (t *Tracing) metrics() []prometheus.Collector {
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

// Watch adds to the metrics of the process how its spans were exported and how the broker's streams stand.
func (p *Process) Watch(t *Tracing) error {
	var errs []error
	for _, c := range append(t.metrics(), events.NewMetrics(p.Conn)) {
		errs = append(errs, p.Metrics.Register(c))
	}
	return errors.Join(errs...)
}
