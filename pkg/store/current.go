package store

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"sync"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/query"
	"github.com/eunoe-memory/eunoe/pkg/store/postgres"
	"github.com/eunoe-memory/eunoe/pkg/store/sqlite"
)

// ErrReplaced is the error of a store that another has taken the place of. It is memory.ErrUnavailable.
var ErrReplaced = sqlite.ErrReplaced

// lookEvery is how often a Current that nobody asks looks whether its store was replaced: until then it keeps the disk
// space of the old one.
const lookEvery = time.Second

// Current is the store that its data source name names now: when it is replaced by another (Replace), every call that
// begins afterwards is answered by the new one, and the old one is closed after the last call that it answers.
// It is safe for concurrent use.
type Current struct {
	config Config
	path   string // of the file; "" of a store on a server, whose transactions say that it was replaced

	mu     sync.Mutex
	now    *instance
	warm   bool // Warm was called
	closed bool

	stop    func()
	running sync.WaitGroup
}

// instance is one open store with the calls that it is answering.
type instance struct {
	Store
	file  os.FileInfo // nil of one on a server
	calls sync.WaitGroup
}

// OpenCurrent opens a store as Open does, and whatever takes its place in the same way.
func OpenCurrent(cfg Config) (*Current, error) {
	c := &Current{config: cfg}
	if !postgres.Names(cfg.DSN) {
		path, err := sqlitePath(cfg.DSN)
		if err != nil {
			return nil, err
		}
		c.path = path
	}
	var err error
	if c.now, err = c.open(); err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(context.Background())
	c.stop = stop
	c.running.Go(func() { c.look(ctx) })
	return c, nil
}

// open opens what the name names, once more where that is replaced meanwhile.
func (c *Current) open() (*instance, error) {
	for {
		before, missing := os.Stat(c.path)
		st, err := Open(c.config)
		if errors.Is(err, ErrReplaced) {
			continue
		}
		if err != nil || c.path == "" {
			return &instance{Store: st}, err
		}
		after, err := os.Stat(c.path)
		if err == nil && (missing != nil || os.SameFile(before, after)) {
			return &instance{Store: st, file: after}, nil
		}
		if closing := st.Close(); err != nil {
			return nil, errors.Join(err, closing)
		}
	}
}

// look lets go of a store that was replaced while nobody asks, until ctx ends.
func (c *Current) look(ctx context.Context) {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			if _, release, err := c.acquire(); err == nil {
				release()
			} else {
				c.config.Log.Warn().Err(err).Str("stage", "store").Msg("the store that took the place of another cannot be opened; it is tried again")
			}
		case <-ctx.Done():
			return
		}
	}
}

// acquire returns the store of now, which stays open until release is called.
func (c *Current) acquire() (st Store, release func(), err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.refresh(); err != nil {
		return nil, nil, err
	}
	c.now.calls.Add(1)
	return c.now.Store, c.now.calls.Done, nil
}

// refresh opens the file that is there now, if that is another one.
func (c *Current) refresh() error {
	if c.path == "" || c.closed {
		return nil
	}
	file, err := os.Stat(c.path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && os.SameFile(file, c.now.file) {
		return nil // what was removed by hand is read on
	}
	if err != nil {
		return err
	}
	return c.renew()
}

// renew opens what the name names by now and lets go of what it named.
func (c *Current) renew() error {
	next, err := c.open()
	if err != nil {
		return err
	}
	was := c.now
	c.now = next
	if c.warm {
		next.Warm()
	}
	c.running.Go(func() {
		was.calls.Wait()
		_ = was.Close() // nothing of it is needed any more
	})
	return nil
}

// mostReplaced is how often in succession a call finds its store replaced. One that does so more often gets ErrReplaced: its
// connections lead to several servers, which take turns.
const mostReplaced = 5

// call calls f with the store of now, again where that was replaced before f saw any of it.
func (c *Current) call(f func(st Store) error) error {
	for n := 1; ; n++ {
		st, release, err := c.acquire()
		if err != nil {
			return err
		}
		err = f(st)
		release()
		if !errors.Is(err, ErrReplaced) || n == mostReplaced {
			return err
		}
		if err := c.replacedOnServer(st); err != nil {
			return err
		}
	}
}

// replacedOnServer opens the schema that has the name by now, unless another call has.
func (c *Current) replacedOnServer(was Store) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.path != "" || c.closed || c.now.Store != was {
		return nil
	}
	return c.renew()
}

// ask is call for what returns a value.
func ask[T any](c *Current, f func(st Store) (T, error)) (out T, err error) {
	err = c.call(func(st Store) (err error) {
		out, err = f(st)
		return err
	})
	return out, err
}

// Close closes the store. Closing again is harmless.
func (c *Current) Close() error {
	c.mu.Lock()
	c.closed = true
	st := c.now.Store
	c.mu.Unlock()
	c.stop()
	c.running.Wait()
	return st.Close()
}

// Warm prepares searches of this store, and of those that take its place.
func (c *Current) Warm() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.warm = true
	c.now.Warm()
}

// Sketches tells what the store of now holds in memory.
func (c *Current) Sketches() (out query.Sketches) {
	if st, release, err := c.acquire(); err == nil {
		defer release()
		out = st.Sketches()
	}
	return out
}

// Dump writes the logical content of the store of now.
func (c *Current) Dump(ctx context.Context, w io.Writer) error {
	return c.call(func(st Store) error { return st.Dump(ctx, w) })
}

// Check compares the indexes with what they index.
func (c *Current) Check(ctx context.Context) error {
	return c.call(func(st Store) error { return st.Check(ctx) })
}

// Counts returns the number of rows by table.
func (c *Current) Counts(ctx context.Context) (map[string]int, error) {
	return ask(c, func(st Store) (map[string]int, error) { return st.Counts(ctx) })
}

// Applied returns the last applied sequences of both streams.
func (c *Current) Applied(ctx context.Context) (messages, writes uint64, err error) {
	err = c.call(func(st Store) (err error) { messages, writes, err = st.Applied(ctx); return err })
	return messages, writes, err
}

// AppliedOf returns how far the messages of a bank and the writes are applied.
func (c *Current) AppliedOf(ctx context.Context, bank memory.BankID) (messages, writes uint64, err error) {
	err = c.call(func(st Store) (err error) { messages, writes, err = st.AppliedOf(ctx, bank); return err })
	return messages, writes, err
}

// LogPositions returns how far both streams are applied, and what tells them from others.
func (c *Current) LogPositions(ctx context.Context) (messages, writes memory.LogPosition, err error) {
	err = c.call(func(st Store) (err error) { messages, writes, err = st.LogPositions(ctx); return err })
	return messages, writes, err
}

// Spent returns the tokens that language models used for a bank on a day, and the bank's bound of them.
func (c *Current) Spent(ctx context.Context, bank memory.BankID, day string) (tokens, bound int64, err error) {
	err = c.call(func(st Store) (err error) { tokens, bound, err = st.Spent(ctx, bank, day); return err })
	return tokens, bound, err
}
