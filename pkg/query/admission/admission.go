// Package admission decides which request runs next, so that no bank can keep the others waiting.
//
// A Gate admits a request or refuses it (Admit), assigns it a place when its bank's turn comes (Ticket.Start), and frees
// the place at its end (Ticket.End). The bank that has used the least time is served first. Requests known to take long
// share a few places of their own, so that quick ones always find a core. A request that waits for the log or for a
// model releases its place meanwhile: the waiting code calls Leave with its context.
package admission

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// Config holds the numbers of a Gate.
type Config struct {
	// Quick is how many requests run at once that are not known to take long. At least 1.
	Quick int
	// Shared is how many of them one bank has at most while another asks too, or asked a second ago. At least 1.
	Shared int
	// Costly is how many others run at once. At least 1.
	Costly int
	// CostlyFrom is the running time from which a bank's requests of one name are costly, on the average of the last
	// ones.
	CostlyFrom time.Duration
	// LargeFrom is the size of a body, in bytes, from which a request that was never measured is costly.
	LargeFrom int
	// Answers is how many requests are between Start and End at once that wait for language models (Request.Answers),
	// whether they hold a place or not. At least 1.
	Answers int
	// PerBank bounds the requests of a bank that run or wait; more are refused. At least 1.
	PerBank int
	// Bytes bounds the bodies of all requests that run or wait. At least 1.
	Bytes int
}

// DefaultConfig returns the numbers Eunoe runs with. A quick request for each thread that runs Go code, of which a
// program has four for each core, keeps the cores busy while some read the disk; more would only take turns on them.
func DefaultConfig() Config {
	threads := runtime.GOMAXPROCS(0)
	return Config{Quick: max(4, threads), Shared: max(1, threads/4), Costly: max(1, threads/4), CostlyFrom: 50 * time.Millisecond, LargeFrom: 4 << 10,
		Answers: 8, PerBank: 256, Bytes: 256 << 20}
}

// Validate joins the errors of every wrong number.
func (c Config) Validate() error {
	var errs []error
	for _, n := range []struct {
		name  string
		value int
	}{{"quick", c.Quick}, {"shared", c.Shared}, {"costly", c.Costly}, {"answers", c.Answers}, {"per bank", c.PerBank}, {"bytes", c.Bytes}} {
		if n.value < 1 {
			errs = append(errs, fmt.Errorf("admission: %s is %d; at least 1 is needed", n.name, n.value))
		}
	}
	return errors.Join(errs...)
}

// Request is what a Gate knows of a request.
type Request struct {
	Bank    string // "" = an operator's, which has no bank
	Name    string // of the endpoint
	Size    int    // of the body, in bytes
	Answers bool   // it waits for a language model's answer
}

// Gate admits requests. It is safe for concurrent use.
type Gate struct {
	cfg                    Config
	quick, costly, answers *lane
	times                  *lru.Cache[timeKey, runningTime]

	mu     sync.Mutex
	first  map[timeKey]chan struct{} // kinds that were never measured and of which a request runs; closed when it does no more
	banks  map[string]int            // requests that run or wait
	bytes  int
	closed bool
	empty  chan struct{} // closed and made anew when the last request ends
}

// timeKey names the requests that share an average: a kind.
type timeKey struct {
	bank, name string
	large      bool
}

// runningTime is what is known of a kind.
type runningTime struct {
	average time.Duration
	costly  time.Time // until then the kind is costly whatever the average says
}

// A request that ran for slowTimes CostlyFrom makes its kind costly for remembered times as long as it ran: a bank could
// otherwise bring the average down by cheap requests before each of its slow ones.
const (
	slowTimes  = 4
	remembered = 10
)

// measuredKinds bounds the averages that a Gate keeps.
const measuredKinds = 4096

// New returns a Gate.
func New(cfg Config) (*Gate, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	times, err := lru.New[timeKey, runningTime](measuredKinds)
	if err != nil {
		return nil, err
	}
	// A request holds a connection of the store, of which there are half as many as quick places: of those a bank has at
	// most half, whatever its requests turn out to take.
	return &Gate{cfg: cfg, quick: newLane(cfg.Quick, cfg.Quick/2, cfg.Shared), costly: newLane(cfg.Costly, cfg.Costly-1, cfg.Costly-1),
		answers: newLane(cfg.Answers, cfg.Answers-1, cfg.Answers-1), times: times,
		first: map[timeKey]chan struct{}{}, banks: map[string]int{}, empty: make(chan struct{})}, nil
}

