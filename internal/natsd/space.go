package natsd

import (
	"context"
	"fmt"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

const (
	// spaceInterval is how often the free space is looked at: at 100 MiB/s a floor of 128 MiB is far from reached in it.
	spaceInterval = 250 * time.Millisecond
	// spaceLost is the free space below which a write of the server may have failed. It stops to write for good then,
	// and is made to read its streams anew when there is room again.
	spaceLost = 8 << 20
)

// What all streams may hold.
const (
	maxMemory = 1 << 30
	maxStore  = 1 << 40
)

// space keeps the disk of a server from becoming full.
type space struct {
	srv   *server.Server
	dir   string
	free  func() (uint64, error) // bytes that are free where dir lies
	floor uint64
	low   atomic.Uint64 // free bytes while they are below the floor, plus one; 0 = there is room
	lost  bool          // a write may have failed
}

// watch refuses publishes while less than the floor is free, until ctx ends.
func (s *space) watch(ctx context.Context, log *logger) {
	tick := time.NewTicker(spaceInterval)
	defer tick.Stop()
	for {
		if err := s.look(); err != nil {
			log.Warnf("free space: %v", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// watchSpace begins to watch the free space.
func (s *Server) watchSpace(cfg Config, log *logger) {
	s.space = &space{srv: s.srv, dir: cfg.Dir, free: freeIn(cfg.Dir), floor: uint64(cfg.MinFree)} //nolint:gosec // it was checked
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); s.space.watch(ctx, log) }()
	s.end = append(s.end, func() { stop(); <-done })
}

// look compares the free space with the floor. There is room again when it is a quarter above the floor.
func (s *space) look() error {
	free, err := s.free()
	if err != nil {
		return fmt.Errorf("of %s: %w", s.dir, err)
	}
	s.lost = s.lost || free < spaceLost
	was := s.low.Load() > 0
	switch {
	case free < s.floor:
		s.low.Store(free + 1)
		if was || !s.srv.JetStreamEnabled() {
			return nil
		}
		return s.srv.GlobalAccount().UpdateJetStreamLimits(limits(0))
	case !was || free < s.floor+s.floor/4:
		return nil
	}
	if s.lost || !s.srv.JetStreamEnabled() {
		if err := s.reopen(); err != nil {
			return err
		}
		s.lost = false
	} else if err := s.srv.GlobalAccount().UpdateJetStreamLimits(limits(-1)); err != nil {
		return err
	}
	s.low.Store(0)
	return nil
}

// reopen has the server read its streams anew.
func (s *space) reopen() error {
	if err := s.srv.ShutdownJetStream(); err != nil {
		return err
	}
	return s.srv.EnableJetStream(&server.JetStreamConfig{MaxMemory: maxMemory, MaxStore: maxStore, StoreDir: filepath.Clean(s.dir)})
}

// freeIn returns a function that returns the number of free bytes on the disk of a directory.
func freeIn(dir string) func() (uint64, error) {
	return func() (uint64, error) {
		var fs syscall.Statfs_t
		err := syscall.Statfs(dir, &fs)
		return uint64(fs.Bavail) * uint64(fs.Bsize), err //nolint:gosec,unconvert // the types differ by system
	}
}

// limits bound the bytes of the streams on disk; -1 = without bound. What is in memory, as the leases, has no bound.
func limits(store int64) map[string]server.JetStreamAccountLimits {
	return map[string]server.JetStreamAccountLimits{"": {
		MaxMemory: -1, MaxStore: store, MaxStreams: -1, MaxConsumers: -1, MaxAckPending: -1, MemoryMaxStreamBytes: -1, StoreMaxStreamBytes: -1,
	}}
}

// Full returns the reason why the server refuses publishes, nil while it accepts them.
func (s *Server) Full() error {
	if s.space == nil {
		return nil
	}
	if low := s.space.low.Load(); low > 0 {
		return fmt.Errorf("%d MiB are free in %s and %d must be: what is published is refused until there is room", (low-1)>>20, s.space.dir, s.space.floor>>20)
	}
	return nil
}
