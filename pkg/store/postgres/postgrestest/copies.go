package postgrestest

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// Backup copies the files of the running server into a server that does not run.
func (s *Server) Backup() (*Server, error) { return s.copied() }

// Standby starts a server that follows this one asynchronously and only reads.
func (s *Server) Standby() (*Server, error) {
	standby, err := s.copied("-R")
	if err != nil {
		return nil, err
	}
	if err := standby.start(); err != nil {
		return nil, errors.Join(err, os.RemoveAll(standby.dir))
	}
	return standby, nil
}

// StandbyForTest is Standby until the test ends.
func (s *Server) StandbyForTest(t testing.TB) *Server {
	t.Helper()
	standby, err := s.Standby()
	if err != nil {
		t.Fatal(err)
	}
	return standby.until(t)
}

func (s *Server) copied(options ...string) (*Server, error) {
	made, err := newServer(s.more)
	if err != nil {
		return nil, err
	}
	err = made.run("pg_basebackup", append([]string{"-D", made.data(), "-h", s.dir, "-U", "eunoe", "-X", "stream", "-c", "fast", "--no-sync"}, options...)...)
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(made.dir))
	}
	return made, nil
}

// Restore kills the server, puts the files of a backup in the place of its own, and starts it. The backup is used up.
func (s *Server) Restore(backup *Server) error {
	return errors.Join(s.Kill(), os.RemoveAll(s.data()), os.Rename(backup.data(), s.data()), s.Restart())
}

// Part keeps a standby from receiving anything more, and returns a function that lets it follow again.
func (s *Server) Part(ctx context.Context) (join func(context.Context) error, err error) {
	var from string
	if err := s.ask(ctx, "SHOW primary_conninfo", &from); err != nil {
		return nil, err
	}
	if err := s.follow(ctx, ""); err != nil {
		return nil, err
	}
	for began := time.Now(); time.Since(began) < 30*time.Second; {
		var receivers int
		if err := s.ask(ctx, "SELECT count(*) FROM pg_stat_wal_receiver", &receivers); receivers == 0 || err != nil {
			return func(ctx context.Context) error { return s.follow(ctx, from) }, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(20 * time.Millisecond):
		}
	}
	return nil, errors.New("the standby goes on receiving")
}

// follow sets whom a standby follows.
func (s *Server) follow(ctx context.Context, from string) error {
	set := "ALTER SYSTEM SET primary_conninfo = '" + strings.ReplaceAll(from, "'", "''") + "'"
	return errors.Join(s.ask(ctx, set), s.ask(ctx, "SELECT pg_reload_conf()", new(bool)))
}

// Promote makes a standby a server that is written, and returns when it is.
func (s *Server) Promote(ctx context.Context) error {
	var done bool
	err := s.ask(ctx, "SELECT pg_promote(true, 30)", &done)
	if err == nil && !done {
		err = errors.New("the standby was not promoted in time")
	}
	return err
}

// ask runs a statement, and reads its only row into dest.
func (s *Server) ask(ctx context.Context, query string, dest ...any) error {
	conn, err := pgx.Connect(ctx, s.Schema("public"))
	if err != nil {
		return err
	}
	if len(dest) == 0 {
		_, err = conn.Exec(ctx, query)
	} else {
		err = conn.QueryRow(ctx, query).Scan(dest...)
	}
	if err = errors.Join(err, conn.Close(ctx)); err != nil {
		return fmt.Errorf("%s: %w", query, err)
	}
	return nil
}

// Written returns the DSN of a schema on whichever of two servers is written.
func Written(name string, a, b *Server) string {
	return "postgres://eunoe@/postgres?" + url.Values{"host": {a.dir + "," + b.dir}, "search_path": {name}, "target_session_attrs": {"read-write"}}.Encode()
}
