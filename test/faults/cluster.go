package faults

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/client"
	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/store"
	"github.com/eunoe-memory/eunoe/pkg/store/postgres/postgrestest"
	"github.com/eunoe-memory/eunoe/pkg/wire"
	"github.com/eunoe-memory/eunoe/test/freeport"
)

// Cluster is a broker and two of every stage, each a process.
type Cluster struct {
	Dir    string
	Shards int // stores that the banks are spread over
	// Postgres has the stores in its schemas; nil = they are files.
	Postgres *postgrestest.Server
	Broker   *process
	Stages   []*process // ingest, extractor, consolidator, query; two of each
	proxy    *proxy
	port     int
	url      string // for clients
}

// Store returns the path of the store, of several that of the first.
func (w *Cluster) Store() string { return store.ShardDSN(w.Place(), events.Shards(w.Shards)[0]) }

// Place returns EUNOE_STORE.
func (w *Cluster) Place() string {
	if w.Postgres != nil {
		return w.Postgres.Schema("eunoe")
	}
	return filepath.Join(w.Dir, "eunoe.db")
}

// Dump returns the logical content of the stores, which no process has open.
func (w *Cluster) Dump(ctx context.Context) (string, error) { return Dump(ctx, w.Place(), w.Shards) }

// URL returns the address for clients: that of the proxy whose connections faults cut, or those of all brokers.
func (w *Cluster) URL() string { return w.url }

// NewCluster starts everything in dir with the programs in bin, and returns when the endpoints answer. The broker syncs
// before it acknowledges. The stores are on a PostgreSQL server where one is given.
func NewCluster(ctx context.Context, bin, dir string, shards int, server *postgrestest.Server) (_ *Cluster, err error) {
	w := &Cluster{Dir: dir, Shards: shards, Postgres: server}
	defer func() {
		if err != nil {
			err = errors.Join(err, w.Close())
		}
	}()
	ports, err := freeport.Take(ctx, 1)
	if err != nil {
		return nil, err
	}
	w.port = ports[0]
	if err := w.configure(unlimited); err != nil {
		return nil, err
	}
	w.Broker = &process{name: "nats-server", bin: bin, args: []string{"-c", w.config()}, log: filepath.Join(dir, "nats-server.log")}
	if err := w.Broker.start(); err != nil {
		return nil, err
	}
	if w.proxy, err = newProxy(ctx, fmt.Sprintf("127.0.0.1:%d", w.port)); err != nil {
		return nil, err
	}
	w.url = w.proxy.url()
	return w, w.startStages(ctx, bin)
}

// startStages starts two of every stage with more settings, and returns when the endpoints answer.
func (w *Cluster) startStages(ctx context.Context, bin string, more ...string) error {
	env := append([]string{"EUNOE_URL=" + w.URL(), "EUNOE_DATA=" + w.Dir, "EUNOE_STORE=" + w.Place(), "EUNOE_SHARDS=" + strconv.Itoa(w.Shards), "EUNOE_LOG=warn", "EUNOE_IDLE_AFTER=10m",
		"EUNOE_ACK_WAIT=3s", "EUNOE_MAX_ATTEMPTS=1000"}, more...)
	for _, name := range []string{"ingest", "extractor", "consolidator", "query"} {
		for n := range 2 {
			w.Stages = append(w.Stages, &process{name: name, bin: bin, env: env, log: filepath.Join(w.Dir, fmt.Sprintf("%s-%d.log", name, n))})
		}
	}
	for _, s := range w.Stages {
		if err := s.start(); err != nil {
			return err
		}
	}
	return w.answering(ctx, time.Minute)
}

// unlimited is a limit of the broker's disk that is never reached.
const unlimited = 1 << 40

func (w *Cluster) config() string { return filepath.Join(w.Dir, "nats.conf") }

// configure writes the broker's configuration with a limit on its disk.
func (w *Cluster) configure(maxStore int64) error {
	text := fmt.Sprintf("listen: 127.0.0.1:%d\njetstream {\n  store_dir: %q\n  max_file_store: %d\n  sync_interval: always\n}\n",
		w.port, filepath.Join(w.Dir, "streams"), maxStore)
	return os.WriteFile(w.config(), []byte(text), 0o600)
}

// of returns the processes of a stage.
func (w *Cluster) of(name string) []*process {
	var out []*process
	for _, s := range w.Stages {
		if s.name == name {
			out = append(out, s)
		}
	}
	return out
}

// Restore starts what is stopped and resumes what is paused, without limits on disks.
func (w *Cluster) Restore() error {
	if err := w.configure(unlimited); err != nil {
		return err
	}
	all := append([]*process{w.Broker}, w.Stages...)
	var errs []error
	for _, p := range all {
		errs = append(errs, p.resume(), p.start())
	}
	return errors.Join(errs...)
}

// LetWork waits 300 ms, so that the programs work between two faults.
func (w *Cluster) LetWork(ctx context.Context) error { return pass(ctx, 300*time.Millisecond) }

// answering waits until an endpoint answers.
func (w *Cluster) answering(ctx context.Context, within time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	for {
		c, err := w.Client(ctx)
		if err == nil {
			_, err = client.Call(ctx, c, wire.Banks, "", wire.BanksRequest{})
			err = errors.Join(err, c.Close())
		}
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("the endpoints do not answer: %w", err)
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// Client connects to the cluster as a bot does.
func (w *Cluster) Client(ctx context.Context) (*client.Client, error) {
	cfg := client.DefaultConfig()
	cfg.URL, cfg.Name, cfg.Timeout = w.URL(), "faults", 5*time.Second
	return client.Connect(ctx, cfg)
}

// EndStages stops the stages gracefully; the broker keeps running.
func (w *Cluster) EndStages() error {
	var errs []error
	for _, s := range w.Stages {
		errs = append(errs, s.end())
	}
	return errors.Join(errs...)
}

// Close kills everything.
func (w *Cluster) Close() error {
	var errs []error
	for _, s := range w.Stages {
		errs = append(errs, s.kill())
	}
	if w.proxy != nil {
		w.proxy.close()
	}
	if w.Broker != nil {
		errs = append(errs, w.Broker.kill())
	}
	return errors.Join(errs...)
}
