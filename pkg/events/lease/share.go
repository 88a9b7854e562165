package lease

import (
	"context"
	"errors"
	"fmt"
	"sort"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/events/kv"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// ShareConfig says what the processes of a group share.
type ShareConfig struct {
	Group string // plain token, the first of the keys of the leases
	Owner string // this process: a plain token that no other process uses
	Parts int    // number of parts, which are numbered from 0
	// Key names the lease of a part, a plain token; nil = the group's own.
	Key func(part int) string
	// Ends reports whether Share ends with an error of run, and does not start it again; nil = with none.
	Ends func(error) bool
}

// Share spreads the parts of a group evenly over its processes and calls run for each part that this process owns. The
// context of run ends when the part is lost or goes to a process that joined, or when ctx ends; the part is released
// when run has returned. A run that returns by itself is started again, here or elsewhere. A process that joins has its
// parts within about a second; the parts of a process that was killed are taken over within two seconds, those of one that
// hangs, or whose machine is lost, within events.LeaseTTL and a second.
// Share returns nil when ctx has ended and every run has returned, or the error that ends it.
func Share(ctx context.Context, c *events.Conn, cfg ShareConfig, run func(ctx context.Context, part int) error) error {
	if cfg.Parts <= 0 || events.EncodeToken(cfg.Group) != cfg.Group || events.EncodeToken(cfg.Owner) != cfg.Owner || cfg.Group == "" || cfg.Owner == "" {
		return fmt.Errorf("share %q as %q: group and owner must be plain tokens and there must be parts", cfg.Group, cfg.Owner)
	}
	stop, err := answer(c, cfg.Owner)
	if err != nil {
		return err
	}
	defer stop()
	s := &sharer{conn: c, cfg: cfg, run: run, held: map[int]*heldPart{}, ended: make(chan struct{}, 1), witness: newWitness(c)}
	running, end := context.WithCancelCause(ctx)
	defer end(nil)
	s.end = end
	s.loop(running)
	if ctx.Err() != nil {
		return nil
	}
	return context.Cause(running)
}

type sharer struct {
	conn   *events.Conn
	cfg    ShareConfig
	run    func(context.Context, int) error
	member *lease
	held   map[int]*heldPart
	ended  chan struct{} // signals that a run returned
	end    func(error)   // ends Share with an error
	leave  time.Time     // until when free parts are left to owners that may not have renewed yet

	witness *witness

	mu    sync.Mutex
	pause map[int]time.Time // when a part whose run failed may start again
}

type heldPart struct {
	*lease
	stop func()
	done chan struct{}
}

func (s *sharer) memberKey() string { return s.cfg.Group + ".member." + s.cfg.Owner }

func (s *sharer) partKey(p int) string {
	if s.cfg.Key != nil {
		return s.cfg.Key(p)
	}
	return s.cfg.Group + ".part." + strconv.Itoa(p)
}

func (s *sharer) loop(ctx context.Context) {
	t := time.NewTicker(leaseRenew)
	defer t.Stop()
	for ctx.Err() == nil {
		s.renew(ctx)
		s.releaseEnded(ctx)
		if time.Now().Before(s.leave) {
			s.witness.restart() // the owners renew
		} else if err := s.balance(ctx); err != nil && ctx.Err() == nil {
			s.leave = time.Now().Add(leaseGrace)
			s.conn.Log.Warn().Err(err).Str("group", s.cfg.Group).Msg("sharing again later")
		}
		select {
		case <-ctx.Done():
		case <-t.C:
		case <-s.ended:
		}
	}
	for _, h := range s.held {
		h.stop()
	}
	for len(s.held) > 0 {
		s.renew(context.WithoutCancel(ctx))
		s.releaseEnded(ctx)
		if len(s.held) > 0 {
			select {
			case <-t.C:
			case <-s.ended:
			}
		}
	}
	if s.member != nil {
		s.member.release(ctx)
	}
}

// renew renews all leases and stops the runs of those that another process holds. If the broker cannot be reached, free
// parts are left to their owners for leaseGrace.
func (s *sharer) renew(ctx context.Context) {
	var wg sync.WaitGroup
	var away atomic.Bool
	note := func(err error) {
		if err != nil && !errors.Is(err, memory.ErrConflict) {
			away.Store(true)
		}
	}
	if s.member != nil {
		wg.Go(func() { note(s.member.renew(ctx)) })
	}
	for _, h := range s.held {
		wg.Go(func() {
			err := h.renew(ctx)
			note(err)
			if errors.Is(err, memory.ErrConflict) {
				h.stop()
			}
		})
	}
	wg.Wait()
	if away.Load() {
		s.leave = time.Now().Add(leaseGrace)
	}
}

// releaseEnded releases the parts whose run has returned.
func (s *sharer) releaseEnded(ctx context.Context) {
	for p, h := range s.held {
		select {
		case <-h.done:
			h.release(ctx)
			delete(s.held, p)
		default:
		}
	}
}

// balance takes free parts or stops runs until this process has its share.
func (s *sharer) balance(ctx context.Context) error {
	if s.member == nil {
		l, err := acquire(ctx, s.conn, s.memberKey(), s.cfg.Owner, 0)
		if err != nil || l == nil {
			return err
		}
		s.member = l
	}
	members, parts, err := s.look(ctx)
	if err != nil {
		return err
	}
	first, share := shareOf(members, s.cfg.Owner, s.cfg.Parts)
	for p := s.cfg.Parts - 1; p >= 0 && len(s.held) > share; p-- {
		if h := s.held[p]; h != nil {
			h.stop()
			share++ // the part counts until its run has returned
		}
	}
	for i := 0; i < s.cfg.Parts && len(s.held) < share; i++ {
		p := (first + i) % s.cfg.Parts
		part := parts[p]
		if s.held[p] != nil || part.owned || s.paused(p) {
			continue
		}
		l, err := acquire(ctx, s.conn, s.partKey(p), s.cfg.Owner, part.revision)
		if err != nil {
			return err
		}
		if l != nil {
			s.begin(ctx, p, l)
		}
	}
	return nil
}

// shareOf returns how many parts an owner has among sorted members, and which part its own begin with.
func shareOf(members []string, owner string, parts int) (first, share int) {
	n := len(members)
	rank := sort.SearchStrings(members, owner)
	base, extra := parts/n, parts%n
	first = rank*base + min(rank, extra)
	if rank < extra {
		return first, base + 1
	}
	return first, base
}

// part is what is known of a part that has a lease.
type part struct {
	owned    bool // by a process that is not gone
	revision uint64
}

// look returns the members that are not gone, sorted and including this process, and the parts that have a lease.
func (s *sharer) look(ctx context.Context) (members []string, parts map[int]part, err error) {
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	var records []kv.Record
	err = kv.Open(s.conn, s.conn.Naming.LeaseBucket()).Each(ctx, s.cfg.Group+".>", func(r kv.Record) error {
		records = append(records, r)
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	if s.cfg.Key != nil {
		for p := range s.cfg.Parts {
			r, err := read(ctx, s.conn, s.cfg.Key(p))
			if err != nil {
				return nil, nil, err
			}
			if r.Value != nil {
				records = append(records, kv.Record{Key: s.cfg.Group + ".part." + strconv.Itoa(p), Value: r.Value, Revision: r.Revision})
			}
		}
	}
	gone := map[string]bool{s.cfg.Owner: false}
	there := func(owner string) bool {
		if _, known := gone[owner]; !known {
			gone[owner] = s.witness.gone(ctx, owner)
		}
		return !gone[owner]
	}
	members, parts = []string{s.cfg.Owner}, map[int]part{}
	for _, r := range records {
		t := strings.SplitN(r.Key, ".", 3)
		if len(t) != 3 {
			continue
		}
		switch p, err := strconv.Atoi(t[2]); {
		case t[1] == "member" && t[2] != s.cfg.Owner && there(t[2]):
			members = append(members, t[2])
		case t[1] == "part" && err == nil:
			parts[p] = part{owned: there(string(r.Value)), revision: r.Revision}
		}
	}
	sort.Strings(members)
	return members, parts, nil
}

func (s *sharer) begin(ctx context.Context, part int, l *lease) {
	running, stop := context.WithCancel(ctx)
	h := &heldPart{lease: l, stop: stop, done: make(chan struct{})}
	s.held[part] = h
	go func() {
		defer stop()
		err := s.run(running, part)
		if running.Err() == nil && err != nil && s.cfg.Ends != nil && s.cfg.Ends(err) {
			s.end(err)
		} else if running.Err() == nil {
			s.conn.Log.Warn().Err(err).Str("group", s.cfg.Group).Int("part", part).Msg("a part's owner ended; it will be run again")
			s.mu.Lock()
			if s.pause == nil {
				s.pause = map[int]time.Time{}
			}
			s.pause[part] = time.Now().Add(time.Second)
			s.mu.Unlock()
		}
		close(h.done)
		select {
		case s.ended <- struct{}{}:
		default:
		}
	}()
}

func (s *sharer) paused(part int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return time.Now().Before(s.pause[part])
}
