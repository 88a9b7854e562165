package faults

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/client"
)

// World is a broker and two of every stage, all of them processes.
type World struct {
	Dir    string
	Broker *process
	Stages []*process // ingest, extractor, consolidator, query; two of each
	proxy  *proxy
	port   int
}

// Store is the file of the store.
func (w *World) Store() string { return filepath.Join(w.Dir, "eunoe.db") }

// URL is where clients connect: through the proxy that faults cut.
func (w *World) URL() string { return w.proxy.url() }

// NewWorld starts everything in dir with the programs of bin, and returns when
// the request doors answer. The broker syncs before it acknowledges.
func NewWorld(ctx context.Context, bin, dir string) (_ *World, err error) {
	w := &World{Dir: dir}
	defer func() {
		if err != nil {
			err = errors.Join(err, w.Close())
		}
	}()
	if w.port, err = freePort(ctx); err != nil {
		return nil, err
	}
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
	env := []string{"EUNOE_URL=" + w.URL(), "EUNOE_DATA=" + dir, "EUNOE_STORE=" + w.Store(), "EUNOE_LOG=warn", "EUNOE_IDLE_AFTER=10m",
		"EUNOE_ACK_WAIT=3s", "EUNOE_GRACE=5s", "EUNOE_MAX_ATTEMPTS=1000"}
	for _, name := range []string{"ingest", "extractor", "consolidator", "query"} {
		for n := range 2 {
			w.Stages = append(w.Stages, &process{name: name, bin: bin, env: env, log: filepath.Join(dir, fmt.Sprintf("%s-%d.log", name, n))})
		}
	}
	for _, s := range w.Stages {
		if err := s.start(); err != nil {
			return nil, err
		}
	}
	return w, w.answering(ctx, time.Minute)
}

// unlimited is a limit of the broker's disk that is never met.
const unlimited = 1 << 40

func (w *World) config() string { return filepath.Join(w.Dir, "nats.conf") }

// configure writes the broker's configuration with a limit on its disk.
func (w *World) configure(maxStore int64) error {
	text := fmt.Sprintf("listen: 127.0.0.1:%d\njetstream {\n  store_dir: %q\n  max_file_store: %d\n  sync_interval: always\n}\n",
		w.port, filepath.Join(w.Dir, "streams"), maxStore)
	return os.WriteFile(w.config(), []byte(text), 0o600)
}

// of gives the stages of a name.
func (w *World) of(name string) []*process {
	var out []*process
	for _, s := range w.Stages {
		if s.name == name {
			out = append(out, s)
		}
	}
	return out
}

// Whole lets everything run again.
func (w *World) Whole() error {
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

// Breathe lets the programs work for a moment between two faults.
func (w *World) Breathe(ctx context.Context) error { return pass(ctx, 300*time.Millisecond) }

// answering waits until a request door answers.
func (w *World) answering(ctx context.Context, within time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	for {
		c, err := w.Client(ctx)
		if err == nil {
			_, err = c.Admin().Raw(ctx, "banks", nil)
			err = errors.Join(err, c.Close())
		}
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("the request doors do not answer: %w", err)
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// Client connects as a bot does.
func (w *World) Client(ctx context.Context) (*client.Client, error) {
	cfg := client.DefaultConfig()
	cfg.URL, cfg.Name, cfg.Timeout = w.URL(), "faults", 5*time.Second
	return client.Connect(ctx, cfg)
}

// EndStages stops the stages gracefully; the broker goes on.
func (w *World) EndStages() error {
	var errs []error
	for _, s := range w.Stages {
		errs = append(errs, s.end())
	}
	return errors.Join(errs...)
}

// Close ends everything.
func (w *World) Close() error {
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

func freePort(ctx context.Context) (int, error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	port := l.Addr().(*net.TCPAddr).Port
	return port, l.Close()
}
