package events

import (
	"context"
	"errors"
	"fmt"
	"sort"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// ShareConfig says what is shared among the processes of a group.
type ShareConfig struct {
	Group string // one token: first of the leases' keys
	Owner string // this process, one token, unlike any other's
	Parts int    // numbered from 0
}

// Share spreads the parts of a group evenly over the processes that share it,
// and runs run for each part this process owns. run's context ends when the
// part is lost, given to a process that joined, or ctx ends; the part is given
// on when run has returned. A run that ends by itself is started again, here or
// elsewhere. A process that joins has its parts within about a second; the
// parts of one that died are taken within LeaseTTL and a second. Share returns
// nil when ctx ended and every run has returned.
func (c *Conn) Share(ctx context.Context, cfg ShareConfig, run func(ctx context.Context, part int) error) error {
	if cfg.Parts <= 0 || EncodeToken(cfg.Group) != cfg.Group || EncodeToken(cfg.Owner) != cfg.Owner || cfg.Group == "" || cfg.Owner == "" {
		return fmt.Errorf("share %q as %q: group and owner must be plain tokens and there must be parts", cfg.Group, cfg.Owner)
	}
	s := &sharer{conn: c, cfg: cfg, run: run, held: map[int]*heldPart{}, ended: make(chan struct{}, 1)}
	s.loop(ctx)
	return nil
}

type sharer struct {
	conn   *Conn
	cfg    ShareConfig
	run    func(context.Context, int) error
	member *lease
	held   map[int]*heldPart
	ended  chan struct{} // some run returned

	mu    sync.Mutex
	pause map[int]time.Time // parts whose run failed: not before
}

type heldPart struct {
	*lease
	stop func()
	done chan struct{}
}

func (s *sharer) partKey(p int) string { return s.cfg.Group + ".part." + strconv.Itoa(p) }
func (s *sharer) memberKey() string    { return s.cfg.Group + ".member." + s.cfg.Owner }

func (s *sharer) loop(ctx context.Context) {
	t := time.NewTicker(leaseRenew)
	defer t.Stop()
	for ctx.Err() == nil {
		s.renew(ctx)
		s.settle(ctx)
		if err := s.balance(ctx); err != nil && ctx.Err() == nil {
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
		s.settle(ctx)
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

// renew prolongs what is held and stops what is lost.
func (s *sharer) renew(ctx context.Context) {
	var wg sync.WaitGroup
	if s.member != nil {
		wg.Go(func() { _ = s.member.renew(ctx) })
	}
	for _, h := range s.held {
		wg.Go(func() {
			if err := h.renew(ctx); isLost(err) || h.over() {
				h.stop()
			}
		})
	}
	wg.Wait()
	if s.member != nil && s.member.over() {
		s.member = nil
	}
}

// settle gives back the parts whose run has returned.
func (s *sharer) settle(ctx context.Context) {
	for p, h := range s.held {
		select {
		case <-h.done:
			h.release(ctx)
			delete(s.held, p)
		default:
		}
	}
}

// balance takes free parts, or gives some up, until this process has its share.
func (s *sharer) balance(ctx context.Context) error {
	if s.member == nil {
		l, err := s.conn.acquire(ctx, s.memberKey(), s.cfg.Owner)
		if err != nil || l == nil {
			return err
		}
		s.member = l
	}
	members, owners, err := s.look(ctx)
	if err != nil {
		return err
	}
	first, share := shareOf(members, s.cfg.Owner, s.cfg.Parts)
	for p := s.cfg.Parts - 1; p >= 0 && len(s.held) > share; p-- {
		if h := s.held[p]; h != nil {
			h.stop()
			share++ // it counts until it has stopped
		}
	}
	for i := 0; i < s.cfg.Parts && len(s.held) < share; i++ {
		p := (first + i) % s.cfg.Parts
		if s.held[p] != nil || owners[p] != "" || s.paused(p) {
			continue
		}
		l, err := s.conn.acquire(ctx, s.partKey(p), s.cfg.Owner)
		if err != nil {
			return err
		}
		if l != nil {
			s.begin(ctx, p, l)
		}
	}
	return nil
}

// shareOf gives how many parts an owner has among members, and where its own begin.
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

// look reads who is there, sorted and with this process among them, and who owns what.
func (s *sharer) look(ctx context.Context) (members []string, owners map[int]string, err error) {
	members, owners = []string{s.cfg.Owner}, map[int]string{}
	err = s.conn.Bucket(s.conn.Naming.LeaseBucket()).Each(ctx, s.cfg.Group+".>", func(r Record) error {
		t := strings.SplitN(r.Key, ".", 3)
		if len(t) != 3 {
			return nil
		}
		switch p, err := strconv.Atoi(t[2]); {
		case t[1] == "member" && t[2] != s.cfg.Owner:
			members = append(members, t[2])
		case t[1] == "part" && err == nil:
			owners[p] = string(r.Value)
		}
		return nil
	})
	sort.Strings(members)
	return members, owners, err
}

func (s *sharer) begin(ctx context.Context, part int, l *lease) {
	running, stop := context.WithCancel(ctx)
	h := &heldPart{lease: l, stop: stop, done: make(chan struct{})}
	s.held[part] = h
	go func() {
		defer stop()
		err := s.run(running, part)
		if running.Err() == nil {
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

func isLost(err error) bool { return errors.Is(err, memory.ErrConflict) }
