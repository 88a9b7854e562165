package faults

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"
)

// Oversleep stops the only process of a stage within its work, lets another
// take over and finish, and wakes the first again. say publishes what is to be
// worked on and settled waits until it is; settled is called once while the
// first sleeps and once after it woke. The consolidator is stopped at its next
// transaction, with a run of events in its hands that the other then applies;
// ingest while say is under way.
func (w *World) Oversleep(ctx context.Context, name string, say, settled func(context.Context) error) error {
	list := w.of(name)
	first, second := list[0], list[1]
	if err := errors.Join(second.kill(), first.start()); err != nil {
		return err
	}
	if err := say(ctx); err != nil { // whoever was the owner: now it is the first
		return err
	}
	if err := settled(ctx); err != nil {
		return fmt.Errorf("%s alone: %w", name, err)
	}
	sleep := w.sleepWhile
	if name == "consolidator" {
		sleep = w.sleepLocked
	}
	if err := sleep(ctx, first, say); err != nil {
		return err
	}
	if err := errors.Join(second.start(), settled(ctx)); err != nil {
		return fmt.Errorf("the second %s: %w", name, err)
	}
	if err := first.resume(); err != nil {
		return err
	}
	if name == "consolidator" {
		if err := w.noticed(ctx, first); err != nil {
			return err
		}
	}
	return errors.Join(say(ctx), settled(ctx))
}

// sleepWhile stops a process while what it is to work on is being published.
func (w *World) sleepWhile(ctx context.Context, p *process, say func(context.Context) error) error {
	said := make(chan error, 1)
	go func() { said <- say(ctx) }()
	err := errors.Join(pass(ctx, 100*time.Millisecond), p.pause())
	return errors.Join(err, <-said)
}

// sleepLocked stops a process that waits for the store's write lock.
func (w *World) sleepLocked(ctx context.Context, p *process, say func(context.Context) error) error {
	letGo, err := w.takeStore(ctx)
	if err != nil {
		return err
	}
	return errors.Join(say(ctx), pass(ctx, time.Second), p.pause(), letGo())
}

// noticed waits until a consolidator that woke says that another took over.
func (w *World) noticed(ctx context.Context, p *process) error {
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
