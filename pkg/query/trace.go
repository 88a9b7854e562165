package query

import (
	"context"

	"github.com/nats-io/nats.go/micro"
	"go.opentelemetry.io/otel/trace"

	"github.com/eunoe-memory/eunoe/internal/telemetry"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// begin begins the span of a request, under the trace context of its header.
func (s *Service) begin(ctx context.Context, e endpoint, r micro.Request) (context.Context, telemetry.Span) {
	if s.conn.Tracer == nil {
		return ctx, telemetry.Span{}
	}
	return telemetry.Begin(telemetry.Extract(ctx, r.Headers()), s.conn.Tracer, trace.SpanKindServer, e.name)
}

// answered says in the span of a request what came of it, in numbers.
func answered(span telemetry.Span, bank memory.BankID, code int, reply any) telemetry.Span {
	if !span.On() {
		return span
	}
	span.Text(telemetry.Bank, string(bank)).Number(telemetry.Code, code)
	switch r := reply.(type) {
	case memory.RecallReply:
		span.Number(telemetry.Count, len(r.Items)).Number(telemetry.Degraded, len(r.Degraded))
	case memory.ReflectReply:
		span.Number(telemetry.Count, len(r.Citations)).Number(telemetry.Degraded, len(r.Degraded))
	}
	return span
}
