package e2e_test

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/client"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

// BenchmarkBesideWrites measures how long a bank's retain takes, in milliseconds at the median and the 99th percentile,
// while another bank retains 1,000 facts by as many requests, or forgets a session of 20,000 messages.
func BenchmarkBesideWrites(b *testing.B) {
	b.Run("idle", func(b *testing.B) {
		c, _ := connect(b)
		var n int
		besideWrites(b, c, func() bool { n++; return n > 30 })
	})
	b.Run("retains", func(b *testing.B) {
		c, _ := connect(b)
		var left atomic.Int64
		left.Store(1000)
		var group sync.WaitGroup
		for range 64 {
			group.Go(func() {
				for i := left.Add(-1); i >= 0; i = left.Add(-1) {
					for {
						_, err := c.Retain(b.Context(), "loud", wire.RetainRequest{Facts: []memory.FactInput{{Text: fmt.Sprintf("Ann owns lathe number %d.", i)}}})
						if err == nil {
							break
						}
						if memory.Code(err) != 429 && memory.Code(err) != 504 {
							b.Error(err)
							return
						}
					}
				}
			})
		}
		besideWrites(b, c, func() bool { return left.Load() <= 0 })
		group.Wait()
	})
	b.Run("forget", func(b *testing.B) {
		c, nc := connect(b)
		const n = 20_000
		flood(b, nc, "loud", 1, n, `{"speaker":"Ann","content":"I own a lathe."}`)
		if _, err := c.Flush(b.Context(), "loud", "s0"); err != nil {
			b.Fatal(err)
		}
		if _, err := c.WaitSettled(b.Context(), "loud", nil); err != nil {
			b.Fatal(err)
		}
		if _, err := c.Forget(b.Context(), "loud", wire.ForgetRequest{Session: "s0"}); err != nil {
			b.Fatal(err)
		}
		besideWrites(b, c, func() bool {
			s, err := c.Status(b.Context(), "loud")
			return err == nil && s.Settled && s.Conservation.Forgotten == n
		})
	})
}

// besideWrites retains facts of a quiet bank one after the other until the other bank is done.
func besideWrites(b *testing.B, c *client.Client, done func() bool) {
	b.Helper()
	var took []time.Duration
	start := time.Now()
	for i := 0; !done() && time.Since(start) < 3*time.Minute; i++ {
		began, wait := time.Now(), memory.Duration(10*time.Second)
		r := wire.RetainRequest{WriteControl: wire.WriteControl{Wait: &wait}, Facts: []memory.FactInput{{Text: fmt.Sprintf("Bob owns boat number %d.", i)}}}
		if _, err := c.Retain(b.Context(), "quiet", r); err != nil {
			b.Fatal(err)
		}
		took = append(took, time.Since(began))
	}
	slices.Sort(took)
	b.ReportMetric(time.Since(start).Seconds(), "s")
	b.ReportMetric(float64(len(took)), "retains")
	b.ReportMetric(took[len(took)/2].Seconds()*1000, "p50-ms")
	b.ReportMetric(took[len(took)*99/100].Seconds()*1000, "p99-ms")
}
