package faults

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// process is a program that can be started again after it ended.
type process struct {
	name string // of the program
	bin  string
	args []string
	env  []string
	log  string // file its standard error is appended to

	mu      sync.Mutex
	cmd     *exec.Cmd
	stopped bool // by SIGSTOP
}

// start starts the program unless it runs.
func (p *process) start(extra ...string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cmd != nil {
		return nil
	}
	out, err := os.OpenFile(p.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("log of %s: %w", p.name, err)
	}
	defer func() { _ = out.Close() }() // the program has its own
	// It runs until it is ended, whatever happens to the test.
	cmd := exec.CommandContext(context.Background(), filepath.Join(p.bin, p.name), p.args...)
	cmd.Env = append(append(os.Environ(), p.env...), extra...)
	cmd.Stderr = out
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start %s: %w", p.name, err)
	}
	p.cmd, p.stopped = cmd, false
	return nil
}

// kill ends the program without a warning (SIGKILL).
func (p *process) kill() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cmd == nil {
		return nil
	}
	err := p.cmd.Process.Kill()
	_ = p.cmd.Wait() // it says "killed", which is what was asked for
	p.cmd, p.stopped = nil, false
	if errors.Is(err, os.ErrProcessDone) {
		return nil
	}
	return err
}

// end asks the program to stop and kills it when it has not within 20 s.
func (p *process) end() error {
	if err := p.resume(); err != nil {
		return err
	}
	p.mu.Lock()
	cmd := p.cmd
	p.mu.Unlock()
	if cmd == nil {
		return nil
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("stop %s: %w", p.name, err)
	}
	late := time.AfterFunc(20*time.Second, func() { _ = cmd.Process.Kill() })
	defer late.Stop()
	_ = cmd.Wait()
	p.mu.Lock()
	p.cmd = nil
	p.mu.Unlock()
	return nil
}

// pause stops the program (SIGSTOP) and returns when all of its threads have stopped; resume continues it.
func (p *process) pause() error {
	if err := p.signal(syscall.SIGSTOP, true); err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for late := time.Now().Add(10 * time.Second); p.cmd != nil; time.Sleep(time.Millisecond) {
		states, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", p.cmd.Process.Pid))
		if err != nil || len(states) == 0 {
			return err // it ended, or this system tells nothing of it
		}
		if !slices.ContainsFunc(states, running) {
			return nil
		}
		if time.Now().After(late) {
			return fmt.Errorf("stop %s: it still runs", p.name)
		}
	}
	return nil
}

// running reports whether a thread is not stopped, by its stat file.
func running(stat string) bool {
	b, err := os.ReadFile(stat)
	if err != nil {
		return false // it ended
	}
	_, state, _ := strings.Cut(string(b), ") ")
	return !strings.HasPrefix(state, "T")
}

func (p *process) resume() error { return p.signal(syscall.SIGCONT, false) }

func (p *process) signal(s syscall.Signal, stopped bool) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cmd == nil || p.stopped == stopped {
		return nil
	}
	p.stopped = stopped
	if err := p.cmd.Process.Signal(s); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("signal %s: %w", p.name, err)
	}
	return nil
}
