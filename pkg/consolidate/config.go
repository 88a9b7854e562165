package consolidate

import (
	"errors"
	"fmt"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/consolidate/plan"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// Config holds the settings of a Consolidator.
type Config struct {
	plan.Config // what Plan decides by

	Batch int           // events applied in one transaction, at most 10,000
	Retry time.Duration // longest pause before a failed operation is tried again
}

// DefaultConfig returns plan.DefaultConfig, batches of 200 events and pauses of up to a second.
func DefaultConfig() Config {
	return Config{Config: plan.DefaultConfig(), Batch: 200, Retry: time.Second}
}

// Validate reports every setting that cannot be used; the error wraps memory.ErrInvalid.
func (c Config) Validate() error {
	errs := []error{c.Config.Validate()}
	if c.Batch < 1 || c.Batch > 10_000 {
		errs = append(errs, memory.Invalid("batch", "is %d; expected 1 to 10000", c.Batch))
	}
	if c.Retry <= 0 {
		errs = append(errs, memory.Invalid("retry", "is %s; it must be positive", c.Retry))
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("consolidate config: %w", err)
	}
	return nil
}
