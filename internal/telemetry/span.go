// Package telemetry traces the stages with OpenTelemetry. Begin, Start and Call begin a Span, which costs nothing where
// nobody traces; Inject and Extract carry the W3C trace context in the headers of events and requests, and Line and
// Resume as a string.
//
// A span records where, when, how many and which ids. It never contains what was said, asked or answered, nor the text
// of an error.
package telemetry

import (
	"context"
	"errors"
	"math"
	"strings"

	"github.com/rs/zerolog"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
)

// Scope is the instrumentation scope of all spans.
const Scope = "github.com/eunoe-memory/eunoe"

// The keys of span attributes.
const (
	Bank     = "eunoe.bank"
	Session  = "eunoe.session"
	Window   = "eunoe.window"
	Seq      = "eunoe.seq"   // stream sequence of the event
	Count    = "eunoe.count" // of what the span's name says: messages, facts, items, changes
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

// Span is a span that has begun. The zero value records nothing, at no cost.
type Span struct{ span trace.Span }

// Begin begins a span by tracer, as a child of the span or the remote trace context in ctx, or else as a root. With a
// nil tracer it is Start with kind and links.
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

// Start begins a child of the span in ctx, or no span if that one is not recorded.
func Start(ctx context.Context, name string) (context.Context, Span) {
	return Begin(ctx, nil, trace.SpanKindInternal, name)
}

// Call is Start for a request to another process.
func Call(ctx context.Context, name string) (context.Context, Span) {
	return Begin(ctx, nil, trace.SpanKindClient, name)
}

// On reports whether the span is recorded.
func (s Span) On() bool { return s.span != nil }

// maxText bounds the value of a text attribute, in bytes.
const maxText = 256

// Text sets an attribute to a name, an id or a word of a fixed set, never to the text of a message.
func (s Span) Text(key, value string) Span {
	if s.span != nil && value != "" {
		s.span.SetAttributes(attribute.String(key, strings.ToValidUTF8(value[:min(len(value), maxText)], "\uFFFD")))
	}
	return s
}

// Number sets an integer attribute.
func (s Span) Number(key string, n int) Span {
	if s.span != nil {
		s.span.SetAttributes(attribute.Int(key, n))
	}
	return s
}

// At sets the attribute Seq; 0 sets nothing.
func (s Span) At(seq uint64) Span {
	if s.span != nil && seq > 0 {
		s.span.SetAttributes(attribute.Int64(Seq, int64(min(seq, math.MaxInt64)))) //nolint:gosec // bounded
	}
	return s
}

// End ends the span, as failed if err is not nil. Of the error it records only whether it is a cancellation or a
// deadline.
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

// LogHook adds the field trace_id to log events whose context (zerolog's Event.Ctx) has a trace.
type LogHook struct{}

// Run implements zerolog.Hook.
func (LogHook) Run(e *zerolog.Event, _ zerolog.Level, _ string) {
	if sc := trace.SpanContextFromContext(e.GetCtx()); sc.HasTraceID() {
		e.Str("trace_id", sc.TraceID().String())
	}
}
