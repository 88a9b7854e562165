package events

import (
	"context"

	"go.opentelemetry.io/otel/trace"

	"github.com/eunoe-memory/eunoe/internal/telemetry"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// trace gives the trace context that an event carries, as one line.
func (e Event) trace() string { return telemetry.LineOf(e.Header) }

// Traced gives ctx with the trace context that an event carries. Without a
// Tracer it is ctx.
func (c *Conn) Traced(ctx context.Context, e Event) context.Context {
	if c.Tracer == nil {
		return ctx
	}
	return telemetry.Extract(ctx, e.Header)
}

// beginPublish begins the span of a message's publish.
func (c *Conn) beginPublish(ctx context.Context, bank memory.BankID, session memory.SessionID) (context.Context, telemetry.Span) {
	ctx, span := telemetry.Begin(ctx, c.Tracer, trace.SpanKindProducer, "publish message")
	return ctx, span.Text(telemetry.Bank, string(bank)).Text(telemetry.Session, string(session))
}
