package sqlite

import (
	"errors"
	"fmt"
	"runtime"
	"time"

	"github.com/rs/zerolog"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/store/sqlite/internal/file"
)

// Config says which file to open and how.
type Config struct {
	Path string // the file; its directory is created
	// ReadOnly opens an existing store for reading: no writer connection, no migration, no checkpoints. Every method
	// that writes is memory.ErrUnavailable.
	ReadOnly bool
	// Embedder and Dimension are the name and size of the vectors in use. The first writer that sets them pins the
	// file to them. "" and 0 accept what the file has.
	Embedder  string
	Dimension int

	// Limit is the size of the file in bytes at most, rounded down to whole pages of 4 KiB; 0 = unlimited. A write
	// beyond it is memory.ErrUnavailable and changes nothing.
	Limit int64
	// Unsynced lets the operating system decide when writes reach the disk. A power cut may then damage the file.
	Unsynced bool

	// SketchFrom is the number of facts or messages of a bank from which their vectors are sketched in memory, so that
	// a search need not compare all of them; at least 1. In smaller banks, and for exact searches, all are compared.
	SketchFrom int
	// ListUpTo is the number of facts or messages that may pass a filter for a search to list them first and look only
	// among them; 0 = never. It changes the time that a search takes, and nothing that an exact search finds.
	ListUpTo int

	Readers       int           // read connections at most
	SecondReaders int           // searches at a time that may read by a second connection; 0 = none
	Busy          time.Duration // how long to wait for a lock of another process
	Checkpoint    time.Duration // how often the write-ahead log is checkpointed
	Cache         int           // page cache of the writer in KiB
	ReadCache     int           // page cache of each reader in KiB

	Log zerolog.Logger // zero logs nothing
}

// DefaultConfig returns the settings of a writable store at path: sketches from 5,000 vectors, as many rows listed for a
// filter, two readers per CPU, a second connection for one search per two CPUs, 5 s of patience with locks, a checkpoint
// every second.
func DefaultConfig(path string) Config {
	return Config{
		Path:          path,
		SketchFrom:    5000,
		ListUpTo:      5000,
		Readers:       2 * runtime.NumCPU(),
		SecondReaders: runtime.NumCPU() / 2,
		Busy:          5 * time.Second,
		Checkpoint:    time.Second,
		Cache:         64 << 10,
		ReadCache:     16 << 10,
	}
}

func (c Config) file() file.Config {
	return file.Config{Path: c.Path, ReadOnly: c.ReadOnly, Limit: c.Limit, Unsynced: c.Unsynced, Readers: c.Readers,
		SecondReaders: c.SecondReaders, Busy: c.Busy, Checkpoint: c.Checkpoint, Cache: c.Cache, ReadCache: c.ReadCache, Log: c.Log}
}

// Validate returns every invalid setting, joined; each is memory.ErrInvalid.
func (c Config) Validate() error {
	var errs []error
	wrong := func(format string, args ...any) {
		errs = append(errs, fmt.Errorf("sqlite store: "+format+": %w", append(args, memory.ErrInvalid)...))
	}
	if c.Path == "" {
		wrong("path is empty")
	}
	if (c.Embedder == "") != (c.Dimension == 0) {
		wrong("embedder %q with dimension %d: give both or neither", c.Embedder, c.Dimension)
	}
	if c.Dimension < 0 || c.Dimension > memory.MaxDimension {
		wrong("dimension %d is out of range; expected 1 to %d", c.Dimension, memory.MaxDimension)
	}
	if c.Limit < 0 {
		wrong("limit is %d bytes; it must not be negative", c.Limit)
	}
	if c.SketchFrom < 1 {
		wrong("sketch from is %d; expected 1 or more", c.SketchFrom)
	}
	if c.ListUpTo < 0 {
		wrong("list up to is %d; it must not be negative", c.ListUpTo)
	}
	if c.Readers < 1 {
		wrong("readers is %d; expected 1 or more", c.Readers)
	}
	if c.SecondReaders < 0 {
		wrong("second readers is %d; it must not be negative", c.SecondReaders)
	}
	if c.Busy <= 0 {
		wrong("busy is %s; expected more than 0", c.Busy)
	}
	if c.Checkpoint <= 0 {
		wrong("checkpoint is %s; expected more than 0", c.Checkpoint)
	}
	if c.Cache < 1 || c.ReadCache < 1 {
		wrong("caches are %d and %d KiB; expected 1 or more", c.Cache, c.ReadCache)
	}
	return errors.Join(errs...)
}
