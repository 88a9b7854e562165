package offline_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/eunoe-memory/eunoe/internal/app/apptest"
	"github.com/eunoe-memory/eunoe/internal/app/offline"
	"github.com/eunoe-memory/eunoe/internal/app/settings"
	"github.com/eunoe-memory/eunoe/pkg/events/natstest"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/store"
)

func TestABackupIsRestored(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c := apptest.Settings(t, map[string]string{"DATA": dir})
	l := apptest.Start(t, c)
	say := func(text string) {
		request(t, l, "mem.b.message.s", `{"content":"`+text+`","speaker":"Ida"}`, func(string) bool { return true })
		request(t, l, "mem.b.flush.s", "", func(string) bool { return true })
		request(t, l, "mem.b.status", "", func(r string) bool { return strings.Contains(r, `"settled":true`) })
	}
	say("I grow tomatoes on the balcony.")
	running := c
	running.URL = l.URL
	backups := t.TempDir()
	whole, logOnly := filepath.Join(backups, "whole"), filepath.Join(backups, "log")
	m, err := offline.Backup(t.Context(), running, whole, false, nil)
	if err != nil || !m.Store || m.Streams["MEM_MESSAGES"] != 2 {
		t.Fatalf("%+v, %v", m, err)
	}
	before := dumped(t, filepath.Join(whole, "eunoe.db"))
	say("I play chess with my brother.") // is in the log of neither
	stop(t, l)
	if dumped(t, c.Store) == before {
		t.Fatal("nothing was stored after the backup")
	}

	t.Run("into a new data directory, with its store", func(t *testing.T) {
		to := restored(t, whole)
		if got := dumped(t, to.Store); got != before {
			t.Errorf("the store differs:\n%s\nexpected\n%s", got, before)
		}
		again := apptest.Start(t, to)
		defer stop(t, again)
		request(t, again, "mem.b.recall", `{"query":"tomatoes"}`, func(r string) bool { return strings.Contains(r, "balcony") })
		request(t, again, "mem.b.status", "", func(r string) bool { return strings.Contains(r, `"settled":true`) })
	})
	t.Run("a backup of the streams alone has its store made from the log", func(t *testing.T) {
		if m, err := offline.Backup(t.Context(), withStore(c, filepath.Join(dir, "none.db")), logOnly, true, nil); err != nil || m.Store {
			t.Fatalf("%+v, %v", m, err)
		}
		to := restored(t, logOnly)
		if got := dumped(t, to.Store); got != dumped(t, c.Store) {
			t.Errorf("the store made of the log differs:\n%s", got)
		}
	})
	t.Run("one taken while messages arrive holds all that was acknowledged before it", func(t *testing.T) {
		again := apptest.Start(t, c)
		nc, err := nats.Connect(again.URL)
		if err != nil {
			t.Fatal(err)
		}
		defer nc.Close()
		const before, meanwhile = 50, 300
		publish := func(from, to int) error {
			for i := from; i < to; i++ {
				if _, err := nc.Request("mem.busy.message.s", fmt.Appendf(nil, `{"id":"m%d","content":"I sorted crate %d.","speaker":"Ida"}`, i, i), natstest.Patience); err != nil {
					return err
				}
			}
			return nil
		}
		if err := publish(0, before); err != nil {
			t.Fatal(err)
		}
		published := make(chan error, 1)
		go func() { published <- publish(before, before+meanwhile) }()
		running, busy := c, filepath.Join(backups, "busy")
		running.URL = again.URL
		if _, err := offline.Backup(t.Context(), running, busy, false, nil); err != nil {
			t.Error(err)
		}
		if err := <-published; err != nil {
			t.Fatal(err)
		}
		stop(t, again)
		restored := apptest.Start(t, restored(t, busy))
		defer stop(t, restored)
		request(t, restored, "mem.busy.flush.s", "", func(string) bool { return true })
		request(t, restored, "mem.busy.status", "", func(r string) bool { return strings.Contains(r, `"settled":true`) })
		for i := range before {
			request(t, restored, "mem.busy.get", fmt.Sprintf(`{"id":"m%d"}`, i), func(r string) bool { return strings.Contains(r, fmt.Sprintf("crate %d.", i)) })
		}
		request(t, restored, "mem.admin.verify", `{"full":true}`, func(r string) bool { return strings.Contains(r, `"ok":true`) })
	})
	t.Run("onto a NATS server, with its store and without", func(t *testing.T) {
		for backup, want := range map[string]string{whole: before, logOnly: dumped(t, restored(t, logOnly).Store)} {
			to := apptest.Settings(t, map[string]string{"DATA": t.TempDir()})
			to.URL = natstest.StartServer(t).Connect(t).NC.ConnectedUrl()
			v, err := offline.Restore(t.Context(), to, backup, false, nil)
			if err != nil || !v.OK {
				t.Fatalf("%+v, %v", v, err)
			}
			if got := dumped(t, to.Store); got != want {
				t.Errorf("the store differs:\n%s\nexpected\n%s", got, want)
			}
			if _, err := offline.Restore(t.Context(), withStore(to, filepath.Join(t.TempDir(), "eunoe.db")), backup, false, nil); !errors.Is(err, memory.ErrConflict) {
				t.Errorf("over streams: %v", err)
			}
		}
	})
	t.Run("a store that was moved is in force where it is restored", func(t *testing.T) {
		note := func(m store.Move) {
			st, err := store.Open(store.Config{DSN: c.Store})
			if err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(st.NoteMove(t.Context(), m), st.Close()); err != nil {
				t.Fatal(err)
			}
		}
		note(store.Move{To: filepath.Join(dir, "moved.db"), Step: store.MoveDone})
		defer note(store.Move{})
		moved := filepath.Join(backups, "moved")
		if _, err := offline.Backup(t.Context(), c, moved, true, nil); err != nil {
			t.Fatal(err)
		}
		stop(t, apptest.Start(t, restored(t, moved)))
	})
	t.Run("a store that is ahead of the streams is no backup of them", func(t *testing.T) {
		other := apptest.Settings(t, map[string]string{"DATA": t.TempDir()})
		stop(t, apptest.Start(t, other))
		wrong := filepath.Join(backups, "wrong")
		if _, err := offline.Backup(t.Context(), withStore(other, c.Store), wrong, true, nil); !errors.Is(err, memory.ErrConflict) {
			t.Errorf("it was taken: %v", err)
		}
		if _, err := os.Stat(wrong); err == nil {
			t.Error("there is a directory that looks like a backup")
		}
	})
	t.Run("what is there is not overwritten", func(t *testing.T) {
		if _, err := offline.Backup(t.Context(), c, whole, true, nil); err == nil {
			t.Error("a backup was written over another one")
		}
		if _, err := offline.Restore(t.Context(), c, whole, true, nil); !errors.Is(err, memory.ErrConflict) || !strings.Contains(err.Error(), "move it away") {
			t.Errorf("over a store: %v", err)
		}
		if _, err := offline.Restore(t.Context(), withStore(c, filepath.Join(dir, "other.db")), whole, true, nil); !errors.Is(err, memory.ErrConflict) || !strings.Contains(err.Error(), "exists") {
			t.Errorf("over streams: %v", err)
		}
	})
	t.Run("what is no backup, or another prefix's, is refused", func(t *testing.T) {
		if err := os.Remove(filepath.Join(logOnly, "eunoe-backup.json")); err != nil {
			t.Fatal(err)
		}
		empty := apptest.Settings(t, map[string]string{"DATA": t.TempDir()})
		if _, err := offline.Restore(t.Context(), empty, logOnly, true, nil); !errors.Is(err, memory.ErrNotFound) {
			t.Errorf("one that was broken off: %v", err)
		}
		empty.Prefix = "other"
		if _, err := offline.Restore(t.Context(), empty, whole, true, nil); !errors.Is(err, memory.ErrConflict) || !strings.Contains(err.Error(), "EUNOE_PREFIX") {
			t.Errorf("another prefix: %v", err)
		}
	})
}

func withStore(c settings.Config, path string) settings.Config {
	c.Store = path
	return c
}

// restored restores a backup into a new data directory.
func restored(t *testing.T, backup string) settings.Config {
	t.Helper()
	c := apptest.Settings(t, map[string]string{"DATA": filepath.Join(t.TempDir(), "data")})
	v, err := offline.Restore(t.Context(), c, backup, true, nil)
	if err != nil || !v.OK {
		t.Fatalf("%+v, %v", v, err)
	}
	return c
}
