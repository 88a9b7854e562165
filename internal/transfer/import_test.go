package transfer_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/eunoe-memory/eunoe/internal/transfer"
	"github.com/eunoe-memory/eunoe/pkg/chatexport"
	"github.com/eunoe-memory/eunoe/pkg/client"
	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/events/natstest"
	"github.com/eunoe-memory/eunoe/pkg/events/ordered"
)

// TestMain runs the tests, or, in a child process, what a test kills.
func TestMain(m *testing.M) {
	if what := os.Getenv("EUNOE_TEST_CHILD"); what != "" {
		os.Exit(child(what))
	}
	goleak.VerifyTestMain(m)
}

// diary writes a file of messages in three sessions.
func diary(t *testing.T, messages int) string {
	t.Helper()
	var b strings.Builder
	for i := range messages {
		fmt.Fprintf(&b, `{"session":"cuaderno %d","id":"nota-%d","speaker":"Inés","content":"Hoy vi %d garzas."}`+"\n", i%3, i, i)
	}
	path := filepath.Join(t.TempDir(), "diario.jsonl")
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// importer returns an importer of a file over a connection, and the name of its checkpoint.
func importer(t *testing.T, conn *events.Conn, path string) (*transfer.Importer, string) {
	t.Helper()
	mark := path + transfer.ProgressSuffix
	return importerWith(t, conn, path, mark), mark
}

// importerWith returns an importer of the file at path that keeps its checkpoint at mark.
func importerWith(t *testing.T, conn *events.Conn, path, mark string) *transfer.Importer {
	t.Helper()
	file, remove, err := transfer.Open(t.Context(), path, nil, chatexport.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(remove)
	c, err := client.New(client.DefaultConfig(), client.Deps{Conn: conn})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	cfg := transfer.Config{Bank: "ines", Flush: true, Patience: natstest.Patience, Progress: io.Discard, Checkpoint: mark, Target: "here"}
	return transfer.NewImporter(cfg, c, file)
}

// stored counts how often the log holds each message, and its flushes.
func stored(t *testing.T, conn *events.Conn) (messages map[string]int, flushes int) {
	t.Helper()
	messages = map[string]int{}
	_, err := ordered.Scan(t.Context(), conn, conn.Naming.Messages(), nil, 0, func(e events.Event) error {
		if e.Kind == events.KindFlush {
			flushes++
			return nil
		}
		m, err := e.Message()
		messages[string(m.ID)]++
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return messages, flushes
}

func TestAnImportGoesOnWhenTheBrokerIsBack(t *testing.T) {
	t.Parallel()
	s := natstest.StartServer(t)
	conn := s.Connect(t)
	if err := conn.Reconcile(t.Context(), events.DefaultStreamOptions()); err != nil {
		t.Fatal(err)
	}
	const messages = 3000
	im, mark := importer(t, conn, diary(t, messages))
	ended := make(chan error, 1)
	go func() { ended <- im.Run(t.Context()) }()
	for _, part := range []uint64{200, 900} {
		natstest.Eventually(t, "a part of the file is in", func() bool {
			last, err := conn.LastSeq(t.Context(), conn.Naming.Messages())
			return err == nil && last >= part
		})
		s.Shutdown()
		s.Restart(t)
	}
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	if r := im.Report(); r.Messages != messages || im.Sent() != messages {
		t.Errorf("it reports %+v and %d lines", r, im.Sent())
	}
	if _, err := os.Stat(mark); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("its checkpoint stays: %v", err)
	}
	found, flushes := stored(t, conn)
	if len(found) != messages || flushes < 3 {
		t.Errorf("the log has %d of %d messages, and %d flushes", len(found), messages, flushes)
	}
}

func TestTwoImportsOfAFileAtOnce(t *testing.T) {
	t.Parallel()
	conn := natstest.Start(t)
	path := diary(t, 1300)
	ended := make(chan error, 2)
	for range 2 {
		im, _ := importer(t, conn, path)
		go func() { ended <- im.Run(t.Context()) }()
	}
	for range 2 {
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
	if found, _ := stored(t, conn); len(found) != 1300 {
		t.Errorf("the log has %d messages", len(found))
	}
	if left, err := filepath.Glob(path + transfer.ProgressSuffix + "*"); err != nil || len(left) > 0 {
		t.Errorf("they left %v, %v", left, err)
	}
}
