package ingest

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/eunoe-memory/eunoe/internal/telemetry"
	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// keepTrace keeps the trace context of a message until its window is cut.
func (d *draft) keepTrace(e events.Event) {
	if d.deps.Conn.Tracer != nil && e.Kind == events.KindMessage {
		d.partition.traces[e.Seq] = telemetry.LineOf(e.Header)
	}
}

// publishWindows queues the windows of the draft. The span of a window is a child of the publish of its first new
// message that has a trace, links to those of the others, and is passed on with the window.
func (d *draft) publishWindows(ctx context.Context) (err error) {
	if d.deps.Conn.Tracer == nil || len(d.windows) == 0 {
		return d.deps.Conn.PublishWindows(ctx, d.windows)
	}
	d.readTraces(ctx)
	lines := make([]string, len(d.windows))
	for i, w := range d.windows {
		inner, span := d.beginWindow(ctx, w)
		defer func() { span.End(err) }()
		lines[i] = telemetry.Line(inner)
	}
	return d.deps.Conn.PublishWindows(ctx, d.windows, lines...)
}

func (d *draft) beginWindow(ctx context.Context, w memory.Window) (context.Context, telemetry.Span) {
	parent, found := ctx, false
	var links []trace.Link
	for _, m := range w.New {
		line := d.partition.traces[m.Seq]
		switch {
		case line == "":
		case !found:
			parent, found = telemetry.Resume(ctx, line), true
		default:
			links = append(links, trace.LinkFromContext(telemetry.Resume(context.Background(), line)))
		}
	}
	inner, span := telemetry.Begin(parent, d.deps.Conn.Tracer, trace.SpanKindConsumer, "cut window", links...)
	span.Text(telemetry.Bank, string(w.Bank)).Text(telemetry.Session, string(w.Session)).Text(telemetry.Window, string(w.ID)).
		Text(telemetry.Trigger, string(w.Trigger)).Number(telemetry.Count, len(w.New)).At(w.Last())
	return inner, span
}

// traceWait bounds the reading of trace contexts. Windows are published without them if it fails.
const traceWait = time.Second

// readTraces reads the trace contexts of messages that arrived before this process owned the partition.
func (d *draft) readTraces(ctx context.Context) {
	var missing []uint64
	for _, w := range d.windows {
		for _, m := range w.New {
			if _, ok := d.partition.traces[m.Seq]; !ok {
				missing = append(missing, m.Seq)
			}
		}
	}
	if len(missing) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, traceWait)
	defer cancel()
	found, err := d.deps.Conn.Messages(ctx, missing)
	if err != nil {
		d.log.Debug().Err(err).Msg("windows go without the traces of messages from before")
		return
	}
	for _, seq := range missing {
		d.partition.traces[seq] = telemetry.LineOf(found[seq].Header)
	}
}
