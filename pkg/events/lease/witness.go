package lease

import (
	"context"
	"errors"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/eunoe-memory/eunoe/pkg/events"
)

const (
	goneFor     = 3 * leaseRenew  // how long the broker has to say that an owner is not connected; a reconnection takes less
	askAgain    = leaseRenew / 2  // how often an owner is asked for
	askStranger = 10 * leaseRenew // the same for one that never answered
	forgetAfter = time.Minute     // without a question about an owner
)

// Subject returns the subject on which a process that owns leases answers others that it is there: mem.admin.owner.<owner>;
// "*" is every owner. Only the stages speak on it.
func Subject(n events.Naming, owner string) string { return n.AdminSubject("owner." + owner) }

// answer answers those that ask whether owner is there, until stop is called. The broker takes the answerer away with its
// connection, so a process that was killed is missed at once, and not when its leases expire.
func answer(c *events.Conn, owner string) (stop func(), err error) {
	sub, err := c.NC.Subscribe(Subject(c.Naming, owner), func(m *nats.Msg) { _ = m.Respond(nil) })
	if err != nil {
		return nil, events.Classify(err, "answer as %s", owner)
	}
	return func() { _ = sub.Unsubscribe() }, nil
}

// witness knows which owners are gone: those that answered before, and are not connected to the broker for goneFor. One
// that never answered may be of a version that does not, and one that is slow or frozen is still connected: their leases
// expire. Taking a lease from an owner that is alive would cost the work begun, and nothing else.
type witness struct {
	conn   *events.Conn
	owners map[string]*sight
}

type sight struct {
	answered bool      // at any time
	asked    time.Time // last
	missed   time.Time // since when the broker says that nobody answers; zero = it does not
}

func newWitness(c *events.Conn) *witness { return &witness{c, map[string]*sight{}} }

// gone asks for an owner, at most once per askAgain, and reports whether it is gone.
func (w *witness) gone(ctx context.Context, owner string) bool {
	now := time.Now()
	s := w.owners[owner]
	if s == nil {
		s = &sight{}
		w.owners[owner] = s
	}
	every := askAgain
	if !s.answered {
		every = askStranger
	}
	if now.Sub(s.asked) >= every {
		s.asked = now
		switch err := w.ask(ctx, owner); {
		case err == nil:
			s.answered, s.missed = true, time.Time{}
		case !errors.Is(err, nats.ErrNoResponders):
			s.missed = time.Time{}
		case s.missed.IsZero():
			s.missed = now
		}
	}
	for name, other := range w.owners {
		if now.Sub(other.asked) > forgetAfter {
			delete(w.owners, name)
		}
	}
	return s.answered && !s.missed.IsZero() && now.Sub(s.missed) >= goneFor
}

func (w *witness) ask(ctx context.Context, owner string) error {
	ctx, cancel := context.WithTimeout(ctx, leaseRenew/2)
	defer cancel()
	_, err := w.conn.NC.RequestWithContext(ctx, Subject(w.conn.Naming, owner), nil)
	return err
}

// restart begins to watch anew: while the broker was away, owners were not connected either.
func (w *witness) restart() {
	for _, s := range w.owners {
		s.missed = time.Time{}
	}
}
