package faults_test

import (
	"context"
	"testing"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/client"
	"github.com/eunoe-memory/eunoe/test/faults"
)

// stagedTalk is a talk that is published part by part to a world.
type stagedTalk struct {
	c      *client.Client
	ledger *faults.Ledger
	left   []faults.Talk
	said   faults.Talk
}

// next publishes the next part.
func (s *stagedTalk) next(ctx context.Context) error {
	part := s.left[0]
	s.left, s.said = s.left[1:], s.said.Join(part)
	return s.ledger.Publish(ctx, s.c, part, 0)
}

// settled waits until all that was said is settled.
func (s *stagedTalk) settled(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	for _, bank := range s.said.Banks() {
		if _, err := s.c.WaitSettled(ctx, bank, nil); err != nil {
			return err
		}
	}
	return nil
}

// TestConformance kills and stops real processes. It starts two worlds, one
// after the other, for each keeps a machine busy.
func TestConformance(t *testing.T) {
	world := func(t *testing.T, parts int) (context.Context, *faults.World, *stagedTalk) {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), 8*time.Minute)
		t.Cleanup(cancel)
		dir := *keep
		if dir == "" {
			dir = t.TempDir()
		}
		w, err := faults.NewWorld(ctx, programs(t), dir)
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
		return ctx, w, &stagedTalk{c: c, ledger: faults.NewLedger(), left: faults.NewTalk(11, 200*parts).Parts(parts)}
	}
	account := func(ctx context.Context, t *testing.T, w *faults.World, s *stagedTalk) {
		t.Helper()
		books, err := faults.Audit(ctx, s.c, s.said, s.ledger)
		if err != nil {
			t.Fatal(err)
		}
		report(t, "the books", books.Problems)
		rebuilt(ctx, t, w)
	}
	t.Run("H14 killed between storing messages and extracting them, everything is extracted once after the restart", func(t *testing.T) {
		ctx, w, s := world(t, 2)
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
	t.Run("R23 an owner that was stopped within its work and wakes after another took over changes nothing", func(t *testing.T) {
		ctx, w, s := world(t, 6)
		for _, stage := range []string{"consolidator", "ingest"} {
			if err := w.Oversleep(ctx, stage, s.next, s.settled); err != nil {
				t.Fatal(err)
			}
		}
		account(ctx, t, w, s)
	})
}
