package telemetry

import (
	"context"
	"errors"
	"math"
	"strings"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
)

// Scope is the name under which spans are made.
const Scope = "github.com/eunoe-memory/eunoe"

// The attributes of spans.
const (
	Bank     = "eunoe.bank"
	Session  = "eunoe.session"
	Window   = "eunoe.window"
	Seq      = "eunoe.seq"   // sequence in the stream that the span is about
	Count    = "eunoe.count" // messages, facts, items, changes: what the span's name says
	Facts    = "eunoe.facts"
	Refused  = "eunoe.refused"
	Outcome  = "eunoe.outcome"
	Trigger  = "eunoe.trigger"
	Kind     = "eunoe.kind"  // of a write
	Batch    = "eunoe.batch" // events of the same transaction
	Attempt  = "eunoe.attempt"
	Stage    = "eunoe.stage"
	Model    = "eunoe.model"
	Prompt   = "eunoe.tokens.prompt"
	Cached   = "eunoe.tokens.cached"
	Complete = "eunoe.tokens.completion"
	Code     = "eunoe.code" // of a reply
	Degraded = "eunoe.degraded"
)

// Span is a span under way. The zero value does nothing, at no cost.
type Span struct{ span trace.Span }

// Begin begins a span by tracer, under the span or the remote trace context in
// ctx, else as the first of a trace. Without a tracer it is Start.
func Begin(ctx context.Context, tracer trace.Tracer, kind trace.SpanKind, name string, links ...trace.Link) (context.Context, Span) {
	if tracer == nil {
		parent := trace.SpanFromContext(ctx)
		if !parent.IsRecording() {
			return ctx, Span{}
		}
		tracer = parent.TracerProvider().Tracer(Scope)
	}
	options := []trace.SpanStartOption{trace.WithSpanKind(kind)}
	if len(links) > 0 {
		options = append(options, trace.WithLinks(links...))
	}
	ctx, span := tracer.Start(ctx, name, options...)
	if !span.IsRecording() {
		return ctx, Span{}
	}
	return ctx, Span{span}
}

// Start begins a span under the one in ctx. Where that is not recorded, none begins.
func Start(ctx context.Context, name string) (context.Context, Span) {
	return Begin(ctx, nil, trace.SpanKindInternal, name)
}

// Call is Start for a request to another program.
func Call(ctx context.Context, name string) (context.Context, Span) {
	return Begin(ctx, nil, trace.SpanKindClient, name)
}

// On reports whether anything is recorded.
func (s Span) On() bool { return s.span != nil }

// maxText bounds the value of an attribute, in bytes.
const maxText = 256

// Text sets an attribute to a name, an id or a word of a fixed set. It is never
// given what was said.
func (s Span) Text(key, value string) Span {
	if s.span != nil && value != "" {
		s.span.SetAttributes(attribute.String(key, strings.ToValidUTF8(value[:min(len(value), maxText)], "\uFFFD")))
	}
	return s
}

// Number sets an attribute to a number.
func (s Span) Number(key string, n int) Span {
	if s.span != nil {
		s.span.SetAttributes(attribute.Int(key, n))
	}
	return s
}

// At sets Seq; 0 sets nothing.
func (s Span) At(seq uint64) Span {
	if s.span != nil && seq > 0 {
		s.span.SetAttributes(attribute.Int64(Seq, int64(min(seq, math.MaxInt64)))) //nolint:gosec // bounded
	}
	return s
}

// End ends the span, as failed where err is not nil. Of the error it keeps no
// more than whether time was over.
func (s Span) End(err error) {
	if s.span == nil {
		return
	}
	switch {
	case err == nil:
	case errors.Is(err, context.Canceled):
		s.span.SetStatus(codes.Error, "canceled")
	case errors.Is(err, context.DeadlineExceeded):
		s.span.SetStatus(codes.Error, "deadline")
	default:
		s.span.SetStatus(codes.Error, "failed")
	}
	s.span.End()
}
