package faults_test

import (
	"context"
	"testing"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/client"
	"github.com/eunoe-memory/eunoe/test/faults"
)

// stagedTraffic is published part by part to a cluster.
type stagedTraffic struct {
	c         *client.Client
	acks      *faults.Acks
	left      []faults.Traffic
	published faults.Traffic
}

// next publishes the next part.
func (s *stagedTraffic) next(ctx context.Context) error {
	part := s.left[0]
	s.left, s.published = s.left[1:], s.published.Join(part)
	return s.acks.Publish(ctx, s.c, part, 0)
}

// settled waits until everything published is settled.
func (s *stagedTraffic) settled(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	for _, bank := range s.published.Banks() {
		if _, err := s.c.WaitSettled(ctx, bank, nil); err != nil {
			return err
		}
	}
	return nil
}

// TestConformance kills and stops real processes.
func TestConformance(t *testing.T) {
	t.Parallel()
	cluster := func(t *testing.T, parts int) (context.Context, *faults.Cluster, *stagedTraffic) {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), 8*time.Minute)
		t.Cleanup(cancel)
		w, err := faults.NewCluster(ctx, programDir(t), t.TempDir(), 1, nil)
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
		t.Cleanup(func() {
			if err := c.Close(); err != nil {
				t.Error(err)
			}
		})
		return ctx, w, &stagedTraffic{c: c, acks: faults.NewAcks(), left: faults.NewTraffic(11, 200*parts).Parts(parts)}
	}
	account := func(ctx context.Context, t *testing.T, w *faults.Cluster, s *stagedTraffic) {
		t.Helper()
		outcome, err := faults.Audit(ctx, s.c, s.published, s.acks)
		if err != nil {
			t.Fatal(err)
		}
		report(t, "the outcome", outcome.Problems)
		rebuilt(ctx, t, w)
	}
	t.Run("killed between storing messages and extracting them, everything is extracted once after the restart", func(t *testing.T) {
		t.Parallel()
		ctx, w, s := cluster(t, 2)
		for range 2 {
			if err := w.CrashBeforeExtraction(ctx, s.c, s.left[0].Banks(), s.next); err != nil {
				t.Fatal(err)
			}
			if err := s.settled(ctx); err != nil {
				t.Fatal(err)
			}
		}
		account(ctx, t, w, s)
	})
	t.Run("an owner that was stopped within its work and wakes after another took over changes nothing", func(t *testing.T) {
		t.Parallel()
		ctx, w, s := cluster(t, 6)
		for _, stage := range []string{"consolidator", "ingest"} {
			if err := w.PauseOwner(ctx, stage, s.next, s.settled); err != nil {
				t.Fatal(err)
			}
		}
		account(ctx, t, w, s)
	})
}
