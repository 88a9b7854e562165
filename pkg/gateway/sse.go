package gateway

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

// commentEvery is how often a stream on which nothing happens says that it is there.
const commentEvery = 15 * time.Second

// sse writes server-sent events. Each has a deadline: a caller that does not read is cut off.
type sse struct {
	w  http.ResponseWriter
	rc *http.ResponseController
}

// newSSE begins the answer.
func newSSE(w http.ResponseWriter) sse {
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("X-Accel-Buffering", "no")
	w.WriteHeader(http.StatusOK)
	return sse{w, http.NewResponseController(w)}
}

func (s sse) write(b []byte) error {
	_ = s.rc.SetWriteDeadline(time.Now().Add(writeWithin)) //nolint:errcheck // a recorder has none
	if _, err := s.w.Write(b); err != nil {
		return err
	}
	return s.rc.Flush()
}

// event sends one event; JSON has no line break.
func (s sse) event(name string, data []byte) error {
	return s.write(fmt.Appendf(nil, "event: %s\ndata: %s\n\n", name, data))
}

func (s sse) comment() error { return s.write([]byte(": here\n\n")) }

// stream answers a request for pieces: delta and reset, then done or error.
func (g *Gateway) stream(ctx context.Context, w http.ResponseWriter, c *caller, e wire.Description, b memory.BankID, data []byte) error {
	g.metrics.streams.Inc()
	defer g.metrics.streams.Dec()
	ctx, cancel := context.WithCancel(ctx)
	type piece struct {
		data []byte
		last bool
	}
	pieces, ended := make(chan piece), make(chan error, 1)
	go func() {
		ended <- c.client.AskStream(ctx, e, b, data, func(data []byte, last bool) error {
			select {
			case pieces <- piece{data, last}:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		})
	}()
	var out *sse
	begin := func() *sse {
		if out == nil {
			s := newSSE(w)
			out = &s
		}
		return out
	}
	err := func() error {
		tick := time.NewTicker(commentEvery)
		defer tick.Stop()
		for {
			select {
			case p := <-pieces:
				if err := begin().event(nameOf(p.data, p.last), p.data); err != nil || p.last {
					return err
				}
			case err := <-ended:
				ended <- err
				return err
			case <-tick.C:
				if err := begin().comment(); err != nil {
					return err
				}
			}
		}
	}()
	cancel()
	<-ended //nolint:errcheck // err is it, or the reader is gone
	if err == nil || out == nil {
		return err
	}
	_, f := faultOf(err)
	_ = out.event("error", encode(f)) //nolint:errcheck // nobody may read it any more
	return nil
}

// nameOf names the event of a piece.
func nameOf(data []byte, last bool) string {
	var d wire.Delta
	switch {
	case last:
		return "done"
	case memory.DecodeEvent(data, &d) == nil && d.Reset:
		return "reset"
	}
	return "delta"
}
