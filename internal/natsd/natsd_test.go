package natsd_test

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/rs/zerolog"

	"github.com/eunoe-memory/eunoe/internal/natsd"
)

func connect(t *testing.T, url string, opts ...nats.Option) (*nats.Conn, jetstream.JetStream) {
	t.Helper()
	nc, err := nats.Connect(url, opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	return nc, js
}

func TestStart(t *testing.T) {
	t.Parallel()

	t.Run("keeps its streams from one run to the next", func(t *testing.T) {
		t.Parallel()
		for _, always := range []bool{false, true} {
			dir := t.TempDir()
			for run := range uint64(3) {
				s, err := natsd.Start(natsd.Config{Dir: dir, Port: natsd.RandomPort, SyncAlways: always})
				if err != nil {
					t.Fatal(err)
				}
				_, js := connect(t, s.ClientURL())
				st, err := js.CreateOrUpdateStream(context.Background(), jetstream.StreamConfig{Name: "S", Subjects: []string{"s"}})
				if err != nil {
					t.Fatal(err)
				}
				if n := st.CachedInfo().State.Msgs; n != run {
					t.Errorf("run %d finds %d messages", run, n)
				}
				if _, err := js.Publish(context.Background(), "s", []byte("x")); err != nil {
					t.Fatal(err)
				}
				s.Shutdown()
				s.Shutdown()
			}
		}
	})

	t.Run("listens on 127.0.0.1 by default, without a log line", func(t *testing.T) {
		t.Parallel()
		var log bytes.Buffer
		s, err := natsd.Start(natsd.Config{Dir: t.TempDir(), Port: natsd.RandomPort, Log: zerolog.New(&log).Level(zerolog.InfoLevel)})
		if err != nil {
			t.Fatal(err)
		}
		if want := fmt.Sprintf("nats://127.0.0.1:%d", s.Port()); s.ClientURL() != want {
			t.Errorf("%s, want %s", s.ClientURL(), want)
		}
		connect(t, s.ClientURL())
		s.Shutdown()
		if log.Len() > 0 {
			t.Errorf("it logged %s", log.String())
		}
	})

	t.Run("names the port that is taken", func(t *testing.T) {
		t.Parallel()
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = l.Close() }()
		port := l.Addr().(*net.TCPAddr).Port
		began := time.Now()
		_, err = natsd.Start(natsd.Config{Dir: t.TempDir(), Port: port})
		if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("port %d", port)) {
			t.Errorf("%v", err)
		}
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("it took %s to say so", took)
		}
	})

	t.Run("serves this process alone, without a port", func(t *testing.T) {
		t.Parallel()
		s, err := natsd.Start(natsd.Config{Dir: t.TempDir(), DontListen: true})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Shutdown()
		nc, js := connect(t, "", nats.InProcessServer(s))
		if _, err := js.AccountInfo(context.Background()); err != nil {
			t.Error(err)
		}
		if s.Port() != 0 {
			t.Errorf("it listens on %d", s.Port())
		}
		nc.Close()
	})

	t.Run("refuses settings that cannot work", func(t *testing.T) {
		t.Parallel()
		for _, cfg := range []natsd.Config{{}, {Dir: t.TempDir(), Port: 70000}, {Dir: t.TempDir(), MaxPayload: -1}, {Dir: "/dev/null/x", Port: natsd.RandomPort}} {
			if s, err := natsd.Start(cfg); err == nil {
				s.Shutdown()
				t.Errorf("%+v was taken", cfg)
			}
		}
		if err := (natsd.Config{Dir: "data/nats", Host: "127.0.0.1", Port: 4222, Log: zerolog.Nop()}).Validate(); err != nil {
			t.Error(err)
		}
	})
}

// TestShutdownAfterBatches stops the server while batches that nobody completes are queued at a stream. A server that
// stops in the middle of the queue keeps the goroutines of a batch, which the check of TestMain finds.
func TestShutdownAfterBatches(t *testing.T) {
	t.Parallel()
	for range 5 {
		s, err := natsd.Start(natsd.Config{Dir: t.TempDir(), Port: natsd.RandomPort})
		if err != nil {
			t.Fatal(err)
		}
		nc, js := connect(t, s.ClientURL())
		if _, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "S", Subjects: []string{"s"}, AllowAtomicPublish: true}); err != nil {
			t.Fatal(err)
		}
		for i := range 3000 {
			m := nats.NewMsg("s")
			if i%100 == 0 {
				m.Reply = nc.NewRespInbox()
				m.Header.Set("Nats-Batch-Id", fmt.Sprint(i))
				m.Header.Set("Nats-Batch-Sequence", "1")
			}
			if err := nc.PublishMsg(m); err != nil {
				t.Fatal(err)
			}
		}
		if err := nc.Flush(); err != nil {
			t.Fatal(err)
		}
		nc.Close()
		s.Shutdown()
	}
}
