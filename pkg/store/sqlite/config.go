package sqlite

import (
	"errors"
	"fmt"
	"runtime"
	"time"

	"github.com/rs/zerolog"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// Config says which file to open and how.
type Config struct {
	Path string // the file; its directory is made if need be
	// ReadOnly opens an existing store for reading alone: no writer connection,
	// no migration, no checkpoints. Every method that writes is ErrUnavailable.
	ReadOnly bool
	// Embedder and Dimension are the name and size of the vectors in use. The
	// first writer that gives them pins them to the file. "" and 0 take what
	// the file has.
	Embedder  string
	Dimension int

	// Limit bounds the file in bytes, rounded down to whole pages of 4 KiB; 0 =
	// no bound. A write beyond it is ErrUnavailable and changes nothing.
	Limit int64
	// Unsynced leaves it to the operating system when what is written reaches
	// the disk. A power cut may then damage the file.
	Unsynced bool

	// Sketched is from how many facts or messages on a bank's vectors are
	// sketched in memory, so that a search need not compare all of them; at least
	// 1. Smaller banks, and searches that ask for it, compare all.
	Sketched int
	// Listed is how many facts or messages pass a filter at most for a search to
	// list them first and look among them; 0 = it never does. It changes how long
	// a search takes, and nothing that it finds by comparing all.
	Listed int

	Readers    int           // read connections at most
	Beside     int           // searches that may read by a second connection at a time; 0 = none
	Busy       time.Duration // how long to wait for another process's lock
	Checkpoint time.Duration // how often the write-ahead log is folded into the file
	Cache      int           // page cache of the writer in KiB
	ReadCache  int           // page cache of each reader in KiB

	Log zerolog.Logger // zero logs nothing
}

// DefaultConfig is a writable store at path: sketches from 5,000 vectors on, up to as many listed
// for a filter, two readers per CPU, a second connection for one search per two CPUs, 5 s of
// patience with locks, a checkpoint each second.
func DefaultConfig(path string) Config {
	return Config{
		Path:       path,
		Sketched:   5000,
		Listed:     5000,
		Readers:    2 * runtime.NumCPU(),
		Beside:     runtime.NumCPU() / 2,
		Busy:       5 * time.Second,
		Checkpoint: time.Second,
		Cache:      64 << 10,
		ReadCache:  16 << 10,
	}
}

// Validate joins everything that is wrong.
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
	if c.Sketched < 1 {
		wrong("sketched is %d; expected 1 or more", c.Sketched)
	}
	if c.Listed < 0 {
		wrong("listed is %d; it must not be negative", c.Listed)
	}
	if c.Readers < 1 {
		wrong("readers is %d; expected 1 or more", c.Readers)
	}
	if c.Beside < 0 {
		wrong("beside is %d; it must not be negative", c.Beside)
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
