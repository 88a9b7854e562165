package process

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"
	_ "time/tzdata" // zones of banks, where the system has none

	"github.com/nats-io/nats.go/micro"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/rs/zerolog"
	"golang.org/x/sync/errgroup"

	"github.com/eunoe-memory/eunoe/internal/app/settings"
	"github.com/eunoe-memory/eunoe/internal/longwork"
	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/events/kv"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/provider"
)

// Process is what the stages of one operating system process share.
type Process struct {
	Settings settings.Config
	Log      zerolog.Logger
	Conn     *events.Conn // nil in a process of a Guest
	Metrics  *prometheus.Registry
	Models   *provider.Set
	Long     *longwork.Limit // of what its stages do to long messages
	Embedder memory.Embedder // the configured model, else the built-in one; never nil
	HTTP     string          // address of the health checks, known once Run builds the stages
	Gateway  string          // URL of the HTTP gateway, once it is built; "" = there is none
	// Callers is how somebody else than the process connects: to the broker of Conn, without credentials.
	Callers events.ConnConfig

	checks  []check
	streams lastError               // of watchBroker
	ticks   []func(context.Context) // called by watchBroker each time it has looked
	closers []func() error
	shared  map[string]shared
}

// shared is what a stage of the process opened for all of them.
type shared struct {
	value any
	err   error
}

// Share returns what open returned when it was first called under this key in this process. Stages are built one after
// the other, so it is not safe for concurrent use.
func Share[T any](p *Process, key string, open func() (T, error)) (T, error) {
	s, ok := p.shared[key]
	if !ok {
		s.value, s.err = open()
		p.shared[key] = s
	}
	value, _ := s.value.(T)
	return value, s.err
}

// NewLogger writes JSON lines to w from the given level on; an unknown level means info.
func NewLogger(w io.Writer, level string) zerolog.Logger {
	l, err := zerolog.ParseLevel(level)
	if err != nil {
		l = zerolog.InfoLevel
	}
	return zerolog.New(w).Level(l).With().Timestamp().Logger()
}

// New returns a process on a connection, which a Guest has none of, with the models that the settings name. Run closes
// what it holds, but not the connection.
func New(c settings.Config, log zerolog.Logger, conn *events.Conn) (*Process, error) {
	reg := prometheus.NewRegistry()
	reg.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	p := &Process{Settings: c, Log: log, Conn: conn, Metrics: reg, Long: longwork.Default(), shared: map[string]shared{}, Callers: c.Conn("eunoe-caller", log)}
	p.Callers.Creds = ""
	warnOfCertificates(c, log, time.Now())
	if conn == nil {
		return p, p.useModels()
	}
	p.Callers.Tracer = conn.Tracer
	p.Check("broker", func(context.Context) error {
		if !conn.NC.IsConnected() {
			return errors.New("not connected to " + events.RedactURL(c.URL))
		}
		return nil
	})
	p.Check("streams", func(context.Context) error { return p.streams.get() })
	return p, p.useModels()
}

// Check adds something that must hold for the process to be ready.
func (p *Process) Check(name string, ok func(context.Context) error) {
	p.checks = append(p.checks, check{name, ok})
}

// OnClose has fn called when the process ends, after the stages.
func (p *Process) OnClose(fn func() error) { p.closers = append(p.closers, fn) }

func (p *Process) close() error {
	p.Models.Close()
	var err error
	for _, fn := range p.closers {
		err = errors.Join(err, fn())
	}
	return err
}

// Run builds the stages and runs them until ctx ends or one fails. started is called with the address of the health
// checks when all of them run; it may be nil.
func (p *Process) Run(ctx context.Context, stages []Stage, started func(http string)) (err error) {
	defer func() { err = errors.Join(err, p.close()) }()
	pr, err := newProbe(ctx, p.Settings.Health, p.Metrics, func() []check { return p.checks })
	if err != nil {
		return err
	}
	p.HTTP = pr.address()
	runners, err := p.build(ctx, stages)
	if err != nil {
		return errors.Join(err, pr.listener.Close())
	}
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return pr.run(ctx) })
	if p.Conn != nil {
		group.Go(func() error { return p.watchBroker(ctx) })
	}
	for i, r := range runners {
		group.Go(func() error { return p.runStage(ctx, stages[i], r) })
	}
	registered, err := p.register(stages)
	if err != nil {
		return errors.Join(err, group.Wait())
	}
	for _, r := range runners {
		if r.Ready == nil {
			continue
		}
		select {
		case <-r.Ready:
		case <-ctx.Done():
		}
	}
	if ctx.Err() == nil {
		pr.running.Store(true)
		if started != nil {
			started(p.HTTP)
		}
	}
	err = group.Wait()
	for _, r := range registered {
		err = errors.Join(err, r.Stop())
	}
	return err
}

// build builds each stage, after the embedding model was asked for its dimension where one of them needs it.
func (p *Process) build(ctx context.Context, stages []Stage) ([]Runner, error) {
	for _, s := range stages {
		if !s.Embeds {
			continue
		}
		if err := p.Measure(ctx); err != nil {
			return nil, err
		}
		break
	}
	var runners []Runner
	for _, s := range stages {
		r, err := s.Build(p)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.Name, err)
		}
		runners = append(runners, r)
	}
	return runners, nil
}

func (p *Process) runStage(ctx context.Context, s Stage, r Runner) error {
	log := p.Log.With().Str("stage", s.Name).Logger()
	log.Info().Str("http", p.HTTP).Msg("running")
	if err := r.Run(ctx); err != nil && !errors.Is(err, context.Canceled) {
		return fmt.Errorf("%s: %w", s.Name, err)
	}
	log.Info().Msg("stopped")
	return nil
}

// register makes each stage visible to `nats micro ls`, but for those that register their own service.
func (p *Process) register(stages []Stage) ([]micro.Service, error) {
	var out []micro.Service
	for _, s := range stages {
		if s.Serves || p.Conn == nil {
			continue
		}
		svc, err := micro.AddService(p.Conn.NC, micro.Config{
			Name: "eunoe-" + s.Name, Version: Version, Description: s.Does, Metadata: p.ServiceMetadata(s.Name),
		})
		if err != nil {
			return out, fmt.Errorf("register %s: %w", s.Name, err)
		}
		out = append(out, svc)
	}
	return out, nil
}

// ServiceMetadata returns what the micro service of a stage tells about its process.
func (p *Process) ServiceMetadata(stage string) map[string]string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return map[string]string{"stage": stage, "host": host, "http": p.HTTP, "started": time.Now().UTC().Format(time.RFC3339)}
}

// Profile returns a bank's profile as the consolidator publishes it for the stages without the store.
func (p *Process) Profile(ctx context.Context, bank memory.BankID) (memory.Bank, error) {
	b, _, err := kv.Profile(ctx, p.Conn, bank)
	return b, err
}
