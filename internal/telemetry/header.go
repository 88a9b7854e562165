package telemetry

import (
	"context"
	"strings"

	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

// The headers of a W3C trace context. Keys of NATS headers are case-sensitive, so they are written in lower case as the
// standard has them; propagation.HeaderCarrier would write "Traceparent".
const (
	Parent = "traceparent"
	State  = "tracestate"
)

// maxState bounds the tracestate that is passed on, in bytes; a longer one is dropped.
const maxState = 512

// resume returns ctx with a trace context. A malformed one changes nothing.
func resume(ctx context.Context, parent, state string) context.Context {
	if parent == "" {
		return ctx
	}
	c := propagation.MapCarrier{Parent: parent}
	if len(state) <= maxState {
		c[State] = state
	}
	return propagation.TraceContext{}.Extract(ctx, c)
}

// carrierOf returns the headers of the trace context in ctx, nil if there is none.
func carrierOf(ctx context.Context) propagation.MapCarrier {
	if !trace.SpanContextFromContext(ctx).IsValid() {
		return nil
	}
	c := propagation.MapCarrier{}
	propagation.TraceContext{}.Inject(ctx, c)
	if len(c[State]) > maxState {
		delete(c, State)
	}
	return c
}

// read returns the two headers; both are empty unless there is exactly one parent.
func read(header map[string][]string) (parent, state string) {
	if len(header) == 0 {
		return "", ""
	}
	parents := values(header, Parent, "Traceparent")
	if len(parents) != 1 {
		return "", ""
	}
	return parents[0], strings.Join(values(header, State, "Tracestate"), ",")
}

// values returns the values of a key, or of the form in which HTTP libraries write it.
func values(header map[string][]string, key, canonical string) []string {
	if v := header[key]; len(v) > 0 {
		return v
	}
	return header[canonical]
}

// Extract returns ctx with the trace context of a header. A header without one, or with one that is malformed or
// repeated, changes nothing.
func Extract(ctx context.Context, header map[string][]string) context.Context {
	parent, state := read(header)
	return resume(ctx, parent, state)
}

// Inject writes the trace context of ctx into a header and returns the header, which is created if it is nil. Without a
// trace context it changes nothing.
func Inject(ctx context.Context, header map[string][]string) map[string][]string {
	c := carrierOf(ctx)
	if c == nil {
		return header
	}
	if header == nil {
		header = map[string][]string{}
	}
	header[Parent] = []string{c[Parent]}
	delete(header, State)
	if c[State] != "" {
		header[State] = []string{c[State]}
	}
	return header
}

// Line returns the trace context of ctx as one string, "" if there is none: the traceparent and, if there is one, a
// space and the tracestate.
func Line(ctx context.Context) string {
	c := carrierOf(ctx)
	if c[State] == "" {
		return c[Parent]
	}
	return c[Parent] + " " + c[State]
}

// LineOf returns the trace context of a header as Line does, "" if it has no valid one.
func LineOf(header map[string][]string) string {
	parent, state := read(header)
	if parent == "" {
		return ""
	}
	return Line(resume(context.Background(), parent, state))
}

// Resume returns ctx with a trace context that Line returned. An empty or malformed line changes nothing.
func Resume(ctx context.Context, line string) context.Context {
	parent, state, _ := strings.Cut(line, " ")
	return resume(ctx, parent, state)
}

// Put writes a trace context that Line returned into a header, as Inject does.
func Put(line string, header map[string][]string) map[string][]string {
	if line == "" {
		return header
	}
	return Inject(Resume(context.Background(), line), header)
}
