package work

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/eunoe-memory/eunoe/pkg/events"
)

// line holds events that were taken ahead of the handlers, by bank. Banks take turns: the next event is that of the bank
// with the fewest handlers, and among these of the one that had its turn longest ago. The events of a bank keep their
// order. One bank has at most share handlers, so that one whose handlers wait does not hold up all others.
type line struct {
	share   int
	mu      sync.Mutex
	waiting map[string][]held
	turns   []string       // banks with events, the one whose turn it is first
	running map[string]int // handlers
	n       int            // events that wait
	put     chan struct{}  // signalled when an event was added or a handler returned
	room    chan struct{}  // one for each event that waits
}

// held is an event that waits.
type held struct {
	jetstream.Msg
	until time.Time // it is not given to another process before
}

func newLine(size, handlers int) *line {
	return &line{share: handlers - handlers/4,
		waiting: map[string][]held{}, running: map[string]int{}, put: make(chan struct{}, 1), room: make(chan struct{}, size)}
}

// add appends an event; the caller holds a place in room. What was delivered before stays for a while, longer each time, so that
// processes whose handlers all wait do not pass it to and fro.
func (l *line) add(bank string, m jetstream.Msg, most time.Duration) {
	h := held{Msg: m}
	if md, err := m.Metadata(); err == nil && md.NumDelivered > 1 {
		h.until = time.Now().Add(events.Backoff{Min: min(time.Second, most), Max: most}.Delay(int(md.NumDelivered) - 1))
	}
	l.mu.Lock()
	if len(l.waiting[bank]) == 0 {
		l.turns = append(l.turns, bank)
	}
	l.waiting[bank] = append(l.waiting[bank], h)
	l.n++
	l.mu.Unlock()
	l.signal()
}

// signal wakes one that waits in next.
func (l *line) signal() {
	select {
	case l.put <- struct{}{}:
	default:
	}
}

// next waits for an event and takes it; ok is false when ctx has ended. done is to be called when its handler returns.
func (l *line) next(ctx context.Context) (m jetstream.Msg, done func(), ok bool) {
	for {
		l.mu.Lock()
		m, done, ok = l.take()
		l.mu.Unlock()
		if ok {
			l.signal() // another may find more
			return m, done, true
		}
		select {
		case <-l.put:
		case <-ctx.Done():
			return nil, nil, false
		}
	}
}

// take takes the event whose turn it is; ok is false where none waits of a bank that may have one more handler.
func (l *line) take() (m jetstream.Msg, done func(), ok bool) {
	at, least := 0, l.share
	for i, bank := range l.turns {
		if n := l.running[bank]; n < least {
			at, least = i, n
		}
	}
	if least == l.share {
		return nil, nil, false
	}
	bank := l.turns[at]
	l.turns = slices.Delete(l.turns, at, at+1)
	m, l.waiting[bank] = l.waiting[bank][0].Msg, l.waiting[bank][1:]
	if len(l.waiting[bank]) > 0 {
		l.turns = append(l.turns, bank)
	} else {
		delete(l.waiting, bank)
	}
	l.running[bank]++
	l.n--
	<-l.room
	return m, func() {
		l.mu.Lock()
		if l.running[bank]--; l.running[bank] == 0 {
			delete(l.running, bank)
		}
		l.mu.Unlock()
		l.signal()
	}, true
}

// each calls f with every event that waits.
func (l *line) each(f func(jetstream.Msg)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, list := range l.waiting {
		for _, h := range list {
			f(h.Msg)
		}
	}
}

// hold keeps what waits from being delivered to another process until ctx ends. While another process asks for events and
// gets none, it gives half of them back: at once where more ask than before, else of those that have stayed long enough.
func (w *worker) hold(ctx context.Context) {
	tick := time.NewTicker(min(w.cfg.AckWait/3, time.Second))
	defer tick.Stop()
	extended, before := time.Now(), [2]int{} // the last two, because one that asks again does not ask for a moment
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if time.Since(extended) >= w.cfg.AckWait/3 {
			w.line.each(func(m jetstream.Msg) { _ = m.InProgress() })
			extended = time.Now()
		}
		others, known := w.othersAsk(ctx)
		if !known {
			continue
		}
		at := time.Now()
		if others > max(before[0], before[1]) {
			at = at.Add(w.cfg.AckWait)
		}
		if before = [2]int{before[1], others}; others > 0 {
			w.line.giveBack(2, at)
		}
	}
}

// othersAsk returns how many requests of other processes are open for which the broker has nothing, while events wait here. One
// request is this process's own: it is open while there is room in the line, and beyond that where one request asks for several
// events.
func (w *worker) othersAsk(ctx context.Context) (n int, known bool) {
	w.line.mu.Lock()
	held := w.line.n
	w.line.mu.Unlock()
	if held == 0 {
		return 0, false
	}
	own := 1
	if held == cap(w.line.room) && w.cfg.batch() == 1 {
		own = 0
	}
	cons, err := w.conn.Consumer(ctx, w.cfg.Stream, w.durable())
	if err != nil {
		return 0, false
	}
	info := cons.CachedInfo()
	return info.NumWaiting - own, info.NumPending == 0
}

// giveBack returns one of so many events that wait to the queue, of each bank the last ones, of those that stay no longer than
// until a time.
func (l *line) giveBack(oneOf int, at time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for bank, list := range l.waiting {
		free := 0
		for _, h := range list {
			if !h.until.After(at) {
				free++
			}
		}
		stay := free - (free+oneOf-1)/oneOf
		list = slices.DeleteFunc(list, func(h held) bool {
			if h.until.After(at) {
				return false
			}
			if stay > 0 {
				stay--
				return false
			}
			_ = h.Nak()
			<-l.room
			l.n--
			return true
		})
		if l.waiting[bank] = list; len(list) == 0 {
			delete(l.waiting, bank)
			l.turns = slices.DeleteFunc(l.turns, func(b string) bool { return b == bank })
		}
	}
}
