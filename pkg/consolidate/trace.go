package consolidate

import (
	"context"

	"go.opentelemetry.io/otel/trace"

	"github.com/eunoe-memory/eunoe/internal/telemetry"
	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// spans are the spans of one transaction; nil without a tracer.
type spans []telemetry.Span

func (s spans) end(err error) {
	for _, one := range s {
		one.End(err)
	}
}

// traceMessages begins a span for each message that belongs to a trace, and notes the trace context that its change
// goes out with. A message outside a trace begins none: its window does.
func traceMessages(ctx context.Context, tracer trace.Tracer, b MessageBatch) spans {
	if tracer == nil {
		return nil
	}
	var out spans
	next := 0
	for i := range b.Kept {
		kept := &b.Kept[i]
		if kept.State == memory.StateForgotten {
			continue // it is no event of the log any more
		}
		for b.Events[next].Seq != kept.Seq {
			next++
		}
		line := telemetry.LineOf(b.Events[next].Header)
		if line == "" {
			continue
		}
		inner, span := telemetry.Begin(telemetry.Resume(ctx, line), tracer, trace.SpanKindConsumer, "commit message")
		span.Text(telemetry.Bank, string(kept.Bank)).Text(telemetry.Session, string(kept.Session)).
			Number(telemetry.Batch, len(b.Kept)).At(kept.Seq)
		kept.Trace = telemetry.Line(inner)
		out = append(out, span)
	}
	return out
}

// traceWrites begins a span for each write of a transaction, under the span that appended it.
func traceWrites(ctx context.Context, conn *events.Conn, run []Write) spans {
	if conn.Tracer == nil {
		return nil
	}
	out := make(spans, 0, len(run))
	for _, e := range run {
		w := e.Write
		if w == nil {
			continue
		}
		inner, span := telemetry.Begin(conn.Traced(ctx, e.Event), conn.Tracer, trace.SpanKindConsumer, "commit write")
		span.Text(telemetry.Bank, string(w.Bank)).Text(telemetry.Kind, string(w.Kind)).Number(telemetry.Batch, len(run)).
			Number(telemetry.Facts, len(w.Facts)).At(e.Event.Seq)
		if w.Window != nil {
			span.Text(telemetry.Session, string(w.Window.SessionID)).Text(telemetry.Window, string(w.Window.ID))
		}
		w.Trace = telemetry.Line(inner)
		out = append(out, span)
	}
	return out
}
