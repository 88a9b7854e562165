package gateway

import (
	"bytes"
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/client"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

// maxStreams is how many streams of events one key may have open.
const maxStreams = 2000

// after returns the position after which a stream begins: the last event that its reader has, or the parameter. now is
// true if the request has neither.
func after(r *http.Request) (at uint64, now bool, err error) {
	if id := r.Header.Get("Last-Event-ID"); id != "" {
		if at, err = strconv.ParseUint(id, 10, 64); err != nil {
			return 0, false, memory.Invalid("Last-Event-ID", "%.40q is no number of a change", id)
		}
		return at, false, nil
	}
	at, err = number(r, "after")
	return at, !r.URL.Query().Has("after"), err
}

// events streams the changes of a bank.
func (g *Gateway) events(w http.ResponseWriter, r *http.Request, c *caller) error {
	if err := checkQuery(r, []string{"after"}); err != nil {
		return err
	}
	at, now, err := after(r)
	if err != nil {
		return err
	}
	if !g.keys.begin(c) {
		return &refusal{status: http.StatusTooManyRequests, message: "this key has " + strconv.Itoa(maxStreams) + " streams open; close one first"}
	}
	defer g.keys.end(c)
	ctx := r.Context()
	f, leave, err := c.follow(ctx, bank(r))
	if err != nil {
		return err
	}
	defer leave()
	if now {
		at = f.position()
	}
	g.metrics.streams.Inc()
	defer g.metrics.streams.Dec()
	out := newSSE(w)
	if err := out.comment(); err != nil { // the reader sees that the stream is open
		return nil //nolint:nilerr // it is gone
	}
	tick := time.NewTicker(commentEvery)
	defer tick.Stop()
	for {
		items, news, kept := f.since(at)
		if !kept {
			if items, at, err = missed(ctx, c, bank(r), f, at); err != nil {
				return nil //nolint:nilerr // the reader comes again with the last id it has
			}
		}
		if err := out.changes(items); err != nil {
			return nil //nolint:nilerr // the reader is gone
		}
		if len(items) > 0 {
			at = max(at, items[len(items)-1].seq)
		}
		if !kept {
			continue
		}
		if f.ended() != nil {
			return nil
		}
		select {
		case <-news:
		case <-tick.C:
			if out.comment() != nil {
				return nil
			}
		case <-ctx.Done():
			return nil
		case <-g.stopping:
			return nil
		}
	}
}

// missed reads a page of the changes that a feed no longer holds. At the end it returns the position that the feed had
// before, because nothing lies in between.
func missed(ctx context.Context, c *caller, bank memory.BankID, f *feed, at uint64) ([]event, uint64, error) {
	read := f.position()
	page, err := client.Call(ctx, c.client, wire.Changes, bank, wire.ChangesRequest{After: at, Limit: pageSize})
	if err == nil && page.Next == "" {
		at = max(at, read)
	}
	return eventsOf(page.Items), at, err
}

// changes writes an event for each change; its id is the number of the change.
func (s sse) changes(items []event) error {
	if len(items) == 0 {
		return nil
	}
	var all bytes.Buffer
	for _, e := range items {
		all.Write(e.text)
	}
	return s.write(all.Bytes())
}

// begin counts a stream of a caller. It returns false if the caller has too many.
func (k *keys) begin(c *caller) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if c.streams >= maxStreams {
		return false
	}
	c.streams++
	return true
}

func (k *keys) end(c *caller) {
	k.mu.Lock()
	defer k.mu.Unlock()
	c.streams--
}
