package client

import (
	"context"
	"strings"

	"go.opentelemetry.io/otel/trace"

	"github.com/eunoe-memory/eunoe/internal/telemetry"
)

// begin begins the span of a request, named after its endpoint.
func (c *Client) begin(ctx context.Context, subject string) (context.Context, telemetry.Span) {
	if c.conn.Tracer == nil && !trace.SpanFromContext(ctx).IsRecording() {
		return ctx, telemetry.Span{}
	}
	return telemetry.Begin(ctx, c.conn.Tracer, trace.SpanKindClient, "request "+subject[strings.LastIndexByte(subject, '.')+1:])
}
