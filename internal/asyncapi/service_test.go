package asyncapi_test

import (
	"context"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/micro"
	"github.com/rs/zerolog"

	"github.com/eunoe-memory/eunoe/pkg/events/natstest"
	"github.com/eunoe-memory/eunoe/pkg/query"
	"github.com/eunoe-memory/eunoe/pkg/store"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

// TestEveryEndpointOfTheServiceIsInTheDocument compares the document with the endpoints that the running service
// reports.
func TestEveryEndpointOfTheServiceIsInTheDocument(t *testing.T) {
	t.Parallel()
	conn := natstest.Start(t)
	st, err := store.Open(store.Config{DSN: filepath.Join(t.TempDir(), "eunoe.db")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { st.Close() })
	service, err := query.New(query.DefaultConfig(), query.Deps{Conn: conn, Store: st, Log: zerolog.Nop()})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- service.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})

	documented := map[string]wire.Description{}
	for _, e := range wire.Endpoints() {
		documented[strings.ReplaceAll(e.Subject("mem"), "{bank}", "*")] = e
	}
	var info micro.Info
	natstest.Eventually(t, "the service says what it answers", func() bool {
		m, err := conn.NC.Request("$SRV.INFO."+query.ServiceName, nil, time.Second)
		return err == nil && json.Unmarshal(m.Data, &info) == nil && len(info.Endpoints) >= len(documented)
	})
	for _, e := range info.Endpoints {
		d, ok := documented[e.Subject]
		if !ok {
			t.Errorf("%s is answered and not documented", e.Subject)
			continue
		}
		delete(documented, e.Subject)
		if e.Metadata["request"] != d.Request.Name || e.Metadata["reply"] != d.Reply.Name {
			t.Errorf("%s says request %s and reply %s; the document %s and %s", e.Subject, e.Metadata["request"], e.Metadata["reply"], d.Request.Name, d.Reply.Name)
		}
	}
	for subject := range documented {
		t.Errorf("%s is documented and not answered", subject)
	}
}
