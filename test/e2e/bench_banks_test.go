package e2e_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/eunoe-memory/eunoe/internal/app/apptest"
	"github.com/eunoe-memory/eunoe/internal/app/process"
	"github.com/eunoe-memory/eunoe/pkg/client"
	"github.com/eunoe-memory/eunoe/pkg/events/natstest"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

// connect returns a client of a pipeline that runs until the benchmark ends, on as many threads as the programs have, and a
// bare connection.
func connect(b *testing.B) (*client.Client, *nats.Conn) {
	b.Helper()
	process.TuneRuntime() // in each benchmark: the testing package sets the number of threads anew
	own := client.DefaultConfig()
	own.URL = apptest.Start(b, apptest.Settings(b, nil)).URL
	c, err := client.Connect(b.Context(), own)
	if err != nil {
		b.Fatal(err)
	}
	nc, err := nats.Connect(own.URL)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { nc.Close(); _ = c.Close() })
	return c, nc
}

// processor returns the processor time that this process has used.
func processor(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// floodWithin is how long what one bank publishes takes to come.
const floodWithin = 3 * time.Second

// flood publishes one body many times to sessions of a bank.
func flood(b *testing.B, nc *nats.Conn, bank string, sessions, n int, body string) {
	b.Helper()
	for i := range n {
		if err := nc.Publish(fmt.Sprintf("mem.%s.message.s%d", bank, i%sessions), []byte(body)); err != nil {
			b.Error(err)
			return
		}
	}
	if err := nc.FlushTimeout(time.Minute); err != nil {
		b.Error(err)
	}
}

// BenchmarkForgetMalformed forgets a session of malformed messages, each of which has a dead letter: the processor time
// and the time until nothing is left to erase must grow as their number does.
func BenchmarkForgetMalformed(b *testing.B) {
	for _, n := range []int{750, 3000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for range b.N {
				c, nc := connect(b)
				flood(b, nc, "loud", 1, n, `{"content":5,"note":"a heron"}`)
				natstest.Eventually(b, "all letters", func() bool {
					s, err := c.Status(b.Context(), "loud")
					return err == nil && s.Dead == n && s.Settled
				})
				began, used := time.Now(), processor(b)
				if _, err := c.Forget(b.Context(), "loud", wire.ForgetRequest{Session: "s0"}); err != nil {
					b.Fatal(err)
				}
				natstest.Eventually(b, "no letter is left", func() bool {
					s, err := c.Status(b.Context(), "loud")
					return err == nil && s.Dead == 0
				})
				b.ReportMetric((processor(b) - used).Seconds(), "cpu-s")
				b.ReportMetric(time.Since(began).Seconds(), "s")
			}
		})
	}
}

// BenchmarkBesideAFlood measures how long a bank waits until what it published is acknowledged, recallable and settled, in
// milliseconds at the median and the 99th percentile, while another bank floods the pipeline: it goes on until that one is
// settled, for a minute at most.
func BenchmarkBesideAFlood(b *testing.B) {
	for _, loud := range []struct {
		name string
		n    int
		body string
	}{
		{"idle", 0, ""},
		{"some-large", 40, `{"speaker":"Ann","content":"` + strings.Repeat("I own a lathe of the year 1950. ", 28_000) + `"}`},
		{"large", 200, `{"speaker":"Ann","content":"` + strings.Repeat("I own a lathe of the year 1950. ", 28_000) + `"}`},
		{"tiny", 20_000, `{"speaker":"Ann","content":"I own a lathe."}`},
	} {
		b.Run(loud.name, func(b *testing.B) {
			c, nc := connect(b)
			var flooding sync.WaitGroup
			flooding.Go(func() {
				if loud.n == 0 {
					return
				}
				parts := min(loud.n, 40)
				tick := time.NewTicker(floodWithin / time.Duration(parts))
				defer tick.Stop()
				for range parts {
					<-tick.C
					flood(b, nc, "loud", 20, loud.n/parts, loud.body)
				}
			})
			defer flooding.Wait()
			var acked, recalled, found, settled []time.Duration
			wait := memory.Duration(5 * time.Second)
			start := time.Now()
			for i := 0; ; i++ {
				s, err := c.Status(b.Context(), "loud")
				took := time.Since(start)
				if i >= 30 && (i == 200 && loud.n == 0 || loud.n > 0 && err == nil && s.Settled && took > floodWithin || took > time.Minute) {
					break
				}
				began := time.Now()
				m := memory.Message{Speaker: "Bob", Content: fmt.Sprintf("I own boat number %d.", i)}
				seq, err := c.Publish(b.Context(), "quiet", "s", m)
				if err != nil {
					b.Fatal(err)
				}
				acked = append(acked, time.Since(began))
				asked := time.Now()
				if _, err := c.Recall(b.Context(), "quiet", wire.RecallRequest{Query: "Which boat?"}); err != nil && i > 0 {
					b.Fatal(err)
				}
				recalled = append(recalled, time.Since(asked))
				for fresh := false; !fresh; {
					r, err := c.Recall(b.Context(), "quiet", wire.RecallRequest{Query: "Which boat?", After: seq, Wait: &wait})
					if fresh = r.Fresh; err != nil {
						b.Fatal(err)
					}
				}
				found = append(found, time.Since(began))
				if _, err := c.Flush(b.Context(), "quiet", "s"); err != nil {
					b.Fatal(err)
				}
				if _, err := c.WaitSettled(b.Context(), "quiet", nil); err != nil {
					b.Fatal(err)
				}
				settled = append(settled, time.Since(began))
			}
			b.ReportMetric(float64(len(settled)), "rounds")
			for name, took := range map[string][]time.Duration{"acked": acked, "recall": recalled, "recallable": found, "settled": settled} {
				slices.Sort(took)
				b.ReportMetric(took[len(took)/2].Seconds()*1000, name+"-p50-ms")
				b.ReportMetric(took[len(took)*99/100].Seconds()*1000, name+"-p99-ms")
			}
		})
	}
}
