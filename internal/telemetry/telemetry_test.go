package telemetry_test

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/rs/zerolog"
	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/eunoe-memory/eunoe/internal/telemetry"
)

const (
	parent  = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	traceID = "0af7651916cd43dd8448eb211c80319c"
)

func tracer() (trace.Tracer, *tracetest.InMemoryExporter) {
	kept := tracetest.NewInMemoryExporter()
	return sdktrace.NewTracerProvider(sdktrace.WithSyncer(kept)).Tracer("test"), kept
}

func traceOf(ctx context.Context) string {
	sc := trace.SpanContextFromContext(ctx)
	if !sc.IsValid() {
		return ""
	}
	return sc.TraceID().String()
}

func TestHeaders(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		header nats.Header
		want   string
	}{
		{"one as it is written", nats.Header{"traceparent": {parent}}, traceID},
		{"one with a capital", nats.Header{"Traceparent": {parent}}, traceID},
		{"none", nats.Header{"Other": {"x"}}, ""},
		{"no header at all", nil, ""},
		{"one that is given twice", nats.Header{"traceparent": {parent, parent}}, ""},
		{"one of zeros", nats.Header{"traceparent": {"00-" + strings.Repeat("0", 32) + "-b7ad6b7169203331-01"}}, ""},
		{"one in upper case", nats.Header{"traceparent": {strings.ToUpper(parent)}}, ""},
		{"one that is too long", nats.Header{"traceparent": {parent + "-00"}}, ""},
		{"an empty one", nats.Header{"traceparent": {""}}, ""},
		{"words", nats.Header{"traceparent": {"I moved to Lisbon"}}, ""},
		{"a state that is malformed", nats.Header{"traceparent": {parent}, "tracestate": {"=,="}}, traceID},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			ctx := telemetry.Extract(t.Context(), c.header)
			if got := traceOf(ctx); got != c.want {
				t.Errorf("the trace is %q, expected %q", got, c.want)
			}
			if got := telemetry.LineOf(c.header); (got == "") != (c.want == "") || got != telemetry.Line(ctx) {
				t.Errorf("the line is %q", got)
			}
		})
	}

	t.Run("a context survives a header and a log line unchanged", func(t *testing.T) {
		t.Parallel()
		in := nats.Header{"traceparent": {parent}, "tracestate": {"a=1,b=2 3"}}
		line := telemetry.LineOf(in)
		out := nats.Header(telemetry.Put(line, nil))
		if out.Get("traceparent") != parent || out.Get("tracestate") != "a=1,b=2 3" {
			t.Errorf("%q became %v", line, out)
		}
		if got := nats.Header(telemetry.Inject(telemetry.Resume(t.Context(), line), nats.Header{"Nats-Msg-Id": {"1"}})); got.Get("traceparent") != parent || got.Get("Nats-Msg-Id") != "1" {
			t.Errorf("injected: %v", got)
		}
	})

	t.Run("an oversized trace state is dropped and the trace continues", func(t *testing.T) {
		t.Parallel()
		in := nats.Header{"traceparent": {parent}, "tracestate": {"a=" + strings.Repeat("x", 250), "b=" + strings.Repeat("y", 250), "c=" + strings.Repeat("z", 250)}}
		if got := telemetry.LineOf(in); got != parent {
			t.Errorf("the line is %q", got)
		}
	})

	t.Run("without a context nothing is written", func(t *testing.T) {
		t.Parallel()
		if got := telemetry.Inject(t.Context(), nil); got != nil {
			t.Errorf("%v", got)
		}
		if got := telemetry.Put("nonsense", nil); got != nil {
			t.Errorf("%v", got)
		}
	})
}

