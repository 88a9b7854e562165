package retry_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/rs/zerolog"

	"github.com/eunoe-memory/eunoe/pkg/consolidate/retry"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

func TestDo(t *testing.T) {
	t.Parallel()
	busy := errors.New("busy")
	policy := func(c prometheus.Counter) retry.Policy {
		return retry.Policy{First: time.Millisecond, Log: zerolog.Nop(), Counter: c}
	}
	t.Run("repeats until the operation succeeds and counts what failed", func(t *testing.T) {
		t.Parallel()
		counter, calls := prometheus.NewCounter(prometheus.CounterOpts{Name: "failures"}), 0
		err := policy(counter).Do(t.Context(), "work", func() error {
			if calls++; calls < 4 {
				return busy
			}
			return nil
		})
		if err != nil || calls != 4 || testutil.ToFloat64(counter) != 3 {
			t.Errorf("%d calls, %v counted, error %v", calls, testutil.ToFloat64(counter), err)
		}
	})
	for _, final := range []error{memory.ErrConflict, memory.ErrInvalid} {
		t.Run(fmt.Sprintf("%v is returned at once", final), func(t *testing.T) {
			t.Parallel()
			calls := 0
			err := policy(nil).Do(t.Context(), "work", func() error { calls++; return fmt.Errorf("write 7: %w", final) })
			if calls != 1 || !errors.Is(err, final) || err.Error() != "write 7: "+final.Error() {
				t.Errorf("%d calls, error %v", calls, err)
			}
		})
	}
	t.Run("gives up with the last error", func(t *testing.T) {
		t.Parallel()
		p := policy(nil)
		p.GiveUp = 5 * time.Millisecond
		if err := p.Do(t.Context(), "work", func() error { return busy }); !errors.Is(err, busy) {
			t.Errorf("error %v", err)
		}
	})
	t.Run("ends with its context", func(t *testing.T) {
		t.Parallel()
		ctx, cancel := context.WithCancel(t.Context())
		calls := 0
		err := policy(nil).Do(ctx, "work", func() error { calls++; cancel(); return busy })
		if calls != 1 || !errors.Is(err, busy) || !errors.Is(err, context.Canceled) {
			t.Errorf("%d calls, error %v", calls, err)
		}
	})
}
