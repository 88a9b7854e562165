package postgrestest

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// ErrNoPooler says that no PgBouncer is installed.
var ErrNoPooler = errors.New("no PgBouncer is installed: apt-get install pgbouncer")

// Pooler is a running PgBouncer in transaction mode, which Stop ends. It listens on a socket in a directory of its own.
type Pooler struct {
	dir     string
	command *exec.Cmd
	done    chan error
}

// Pool starts a pooler before the server. It ignores the startup parameters that are named, and refuses others that it does
// not know. Without an installation it is ErrNoPooler.
func (s *Server) Pool(ignored ...string) (*Pooler, error) {
	path, err := exec.LookPath("pgbouncer")
	if err != nil {
		if path, err = exec.LookPath("/usr/sbin/pgbouncer"); err != nil {
			return nil, ErrNoPooler
		}
	}
	dir, err := os.MkdirTemp("", "pb") // a path of a socket is short
	if err != nil {
		return nil, err
	}
	p := &Pooler{dir: dir, done: make(chan error, 1)}
	fail := func(err error) (*Pooler, error) { return nil, errors.Join(err, os.RemoveAll(dir)) }
	as, err := unprivileged(dir)
	if err != nil {
		return fail(err)
	}
	config := filepath.Join(dir, "pgbouncer.ini")
	text := fmt.Sprintf(`[databases]
* = host=%s user=eunoe
[pgbouncer]
listen_addr =
unix_socket_dir = %s
auth_type = any
pool_mode = transaction
default_pool_size = 20
max_client_conn = 1000
ignore_startup_parameters = %s
`, s.dir, dir, strings.Join(ignored, ","))
	if err := os.WriteFile(config, []byte(text), 0o644); err != nil { //nolint:gosec // another user reads it, and it holds no secret
		return fail(err)
	}
	p.command = exec.Command(path, "-q", config) //nolint:gosec,noctx // found on this machine; it ends with Stop
	p.command.SysProcAttr = &syscall.SysProcAttr{Credential: as, Pdeathsig: syscall.SIGKILL}
	p.command.Dir = dir
	if err := p.command.Start(); err != nil {
		return fail(err)
	}
	go func() { p.done <- p.command.Wait() }()
	for began := time.Now(); time.Since(began) < 30*time.Second; {
		if _, err := os.Stat(filepath.Join(dir, ".s.PGSQL.6432")); err == nil {
			return p, nil
		}
		select {
		case err := <-p.done:
			return fail(fmt.Errorf("the pooler ended: %w", err))
		case <-time.After(20 * time.Millisecond):
		}
	}
	return fail(errors.Join(errors.New("the pooler does not become ready"), p.command.Process.Kill(), <-p.done))
}

// Schema returns the DSN of a schema of the server by way of the pooler.
func (p *Pooler) Schema(name string) string {
	return "postgres://eunoe@/postgres?" + url.Values{"host": {p.dir}, "port": {"6432"}, "search_path": {name}}.Encode()
}

// Stop ends the pooler and removes its files.
func (p *Pooler) Stop() error {
	err := p.command.Process.Kill()
	if ended := <-p.done; ended == nil { // else it is the signal
		err = errors.Join(err, errors.New("the pooler had ended by itself"))
	}
	return errors.Join(err, os.RemoveAll(p.dir))
}
