package events_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/eunoe-memory/eunoe/internal/telemetry"
	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/events/deadletter"
	"github.com/eunoe-memory/eunoe/pkg/events/natstest"
	"github.com/eunoe-memory/eunoe/pkg/events/work"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

// carried returns the trace context of an event.
func carried(t *testing.T, c *events.Conn, stream string, seq uint64) string {
	t.Helper()
	e, err := c.EventAt(t.Context(), stream, seq)
	if err != nil {
		t.Fatal(err)
	}
	return e.Header.Get("traceparent")
}

func last(t *testing.T, c *events.Conn, stream string) uint64 {
	t.Helper()
	seq, err := c.LastSeq(t.Context(), stream)
	if err != nil {
		t.Fatal(err)
	}
	return seq
}

func TestTraceContext(t *testing.T) {
	t.Parallel()
	under := func(t *testing.T) context.Context { return telemetry.Resume(t.Context(), traceparent) }
	window := memory.Window{ID: "w_1", Bank: "alice", Session: "s", Trigger: memory.TriggerFlush, New: []memory.WindowMessage{{Seq: 7}}}

	t.Run("it is propagated with everything that is published under it, even without a tracer", func(t *testing.T) {
		t.Parallel()
		c := natstest.Start(t)
		n := c.Naming
		p, err := events.NewPublisher(events.DefaultPublisherConfig(), c)
		if err != nil {
			t.Fatal(err)
		}
		seq, err := p.Publish(under(t), "alice", "s", memory.Message{Content: "hello"})
		if err != nil {
			t.Fatal(err)
		}
		if got := carried(t, c, n.Messages(), seq); got != traceparent {
			t.Errorf("a message carries %q", got)
		}
		stored := make(chan uint64, 1)
		if err := p.PublishAsync(under(t), "alice", "s", memory.Message{Content: "hello"}, func(seq uint64, err error) {
			if err != nil {
				t.Error(err)
			}
			stored <- seq
		}); err != nil {
			t.Fatal(err)
		}
		if got := carried(t, c, n.Messages(), <-stored); got != traceparent {
			t.Errorf("an asynchronous message carries %q", got)
		}
		if seq, err = p.Flush(t.Context(), "alice", "s"); err != nil {
			t.Fatal(err)
		}
		if got := carried(t, c, n.Messages(), seq); got != "" {
			t.Errorf("without one there is %q", got)
		}
		if seq, err = c.AppendWrite(under(t), memory.Write{Bank: "alice", Kind: memory.WriteUsage, Op: "o"}); err != nil {
			t.Fatal(err)
		}
		if got := carried(t, c, n.Writes(), seq); got != traceparent {
			t.Errorf("a write carries %q", got)
		}
		other := strings.Replace(traceparent, "b7ad", "aaaa", 1)
		second := window
		second.ID, second.New = "w_2", []memory.WindowMessage{{Seq: 8}}
		if err := c.PublishWindows(under(t), []memory.Window{window, second}, other); err != nil {
			t.Fatal(err)
		}
		if a, b := carried(t, c, n.Windows(), 1), carried(t, c, n.Windows(), 2); a != other || b != traceparent {
			t.Errorf("windows carry %q and %q", a, b)
		}
		if err := c.PublishChanges(t.Context(), []events.BankChange{{Bank: "alice", Change: memory.Change{ID: "e_1", What: memory.ChangeFact}, Trace: traceparent}}); err != nil {
			t.Fatal(err)
		}
		if got := carried(t, c, n.Changes(), last(t, c, n.Changes())); got != traceparent {
			t.Errorf("a change carries %q", got)
		}
	})

	t.Run("it stays with a window that is parked and comes back", func(t *testing.T) {
		t.Parallel()
		c := natstest.Start(t)
		if err := c.PublishWindow(under(t), window); err != nil {
			t.Fatal(err)
		}
		e, err := c.EventAt(t.Context(), c.Naming.Windows(), 1)
		if err != nil {
			t.Fatal(err)
		}
		if err := work.Park(t.Context(), c, e); err != nil {
			t.Fatal(err)
		}
		list, err := work.ParkedWindows(t.Context(), c, "alice")
		if err != nil || len(list) != 1 || list[0].Header.Get("traceparent") != traceparent {
			t.Fatalf("parked: %v, %v", list, err)
		}
		if err := work.Unpark(t.Context(), c, list[0]); err != nil {
			t.Fatal(err)
		}
		if got := carried(t, c, c.Naming.Windows(), 2); got != traceparent {
			t.Errorf("what came back carries %q", got)
		}
	})

	t.Run("it stays with a dead letter and its retry, and is no part of the letter", func(t *testing.T) {
		t.Parallel()
		c := natstest.Start(t)
		n := c.Naming
		if _, err := c.JS.PublishMsg(t.Context(), &nats.Msg{Subject: n.MessageSubject("alice", "s"), Data: []byte(`{}`), Header: nats.Header{"traceparent": {traceparent}}}); err != nil {
			t.Fatal(err)
		}
		if err := c.PublishWindow(under(t), window); err != nil {
			t.Fatal(err)
		}
		for _, stream := range []string{n.Messages(), n.Windows()} {
			e, err := c.EventAt(t.Context(), stream, 1)
			if err != nil {
				t.Fatal(err)
			}
			if err := deadletter.Publish(t.Context(), c, deadletter.New("test", e, deadletter.Permanent("of no use"), time.Now())); err != nil {
				t.Fatal(err)
			}
			id := last(t, c, n.Dead())
			if got := carried(t, c, n.Dead(), id); got != traceparent {
				t.Errorf("the letter of %s carries %q", stream, got)
			}
			d, err := deadletter.Get(t.Context(), c, id)
			if err != nil {
				t.Fatal(err)
			}
			if shown, err := json.Marshal(d); err != nil || strings.Contains(string(shown), "0af765") {
				t.Errorf("the letter shows %s, %v", shown, err)
			}
			seq, err := deadletter.Retry(t.Context(), c, id)
			if err != nil {
				t.Fatal(err)
			}
			if got := carried(t, c, stream, seq); got != traceparent {
				t.Errorf("the retry on %s carries %q", stream, got)
			}
		}
	})

	t.Run("a work handler receives it, and so does the dead letter of a window", func(t *testing.T) {
		t.Parallel()
		c := natstest.Start(t)
		kept := tracetest.NewInMemoryExporter()
		c.Tracer = sdktrace.NewTracerProvider(sdktrace.WithSyncer(kept)).Tracer("test")
		if err := c.PublishWindow(under(t), window); err != nil {
			t.Fatal(err)
		}
		handled, buried := make(chan string, 1), make(chan string, 1)
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() {
			ended <- work.Run(ctx, c, work.Config{Durable: "extract", Dead: func(ctx context.Context, _ events.Event, _ memory.DeadLetter) error {
				buried <- telemetry.Line(ctx)
				return nil
			}}, func(ctx context.Context, _ events.Event) error {
				handled <- telemetry.Line(ctx)
				return deadletter.Permanent("of no use")
			})
		}()
		if a, b := <-handled, <-buried; a != traceparent || b != traceparent {
			t.Errorf("%q and %q", a, b)
		}
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})

	t.Run("with a tracer a publish and an append start the propagated trace", func(t *testing.T) {
		t.Parallel()
		c := natstest.Start(t)
		kept := tracetest.NewInMemoryExporter()
		c.Tracer = sdktrace.NewTracerProvider(sdktrace.WithSyncer(kept)).Tracer("test")
		seq, err := c.PublishMessage(t.Context(), "alice", "s", []byte(`{"content":"hello"}`))
		if err != nil {
			t.Fatal(err)
		}
		spans := kept.GetSpans()
		if len(spans) != 1 || spans[0].Name != "publish message" || !strings.Contains(carried(t, c, c.Naming.Messages(), seq), spans[0].SpanContext.SpanID().String()) {
			t.Errorf("%v", spans)
		}
	})
}

func TestAPublishCostsNothingMoreWhereNobodyTraces(t *testing.T) {
	ctx, c := t.Context(), &events.Conn{}
	if n := testing.AllocsPerRun(1000, func() { events.Tracing(ctx, c) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
