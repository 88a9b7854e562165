package events

import (
	"context"
	"fmt"
	"strconv"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/eunoe-memory/eunoe/internal/telemetry"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// returnedHeader marks a window that waited in PARKED: it names the sequence
// it had there.
const returnedHeader = "Eunoe-Parked"

// Returned reports whether a window of the work queue waited in PARKED before.
func (e Event) Returned() bool { return e.Header.Get(returnedHeader) != "" }

// Park puts a window of the work queue aside until its bank may spend tokens
// again. The caller acknowledges the event afterwards: a crash between the two
// parks it again under the same id, which names the event and so differs each
// time a window comes back.
func (c *Conn) Park(ctx context.Context, e Event) error {
	subject := c.Naming.ParkedSubject(e.Bank, e.Session)
	m := withID(subject, "window:"+strconv.FormatUint(e.Seq, 10), e.Data)
	telemetry.Put(e.trace(), m.Header)
	_, err := c.JS.PublishMsg(ctx, m)
	return meaning(err, "park window event %d", e.Seq)
}

// Parked counts the parked windows of every bank that has any, by the bank's
// token. It costs one request while none is parked.
func (c *Conn) Parked(ctx context.Context) (map[string]int, error) {
	s, err := c.JS.Stream(ctx, c.Naming.Parked())
	if err != nil {
		return nil, meaning(err, "read stream %s", c.Naming.Parked())
	}
	if s.CachedInfo().State.Msgs == 0 {
		return nil, nil
	}
	info, err := s.Info(ctx, jetstream.WithSubjectFilter(c.Naming.Subject("*", KindParked, "*")))
	if err != nil {
		return nil, meaning(err, "count parked windows")
	}
	out := map[string]int{}
	for subject, n := range info.State.Subjects {
		if names, err := c.Naming.Parse(subject); err == nil {
			out[names.BankToken] += int(n)
		}
	}
	return out, nil
}

// CountParked counts the parked windows of a bank.
func (c *Conn) CountParked(ctx context.Context, bank memory.BankID) (int, error) {
	return c.count(ctx, c.Naming.Parked(), c.Naming.BankKind(bank, KindParked))
}

// ParkedWindows gives the parked windows of a bank as events, oldest first.
// Those that cannot be read as windows are among them.
func (c *Conn) ParkedWindows(ctx context.Context, bank memory.BankID) ([]Event, error) {
	var out []Event
	_, err := c.Scan(ctx, c.Naming.Parked(), []string{c.Naming.BankKind(bank, KindParked)}, 0, func(e Event) error {
		out = append(out, e)
		return nil
	})
	return out, err
}

// Unpark puts a parked window back on the work queue and then erases it where
// it waited. A crash between the two sends it again under the same id; behind
// the broker's memory of ids it is a twin, which its window's id makes harmless.
func (c *Conn) Unpark(ctx context.Context, e Event) error {
	seq := strconv.FormatUint(e.Seq, 10)
	m := withID(c.Naming.WindowSubject(e.Bank, e.Session), "parked:"+seq, e.Data)
	m.Header.Set(returnedHeader, seq)
	telemetry.Put(e.trace(), m.Header)
	if _, err := c.JS.PublishMsg(ctx, m); err != nil {
		return meaning(err, "put parked window %d back", e.Seq)
	}
	return c.Erase(ctx, c.Naming.Parked(), e.Seq)
}

// WindowsInFlight gives the windows of a bank that wait for an extractor, are
// with one, or are parked.
func (c *Conn) WindowsInFlight(ctx context.Context, bank memory.BankID) ([]memory.Window, error) {
	var out []memory.Window
	// Parked first: a window that comes back meanwhile is met on the queue.
	for _, from := range []struct{ stream, kind string }{{c.Naming.Parked(), KindParked}, {c.Naming.Windows(), KindWindow}} {
		err := c.eachOf(ctx, from.stream, c.Naming.BankKind(bank, from.kind), func(e Event) {
			if w, err := e.Window(); err == nil {
				out = append(out, w)
			}
		})
		if err != nil {
			return nil, fmt.Errorf("list the windows of %s in flight: %w", bank, err)
		}
	}
	return out, nil
}

// eachOf reads what a stream holds under a filter without a consumer: a work
// queue has room for its own alone.
func (c *Conn) eachOf(ctx context.Context, stream, filter string, f func(Event)) error {
	for next := uint64(1); ; {
		e, err := c.nextOf(ctx, stream, filter, next)
		if memory.Code(err) == 404 {
			return nil
		}
		if err != nil {
			return err
		}
		f(e)
		next = e.Seq + 1
	}
}

func (c *Conn) nextOf(ctx context.Context, stream, filter string, seq uint64) (Event, error) {
	return c.fromLeader(ctx, stream, map[string]any{"seq": seq, "next_by_subj": filter})
}
