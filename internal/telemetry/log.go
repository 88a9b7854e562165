package telemetry

import (
	"github.com/rs/zerolog"
	"go.opentelemetry.io/otel/trace"
)

// LogHook adds the key trace_id to log lines that were given a context with a
// trace (zerolog's Event.Ctx).
type LogHook struct{}

// Run implements zerolog.Hook.
func (LogHook) Run(e *zerolog.Event, _ zerolog.Level, _ string) {
	if sc := trace.SpanContextFromContext(e.GetCtx()); sc.HasTraceID() {
		e.Str("trace_id", sc.TraceID().String())
	}
}
