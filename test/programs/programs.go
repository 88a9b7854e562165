// Package programs runs the shipped programs and a NATS server as processes of a test.
//
// The programs are compiled once for all test packages, into bin/test of the module: a second build of the same sources
// takes no time.
package programs

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
)

// packages are the programs that can be run, by package.
var packages = []string{"./cmd/eunoe", "./cmd/ingest", "./cmd/extractor", "./cmd/consolidator", "./cmd/query", "./cmd/gateway", "github.com/nats-io/nats-server/v2"}

// Dir returns the directory of the programs, compiled from the sources as they are at the first call.
func Dir() (string, error) { return build() }

var build = sync.OnceValues(func() (string, error) {
	root, err := moduleRoot()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(root, "bin", "test")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("build the programs: %w", err)
	}
	unlock, err := lock(filepath.Join(dir, ".lock"))
	if err != nil {
		return "", fmt.Errorf("build the programs: %w", err)
	}
	cmd := exec.CommandContext(context.Background(), "go", append([]string{"build", "-buildvcs=false", "-o", dir + "/"}, packages...)...) //nolint:gosec // its own programs
	cmd.Dir = root
	out, err := cmd.CombinedOutput()
	if err = errors.Join(err, unlock()); err != nil {
		return "", fmt.Errorf("build the programs: %w\n%s", err, out)
	}
	return dir, nil
})

// moduleRoot returns the nearest directory above the working directory that has a go.mod.
func moduleRoot() (string, error) {
	dir, err := os.Getwd()
	for ; err == nil; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); !errors.Is(err, fs.ErrNotExist) {
			return dir, err
		}
		if dir == filepath.Dir(dir) {
			return "", errors.New("there is no go.mod above the working directory")
		}
	}
	return "", err
}

// lock waits until no other process holds the file: test packages run side by side.
func lock(path string) (unlock func() error, err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f.Close, nil // closing releases the lock
}
