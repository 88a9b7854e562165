package work

import (
	"context"
	"fmt"
	"strconv"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/eunoe-memory/eunoe/internal/telemetry"
	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/events/ordered"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// returnedHeader marks a window that was parked. Its value is the sequence in PARKED.
const returnedHeader = "Eunoe-Parked"

// WasParked reports whether an event of the work queue was parked before.
func WasParked(e events.Event) bool { return e.Header.Get(returnedHeader) != "" }

// Park copies a window of the work queue to PARKED, until its bank may spend tokens again. The caller acknowledges the
// event afterwards. After a crash between the two it is parked again under the same id, which is dropped; the id is
// that of the event, and so differs each time a window returns.
func Park(ctx context.Context, c *events.Conn, e events.Event) error {
	subject := c.Naming.ParkedSubject(e.Bank, e.Session)
	m := events.NewMsg(subject, "window:"+strconv.FormatUint(e.Seq, 10), e.Data)
	telemetry.Put(e.Trace(), m.Header)
	_, err := c.JS.PublishMsg(ctx, m)
	return events.Classify(err, "park window event %d", e.Seq)
}

// Parked returns the number of parked windows by bank token, for banks that have any. It costs one request while none
// is parked.
func Parked(ctx context.Context, c *events.Conn) (map[string]int, error) {
	s, err := c.JS.Stream(ctx, c.Naming.Parked())
	if err != nil {
		return nil, events.Classify(err, "read stream %s", c.Naming.Parked())
	}
	if s.CachedInfo().State.Msgs == 0 {
		return nil, nil
	}
	info, err := s.Info(ctx, jetstream.WithSubjectFilter(c.Naming.Subject("*", events.KindParked, "*")))
	if err != nil {
		return nil, events.Classify(err, "count parked windows")
	}
	out := map[string]int{}
	for subject, n := range info.State.Subjects {
		if names, err := c.Naming.Parse(subject); err == nil {
			out[names.BankToken] += int(n)
		}
	}
	return out, nil
}

// ParkedWindows returns the parked windows of a bank as events, oldest first, including those that cannot be decoded.
func ParkedWindows(ctx context.Context, c *events.Conn, bank memory.BankID) ([]events.Event, error) {
	var out []events.Event
	_, err := ordered.Scan(ctx, c, c.Naming.Parked(), []string{c.Naming.BankKind(bank, events.KindParked)}, 0, func(e events.Event) error {
		out = append(out, e)
		return nil
	})
	return out, err
}

// Unpark queues a parked window again and then erases it in PARKED. After a crash between the two it is queued again
// under the same id; when the broker has forgotten the id the window is queued twice, which its window id makes
// harmless.
func Unpark(ctx context.Context, c *events.Conn, e events.Event) error {
	seq := strconv.FormatUint(e.Seq, 10)
	m := events.NewMsg(c.Naming.WindowSubject(e.Bank, e.Session), "parked:"+seq, e.Data)
	m.Header.Set(returnedHeader, seq)
	telemetry.Put(e.Trace(), m.Header)
	if _, err := c.JS.PublishMsg(ctx, m); err != nil {
		return events.Classify(err, "put parked window %d back", e.Seq)
	}
	return c.Erase(ctx, c.Naming.Parked(), e.Seq)
}

// InFlight returns the windows of a bank that are queued, being extracted or parked.
func InFlight(ctx context.Context, c *events.Conn, bank memory.BankID) ([]memory.Window, error) {
	var out []memory.Window
	// Parked first: a window that returns meanwhile is found on the queue.
	for _, from := range []struct{ stream, kind string }{{c.Naming.Parked(), events.KindParked}, {c.Naming.Windows(), events.KindWindow}} {
		err := eachOf(ctx, c, from.stream, c.Naming.BankKind(bank, from.kind), 1, func(e events.Event) bool {
			if w, err := e.Window(); err == nil {
				out = append(out, w)
			}
			return true
		})
		if err != nil {
			return nil, fmt.Errorf("list the windows of %s in flight: %w", bank, err)
		}
	}
	return out, nil
}

// Waiting calls f with the windows of a bank that are parked, or queued, past a sequence, of a session ("" = all), oldest
// first, until f returns false.
func Waiting(ctx context.Context, c *events.Conn, bank memory.BankID, session memory.SessionID, parked bool, after uint64, f func(events.Event, memory.Window) bool) error {
	stream, filter := c.Naming.Windows(), c.Naming.BankKind(bank, events.KindWindow)
	if session != "" {
		filter = c.Naming.WindowSubject(bank, session)
	}
	if parked {
		stream, filter = c.Naming.Parked(), c.Naming.BankKind(bank, events.KindParked)
		if session != "" {
			filter = c.Naming.ParkedSubject(bank, session)
		}
	}
	return eachOf(ctx, c, stream, filter, after+1, func(e events.Event) bool {
		w, err := e.Window()
		return err != nil || f(e, w)
	})
}

// eachOf reads the events that match a filter, from the sequence next on and until f returns false, without a consumer,
// because a work queue allows only one.
func eachOf(ctx context.Context, c *events.Conn, stream, filter string, next uint64, f func(events.Event) bool) error {
	for {
		e, err := c.NextEvent(ctx, stream, filter, next)
		if memory.Code(err) == 404 {
			return nil
		}
		if err != nil {
			return err
		}
		if !f(e) {
			return nil
		}
		next = e.Seq + 1
	}
}
