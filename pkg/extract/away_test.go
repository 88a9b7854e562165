package extract_test

import (
	"encoding/json"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/rs/zerolog"

	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/extract"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// TestAWindowWaitsForABrokerWithoutALeader reads a message from a broker that says a few times what one says whose cluster elects
// a leader, what a server says that was stopped while it led and wakes, or what one says that cannot read the message.
func TestAWindowWaitsForABrokerWithoutALeader(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		says  string
		waits bool
	}{
		"no leader":  {`{"error":{"code":503,"err_code":10008,"description":"JetStream system temporarily unavailable"}}`, true},
		"old leader": {`{"error":{"code":404,"err_code":10037,"description":"no message found"}}`, true},
		"unreadable": {`{"error":{"code":500,"err_code":10029,"description":"corrupt message"}}`, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: server.RANDOM_PORT, NoSigs: true, NoLog: true})
			if err != nil {
				t.Fatal(err)
			}
			s.Start()
			t.Cleanup(s.Shutdown)
			conn, err := events.Connect(t.Context(), events.ConnConfig{URL: s.ClientURL(), Log: zerolog.Nop()})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(conn.Close)
			stored, err := json.Marshal(map[string]any{"message": map[string]any{"seq": 1, "time": time.Now(), "subject": "mem.3.alice.message.s1",
				"data": []byte(`{"id":"m1","speaker":"Alice","content":"I moved to Lisbon."}`)}})
			if err != nil {
				t.Fatal(err)
			}
			var asked atomic.Int64
			const refused = 4
			for subject, answer := range map[string]func(*nats.Msg) error{
				"$JS.API.DIRECT.GET.MEM_MESSAGES": func(m *nats.Msg) error {
					return m.RespondMsg(&nats.Msg{Header: nats.Header{"Status": []string{"404"}}})
				},
				"$JS.API.STREAM.MSG.GET.MEM_MESSAGES": func(m *nats.Msg) error {
					if asked.Add(1) <= refused {
						return m.Respond([]byte(c.says))
					}
					return m.Respond(stored)
				},
				"$JS.API.STREAM.INFO.MEM_MESSAGES": func(m *nats.Msg) error {
					return m.Respond([]byte(`{"config":{"name":"MEM_MESSAGES","num_replicas":3},"state":{}}`))
				},
			} {
				if _, err := conn.NC.Subscribe(subject, func(m *nats.Msg) { _ = answer(m) }); err != nil {
					t.Fatal(err)
				}
			}
			w, err := extract.NewWorker(extract.DefaultConfig(), extract.Deps{Conn: conn, Log: zerolog.Nop(), Extractor: echo()})
			if err != nil {
				t.Fatal(err)
			}
			write, err := w.Extract(t.Context(), window([]uint64{1}))
			if c.waits {
				if err != nil || len(write.Facts) != 1 || asked.Load() != refused+1 {
					t.Errorf("%d facts after %d questions: %v", len(write.Facts), asked.Load(), err)
				}
				return
			}
			if memory.Code(err) != 503 || asked.Load() != 1 {
				t.Errorf("asked %d times: %v", asked.Load(), err)
			}
		})
	}
}