// Admit counts a request in. When its bank has too many requests already, or all banks together too many bytes, the
// error is memory.ErrQuota and says when to come again. The caller calls End of the ticket, once.
func (g *Gate) Admit(r Request) (*Ticket, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return nil, fmt.Errorf("the service is stopping: %w", memory.ErrUnavailable)
	}
	if n := g.banks[r.Bank]; n >= g.cfg.PerBank {
		return nil, busy("the bank has %d requests that run or wait, which is the most; come again in 1s", n)
	}
	if g.bytes > 0 && g.bytes+r.Size > g.cfg.Bytes {
		return nil, busy("the requests that run or wait are %d bytes; come again in 1s", g.bytes)
	}
	g.banks[r.Bank]++
	g.bytes += r.Size
	return &Ticket{gate: g, request: r}, nil
}

// comeAgain is when a refused request is worth another try: most requests end within milliseconds.
const comeAgain = time.Second

func busy(format string, args ...any) error {
	return &memory.FieldError{Message: fmt.Sprintf(format, args...), Meaning: memory.ErrQuota, RetryAfter: comeAgain}
}

// Close waits until every admitted request has ended, but no longer than a time or ctx. From then on Admit refuses with
// memory.ErrUnavailable.
func (g *Gate) Close(ctx context.Context, within time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	for {
		g.mu.Lock()
		n, empty := len(g.banks), g.empty
		g.closed = n == 0 || ctx.Err() != nil
		closed := g.closed
		g.mu.Unlock()
		if closed {
			return
		}
		select {
		case <-empty:
		case <-ctx.Done():
		}
	}
}

func (g *Gate) end(r Request) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.bytes -= r.Size
	if g.banks[r.Bank]--; g.banks[r.Bank] == 0 {
		delete(g.banks, r.Bank)
	}
	if len(g.banks) == 0 {
		close(g.empty)
		g.empty = make(chan struct{})
	}
}

func (g *Gate) key(r Request) timeKey {
	return timeKey{bank: r.Bank, name: r.Name, large: r.Size >= g.cfg.LargeFrom}
}

// lane returns where a request runs, by what requests like it took.
func (g *Gate) lane(r Request) *lane {
	k := g.key(r)
	took, measured := g.times.Get(k)
	if measured && (took.average >= g.cfg.CostlyFrom || time.Now().Before(took.costly)) || !measured && k.large {
		return g.costly
	}
	return g.quick
}

// measure adds a running time to the average of requests like it. The last one counts a quarter, or half if it took longer.
func (g *Gate) measure(r Request, took time.Duration) {
	k := g.key(r)
	t, ok := g.times.Get(k)
	switch {
	case !ok:
		t.average = took
	case took > t.average:
		t.average = (t.average + took) / 2
	default:
		t.average = (3*t.average + took) / 4
	}
	if took >= slowTimes*g.cfg.CostlyFrom {
		t.costly = time.Now().Add(remembered * took)
	}
	g.times.Add(k, t)
}

// awaitMeasured waits while a request of the same kind runs of which none was measured: many that turn out to be slow would
// else fill the places of quick ones before that is known. It returns what ends this for the others, once the request
// itself is that one; else nil.
func (g *Gate) awaitMeasured(ctx context.Context, r Request) (over func(), err error) {
	k := g.key(r)
	for {
		if _, ok := g.times.Get(k); ok {
			return nil, nil
		}
		g.mu.Lock()
		first := g.first[k]
		if first == nil {
			first = make(chan struct{})
			g.first[k] = first
			g.mu.Unlock()
			return sync.OnceFunc(func() {
				g.mu.Lock()
				defer g.mu.Unlock()
				delete(g.first, k)
				close(first)
			}), nil
		}
		g.mu.Unlock()
		select {
		case <-first:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}
