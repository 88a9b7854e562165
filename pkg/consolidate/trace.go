package consolidate

import (
	"context"

	"go.opentelemetry.io/otel/trace"

	"github.com/eunoe-memory/eunoe/internal/telemetry"
	"github.com/eunoe-memory/eunoe/pkg/events"
)

// spans are the spans of one batch; nil where nobody traces.
type spans []telemetry.Span

func (s spans) end(err error) {
	for _, one := range s {
		one.End(err)
	}
}

// traceMessages begins a span for each message that belongs to a trace. One
// that belongs to none begins none: its window does.
func (c *Consolidator) traceMessages(ctx context.Context, batch []events.Event, list []MessageEvent) spans {
	if c.deps.Conn.Tracer == nil {
		return nil
	}
	var out spans
	next := 0
	for i := range list {
		for batch[next].Seq != list[i].Seq {
			next++
		}
		line := telemetry.LineOf(batch[next].Header)
		if line == "" {
			continue
		}
		inner, span := telemetry.Begin(telemetry.Resume(ctx, line), c.deps.Conn.Tracer, trace.SpanKindConsumer, "commit message")
		span.Text(telemetry.Bank, string(list[i].Bank)).Text(telemetry.Session, string(list[i].Session)).Number(telemetry.Batch, len(list)).At(list[i].Seq)
		list[i].Trace = telemetry.Line(inner)
		out = append(out, span)
	}
	return out
}

// traceWrites begins a span for each write of a transaction, under the span
// that appended it.
func (c *Consolidator) traceWrites(ctx context.Context, run []pendingWrite) spans {
	if c.deps.Conn.Tracer == nil {
		return nil
	}
	out := make(spans, 0, len(run))
	for i := range run {
		p := &run[i]
		if p.dead {
			continue
		}
		inner, span := telemetry.Begin(c.deps.Conn.Traced(ctx, p.event), c.deps.Conn.Tracer, trace.SpanKindConsumer, "commit write")
		span.Text(telemetry.Bank, string(p.write.Bank)).Text(telemetry.Kind, string(p.write.Kind)).Number(telemetry.Batch, len(run)).
			Number(telemetry.Facts, len(p.write.Facts)).At(p.event.Seq)
		if p.write.Window != nil {
			span.Text(telemetry.Session, string(p.write.Window.SessionID)).Text(telemetry.Window, string(p.write.Window.ID))
		}
		p.write.Trace = telemetry.Line(inner)
		out = append(out, span)
	}
	return out
}

// traceChanges begins a span for each run of changes of one cause, under the
// commit that brought them about, which they go out with.
func (c *Consolidator) traceChanges(ctx context.Context, changes []events.BankChange) spans {
	if c.deps.Conn.Tracer == nil {
		return nil
	}
	var out spans
	for from := 0; from < len(changes); {
		to := from + 1
		for to < len(changes) && changes[to].Trace == changes[from].Trace && changes[to].Bank == changes[from].Bank {
			to++
		}
		if cause := changes[from].Trace; cause != "" {
			inner, span := telemetry.Begin(telemetry.Resume(ctx, cause), c.deps.Conn.Tracer, trace.SpanKindProducer, "publish changes")
			span.Text(telemetry.Bank, string(changes[from].Bank)).Number(telemetry.Count, to-from)
			line := telemetry.Line(inner)
			for i := from; i < to; i++ {
				changes[i].Trace = line
			}
			out = append(out, span)
		}
		from = to
	}
	return out
}