func TestSpans(t *testing.T) {
	t.Parallel()
	t.Run("a span is a child of the header's span, and a nested span is its child", func(t *testing.T) {
		t.Parallel()
		tr, kept := tracer()
		ctx, span := telemetry.Begin(telemetry.Extract(t.Context(), nats.Header{"traceparent": {parent}}), tr, trace.SpanKindConsumer, "outer")
		_, inner := telemetry.Start(ctx, "inner")
		inner.Text(telemetry.Bank, "alice").Number(telemetry.Count, 3).At(7).End(nil)
		span.End(errors.New("I moved to Lisbon"))
		got := kept.GetSpans()
		if len(got) != 2 || got[0].Parent.SpanID() != got[1].SpanContext.SpanID() || got[1].Parent.SpanID().String() != "b7ad6b7169203331" || got[1].SpanContext.TraceID().String() != traceID {
			t.Fatalf("%+v", got)
		}
		if got[1].Status.Code != codes.Error || strings.Contains(got[1].Status.Description, "Lisbon") || len(got[1].Events) > 0 {
			t.Errorf("the error of the outer one: %+v", got[1])
		}
		if len(got[0].Attributes) != 3 {
			t.Errorf("attributes: %v", got[0].Attributes)
		}
	})

	t.Run("an unsampled trace is propagated and not recorded", func(t *testing.T) {
		t.Parallel()
		tr, kept := tracer()
		off := strings.TrimSuffix(parent, "01") + "00"
		ctx, span := telemetry.Begin(telemetry.Resume(t.Context(), off), tr, trace.SpanKindServer, "outer")
		if _, inner := telemetry.Start(ctx, "inner"); span.On() || inner.On() || len(kept.GetSpans()) > 0 {
			t.Error("it is recorded")
		}
		if line := telemetry.Line(ctx); !strings.HasPrefix(line, "00-"+traceID) || !strings.HasSuffix(line, "-00") {
			t.Errorf("what goes on is %q", line)
		}
	})

	t.Run("a value is valid text of bounded length", func(t *testing.T) {
		t.Parallel()
		tr, kept := tracer()
		_, span := telemetry.Begin(t.Context(), tr, trace.SpanKindServer, "x")
		span.Text(telemetry.Bank, "\xff"+strings.Repeat("é", 1000)).End(nil)
		v := kept.GetSpans()[0].Attributes[0].Value.AsString()
		if len(v) > 300 || !strings.HasPrefix(v, "\uFFFDé") || strings.ToValidUTF8(v, "") != v {
			t.Errorf("%q", v)
		}
	})
}

// TestOffCostsNothing checks that publishing and applying allocate nothing for tracing when it is off.
func TestOffCostsNothing(t *testing.T) {
	ctx := t.Context()
	header := nats.Header{"Nats-Msg-Id": {"1"}}
	failure := errors.New("failed")
	if n := testing.AllocsPerRun(1000, func() {
		ctx, span := telemetry.Begin(ctx, nil, trace.SpanKindProducer, "publish message")
		span.Text(telemetry.Bank, "alice").Text(telemetry.Session, "s")
		telemetry.Inject(ctx, nil)
		telemetry.Inject(ctx, header)
		telemetry.Put("", header)
		span.At(7).End(nil)
		ctx, span = telemetry.Start(ctx, "inner")
		span.Number(telemetry.Count, 3).End(failure)
		_ = telemetry.Line(ctx)
		_ = telemetry.LineOf(header)
		_ = telemetry.Extract(ctx, header)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkOff(b *testing.B) {
	ctx := b.Context()
	b.ReportAllocs()
	for b.Loop() {
		inner, span := telemetry.Begin(ctx, nil, trace.SpanKindProducer, "publish message")
		telemetry.Inject(inner, nil)
		span.Text(telemetry.Bank, "alice").End(nil)
	}
}

func TestLogLinesNameTheTrace(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	log := zerolog.New(&out).Hook(telemetry.LogHook{})
	log.Info().Ctx(telemetry.Resume(t.Context(), parent)).Msg("with")
	log.Info().Ctx(t.Context()).Msg("without")
	log.Info().Msg("bare")
	lines := strings.Split(out.String(), "\n")
	if !strings.Contains(lines[0], `"trace_id":"`+traceID+`"`) || strings.Contains(lines[1]+lines[2], "trace_id") {
		t.Errorf("%s", out.String())
	}
}

func FuzzHeader(f *testing.F) {
	f.Add(parent, "a=1")
	f.Add("", "")
	f.Add("00-x", strings.Repeat(",", 600))
	f.Fuzz(func(t *testing.T, p, state string) {
		line := telemetry.LineOf(nats.Header{"traceparent": {p}, "tracestate": {state}})
		if line == "" {
			return
		}
		again := nats.Header(telemetry.Put(line, nil))
		if got := telemetry.LineOf(again); got != line {
			t.Errorf("%q became %q", line, got)
		}
		if len(line) > 55+1+512 || strings.ContainsAny(line, "\r\n") {
			t.Errorf("%q is no line for a header", line)
		}
	})
}
