package server

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/eunoe-memory/eunoe/pkg/store/internal/engine"
)

// notices collects what VACUUM tells while it runs.
type notices struct {
	mu      sync.Mutex
	details []string
}

func (n *notices) add(_ *pgconn.PgConn, told *pgconn.Notice) {
	if told.Detail == "" || told.Severity == "WARNING" {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.details = append(n.details, told.Detail)
}

func (n *notices) take() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	out := n.details
	n.details = nil
	return out
}

// Start begins the scrub that erasures ask for, in the background; Close ends it. A scrub that was pending when the schema
// was last open is done first. A schema that was opened for reading has none.
func (s *Server) Start(ctx context.Context) error {
	if s.writer == nil {
		return nil
	}
	err := s.Read(ctx, func(tx *engine.Tx) error {
		pending, err := tx.ScrubRequested()
		s.scrubbing.Store(pending)
		return err
	})
	if err == nil {
		s.Go(s.maintain)
	}
	return err
}

// Erased wakes the scrub that a committed transaction requested.
func (s *Server) Erased() {
	select {
	case s.erased <- struct{}{}:
	default:
	}
}

// maintain scrubs after something was erased. Erasures in succession share a scrub, which takes a tenth of the writer's
// time at most.
func (s *Server) maintain(stop context.Context) {
	tick := time.NewTicker(s.config.Scrub)
	defer tick.Stop()
	var next time.Time // no scrub before
	for {
		select {
		case <-stop.Done():
			return
		case <-s.erased:
			s.scrubbing.Store(true)
		case <-tick.C:
			if err := s.analyze(stop); stop.Err() == nil {
				s.Warn(err, "gathering statistics failed; the server does so in its own time")
			}
		}
		if !s.scrubbing.Load() || time.Now().Before(next) {
			continue
		}
		began := time.Now()
		err := s.scrub(stop)
		if stop.Err() == nil {
			s.Warn(err, "scrubbing after an erasure failed; it is tried again")
		}
		next = time.Now().Add(max(10*time.Since(began), s.config.Scrub))
	}
}

// analyze gathers statistics of the tables after 50 transactions, and whenever there were a quarter more since: the server
// does so every minute at best, in which a new store grows from nothing to thousands of rows.
func (s *Server) analyze(ctx context.Context) error {
	now := s.committed.Load()
	if now-s.analyzed < max(50, s.analyzed/4) {
		return nil
	}
	s.analyzed = now
	names, err := s.allTables(ctx)
	for _, name := range names {
		if name == "meta" { // which writers lock
			continue
		}
		if err := s.alone(ctx, "ANALYZE "+pgx.Identifier{s.schema, name}.Sanitize()); err != nil {
			return fmt.Errorf("analyze %s: %w", name, err)
		}
	}
	return err
}

// allTables returns the names of all tables of the schema.
func (s *Server) allTables(ctx context.Context) (names []string, err error) {
	err = s.Read(ctx, func(tx *engine.Tx) (err error) {
		names, err = engine.Column[string](tx, "list tables", `SELECT tablename FROM pg_catalog.pg_tables WHERE schemaname = ? ORDER BY 1`, s.schema)
		return err
	})
	return names, err
}

// scrub rewrites the tables. PostgreSQL marks deleted rows and reuses their room: the bytes stay in pages, and words in the
// tree of a GIN index. Only rewritten files hold nothing of them. Writers wait meanwhile, and readers for the table that is
// being rewritten. Rows that an old transaction may still read would be copied: then the scrub is not done.
func (s *Server) scrub(ctx context.Context) error {
	s.writing.Lock()
	defer s.writing.Unlock()
	names, err := s.allTables(ctx)
	if err == nil {
		err = s.Read(ctx, func(tx *engine.Tx) error {
			pending, err := tx.ScrubRequested()
			if !pending { // another process did it
				names = nil
			}
			return err
		})
	}
	if err != nil {
		return err
	}
	for _, name := range names {
		rewriting, err := s.rewriting(ctx, name)
		if err != nil {
			return err
		}
		s.notices.take()
		if err := s.alone(ctx, rewriting); err != nil {
			return fmt.Errorf("rewrite %s: %w", name, err)
		}
		for _, detail := range s.notices.take() {
			// "12 dead row versions cannot be removed yet."
			first, _, _ := strings.Cut(detail, " ")
			if n, err := strconv.ParseInt(first, 10, 64); err == nil && n > 0 {
				return fmt.Errorf("rewrite %s: a transaction that began before may still read %d rows that were erased", name, n)
			}
		}
	}
	if err := s.alone(ctx, "DELETE FROM meta WHERE key = 'scrub'"); err != nil {
		return fmt.Errorf("note the scrub: %w", err)
	}
	s.scrubbing.Store(false)
	return nil
}
