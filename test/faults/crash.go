package faults

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/client"
	"github.com/eunoe-memory/eunoe/pkg/events/work"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// CrashBeforeExtraction publishes while no extractor runs, waits until windows of each of the banks are cut, kills
// every process including the broker, and starts them again.
func (w *Cluster) CrashBeforeExtraction(ctx context.Context, c *client.Client, banks []memory.BankID, publishNext func(context.Context) error) error {
	var errs []error
	for _, p := range w.of("extractor") {
		errs = append(errs, p.kill())
	}
	if err := errors.Join(append(errs, publishNext(ctx))...); err != nil {
		return err
	}
	for _, bank := range banks {
		for n := 0; n == 0; {
			var err error
			if n, err = work.Pending(ctx, c.Conn(), bank); err != nil {
				return fmt.Errorf("windows of %s: %w", bank, err)
			}
			if err := w.LetWork(ctx); err != nil {
				return err
			}
		}
	}
	for _, p := range append([]*process{w.Broker}, w.Stages...) {
		errs = append(errs, p.kill())
	}
	return errors.Join(append(errs, w.Restore(), w.answering(ctx, time.Minute))...)
}
