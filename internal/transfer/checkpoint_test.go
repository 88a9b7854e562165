package transfer_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/eunoe-memory/eunoe/internal/app/apptest"
	"github.com/eunoe-memory/eunoe/internal/transfer"
	"github.com/eunoe-memory/eunoe/pkg/client"
	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/events/natstest"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// stopped interrupts an import when a part of the file is in, and returns how many lines it had sent.
func stopped(t *testing.T, conn *events.Conn, path string, part uint64) int {
	t.Helper()
	im, mark := importer(t, conn, path)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- im.Run(ctx) }()
	natstest.Eventually(t, "a part of the file is in", func() bool {
		last, err := conn.LastSeq(t.Context(), conn.Naming.Messages())
		return err == nil && last >= part
	})
	cancel()
	if err := <-ended; err == nil {
		t.Fatal("it was not interrupted")
	}
	if _, err := os.Stat(mark); err != nil {
		t.Fatal(err)
	}
	return im.Sent()
}

// TestACheckpointCountsWhereItsMessagesAre goes on with an interrupted import: where the bank has what was sent, behind it,
// and from the first line where the bank was erased since, or the deployment at the address is a new one.
func TestACheckpointCountsWhereItsMessagesAre(t *testing.T) {
	t.Parallel()
	const messages = 120
	first := apptest.Start(t, apptest.Settings(t, nil))
	c, err := client.New(client.DefaultConfig(), client.Deps{Conn: first.Conn})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	path := diary(t, messages)
	goesOn := func(conn *events.Conn, want int) {
		t.Helper()
		im, mark := importer(t, conn, path)
		if err := im.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		if r := im.Report(); r.Resumed != want || r.Messages != messages-want {
			t.Errorf("behind %d lines it reports %+v", want, r)
		}
		if _, err := os.Stat(mark); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("its checkpoint stays: %v", err)
		}
	}
	sent := stopped(t, first.Conn, path, 10)
	natstest.Eventually(t, "the first message is stored", func() bool {
		_, err := c.Get(t.Context(), "ines", "nota-0")
		return err == nil
	})
	goesOn(first.Conn, sent)

	sent = stopped(t, first.Conn, path, messages+10)
	t.Logf("%d lines before the bank is erased", sent)
	if _, err := c.WaitSettled(t.Context(), "ines", nil); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Admin().Erase(t.Context(), "ines"); err != nil {
		t.Fatal(err)
	}
	natstest.Eventually(t, "the bank is erased", func() bool {
		_, err := c.Get(t.Context(), "ines", "nota-0")
		return errors.Is(err, memory.ErrNotFound)
	})
	goesOn(first.Conn, 0)

	stopped(t, first.Conn, path, 2*messages+10)
	goesOn(apptest.Start(t, apptest.Settings(t, nil)).Conn, 0)
}

// TestAnImportFromWhereNothingMayBeWritten imports a file with a checkpoint in a directory in which nobody may make a file,
// not even root.
func TestAnImportFromWhereNothingMayBeWritten(t *testing.T) {
	t.Parallel()
	const closed = "/sys"
	if _, err := os.Stat(closed); err != nil {
		t.Skip("NOT TESTED:", err)
	}
	conn, path := natstest.Start(t), diary(t, 250)
	im := importerWith(t, conn, path, filepath.Join(closed, "diary"+transfer.ProgressSuffix))
	if err := im.Run(t.Context()); err != nil || im.Report().Messages != 250 {
		t.Errorf("%+v, %v", im.Report(), err)
	}
}
