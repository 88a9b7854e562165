package telemetry

import (
	"context"
	"strings"

	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

// The headers of a trace context, as they are written.
const (
	Parent = "traceparent"
	State  = "tracestate"
)

// maxState is how long a tracestate is carried on, in bytes; a longer one is
// left behind.
const maxState = 512

// pair is the two headers as a propagator sees them.
type pair struct{ parent, state string }

func (p *pair) Get(key string) string {
	switch key {
	case Parent:
		return p.parent
	case State:
		return p.state
	}
	return ""
}

func (p *pair) Set(key, value string) {
	switch key {
	case Parent:
		p.parent = value
	case State:
		p.state = value
	}
}

func (*pair) Keys() []string { return []string{Parent, State} }

// in gives ctx with the trace context of the pair. One that is malformed
// changes nothing.
func (p pair) in(ctx context.Context) context.Context {
	if p.parent == "" {
		return ctx
	}
	sound := &pair{p.parent, p.state} // made only where there is one
	if len(sound.state) > maxState {
		sound.state = ""
	}
	return propagation.TraceContext{}.Extract(ctx, sound)
}

func pairOf(ctx context.Context) (pair, bool) {
	if !trace.SpanContextFromContext(ctx).IsValid() {
		return pair{}, false
	}
	p := &pair{}
	propagation.TraceContext{}.Inject(ctx, p)
	if len(p.state) > maxState {
		p.state = ""
	}
	return *p, true
}

// Extract gives ctx with the trace context of a header. Without one, or with
// one that is malformed or given twice, it is ctx as it was.
func Extract(ctx context.Context, header map[string][]string) context.Context {
	return read(header).in(ctx)
}

func read(header map[string][]string) pair {
	if len(header) == 0 {
		return pair{}
	}
	parents := values(header, Parent, "Traceparent")
	if len(parents) != 1 {
		return pair{}
	}
	return pair{parents[0], strings.Join(values(header, State, "Tracestate"), ",")}
}

// values gives what stands under a key, as it is written or in the form that
// HTTP libraries give it.
func values(header map[string][]string, key, capital string) []string {
	if v := header[key]; len(v) > 0 {
		return v
	}
	return header[capital]
}

// Inject puts the trace context of ctx into a header and gives it; the header
// is made where it is nil. Without a trace context it stays as it was.
func Inject(ctx context.Context, header map[string][]string) map[string][]string {
	p, ok := pairOf(ctx)
	if !ok {
		return header
	}
	return p.into(header)
}

func (p pair) into(header map[string][]string) map[string][]string {
	if header == nil {
		header = map[string][]string{}
	}
	header[Parent] = []string{p.parent}
	delete(header, State)
	if p.state != "" {
		header[State] = []string{p.state}
	}
	return header
}

// Line gives the trace context of ctx as one line, "" without one.
func Line(ctx context.Context) string {
	p, ok := pairOf(ctx)
	if !ok {
		return ""
	}
	return p.line()
}

func (p pair) line() string {
	if p.state == "" {
		return p.parent
	}
	return p.parent + " " + p.state
}

// LineOf gives the trace context of a header as one line, "" where it has none
// that is sound.
func LineOf(header map[string][]string) string {
	p := read(header)
	if p.parent == "" {
		return ""
	}
	return Line(p.in(context.Background()))
}

// Resume gives ctx with the trace context of a line. An empty or malformed
// line changes nothing.
func Resume(ctx context.Context, line string) context.Context {
	var p pair
	p.parent, p.state, _ = strings.Cut(line, " ")
	return p.in(ctx)
}

// Put puts the trace context of a line into a header, as Inject does.
func Put(line string, header map[string][]string) map[string][]string {
	if line == "" {
		return header
	}
	return Inject(Resume(context.Background(), line), header)
}
