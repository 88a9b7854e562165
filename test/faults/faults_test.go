package faults_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/eunoe-memory/eunoe/internal/app/local"
	"github.com/eunoe-memory/eunoe/internal/app/offline"
	"github.com/eunoe-memory/eunoe/internal/app/settings"
	"github.com/eunoe-memory/eunoe/pkg/client"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/store/postgres/postgrestest"
	"github.com/eunoe-memory/eunoe/test/faults"
)

var (
	seed     = flag.Uint64("seed", 1, "what the traffic and the faults are drawn from")
	count    = flag.Int("faults", 12, "faults of a run")
	messages = flag.Int("messages", 2000, "messages of a run")
	shards   = flag.Int("shards", 1, "stores that the banks are spread over")
	postgres = flag.Bool("postgres", false, "keep the stores on a PostgreSQL server, which is killed too")
	kills    = flag.Int("takeovers", 2, "kills of each ordered stage whose takeover is timed")
	keep     = flag.String("keep", "", "directory for the logs and streams of the run; kept")
)

// takeoverLimit is what 99 of 100 takeovers stay under.
const takeoverLimit = 5 * time.Second

// TestFaults publishes while faults happen, and accounts for every message.
func TestFaults(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 18*time.Minute)
	defer cancel()
	dir := *keep
	if dir == "" {
		dir = t.TempDir()
	}
	w, err := faults.NewCluster(ctx, programDir(t), dir, *shards, startPostgres(t))
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

	began := time.Now()
	lap := func(what string) { t.Logf("%6s  %s", time.Since(began).Round(time.Second), what) }
	traffic, acks := faults.NewTraffic(*seed, *messages), faults.NewAcks()
	var reference *faults.Outcome
	var background errgroup.Group // runs during the faults, which wait more than they work
	whole := t.TempDir()
	background.Go(func() (err error) {
		reference, err = withoutFaults(ctx, traffic, whole)
		return err
	})
	defer func() { cancel(); _ = background.Wait() }() //nolint:errcheck // it was looked at
	injectFaults(ctx, t, w, c, traffic, acks)
	lap("everything is published and every fault over")
	if err := settle(ctx, c, traffic); err != nil {
		t.Fatal(err)
	}
	lap("everything is settled")
	outcome, err := faults.Audit(ctx, c, traffic, acks)
	if err != nil {
		t.Fatal(err)
	}
	report(t, "the outcome", outcome.Problems)
	if err := background.Wait(); err != nil {
		t.Fatalf("the run without faults: %v", err)
	}
	report(t, "the run without faults", reference.Problems)
	report(t, "against a run without faults", outcome.Differences(reference))
	lap("the outcome equals that of a run without faults")
	takeovers(ctx, t, w, c)
	lap("takeovers")
	rebuilt(ctx, t, w)
	lap("the store is that of a rebuild")
	t.Logf("seed %d: %d messages, %d faults; %d publishes had to be repeated, %d sessions hold a repeat",
		*seed, *messages, *count, acks.Retries(), len(outcome.Repeated))
}

// startPostgres starts the server of -postgres; nil without.
func startPostgres(t *testing.T) *postgrestest.Server {
	t.Helper()
	if !*postgres {
		return nil
	}
	server, err := postgrestest.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Stop(); err != nil {
			t.Error(err)
		}
	})
	return server
}

// injectFaults publishes the traffic while the faults happen, one after the other.
func injectFaults(ctx context.Context, t *testing.T, w *faults.Cluster, c *client.Client, traffic faults.Traffic, acks *faults.Acks) {
	t.Helper()
	schedule := faults.Schedule(*seed, *count)
	var lasts time.Duration
	for _, f := range schedule {
		lasts += f.For + time.Second
	}
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return acks.Publish(ctx, c, traffic, float64(traffic.Messages)/lasts.Seconds()) })
	group.Go(func() error {
		for _, f := range schedule {
			if err := w.Inject(ctx, f); err != nil {
				return fmt.Errorf("%s: %w", f, err)
			}
			if err := w.LetWork(ctx); err != nil {
				return err
			}
		}
		return w.Restore()
	})
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
}

func settle(ctx context.Context, c *client.Client, traffic faults.Traffic) error {
	// Two pipelines share the machine: the one with faults and the one without.
	ctx, cancel := context.WithTimeout(ctx, 3*time.Minute+time.Duration(traffic.Messages)*20*time.Millisecond)
	defer cancel()
	for _, bank := range traffic.Banks() {
		if st, err := c.WaitSettled(ctx, bank, nil); err != nil {
			return fmt.Errorf("bank %s: %w; it stands at %+v", bank, err, st)
		}
	}
	return nil
}

