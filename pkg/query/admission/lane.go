package admission

import (
	"context"
	"sync"
	"time"
)

// lane is a number of places that banks share. A place that becomes free goes to the waiting bank that has used the
// least time, and to that bank's oldest request. A bank never has all places of a lane with several, so that a bank which
// comes finds one whatever another bank asks for. While others ask too, it has fewer still: what runs beside a request
// takes its cores.
type lane struct {
	mu     sync.Mutex
	places int // in all
	most   int // of one bank, where it asks alone
	shared int // of one bank, where others ask too
	taken  int
	clock  time.Duration // used by the bank that was served last: where a bank that comes begins
	banks  map[string]*share
	asked  [2]asked // by the last two banks, the last one first
}

// asked is when a bank asked last.
type asked struct {
	bank string
	at   time.Time
}

// alone is how long after another bank's last request a bank asks alone again: longer than a person takes between two
// requests of one answer, and short enough that a bank which is really alone has waited for nothing.
const alone = time.Second

// share is what one bank has of a lane.
type share struct {
	running int
	used    time.Duration // time in places, counted from the lane's clock when the bank came
	waiting []chan struct{}
}

func newLane(places, most, shared int) *lane {
	return &lane{places: max(1, places), most: max(1, most), shared: max(1, min(shared, most)), banks: map[string]*share{}}
}

// enter waits for a place. It returns ctx's error when ctx ends first.
func (l *lane) enter(ctx context.Context, bank string) error {
	l.mu.Lock()
	if now := time.Now(); l.asked[0].bank == bank {
		l.asked[0].at = now
	} else {
		l.asked = [2]asked{{bank, now}, l.asked[0]}
	}
	s := l.banks[bank]
	if s == nil {
		s = &share{used: l.clock}
		l.banks[bank] = s
	}
	turn := make(chan struct{})
	s.waiting = append(s.waiting, turn)
	l.serve()
	l.mu.Unlock()
	select { // a free place is taken even by a request whose time is over
	case <-turn:
		return nil
	default:
	}
	select {
	case <-turn:
		return nil
	case <-ctx.Done():
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, w := range s.waiting {
		if w == turn {
			s.waiting = append(s.waiting[:i], s.waiting[i+1:]...)
			l.forget(bank, s)
			return ctx.Err()
		}
	}
	l.release(bank, 0) // its turn came at the same moment
	return ctx.Err()
}

// leave returns a place that a bank had for some time.
func (l *lane) leave(bank string, took time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.release(bank, took)
}

func (l *lane) release(bank string, took time.Duration) {
	s := l.banks[bank]
	s.running--
	s.used += took
	l.taken--
	l.forget(bank, s)
	l.serve()
}

// forget drops a bank that neither waits nor runs, so that a lane holds only the banks of the moment.
func (l *lane) forget(bank string, s *share) {
	if s.running == 0 && len(s.waiting) == 0 {
		delete(l.banks, bank)
	}
}

// bound returns how many places a bank may have now.
func (l *lane) bound(bank string, now time.Time) int {
	for _, a := range l.asked {
		if a.bank != bank && now.Sub(a.at) < alone {
			return l.shared
		}
	}
	return l.most
}

// serve hands out the free places.
func (l *lane) serve() {
	now := time.Now()
	for l.taken < l.places {
		name := ""
		var next *share
		for n, s := range l.banks {
			if len(s.waiting) == 0 || s.running >= l.bound(n, now) {
				continue
			}
			if next == nil || s.used < next.used || s.used == next.used && n < name {
				name, next = n, s
			}
		}
		if next == nil {
			return
		}
		close(next.waiting[0])
		next.waiting = next.waiting[1:]
		next.running++
		l.taken++
		l.clock = max(l.clock, next.used)
	}
}
