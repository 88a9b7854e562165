package query

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/nats-io/nats.go/micro"
	"github.com/rs/zerolog"

	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/secret"
)

// ServiceName is what the micro service is called.
const ServiceName = "eunoe"

// Service answers requests. It is safe for concurrent use; its methods may be
// called without Run, by a program that has the store at hand.
type Service struct {
	cfg      Config
	conn     *events.Conn
	store    Store
	embedder memory.Embedder
	reranker memory.Reranker
	answerer memory.LanguageModel
	judge    memory.LanguageModel
	bill     bill
	redactor *secret.Redactor // nil = what is retained is kept as it is
	log      zerolog.Logger
	now      func() time.Time
	slots    chan struct{}
	answers  chan struct{} // slots that reflect may take, half of all
	metrics  *Metrics
	ready    chan struct{}
	started  sync.Once
}

// New makes a service. Without Conn the doors that write or read the log are
// memory.ErrUnavailable, and Run fails.
func New(cfg Config, deps Deps) (*Service, error) {
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("query service: %w", err)
	}
	if deps.Store == nil {
		return nil, errors.New("query service: no store is given")
	}
	s := &Service{cfg: cfg, conn: deps.Conn, store: deps.Store, embedder: deps.Embedder, reranker: deps.Reranker,
		answerer: deps.Answerer, judge: deps.Judge, log: deps.Log, now: deps.Now,
		slots: make(chan struct{}, cfg.Requests), answers: make(chan struct{}, max(1, cfg.Requests/2)), ready: make(chan struct{})}
	if s.now == nil {
		s.now = time.Now
	}
	var names []string
	for _, e := range s.endpoints() {
		names = append(names, e.name)
	}
	s.metrics = newMetrics(names, deps.Store)
	if cfg.Redact {
		var err error
		if s.redactor, err = secret.NewRedactor(cfg.RedactExtra); err != nil {
			return nil, fmt.Errorf("query service: %w", err)
		}
	}
	return s, nil
}

// Metrics gives the counters, live.
func (s *Service) Metrics() *Metrics { return s.metrics }

// Ready is closed when Run answers requests.
func (s *Service) Ready() <-chan struct{} { return s.ready }

// drainTime is how long requests in work may go on after Run is told to stop.
const drainTime = 10 * time.Second

// Run answers requests until ctx ends; then it takes no more, finishes those in
// work within ten seconds, and returns nil.
func (s *Service) Run(ctx context.Context) error {
	if s.conn == nil {
		return errors.New("query service: no connection is given")
	}
	working, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	svc, err := micro.AddService(s.conn.NC, micro.Config{
		Name: ServiceName, Version: s.cfg.Version, QueueGroup: ServiceName, Metadata: s.cfg.Metadata,
		Description: "recall, reflect, retain and the reads of a bank's memory",
		ErrorHandler: func(_ micro.Service, e *micro.NATSError) {
			s.log.Warn().Str("stage", "query").Str("error", e.Description).Msg("the request service met an error")
		},
	})
	if err != nil {
		return fmt.Errorf("start the request service: %w", err)
	}
	if err := s.addEndpoints(working, svc); err != nil {
		return errors.Join(err, svc.Stop())
	}
	if err := s.conn.NC.Flush(); err != nil {
		return errors.Join(fmt.Errorf("start the request service: %w", err), svc.Stop())
	}
	if s.embedder != nil && s.embedder.Thresholds().RankWeight > 0 {
		s.store.Warm()
	}
	s.started.Do(func() { close(s.ready) })
	<-ctx.Done()
	err = svc.Stop()
	late := time.AfterFunc(drainTime, cancel)
	defer late.Stop()
	// Who holds every slot knows that nobody works; what is delivered from here
	// on finds none free, and then its context ended.
	for range cap(s.slots) {
		s.slots <- struct{}{}
	}
	cancel()
	for range cap(s.slots) {
		<-s.slots
	}
	s.bill.close()
	return err
}
