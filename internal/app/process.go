package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/nats-io/nats.go/micro"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/rs/zerolog"
	"golang.org/x/sync/errgroup"

	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/provider"
	"github.com/eunoe-memory/eunoe/pkg/query"
	"github.com/eunoe-memory/eunoe/pkg/store"
)

// process is what the stages of one process share.
type process struct {
	config   Config
	log      zerolog.Logger
	conn     *events.Conn
	metrics  *prometheus.Registry
	models   *provider.Set
	embedder memory.Embedder

	http string // where the health checks listen

	opened sync.Once
	store  store.Store
	err    error
}

// newLogger writes JSON lines to w from the given level on.
func newLogger(w io.Writer, level string) zerolog.Logger {
	l, err := zerolog.ParseLevel(level)
	if err != nil {
		l = zerolog.InfoLevel
	}
	return zerolog.New(w).Level(l).With().Timestamp().Logger()
}

func newProcess(c Config, log zerolog.Logger, conn *events.Conn) (*process, error) {
	reg := prometheus.NewRegistry()
	reg.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	p := &process{config: c, log: log, conn: conn, metrics: reg}
	return p, p.useModels()
}

// openStore opens the store once for all stages of the process.
func (p *process) openStore() (store.Store, error) {
	p.opened.Do(func() { p.store, p.err = openStore(p.config, p.config.Store, p.embedder, p.log) })
	return p.store, p.err
}

func (p *process) close() error {
	p.models.Close()
	if p.store != nil {
		return p.store.Close()
	}
	return nil
}

// run runs the stages until ctx ends or one fails, with health checks and a
// micro registration each. started is called when all of them run.
func (p *process) run(ctx context.Context, stages []Stage, started func(http string)) (err error) {
	defer func() { err = errors.Join(err, p.close()) }()
	pr, err := newProbe(ctx, p.config.HTTP, p.metrics, p.checks)
	if err != nil {
		return err
	}
	p.http = pr.address()
	if embeds(stages) {
		if err := p.measure(ctx); err != nil {
			return errors.Join(err, pr.listener.Close())
		}
	}
	var runners []runner
	for _, s := range stages {
		r, err := s.build(p)
		if err != nil {
			return errors.Join(fmt.Errorf("%s: %w", s.name, err), pr.listener.Close())
		}
		runners = append(runners, r)
	}
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return pr.run(ctx) })
	for i, r := range runners {
		log := p.log.With().Str("stage", stages[i].name).Logger()
		group.Go(func() error {
			log.Info().Str("http", pr.address()).Msg("running")
			err := r.run(ctx)
			if err != nil && !errors.Is(err, context.Canceled) {
				return fmt.Errorf("%s: %w", stages[i].name, err)
			}
			log.Info().Msg("stopped")
			return nil
		})
	}
	registered, err := p.register(stages, pr.address())
	if err != nil {
		return errors.Join(err, group.Wait())
	}
	for _, r := range runners {
		if r.ready == nil {
			continue
		}
		select {
		case <-r.ready:
		case <-ctx.Done():
		}
	}
	if ctx.Err() == nil {
		pr.running.Store(true)
		if started != nil {
			started(pr.address())
		}
	}
	err = group.Wait()
	for _, r := range registered {
		err = errors.Join(err, r.Stop())
	}
	return err
}

// register makes each stage visible to `nats micro ls`; the query stage
// registers its request doors itself.
func (p *process) register(stages []Stage, http string) ([]micro.Service, error) {
	var out []micro.Service
	for _, s := range stages {
		if s.name == "query" {
			continue
		}
		svc, err := micro.AddService(p.conn.NC, micro.Config{
			Name: "eunoe-" + s.name, Version: Version, Description: s.does,
			Metadata: metadata(s.name, http),
		})
		if err != nil {
			return out, fmt.Errorf("register %s: %w", s.name, err)
		}
		out = append(out, svc)
	}
	return out, nil
}

// metadata is what a stage tells whoever asks the broker who is alive.
func metadata(stage, http string) map[string]string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return map[string]string{"stage": stage, "host": host, "http": http, "started": time.Now().UTC().Format(time.RFC3339)}
}

func (p *process) checks() []check {
	broker := check{"broker", func(context.Context) error {
		if !p.conn.NC.IsConnected() {
			return errors.New("not connected to " + events.RedactURL(p.config.URL))
		}
		return nil
	}}
	if p.store == nil {
		return []check{broker}
	}
	return []check{broker, {"store", func(ctx context.Context) error {
		_, _, err := p.store.Applied(ctx)
		return err
	}}}
}

// profile gives a bank's profile as the consolidator keeps it for the stages
// without the store.
func (p *process) profile(ctx context.Context, bank memory.BankID) (memory.Bank, error) {
	b, _, err := p.conn.Profile(ctx, bank)
	return b, err
}

// storedProfile gives a bank's profile from the store.
func (p *process) storedProfile(ctx context.Context, bank memory.BankID) (b memory.Bank, err error) {
	err = p.store.Read(ctx, bank, func(r query.Reader) error {
		b, err = r.Bank()
		return err
	})
	return b, err
}
