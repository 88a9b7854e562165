package gateway

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/client"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

const (
	feedKept = 4096 // changes that a feed keeps for its streams
	pageSize = 1000 // changes that are read at a time
)

// A feed begins a read so long after the one before: what was announced meanwhile is read together, and each stream
// writes it together. The more streams a feed has, the longer: 1,000 streams of one bank with 100 changes a second
// write 14,000 times a second instead of 50,000 times.
const (
	feedPause   = 20 * time.Millisecond
	streamPause = 50 * time.Microsecond // more for each stream
)

// event is a change as streams write it, made once for all of them.
type event struct {
	seq  uint64
	id   string
	text []byte
}

func eventOf(c memory.Change) event {
	return event{c.Seq, c.ID, fmt.Appendf(nil, "id: %d\nevent: %s\ndata: %s\n\n", c.Seq, c.What, encode(c))}
}

func eventsOf(changes []memory.Change) []event {
	out := make([]event, len(changes))
	for i, c := range changes {
		out[i] = eventOf(c)
	}
	return out
}

// feeds are the feeds of one key, by bank.
type feeds struct {
	mu   sync.Mutex
	open map[memory.BankID]*feed
}

// feed follows the changes of one bank for all streams of a key that show them.
type feed struct {
	uses atomic.Int64 // streams; changed under feeds.mu
	stop context.CancelFunc

	mu    sync.Mutex
	items []event       // the newest, in order
	from  uint64        // items are all changes after it
	at    uint64        // up to where was read
	news  chan struct{} // closed when at moves or the feed ends
	err   error         // why it ended
}

// follow returns the feed of a bank and starts it if it is new; leave ends the use of it.
func (c *caller) follow(ctx context.Context, bank memory.BankID) (f *feed, leave func(), err error) {
	c.feeds.mu.Lock()
	defer c.feeds.mu.Unlock()
	f = c.feeds.open[bank]
	if f == nil || f.ended() != nil {
		sub, err := c.client.Subscribe(ctx, bank, "")
		if err != nil {
			return nil, nil, err
		}
		end, err := client.Call(ctx, c.client, wire.Changes, bank, wire.ChangesRequest{Latest: true})
		if err != nil {
			return nil, nil, errors.Join(err, sub.Close())
		}
		at, err := strconv.ParseUint(end.Next, 10, 64)
		if err != nil {
			return nil, nil, errors.Join(err, sub.Close())
		}
		running, stop := context.WithCancel(context.WithoutCancel(ctx))
		f = &feed{stop: stop, from: at, at: at, news: make(chan struct{})}
		if c.feeds.open == nil {
			c.feeds.open = map[memory.BankID]*feed{}
		}
		c.feeds.open[bank] = f
		go f.run(running, c, bank, sub)
	}
	f.uses.Add(1)
	return f, func() { c.leave(bank, f) }, nil
}

func (c *caller) leave(bank memory.BankID, f *feed) {
	c.feeds.mu.Lock()
	defer c.feeds.mu.Unlock()
	if f.uses.Add(-1) == 0 {
		f.stop()
		if c.feeds.open[bank] == f {
			delete(c.feeds.open, bank)
		}
	}
}

// run reads the changes of a bank whenever one is announced. The announcement is only a signal: the changes are read
// from the log, whose sequence numbers let a stream continue.
func (f *feed) run(ctx context.Context, c *caller, bank memory.BankID, sub *client.Subscription) {
	var newest atomic.Value // id of the change announced last
	announced := make(chan error, 1)
	go func() {
		defer close(announced)
		for ctx.Err() == nil {
			change, err := sub.Next(ctx)
			newest.Store(change.ID)
			select {
			case announced <- err:
			default:
			}
			if err != nil {
				return
			}
		}
	}()
	err := func() error {
		for received := ""; ; {
			pause := time.After(feedPause + time.Duration(f.uses.Load())*streamPause)
			if received == "" || !f.has(received) {
				if err := f.read(ctx, c, bank, received); err != nil {
					return err
				}
			}
			select {
			case err, more := <-announced:
				if err != nil || !more {
					return err
				}
			case <-ctx.Done():
				return ctx.Err()
			}
			select {
			case <-pause:
			case <-ctx.Done():
				return ctx.Err()
			}
			received = newest.Load().(string)
		}
	}()
	f.stop()
	for range announced { //nolint:revive // until it has ended
	}
	_ = sub.Close() //nolint:errcheck // the connection may be gone
	if err == nil {
		err = memory.ErrUnavailable
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.err = err
	close(f.news)
}

// has reports whether the feed has read a change.
func (f *feed) has(id string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.ContainsFunc(f.items, func(e event) bool { return e.id == id })
}

// read appends new changes, up to the one that was received or, where that is "", all that were announced.
func (f *feed) read(ctx context.Context, c *caller, bank memory.BankID, received string) error {
	for {
		page, err := client.Call(ctx, c.client, wire.Changes, bank, wire.ChangesRequest{After: f.at, Limit: pageSize, Received: received})
		if err != nil {
			return err
		}
		if len(page.Items) == 0 {
			return nil
		}
		f.mu.Lock()
		f.items = append(f.items, eventsOf(page.Items)...)
		f.at = page.Items[len(page.Items)-1].Seq
		if over := len(f.items) - feedKept; over > 0 {
			f.from = f.items[over-1].seq
			f.items = slices.Clone(f.items[over:])
		}
		close(f.news)
		f.news = make(chan struct{})
		f.mu.Unlock()
		if page.Next == "" {
			return nil
		}
	}
}

// since returns the changes after a position and a channel that is closed when there are more. kept is false if the feed
// no longer holds all of them.
func (f *feed) since(at uint64) (items []event, news <-chan struct{}, kept bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if at < f.from {
		return nil, nil, false
	}
	i, _ := slices.BinarySearchFunc(f.items, at+1, func(e event, seq uint64) int { return cmp.Compare(e.seq, seq) })
	return f.items[i:len(f.items):len(f.items)], f.news, true
}

// position returns the position up to which the feed has read.
func (f *feed) position() uint64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.at
}

// ended returns why the feed ended, nil while it reads.
func (f *feed) ended() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.err
}
