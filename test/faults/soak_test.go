package faults_test

import (
	"context"
	"flag"
	"math"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/eunoe-memory/eunoe/pkg/wire"
	"github.com/eunoe-memory/eunoe/test/faults"
)

var (
	soak = flag.Duration("soak", 0, "how long to publish in TestSoak; 0 leaves it out")
	rate = flag.Float64("rate", 500, "messages a second of TestSoak")
)

// What counts as flat over the second half of a soak.
const (
	memoryShare      = .10     // of the mean, for what the collector and the caches move
	memoryPerMessage = 256     // bytes: a store keeps a little of each record in memory to find it
	memoryFloor      = 8 << 20 // bytes
	// Caches of fixed size (of SQLite, of the writer, of the broker) are full after some ten thousand messages. A run
	// whose first half has fewer is allowed to fill them in the second.
	cacheMessages  = 50_000
	cacheRoom      = 64 << 20 // bytes
	goroutineShare = .05
	goroutineFloor = 8
)

// TestSoak publishes at a steady rate to a whole Eunoe in one process and fails
// when its memory or its goroutines grow, or when anything is lost.
func TestSoak(t *testing.T) {
	if *soak == 0 {
		t.Skip("it takes minutes: make soak")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 3**soak+20*time.Minute)
	defer cancel()
	s, err := faults.NewInstance(ctx, programDir(t), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	c, err := s.Client(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	traffic, acks := faults.NewTraffic(5, int(*rate*soak.Seconds())), faults.NewAcks()
	var samples []faults.Sample
	watching, stop := context.WithCancel(ctx)
	group, publishing := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		samples, err = s.Watch(watching, max(time.Second, *soak/600))
		return err
	})
	began := time.Now()
	group.Go(func() error {
		defer stop()
		return acks.Publish(publishing, c, traffic, *rate)
	})
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
	took := time.Since(began)
	t.Logf("%d messages in %s (%.0f/s)", traffic.Messages, took.Round(time.Second), float64(traffic.Messages)/took.Seconds())
	if len(samples) < 20 {
		t.Fatalf("only %d samples", len(samples))
	}
	for i := range 11 {
		x := samples[i*(len(samples)-1)/10]
		t.Logf("%6s  memory %4.0f MiB (heap %4.0f)  goroutines %3.0f  write-ahead log %4.1f MiB  messages %7.0f  behind %5.0f  windows waiting %4.0f",
			x.At.Round(time.Second), x.Resident/(1<<20), x.Heap/(1<<20), x.Goroutines, float64(x.WAL)/(1<<20), x.Messages, x.Behind, x.Windows)
	}
	if waiting := samples[len(samples)-1].Windows; waiting > 10**rate {
		t.Fatalf("%.0f windows wait at the end: it does not keep up, and nothing can be said about its memory; give a smaller -rate", waiting)
	}
	published := samples[len(samples)-1].Messages - samples[len(samples)/2].Messages
	rise, mean := faults.Growth(samples, func(x faults.Sample) float64 { return x.Resident })
	allowed := max(memoryFloor, memoryShare*mean) + memoryPerMessage*published
	if samples[len(samples)/2].Messages < cacheMessages {
		allowed += cacheRoom
	}
	t.Logf("memory: %.0f MiB in the mean of the second half, rising by %.1f MiB; flat is up to %.1f MiB", mean/(1<<20), rise/(1<<20), allowed/(1<<20))
	if rise > allowed {
		t.Error("the memory grows")
	}
	rise, mean = faults.Growth(samples, func(x faults.Sample) float64 { return x.Goroutines })
	allowed = max(goroutineFloor, goroutineShare*mean)
	t.Logf("goroutines: %.0f in the mean of the second half, rising by %.1f; flat is up to %.1f", mean, rise, allowed)
	if rise > allowed {
		t.Error("the goroutines grow")
	}
	for _, bank := range traffic.Banks() { // what a slow machine has put off is still to be done
		if st, err := c.WaitSettled(ctx, bank, nil); err != nil {
			t.Fatalf("bank %s: %v; it stands at %+v", bank, err, st)
		}
	}
	t.Logf("settled %s after the last message", (time.Since(began) - took).Round(time.Second))
	accounted := 0
	for _, bank := range traffic.Banks() {
		st, err := c.Status(ctx, bank)
		if err != nil {
			t.Fatal(err)
		}
		if st.Dead != 0 || st.Conservation.Dead+st.Conservation.Pending+st.Conservation.Forgotten != 0 {
			t.Errorf("bank %s: %+v", bank, st.Conservation)
		}
		accounted += st.Conservation.Committed + st.Conservation.Empty
	}
	if accounted != traffic.Messages {
		t.Errorf("%d messages were acknowledged, %d are accounted for", traffic.Messages, accounted)
	}
	v, err := c.Admin().Verify(ctx, wire.VerifyRequest{})
	if err != nil {
		t.Fatal(err)
	}
	if len(v.Problems) > 0 {
		t.Errorf("verify: %+v", v)
	}
}

func TestGrowth(t *testing.T) {
	t.Parallel()
	var list []faults.Sample
	for i := range 100 {
		x := faults.Sample{At: time.Duration(i) * time.Second, Resident: 1000, Goroutines: float64(i)}
		if i < 50 {
			x.Resident = float64(10 * i) // what a start takes does not count
		}
		if i%9 == 8 {
			x.Resident *= 3 // a moment of much work
		}
		list = append(list, x)
	}
	if rise, mean := faults.Growth(list, func(s faults.Sample) float64 { return s.Resident }); math.Abs(rise) > 1e-6 || mean < 1000 {
		t.Errorf("a flat line rises by %v around %v", rise, mean)
	}
	if rise, mean := faults.Growth(list, func(s faults.Sample) float64 { return s.Goroutines }); math.Abs(rise-49) > 1e-6 || math.Abs(mean-74.5) > 1e-6 {
		t.Errorf("one that rises by 49 around 74.5 is said to by %v around %v", rise, mean)
	}
}
