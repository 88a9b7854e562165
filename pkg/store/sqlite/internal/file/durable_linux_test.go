package file

import (
	"errors"
	"fmt"
	"os"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/eunoe-memory/eunoe/pkg/store/internal/engine"
)

// unwritten returns how many pages of the write-ahead log the disk does not have. Kernels before 6.5 cannot tell.
func unwritten(t *testing.T, f *File) uint64 {
	t.Helper()
	log, err := os.Open(f.config.Path + "-wal")
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	var is unix.Cachestat_t
	err = unix.Cachestat(uint(log.Fd()), &unix.CachestatRange{}, &is, 0)
	if errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EOPNOTSUPP) || errors.Is(err, unix.EPERM) {
		t.Skipf("SKIPPED: this kernel does not tell what the disk has of a file: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return is.Dirty + is.Writeback
}

// onDisk returns a directory that is seldom in memory, as that of other tests may be.
func onDisk(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/var/tmp", "eunoe-*")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// TestWhatIsErasedIsOnTheDisk commits until the disk lacks something, which needs no erasure, and then erases.
func TestWhatIsErasedIsOnTheDisk(t *testing.T) {
	t.Parallel()
	f := teaFileIn(t, onDisk(t))
	for i := range 100 {
		err := f.Write(t.Context(), func(tx *engine.Tx) error {
			return tx.Exec("add a tea", `INSERT INTO tea (name) VALUES (?)`, fmt.Sprintf("oolong %d", i))
		})
		if err != nil {
			t.Fatal(err)
		}
		if unwritten(t, f) == 0 {
			continue // the system wrote it at once
		}
		if err := f.Write(t.Context(), (*engine.Tx).RequestScrub); err != nil {
			t.Fatal(err)
		}
		if n := unwritten(t, f); n > 0 {
			t.Errorf("the disk lacks %d pages of an erasure", n)
		}
		return
	}
	t.Skip("SKIPPED: this file system has every commit on the disk at once, or keeps nothing on a disk")
}
