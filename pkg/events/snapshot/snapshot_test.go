package snapshot_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/events/natstest"
	"github.com/eunoe-memory/eunoe/pkg/events/ordered"
	"github.com/eunoe-memory/eunoe/pkg/events/snapshot"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// bodies returns the events of a stream, each with its sequence and time.
func bodies(t *testing.T, c *events.Conn, stream string) []string {
	t.Helper()
	var out []string
	if _, err := ordered.Scan(t.Context(), c, stream, nil, 0, func(e events.Event) error {
		out = append(out, fmt.Sprintf("%d %s %s %s", e.Seq, e.Subject, e.Stored, e.Data))
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return out
}

func TestSnapshot(t *testing.T) {
	t.Parallel()
	from := natstest.Start(t)
	stream, dir := from.Naming.Messages(), filepath.Join(t.TempDir(), "messages")
	for i := range 300 {
		natstest.Publish(t, from, memory.BankID(fmt.Sprintf("b%d", i%5)), "s", fmt.Sprintf("%d %s", i, strings.Repeat("many words ", 200)))
	}
	if err := from.Erase(t.Context(), stream, 7); err != nil {
		t.Fatal(err)
	}
	last, err := snapshot.Save(t.Context(), from, stream, dir)
	if err != nil || last != 300 {
		t.Fatalf("saved up to %d, %v", last, err)
	}
	if _, err := snapshot.Save(t.Context(), from, stream, dir); err == nil {
		t.Error("a backup was written over another one")
	}
	if err := snapshot.Load(t.Context(), from, dir, 1); !errors.Is(err, memory.ErrConflict) {
		t.Errorf("restored over a stream that exists: %v", err)
	}

	t.Run("a restored stream holds the same events under the same sequences and times", func(t *testing.T) {
		t.Parallel()
		to := natstest.StartServer(t).Connect(t)
		if err := snapshot.Load(t.Context(), to, dir, 1); err != nil {
			t.Fatal(err)
		}
		want, got := bodies(t, from, stream), bodies(t, to, stream)
		if len(got) != 299 || strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("%d events were restored of %d, or differ", len(got), len(want))
		}
		if seq := natstest.Publish(t, to, "b0", "s", "next"); seq != 301 {
			t.Errorf("the next event is %d", seq)
		}
		if err := to.Reconcile(t.Context(), events.DefaultStreamOptions()); err != nil {
			t.Error(err)
		}
	})

	t.Run("a backup that was damaged is refused, and makes no stream", func(t *testing.T) {
		t.Parallel()
		damaged := filepath.Join(t.TempDir(), "damaged")
		if err := os.CopyFS(damaged, os.DirFS(dir)); err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(damaged, "stream.tar.s2")
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		b[len(b)/2] ^= 0xff
		if err := os.WriteFile(file, b, 0o600); err != nil {
			t.Fatal(err)
		}
		to := natstest.StartServer(t).Connect(t)
		if err := snapshot.Load(t.Context(), to, damaged, 1); err == nil {
			t.Error("it was taken")
		}
		if _, err := to.JS.Stream(t.Context(), stream); err == nil {
			t.Error("there is a stream")
		}
	})
}
