package events_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/events/natstest"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// soon is what takes a second or two, on a machine that is busy.
const soon = 8 * time.Second

// deaf returns a connection to a server without streams, where somebody receives what is published to a subject and says
// nothing, as a leader that is lost. hear waits for the first of it, and then makes the streams.
func deaf(t *testing.T, subject string) (c *events.Conn, hear func()) {
	t.Helper()
	c = natstest.StartServer(t).Connect(t)
	heard := make(chan *nats.Msg, 1000)
	sub, err := c.NC.ChanSubscribe(subject, heard)
	if err != nil {
		t.Fatal(err)
	}
	return c, func() {
		t.Helper()
		<-heard
		if err := errors.Join(sub.Unsubscribe(), c.Reconcile(t.Context(), events.DefaultStreamOptions())); err != nil {
			t.Fatal(err)
		}
	}
}

func TestWhatNobodyAcknowledgesIsSentAgain(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 40} {
		t.Run(fmt.Sprintf("of %d writes", n), func(t *testing.T) {
			t.Parallel()
			c, hear := deaf(t, "mem.*.write.*")
			a := events.NewAppender(c)
			var all []*events.Appending
			for i := range n {
				all = append(all, a.Append(t.Context(), endOf(fmt.Sprintf("op-%d", i))))
			}
			hear()
			began := time.Now()
			for _, p := range all {
				if seq, stored, err := p.Wait(t.Context()); err != nil || !stored || seq == 0 {
					t.Fatalf("at %d, stored %v: %v", seq, stored, err)
				}
			}
			if took := time.Since(began); took > soon {
				t.Errorf("that took %s", took)
			}
			if end, err := c.LastSeq(t.Context(), c.Naming.Writes()); end != uint64(n) || err != nil {
				t.Errorf("the log has %d writes, %v", end, err)
			}
		})
	}
	t.Run("of windows", func(t *testing.T) {
		t.Parallel()
		c, hear := deaf(t, "mem.*.window.*")
		windows := make([]memory.Window, 8)
		for i := range windows {
			seq := uint64(i + 1)
			windows[i] = memory.Window{ID: memory.NewWindowID("alice", "s", seq, seq, 0), Bank: "alice", Session: "s", New: []memory.WindowMessage{{Seq: seq}}}
		}
		published := make(chan error, 1)
		go func() { published <- c.PublishWindows(t.Context(), windows) }()
		hear()
		began := time.Now()
		if err := <-published; err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took > soon {
			t.Errorf("that took %s", took)
		}
		if end, err := c.LastSeq(t.Context(), c.Naming.Windows()); end != 8 || err != nil {
			t.Errorf("%d windows are queued, %v", end, err)
		}
	})
	t.Run("of a bot's messages", func(t *testing.T) {
		t.Parallel()
		c, hear := deaf(t, "mem.*.message.*")
		p, err := events.NewPublisher(events.DefaultPublisherConfig(), c)
		if err != nil {
			t.Fatal(err)
		}
		published := make(chan error, 1)
		go func() {
			_, err := p.Publish(t.Context(), "alice", "s", memory.Message{Content: "I moved to Lisbon."})
			published <- err
		}()
		hear()
		began := time.Now()
		if err := <-published; err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took > soon {
			t.Errorf("that took %s", took)
		}
	})
}

// TestAnEventThatWasStoredUnheardIsStoredOnce has a write stored behind the back of the one who appends it and got no
// acknowledgement.
func TestAnEventThatWasStoredUnheardIsStoredOnce(t *testing.T) {
	t.Parallel()
	c, hear := deaf(t, "mem.*.write.*")
	p := events.NewAppender(c).Append(t.Context(), endOf("op"))
	other := natstest.Another(t, c)
	hear()
	first, err := other.AppendWrite(t.Context(), endOf("op"))
	if err != nil {
		t.Fatal(err)
	}
	seq, _, err := p.Wait(t.Context())
	end, unread := c.LastSeq(t.Context(), c.Naming.Writes())
	if err := errors.Join(err, unread); err != nil || seq != first || end != 1 {
		t.Errorf("appended at %d and %d, the log ends at %d: %v", first, seq, end, err)
	}
}

func TestStoringEndsWithItsContext(t *testing.T) {
	t.Parallel()
	c := natstest.StartServer(t).Connect(t)
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	began := time.Now()
	out := c.StoreEach(ctx, []*nats.Msg{events.NewMsg("mem.alice.write.usage", "1", nil), events.NewMsg("mem.alice.write.usage", "2", nil)})
	for _, s := range out {
		if s.Err == nil || s.Sent < 2 {
			t.Errorf("without a stream: %+v", s)
		}
	}
	if took := time.Since(began); took > soon {
		t.Errorf("that took %s", took)
	}
	c.NC.Close()
	if out := c.StoreEach(t.Context(), []*nats.Msg{events.NewMsg("mem.alice.write.usage", "1", nil)}); out[0].Err == nil || out[0].Sent > 1 {
		t.Errorf("on a closed connection: %+v", out[0])
	}
}

func TestAnUnansweredQuestionIsAskedAgain(t *testing.T) {
	t.Parallel()
	t.Run("beside the first, whose answer still counts", func(t *testing.T) {
		t.Parallel()
		second := make(chan struct{})
		asked := make(chan int, 10)
		asked <- 0
		began := time.Now()
		got, err := events.Again(t.Context(), func(ctx context.Context) (int, error) {
			n := <-asked
			asked <- n + 1
			if n == 0 {
				<-second
				return n, ctx.Err()
			}
			close(second)
			<-ctx.Done()
			return n, ctx.Err()
		})
		if got != 0 || err != nil {
			t.Errorf("%d, %v", got, err)
		}
		if took := time.Since(began); took > soon/4 {
			t.Errorf("that took %s", took)
		}
	})
	t.Run("until nobody has answered for long", func(t *testing.T) {
		t.Parallel()
		c := natstest.StartServer(t).Connect(t)
		heard := make(chan *nats.Msg, 100)
		if _, err := c.NC.ChanSubscribe("question", heard); err != nil {
			t.Fatal(err)
		}
		_, err := events.Again(t.Context(), func(ctx context.Context) (*nats.Msg, error) { return c.NC.RequestWithContext(ctx, "question", nil) })
		if !errors.Is(err, context.DeadlineExceeded) || len(heard) < 3 || len(heard) > 7 {
			t.Errorf("asked %d times: %v", len(heard), err)
		}
	})
}
