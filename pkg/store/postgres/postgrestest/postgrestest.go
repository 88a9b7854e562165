// Package postgrestest starts a PostgreSQL server for tests.
package postgrestest

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// Server is a running server, which Stop ends. It listens on a socket in a directory of its own, and not on the network.
type Server struct {
	dir     string
	as      *syscall.Credential // nil = the user of this process
	more    []string            // settings
	make    func() *exec.Cmd
	running *exec.Cmd // nil before the first start
	done    chan error
}

// ErrAbsent says that no PostgreSQL is installed.
var ErrAbsent = errors.New("no PostgreSQL is installed: apt-get install postgresql")

// Start makes and starts a server without durability, with further settings ("name=value"). Without an installation it is
// ErrAbsent. PostgreSQL does not run as root: then it runs as nobody.
func Start(more ...string) (*Server, error) {
	s, err := newServer(more)
	if err != nil {
		return nil, err
	}
	if err = s.fill(); err == nil {
		err = s.start()
	}
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(s.dir))
	}
	return s, nil
}

// ForTest starts a server that ends with the test. Where none is installed the test is skipped.
func ForTest(t testing.TB) *Server {
	t.Helper()
	s, err := Start()
	if errors.Is(err, ErrAbsent) {
		t.Skip("NOT TESTED:", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return s.until(t)
}

// until stops the server when the test ends.
func (s *Server) until(t testing.TB) *Server {
	t.Cleanup(func() {
		if err := s.Stop(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// newServer makes the directory of a server with further settings.
func newServer(more []string) (*Server, error) {
	postgres, err := program("postgres")
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "pg") // a path of a socket is short
	if err != nil {
		return nil, err
	}
	s := &Server{dir: dir, more: more}
	if s.as, err = unprivileged(dir); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	settings := []string{"-D", s.data()}
	for _, c := range append([]string{"listen_addresses=", "unix_socket_directories=" + dir, "fsync=off", "full_page_writes=off", "max_connections=200", "autovacuum=off",
		"max_wal_size=256MB", "shared_buffers=64MB"}, more...) {
		settings = append(settings, "-c", c)
	}
	s.make = func() *exec.Cmd { return s.command(postgres, settings...) }
	return s, nil
}

func (s *Server) data() string { return filepath.Join(s.dir, "data") }

// command returns a program that runs as the server does, and ends with this process.
func (s *Server) command(path string, args ...string) *exec.Cmd {
	c := exec.Command(path, args...) //nolint:gosec,noctx // found on this machine; it ends with Stop
	c.SysProcAttr = &syscall.SysProcAttr{Credential: s.as, Pdeathsig: syscall.SIGKILL}
	c.Dir = s.dir
	return c
}

// run runs a program of PostgreSQL to its end.
func (s *Server) run(name string, args ...string) error {
	path, err := program(name)
	if err != nil {
		return err
	}
	if out, err := s.command(path, args...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", name, err, out)
	}
	return nil
}

// start starts the server and returns when it is ready.
func (s *Server) start() error {
	command, done := s.make(), make(chan error, 1)
	if err := command.Start(); err != nil {
		return err
	}
	go func() { done <- command.Wait() }()
	s.running, s.done = command, done
	socket, pid := filepath.Join(s.dir, ".s.PGSQL.5432"), strconv.Itoa(command.Process.Pid)+"\n"
	for began := time.Now(); time.Since(began) < 30*time.Second; {
		status, err := os.ReadFile(filepath.Join(s.data(), "postmaster.pid"))
		if err == nil && strings.HasPrefix(string(status), pid) && strings.Contains(string(status), "ready") {
			if _, err := os.Stat(socket); err == nil {
				return nil
			}
		}
		select {
		case err := <-done:
			return fmt.Errorf("the server ended: %w", err)
		case <-time.After(20 * time.Millisecond):
		}
	}
	return errors.Join(errors.New("the server does not become ready"), command.Process.Kill(), <-done)
}

// Kill ends the server by SIGKILL; its other processes end when they notice.
func (s *Server) Kill() error {
	err := s.running.Process.Kill()
	if ended := <-s.done; ended == nil { // else it is the signal
		err = errors.Join(err, errors.New("the server had ended by itself"))
	}
	return err
}

// Restart starts the server that Kill ended, once none of its processes is left.
func (s *Server) Restart() (err error) {
	for began := time.Now(); time.Since(began) < 30*time.Second; time.Sleep(50 * time.Millisecond) {
		if err = s.start(); err == nil {
			return nil
		}
	}
	return err
}

// Schema returns the DSN of a schema.
func (s *Server) Schema(name string) string {
	return "postgres://eunoe@/postgres?" + url.Values{"host": {s.dir}, "search_path": {name}}.Encode()
}

// Checkpoint writes everything that the server holds in memory to its files.
func (s *Server) Checkpoint(ctx context.Context) error { return s.do(ctx, "CHECKPOINT") }

// Analyze gathers the statistics of all tables, as the server does in its own time.
func (s *Server) Analyze(ctx context.Context) error { return s.do(ctx, "ANALYZE") }

// do runs a statement on a connection of its own.
func (s *Server) do(ctx context.Context, statement string) error {
	conn, err := pgx.Connect(ctx, s.Schema("public"))
	if err != nil {
		return err
	}
	_, err = conn.Exec(ctx, statement)
	return errors.Join(err, conn.Close(ctx))
}

// Dir is the directory with the files of the server.
func (s *Server) Dir() string { return s.dir }

// Stop ends the server and removes its files.
func (s *Server) Stop() error {
	if s.running == nil || s.running.ProcessState != nil {
		return os.RemoveAll(s.dir)
	}
	err := s.running.Process.Signal(syscall.SIGQUIT)
	select {
	case ended := <-s.done:
		if ended != nil && s.running.ProcessState == nil {
			err = errors.Join(err, ended)
		}
	case <-time.After(10 * time.Second):
		err = errors.Join(err, s.running.Process.Kill())
	}
	return errors.Join(err, os.RemoveAll(s.dir))
}

// program finds a program of the newest PostgreSQL on this machine.
func program(name string) (string, error) {
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/" + name)
	if err != nil {
		return "", err
	}
	if len(found) == 0 {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
		return "", ErrAbsent
	}
	version := func(path string) int {
		n, _ := strconv.Atoi(filepath.Base(filepath.Dir(filepath.Dir(path)))) // a directory of another name is the oldest
		return n
	}
	return slices.MaxFunc(found, func(a, b string) int { return version(a) - version(b) }), nil
}

// unprivileged returns as whom the server runs, and hands the directory over; nil for the user of this process.
func unprivileged(dir string) (*syscall.Credential, error) {
	if os.Getuid() != 0 {
		return nil, nil
	}
	u, err := user.Lookup("nobody")
	if err != nil {
		return nil, err
	}
	uid, err1 := strconv.ParseUint(u.Uid, 10, 32)
	gid, err2 := strconv.ParseUint(u.Gid, 10, 32)
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, errors.Join(err1, err2, os.Chown(dir, int(uid), int(gid)))
}
