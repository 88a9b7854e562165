package local_test

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/eunoe-memory/eunoe/internal/app/apptest"
	"github.com/eunoe-memory/eunoe/internal/app/local"
)

func TestLocal(t *testing.T) {
	t.Parallel()
	c := apptest.Settings(t, nil)
	l := apptest.Start(t, c)

	t.Run("is live, ready and measured on loopback", func(t *testing.T) {
		t.Parallel()
		if host, _, _ := net.SplitHostPort(l.HTTP); host != "127.0.0.1" {
			t.Errorf("health checks listen on %s", l.HTTP)
		}
		for _, path := range []string{"/livez", "/readyz"} {
			if code, body := apptest.Get(t, "http://"+l.HTTP+path); code != http.StatusOK {
				t.Errorf("%s: %d %s", path, code, body)
			}
		}
		if code, body := apptest.Get(t, "http://"+l.HTTP+"/metrics"); code != http.StatusOK || !strings.Contains(body, "eunoe_ingest") || !strings.Contains(body, "go_goroutines") {
			t.Errorf("/metrics: %d, %d bytes", code, len(body))
		}
	})
	t.Run("registers each stage with the broker", func(t *testing.T) {
		t.Parallel()
		nc, err := nats.Connect(l.URL)
		if err != nil {
			t.Fatal(err)
		}
		defer nc.Close()
		seen, inbox := map[string]bool{}, nats.NewInbox()
		sub, err := nc.SubscribeSync(inbox)
		if err != nil {
			t.Fatal(err)
		}
		if err := nc.PublishRequest("$SRV.PING", inbox, nil); err != nil {
			t.Fatal(err)
		}
		for len(seen) < 4 {
			m, err := sub.NextMsg(30 * time.Second)
			if err != nil {
				t.Fatalf("answered so far %v: %v", seen, err)
			}
			var pong struct{ Name string }
			if err := json.Unmarshal(m.Data, &pong); err != nil {
				t.Fatal(err)
			}
			seen[pong.Name] = true
		}
	})
	t.Run("refuses a data directory that is in use", func(t *testing.T) {
		t.Parallel()
		_, err := local.Start(t.Context(), c, os.Stderr)
		if err == nil || !strings.Contains(err.Error(), c.Data) || !strings.Contains(err.Error(), "in use") {
			t.Errorf("err = %v", err)
		}
	})
	t.Run("refuses a port that is taken", func(t *testing.T) {
		t.Parallel()
		taken, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer taken.Close()
		_, port, _ := net.SplitHostPort(taken.Addr().String())
		_, err = local.Start(t.Context(), apptest.Settings(t, map[string]string{"PORT": port}), os.Stderr)
		if err == nil || !strings.Contains(err.Error(), port) {
			t.Errorf("err = %v", err)
		}
	})
}

func TestLocalKeepsEverythingOverARestart(t *testing.T) {
	t.Parallel()
	c := apptest.Settings(t, nil)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for run := range 3 {
		l, err := local.Start(ctx, c, os.Stderr)
		if err != nil {
			t.Fatalf("start %d: %v", run, err)
		}
		nc, err := nats.Connect(l.URL)
		if err != nil {
			t.Fatal(err)
		}
		if run == 0 {
			for _, subject := range []string{"mem.b.message.s", "mem.b.flush.s"} {
				if _, err := nc.Request(subject, []byte(`{"content":"I grow tomatoes on the balcony.","speaker":"Ida"}`), 5*time.Second); err != nil {
					t.Fatal(err)
				}
			}
		}
		m, err := nc.Request("mem.b.recall", []byte(`{"query":"tomatoes","after":1,"wait":"10s"}`), 15*time.Second)
		if err != nil {
			t.Fatalf("start %d: %v", run, err)
		}
		if !strings.Contains(string(m.Data), "balcony") {
			t.Errorf("start %d: %s", run, m.Data)
		}
		nc.Close()
		if err := l.Close(ctx); err != nil {
			t.Fatalf("stop %d: %v", run, err)
		}
	}
}
