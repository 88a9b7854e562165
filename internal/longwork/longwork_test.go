package longwork_test

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/eunoe-memory/eunoe/internal/longwork"
)

func TestLimit(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name         string
		places, most int
	}{{"as many long messages as there are places", 2, 2}, {"and one at least", -1, 1}} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			limit := longwork.New(c.places)
			var working atomic.Int64
			var group sync.WaitGroup
			for range 50 {
				group.Go(func() {
					done, err := limit.Begin(t.Context(), longwork.From)
					if err != nil {
						t.Error(err)
						return
					}
					if n := working.Add(1); n > int64(c.most) {
						t.Errorf("%d work at once", n)
					}
					runtime.Gosched()
					working.Add(-1)
					done()
				})
			}
			group.Wait()
		})
	}
	t.Run("short ones wait for nobody, and long ones for no longer than their context", func(t *testing.T) {
		t.Parallel()
		limit := longwork.New(1)
		done, err := limit.Begin(t.Context(), longwork.From)
		if err != nil {
			t.Fatal(err)
		}
		defer done()
		short, err := limit.Begin(t.Context(), longwork.From-1)
		if err != nil {
			t.Fatal(err)
		}
		short()
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := limit.Begin(ended, longwork.From); !errors.Is(err, context.Canceled) {
			t.Errorf("a second long one: %v", err)
		}
	})
	t.Run("nil is no limit", func(t *testing.T) {
		t.Parallel()
		var limit *longwork.Limit
		for range 2 {
			if _, err := limit.Begin(t.Context(), longwork.From); err != nil {
				t.Error(err)
			}
		}
	})
}
