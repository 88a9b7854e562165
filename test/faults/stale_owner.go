package faults

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"
)

// PauseOwner pauses the only process of a stage in the middle of its work, lets another one take over and finish, and
// resumes the first, which still believes that it is the owner. publish publishes work and settled waits until it is
// done; settled is called once while the first is paused and once after it was resumed. The consolidator is paused at
// its next transaction, with events that the other one then applies; ingest while publish runs.
func (w *Cluster) PauseOwner(ctx context.Context, name string, publish, settled func(context.Context) error) error {
	list := w.of(name)
	first, second := list[0], list[1]
	if err := errors.Join(second.kill(), first.start()); err != nil {
		return err
	}
	if err := publish(ctx); err != nil { // whoever was the owner: now it is the first
		return err
	}
	if err := settled(ctx); err != nil {
		return fmt.Errorf("%s alone: %w", name, err)
	}
	pause := w.pauseWhilePublishing
	if name == "consolidator" {
		pause = w.pauseWhileLocked
	}
	if err := pause(ctx, first, publish); err != nil {
		return err
	}
	if err := errors.Join(second.start(), settled(ctx)); err != nil {
		return fmt.Errorf("the second %s: %w", name, err)
	}
	if err := first.resume(); err != nil {
		return err
	}
	if name == "consolidator" {
		if err := w.awaitStandby(ctx, first); err != nil {
			return err
		}
	}
	return errors.Join(publish(ctx), settled(ctx))
}

// pauseWhilePublishing stops a process while what it is to work on is being published.
func (w *Cluster) pauseWhilePublishing(ctx context.Context, p *process, publish func(context.Context) error) error {
	published := make(chan error, 1)
	go func() { published <- publish(ctx) }()
	err := errors.Join(pass(ctx, 100*time.Millisecond), p.pause())
	return errors.Join(err, <-published)
}

// pauseWhileLocked stops a process that waits for the store's write lock.
func (w *Cluster) pauseWhileLocked(ctx context.Context, p *process, publish func(context.Context) error) error {
	release, err := w.lockStore(ctx)
	if err != nil {
		return err
	}
	return errors.Join(publish(ctx), pass(ctx, time.Second), p.pause(), release())
}

// noticed waits until a consolidator that woke says that another took over.
func (w *Cluster) awaitStandby(ctx context.Context, p *process) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	for {
		b, err := os.ReadFile(p.log)
		if err != nil {
			return err
		}
		if strings.Contains(string(b), "standing by") {
			return nil
		}
		if err := pass(ctx, 50*time.Millisecond); err != nil {
			return fmt.Errorf("%s did not notice that another took over; see %s", p.name, p.log)
		}
	}
}
