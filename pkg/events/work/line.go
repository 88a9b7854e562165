package work

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// line holds events that were taken ahead of the handlers, by bank. Banks take turns: the next event is that of the bank
// with the fewest handlers, and among these of the one that had its turn longest ago. The events of a bank keep their
// order. One bank has at most share handlers, so that one whose handlers wait does not hold up all others.
type line struct {
	share   int
	mu      sync.Mutex
	waiting map[string][]jetstream.Msg
	turns   []string       // banks with events, the one whose turn it is first
	running map[string]int // handlers
	n       int            // events that wait
	put     chan struct{}  // signalled when an event was added or a handler returned
	room    chan struct{}  // one for each event that waits
}

func newLine(size, handlers int) *line {
	return &line{share: handlers - handlers/4,
		waiting: map[string][]jetstream.Msg{}, running: map[string]int{}, put: make(chan struct{}, 1), room: make(chan struct{}, size)}
}

// add appends an event; the caller holds a place in room.
func (l *line) add(bank string, m jetstream.Msg) {
	l.mu.Lock()
	if len(l.waiting[bank]) == 0 {
		l.turns = append(l.turns, bank)
	}
	l.waiting[bank] = append(l.waiting[bank], m)
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
	m, l.waiting[bank] = l.waiting[bank][0], l.waiting[bank][1:]
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
		for _, m := range list {
			f(m)
		}
	}
}

// hold keeps what waits from being delivered to another process until ctx ends. While another process asks for events and
// gets none, it gives half of them back.
func (w *worker) hold(ctx context.Context) {
	tick := time.NewTicker(min(w.cfg.AckWait/3, time.Second))
	defer tick.Stop()
	extended := time.Now()
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
		if w.othersIdle(ctx) {
			w.line.giveBack(2)
		}
	}
}

// othersIdle reports whether events wait here while requests of other processes are open. One request is this process's
// own: it is open while there is room in the line, and beyond that where one request asks for several events.
func (w *worker) othersIdle(ctx context.Context) bool {
	w.line.mu.Lock()
	n := w.line.n
	w.line.mu.Unlock()
	if n == 0 {
		return false
	}
	own := 1
	if n == cap(w.line.room) && w.cfg.batch() == 1 {
		own = 0
	}
	cons, err := w.conn.Consumer(ctx, w.cfg.Stream, w.durable())
	if err != nil {
		return false
	}
	info := cons.CachedInfo()
	return info.NumPending == 0 && info.NumWaiting > own
}

// giveBack returns one of so many events that wait to the queue, of each bank the last ones.
func (l *line) giveBack(oneOf int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for bank, list := range l.waiting {
		stay := len(list) - (len(list)+oneOf-1)/oneOf
		for _, m := range list[stay:] {
			_ = m.Nak()
			<-l.room
			l.n--
		}
		if l.waiting[bank] = list[:stay]; stay == 0 {
			delete(l.waiting, bank)
			l.turns = slices.DeleteFunc(l.turns, func(b string) bool { return b == bank })
		}
	}
}
