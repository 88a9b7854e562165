package faults

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver that holds a store on a server busy
	_ "github.com/mattn/go-sqlite3"    // the driver that holds the store busy
)

// Fault is something that happens to a Cluster and is mended again.
type Fault struct {
	Kind string
	What string // the program
	For  time.Duration
	on   int // which of the programs
}

// String returns the kind, the program and the duration.
func (f Fault) String() string {
	return fmt.Sprintf("%s %s %s", f.Kind, f.What, f.For.Round(10*time.Millisecond))
}

// kinds are the faults, with the weight by which each is drawn and its longest duration.
var kinds = []struct {
	kind, what string
	weight     int
	most       time.Duration
}{
	{"kill", "ingest", 4, 2 * time.Second}, {"kill", "extractor", 4, 2 * time.Second}, {"kill", "consolidator", 4, 2 * time.Second},
	{"kill", "query", 2, time.Second}, {"kill", "nats-server", 4, time.Second},
	{"pause", "ingest", 3, 6 * time.Second}, {"pause", "extractor", 3, 6 * time.Second}, {"pause", "consolidator", 3, 6 * time.Second},
	{"pause", "nats-server", 2, 3 * time.Second},
	{"restart", "ingest", 1, 0}, {"restart", "extractor", 1, 0}, {"restart", "consolidator", 1, 0}, {"restart", "nats-server", 1, 0},
	{"double", "ingest", 1, 4 * time.Second}, {"double", "extractor", 1, 4 * time.Second}, {"double", "consolidator", 1, 4 * time.Second},
	{"cut", "connections", 4, time.Second},
	{"fill", "nats-server", 2, 3 * time.Second}, {"fill", "store", 2, 3 * time.Second}, {"hold", "store", 3, 7 * time.Second},
}

// Schedule draws a number of faults. Equal seeds draw equal schedules.
func Schedule(seed uint64, faults int) []Fault {
	r := rand.New(rand.NewPCG(seed, 2))
	total := 0
	for _, k := range kinds {
		total += k.weight
	}
	var out []Fault
	for range faults {
		n := r.IntN(total)
		for _, k := range kinds {
			if n -= k.weight; n < 0 {
				f := Fault{Kind: k.kind, What: k.what, on: r.IntN(2)}
				if k.most > 0 {
					f.For = time.Duration(r.Int64N(int64(k.most)))
				}
				out = append(out, f)
				break
			}
		}
	}
	return out
}

// Inject makes a fault happen and mends it.
func (w *Cluster) Inject(ctx context.Context, f Fault) error {
	victim := w.Broker
	if list := w.of(f.What); len(list) > 0 {
		victim = list[f.on]
	}
	switch f.Kind {
	case "kill":
		return errors.Join(victim.kill(), pass(ctx, f.For), victim.start())
	case "pause":
		return errors.Join(victim.pause(), pass(ctx, f.For), victim.resume())
	case "restart":
		return errors.Join(victim.end(), victim.start())
	case "double":
		twin := &process{name: victim.name, bin: victim.bin, env: victim.env, log: victim.log + ".twin"}
		return errors.Join(twin.start(), pass(ctx, f.For), twin.kill())
	case "cut":
		w.proxy.cut()
		return pass(ctx, f.For)
	case "fill":
		if f.What == "store" {
			return w.fillStore(ctx, f.For)
		}
		return w.fillBroker(ctx, f.For)
	case "hold":
		return w.holdStore(ctx, f.For)
	}
	return fmt.Errorf("%q is not a fault", f.Kind)
}

// fillBroker leaves the broker 64 KiB on its disk for a while.
func (w *Cluster) fillBroker(ctx context.Context, d time.Duration) error {
	used, err := size(filepath.Join(w.Dir, "streams"))
	if err != nil {
		return err
	}
	return errors.Join(w.configure(used+64<<10), w.Broker.end(), w.Broker.start(), pass(ctx, d),
		w.configure(unlimited), w.Broker.end(), w.Broker.start())
}

// fillStore leaves the store 64 KiB on its disk for a while. A PostgreSQL server is killed and started again instead.
func (w *Cluster) fillStore(ctx context.Context, d time.Duration) error {
	if w.Postgres != nil {
		return errors.Join(w.Postgres.Kill(), pass(ctx, d), w.Postgres.Restart())
	}
	info, err := os.Stat(w.Store())
	if err != nil {
		return err
	}
	var errs []error
	for _, c := range w.of("consolidator") {
		errs = append(errs, c.end(), c.start("EUNOE_STORE_LIMIT="+strconv.FormatInt(info.Size()+64<<10, 10)))
	}
	errs = append(errs, pass(ctx, d))
	for _, c := range w.of("consolidator") {
		errs = append(errs, c.end(), c.start())
	}
	return errors.Join(errs...)
}

// holdStore keeps the store's write lock for a while, as a backup tool or an operator's shell may.
func (w *Cluster) holdStore(ctx context.Context, d time.Duration) error {
	release, err := w.lockStore(ctx)
	if err != nil {
		return err
	}
	return errors.Join(pass(ctx, d), release())
}

// lockStore takes the store's write lock and returns what releases it. A busy consolidator leaves the lock free for
// moments only, so it tries each millisecond: SQLite itself waits up to a tenth of a second between two tries.
func (w *Cluster) lockStore(ctx context.Context) (release func() error, err error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	driver, source, lock := "sqlite3", "file:"+w.Store()+"?_txlock=immediate&_busy_timeout=0", ""
	if w.Postgres != nil {
		driver, source, lock = "pgx", w.Store(), "LOCK TABLE meta IN EXCLUSIVE MODE"
	}
	db, err := sql.Open(driver, source)
	if err != nil {
		return nil, fmt.Errorf("hold the store: %w", err)
	}
	for {
		// The transaction outlives this ctx.
		tx, err := db.BeginTx(context.WithoutCancel(ctx), nil)
		if err == nil {
			_, err = tx.ExecContext(ctx, lock)
		}
		if err == nil {
			return func() error { return errors.Join(tx.Rollback(), db.Close()) }, nil
		}
		if waited := pass(ctx, time.Millisecond); waited != nil {
			return nil, errors.Join(fmt.Errorf("hold the store: %w", err), waited, db.Close())
		}
	}
}

// pass waits for d or the end of ctx.
func pass(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// size returns the bytes of the files of a directory; files that vanish meanwhile count nothing.
func size(dir string) (int64, error) {
	var sum int64
	err := filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil || d.IsDir() {
			return err
		}
		if info, err := d.Info(); err == nil {
			sum += info.Size()
		}
		return nil
	})
	return sum, err
}
