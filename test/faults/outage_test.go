package faults_test

import (
	"context"
	"flag"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/eunoe-memory/eunoe/test/faults"
)

var (
	outages          = flag.Int("outages", 2, "outages of a cluster of three brokers")
	outageMessages   = flag.Int("outage-messages", 600, "messages that are published meanwhile")
	outagesSeconds   = flag.Float64("outage-seconds", 9, "about how long one outage takes: the messages are spread over all of them")
	outageKinds      = flag.String("outage-kinds", "", "the kinds of outages that happen, with commas; all where it is empty")
	outagesUnbounded = flag.Bool("outage-report", false, "report the recovery times without bounds")
)

// What 99 of 100 recoveries stay under.
const (
	acknowledgedLimit = 8 * time.Second // also of a client whose server is frozen
	settledLimit      = 12 * time.Second
)

// TestOutages publishes to a cluster of three brokers while they are killed, frozen and parted, and accounts for every
// message.
func TestOutages(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute+time.Duration(*outages)*time.Minute)
	defer cancel()
	dir := *keep
	if dir == "" {
		dir = t.TempDir()
	}
	began := time.Now()
	lap := func(what string) { t.Logf("%6s  %s", time.Since(began).Round(time.Second), what) }
	w, err := faults.NewReplicated(ctx, programDir(t), dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
	c, err := w.Client(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	lap("the cluster answers")

	traffic, acks := faults.NewTraffic(*seed, *outageMessages), faults.NewAcks()
	recoveries := suffer(ctx, t, w, traffic, acks)
	lap("everything is published and every outage over")
	if err := acks.FlushAgain(ctx, c, traffic); err != nil {
		t.Fatal(err)
	}
	if err := settle(ctx, c, traffic); err != nil {
		t.Fatal(err)
	}
	if _, err := c.WaitSettled(ctx, faults.ProbeBank, nil); err != nil {
		t.Fatal(err)
	}
	lap("everything is settled")
	outcome, err := faults.Audit(ctx, c, traffic, acks)
	if err != nil {
		t.Fatal(err)
	}
	report(t, "the outcome", outcome.Problems)
	reference, err := withoutFaults(ctx, traffic, t.TempDir())
	if err != nil {
		t.Fatalf("the run without faults: %v", err)
	}
	report(t, "the run without faults", reference.Problems)
	report(t, "against a run without faults", outcome.Differences(reference))
	lap("the outcome equals that of a run without faults")
	rebuilt(ctx, t, w.Cluster)
	lap("the store is that of a rebuild")
	bound(t, recoveries)
	t.Logf("seed %d: %d messages, %d outages; %d publishes had to be repeated, %d sessions hold a repeat",
		*seed, *outageMessages, *outages, acks.Retries(), len(outcome.Repeated))
}

// suffer publishes the traffic while the outages happen, one after the other.
func suffer(ctx context.Context, t *testing.T, w *faults.Replicated, traffic faults.Traffic, acks *faults.Acks) []faults.Recovery {
	t.Helper()
	bot, err := w.Client(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer bot.Close()
	prober, err := w.Client(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer prober.Close()
	var kinds []string
	if *outageKinds != "" {
		kinds = strings.Split(*outageKinds, ",")
	}
	var list []faults.Recovery
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error {
		return acks.Publish(ctx, bot, traffic, float64(traffic.Messages)/(float64(*outages)*(*outagesSeconds)))
	})
	group.Go(func() error {
		for n, o := range faults.Outages(*seed, *outages, kinds...) {
			r, err := w.Suffer(ctx, prober, o)
			if err != nil {
				return err
			}
			t.Logf("%3d  %-46s acknowledged after %6s, settled after %6s", n+1, o.Kind, r.Acknowledged.Round(10*time.Millisecond), r.Settled.Round(10*time.Millisecond))
			for _, err := range r.Failed {
				t.Logf("     meanwhile: %v", err)
			}
			list = append(list, r)
			if err := w.LetWork(ctx); err != nil {
				return err
			}
		}
		return nil
	})
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
	return list
}

// fewOutages is how many are too few to speak of 99 of 100: their times are reported, and their accounts are held.
const fewOutages = 20

// bound fails where recoveries take longer than they may.
func bound(t *testing.T, list []faults.Recovery) {
	t.Helper()
	check := func(what string, took []time.Duration, limit time.Duration) {
		if len(took) == 0 {
			return
		}
		slices.Sort(took)
		p99 := took[min(len(took)-1, len(took)*99/100)]
		t.Logf("%-32s median %6s, p99 %6s, of %d", what, took[len(took)/2].Round(10*time.Millisecond), p99.Round(10*time.Millisecond), len(took))
		if p99 >= limit && len(took) >= fewOutages && !*outagesUnbounded {
			t.Errorf("%s: %s; expected less than %s", what, p99, limit)
		}
	}
	var acknowledged, settled, frozen []time.Duration
	for _, r := range list {
		acknowledged, settled = append(acknowledged, r.Acknowledged), append(settled, r.Settled)
		if r.Kind == faults.FrozenServer {
			frozen = append(frozen, r.Acknowledged)
		}
	}
	check("acknowledged again", acknowledged, acknowledgedLimit)
	check("settled again", settled, settledLimit)
	check("the client's server is frozen", frozen, acknowledgedLimit)
}

func TestOutagesFollowTheirSeed(t *testing.T) {
	t.Parallel()
	a, b := faults.Outages(7, 100), faults.Outages(7, 100)
	kinds := map[string]bool{}
	for i := range a {
		if a[i] != b[i] {
			t.Fatalf("outage %d differs", i)
		}
		kinds[a[i].Kind] = true
	}
	if len(kinds) != 7 {
		t.Errorf("100 outages are of %d kinds: %v", len(kinds), kinds)
	}
}
