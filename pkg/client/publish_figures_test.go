//go:build !race

package client_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/rs/zerolog"

	"github.com/eunoe-memory/eunoe/internal/natsd"
	"github.com/eunoe-memory/eunoe/pkg/client"
	"github.com/eunoe-memory/eunoe/pkg/events"
)

// TestSpeedOfPublishing publishes the same bodies through the client and straight to the broker, which syncs before it
// acknowledges: one by one in pairs, of whose times it compares the medians, and many at once in turns, of which it
// compares the best. A disk syncs unevenly, so it looks up to three times.
func TestSpeedOfPublishing(t *testing.T) {
	srv, err := natsd.Start(natsd.Config{Dir: t.TempDir(), Port: natsd.RandomPort, SyncAlways: true, Log: zerolog.Nop()})
	if err != nil {
		t.Fatal(err)
	}
	defer srv.Shutdown()
	conn, err := events.Dial(events.ConnConfig{URL: srv.ClientURL()})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.Reconcile(t.Context(), events.StreamOptions{}); err != nil {
		t.Fatal(err)
	}
	c, err := client.New(client.DefaultConfig(), client.Deps{Conn: conn})
	if err != nil {
		t.Fatal(err)
	}
	const least = .8
	for name, measure := range map[string]func(*testing.T, *client.Client, *events.Conn) (ours, bare float64){"single": single, "batched": batched} {
		best := 0.0
		for range 3 {
			ours, bare := measure(t, c, conn)
			t.Logf("%s, synced: client %.0f messages/s, bare broker %.0f/s, ratio %.2f", name, ours, bare, ours/bare)
			if best = max(best, ours/bare); best >= least {
				break
			}
		}
		if best < least {
			t.Errorf("%s publishing reaches %.2f of the bare broker; expected at least %.1f", name, best, least)
		}
	}
}

const bareSession = "s"

var bareBody = []byte(`{"id":"m0","role":"user","speaker":"Alice","content":"On day 0 I repaired the greenhouse and wrote it down in my diary.","time":"0001-01-01T00:00:00Z"}`)

// single returns the messages a second of which each waits for its acknowledgement.
func single(t *testing.T, c *client.Client, conn *events.Conn) (ours, bare float64) {
	t.Helper()
	subject := conn.Naming.MessageSubject("bare", bareSession)
	took := map[bool][]time.Duration{}
	for _, m := range many(800) {
		for _, through := range []bool{true, false} {
			var err error
			began := time.Now()
			if through {
				_, err = c.Publish(t.Context(), "client", bareSession, m)
			} else {
				_, err = conn.JS.Publish(t.Context(), subject, bareBody)
			}
			took[through] = append(took[through], time.Since(began))
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	median := func(list []time.Duration) float64 {
		slices.Sort(list)
		return 1 / list[len(list)/2].Seconds()
	}
	return median(took[true]), median(took[false])
}

// batched returns the messages a second that are published many at once.
func batched(t *testing.T, c *client.Client, conn *events.Conn) (ours, bare float64) {
	t.Helper()
	subject := conn.Naming.MessageSubject("bare", bareSession)
	for range 3 {
		list := many(2000)
		began := time.Now()
		if _, err := c.PublishAll(t.Context(), "client", bareSession, list); err != nil {
			t.Fatal(err)
		}
		ours = max(ours, float64(len(list))/time.Since(began).Seconds())
		began = time.Now()
		if err := bareBatch(conn, subject, bareBody, len(list)); err != nil {
			t.Fatal(err)
		}
		bare = max(bare, float64(len(list))/time.Since(began).Seconds())
	}
	return ours, bare
}

// bareBatch publishes with the broker's own client, 400 on their way at a time.
func bareBatch(conn *events.Conn, subject string, body []byte, n int) error {
	slots := make(chan struct{}, 400)
	futures := make([]jetstream.PubAckFuture, 0, n)
	for range n {
		slots <- struct{}{}
		f, err := conn.JS.PublishMsgAsync(&nats.Msg{Subject: subject, Data: body})
		if err != nil {
			return err
		}
		futures = append(futures, f)
		go func() {
			select {
			case <-f.Ok():
			case <-f.Err():
			}
			<-slots
		}()
	}
	for range cap(slots) {
		slots <- struct{}{}
	}
	if len(futures) != n {
		return errors.New("not all were sent")
	}
	return nil
}