// report fails with the first of the problems.
func report(t *testing.T, where string, problems []string) {
	t.Helper()
	for i, p := range problems {
		if i == 20 {
			t.Errorf("%s: and %d more", where, len(problems)-i)
			return
		}
		t.Errorf("%s: %s", where, p)
	}
}

func takeovers(ctx context.Context, t *testing.T, w *faults.Cluster, c *client.Client) {
	t.Helper()
	took, err := w.Takeovers(ctx, c, *kills)
	if err != nil {
		t.Fatal(err)
	}
	p99 := took[min(len(took)-1, len(took)*99/100)]
	t.Logf("%d takeovers: median %s, p99 %s", len(took), took[len(took)/2].Round(time.Millisecond), p99.Round(time.Millisecond))
	if p99 >= takeoverLimit {
		t.Errorf("a takeover took %s; expected less than %s", p99, takeoverLimit)
	}
}

// rebuilt compares the store with one rebuilt from the run's own log.
func rebuilt(ctx context.Context, t *testing.T, w *faults.Cluster) {
	t.Helper()
	if err := w.EndStages(); err != nil {
		t.Fatal(err)
	}
	before, err := w.Dump(ctx)
	if err != nil {
		t.Fatal(err)
	}
	anew := t.TempDir()
	cfg, _, err := settings.Load(nil, map[string]string{"URL": w.URL(), "DATA": anew, "STORE": filepath.Join(anew, "anew.db"), "LOG": "error"})
	if err != nil {
		t.Fatal(err)
	}
	if err := offline.Rebuild(ctx, cfg, nil); err != nil {
		t.Fatal(err)
	}
	for _, place := range []string{w.Place(), cfg.Store} {
		check := cfg
		check.Store = place
		v, err := offline.Verify(ctx, check, true, true)
		if err != nil {
			t.Fatal(err)
		}
		report(t, "verify "+filepath.Base(place), v.Problems)
	}
	after, err := faults.Dump(ctx, cfg.Store, w.Shards)
	if err != nil {
		t.Fatal(err)
	}
	if before != after {
		for name, text := range map[string]string{"before": before, "after": after} {
			path := filepath.Join(os.TempDir(), "faults-"+name+".jsonl")
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Error(err)
			}
			t.Errorf("the rebuilt store differs; the dump %s it is in %s", name, path)
		}
	}
}

// withoutFaults publishes the same traffic to a pipeline without faults.
func withoutFaults(ctx context.Context, traffic faults.Traffic, dir string) (outcome *faults.Outcome, err error) {
	cfg, _, err := settings.Load(nil, map[string]string{"DATA": dir, "PORT": "-1", "LOG": "error", "SYNC": "false", "IDLE_AFTER": "10m"})
	if err != nil {
		return nil, err
	}
	l, err := local.Start(ctx, cfg, os.Stderr)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, l.Close(context.WithoutCancel(ctx))) }()
	cc := client.DefaultConfig()
	cc.URL = l.URL
	c, err := client.Connect(ctx, cc)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	acks := faults.NewAcks()
	if err := acks.Publish(ctx, c, traffic, 0); err != nil {
		return nil, err
	}
	if err := settle(ctx, c, traffic); err != nil {
		return nil, err
	}
	return faults.Audit(ctx, c, traffic, acks)
}

func TestTrafficAndScheduleFollowTheirSeed(t *testing.T) {
	t.Parallel()
	a, b := faults.NewTraffic(7, 500), faults.NewTraffic(7, 500)
	n := 0
	seen := map[memory.MessageID]bool{}
	for i := range a.Sessions {
		for j, s := range a.Sessions[i] {
			if string(s.Body) != string(b.Sessions[i][j].Body) {
				t.Fatalf("message %s differs", s.ID)
			}
			seen[s.ID] = true
			n++
		}
	}
	if n != 500 || len(seen) != 500 {
		t.Errorf("%d messages under %d ids", n, len(seen))
	}
	x, y := faults.Schedule(7, 200), faults.Schedule(7, 200)
	kinds := map[string]bool{}
	for i := range x {
		if x[i] != y[i] {
			t.Fatalf("fault %d differs", i)
		}
		kinds[x[i].Kind] = true
	}
	if len(kinds) != 7 {
		t.Errorf("200 faults are of %d kinds: %v", len(kinds), kinds)
	}
}
