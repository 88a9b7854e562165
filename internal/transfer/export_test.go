package transfer_test

import (
	"errors"
	"io"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/eunoe-memory/eunoe/internal/transfer"
	"github.com/eunoe-memory/eunoe/pkg/client"
	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/events/natstest"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// TestAnExportWaitsForAForget begins an export while a forget has its receipt and the log still holds what it forgets.
func TestAnExportWaitsForAForget(t *testing.T) {
	t.Parallel()
	s := natstest.StartServer(t)
	conn := s.Connect(t)
	if err := conn.Reconcile(t.Context(), events.DefaultStreamOptions()); err != nil {
		t.Fatal(err)
	}
	seq, err := conn.AppendWrite(t.Context(), memory.Write{Bank: "lene", Kind: memory.WriteForget, Op: "glem", Forget: &memory.ForgetRequest{Speaker: "Lene"}})
	if err != nil {
		t.Fatal(err)
	}
	answer := func(what, body string, first func()) {
		t.Helper()
		sub, err := conn.NC.Subscribe(conn.Naming.RequestSubject("lene", what), func(m *nats.Msg) {
			first()
			if err := m.Respond([]byte(body)); err != nil {
				t.Error(err)
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = sub.Unsubscribe() })
	}
	erased := make(chan error, 1)
	answer("forget", `{"op":"glem","write":1}`, func() {
		time.AfterFunc(250*time.Millisecond, func() { erased <- conn.Erase(t.Context(), conn.Naming.Writes(), seq) }) // an erasure takes a while
	})
	answer("bank", `not an answer`, func() {
		if _, err := conn.EventAt(t.Context(), conn.Naming.Writes(), seq); !errors.Is(err, memory.ErrNotFound) {
			t.Errorf("it goes on before the forget is carried out: %v", err)
		}
	})
	c, err := client.New(client.DefaultConfig(), client.Deps{Conn: conn})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := transfer.NewExporter(c, "lene", io.Discard).Run(t.Context()); err == nil || errors.Is(err, transfer.ErrForgotten) {
		t.Errorf("got %v", err)
	}
	if err := <-erased; err != nil {
		t.Error(err)
	}
}
