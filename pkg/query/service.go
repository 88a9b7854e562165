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
	"github.com/eunoe-memory/eunoe/pkg/events/kv"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/query/admission"
	"github.com/eunoe-memory/eunoe/pkg/query/recall"
	"github.com/eunoe-memory/eunoe/pkg/query/reflect"
	"github.com/eunoe-memory/eunoe/pkg/query/verify"
	"github.com/eunoe-memory/eunoe/pkg/query/write"
	"github.com/eunoe-memory/eunoe/pkg/text/secret"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

// ServiceName is the name of the micro service.
const ServiceName = "eunoe"

// Service answers requests. It is safe for concurrent use. Its methods may be called without Run, by a program that has
// the store at hand.
type Service struct {
	cfg      Config
	conn     *events.Conn
	store    Store
	preview  func(context.Context, memory.Write) (memory.Changes, error)
	sameLog  func() error
	warm     bool // vectors are searched
	answers  bool // a language model writes answers
	recall   *recall.Engine
	reflect  *reflect.Reflector
	writes   *write.Appender
	log      zerolog.Logger
	now      func() time.Time
	gate     *admission.Gate
	metrics  *Metrics
	ready    chan struct{}
	keeper   *keeper // nil without a connection
	statuses rounds[wire.Status]
	started  sync.Once
	// verifying has one place: for the check that runs
	verifying chan struct{}
}

// New returns a service. Without Conn the endpoints that write or read the log answer memory.ErrUnavailable, and Run
// fails.
func New(cfg Config, deps Deps) (*Service, error) {
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("query service: %w", err)
	}
	if deps.Store == nil {
		return nil, errors.New("query service: no store is given")
	}
	s := &Service{cfg: cfg, conn: deps.Conn, store: deps.Store, log: deps.Log, now: deps.Now,
		answers: deps.Answerer != nil,
		warm:    deps.Embedder != nil && deps.Embedder.Thresholds().RankWeight > 0,
		ready:   make(chan struct{}), verifying: make(chan struct{}, 1)}
	if s.now == nil {
		s.now = time.Now
	}
	if s.preview = deps.Preview; s.preview == nil {
		s.preview = func(context.Context, memory.Write) (memory.Changes, error) {
			return memory.Changes{}, fmt.Errorf("this service previews no writes: %w", memory.ErrUnavailable)
		}
	}
	if s.sameLog = deps.SameLog; s.sameLog == nil {
		s.sameLog = func() error { return nil }
	}
	var err error
	if s.gate, err = admission.New(cfg.Admission); err == nil {
		err = s.assemble(deps)
	}
	if err != nil {
		return nil, fmt.Errorf("query service: %w", err)
	}
	var names []string
	for _, h := range s.handlers() {
		names = append(names, h.Name)
	}
	s.metrics = newMetrics(names, deps.Store)
	return s, nil
}

// assemble makes the parts of the service.
func (s *Service) assemble(deps Deps) (err error) {
	if deps.Conn != nil {
		if s.keeper, err = newKeeper(kv.OpenRecalls(deps.Conn)); err != nil {
			return err
		}
	}
	var redact func(string) string
	if s.cfg.Redact {
		r, err := secret.NewRedactor(s.cfg.RedactExtra)
		if err != nil {
			return err
		}
		redact = r.Redact
	}
	s.writes, err = write.New(write.Config{Waits: s.cfg.Recall.Waits, Observer: s.cfg.Observer},
		write.Deps{Conn: deps.Conn, Store: writeStore{deps.Store}, Preview: s.preview, Embedder: deps.Embedder, Redact: redact, Now: s.now, Log: deps.Log})
	if err != nil {
		return err
	}
	s.recall, err = recall.New(s.cfg.Recall, recall.Deps{Store: deps.Store, SameLog: deps.SameLog, Embedder: deps.Embedder, Reranker: deps.Reranker, Judge: deps.Judge,
		Redact: redact, Now: s.now, Log: deps.Log})
	if err != nil {
		return err
	}
	s.reflect, err = reflect.New(reflect.Config{Timeout: s.cfg.ReflectTimeout}, reflect.Deps{Store: reflectStore{deps.Store}, Recall: s.recall,
		Model: deps.Answerer, Redact: redact, History: s.factHistory, Charge: s.writes.Charge, Log: deps.Log})
	return err
}

// Metrics returns the counters, live.
func (s *Service) Metrics() *Metrics { return s.metrics }

// Ready is closed when Run answers requests.
func (s *Service) Ready() <-chan struct{} { return s.ready }

// drainTime is how long running requests may go on after Run is told to stop.
const drainTime = 10 * time.Second

// Run answers requests until ctx ends; then it accepts no more, finishes the running ones within ten seconds, and returns
// nil.
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
	if s.warm {
		s.store.Warm()
	}
	s.started.Do(func() { close(s.ready) })
	<-ctx.Done()
	err = svc.Stop()
	s.gate.Close(working, drainTime)
	cancel()
	s.gate.Close(context.Background(), drainTime) // what was cancelled comes to its end
	s.writes.Close()
	return err
}

// Writes returns the part of the service that changes memory: Retain, Edit, Forget and the like.
func (s *Service) Writes() *write.Appender { return s.writes }

// Recall finds what a bank holds about a query. A bank that was never made is memory.ErrNotFound, unless the request
// waits for something that was not applied in time: then the reply is empty and not fresh.
func (s *Service) Recall(ctx context.Context, bank memory.BankID, r wire.RecallRequest) (wire.RecallReply, error) {
	meter := &memory.Meter{}
	defer func() { s.writes.Charge(bank, meter.Take()) }()
	var reply wire.RecallReply
	err := s.keepRecall(ctx, bank, wire.Recall.Name, r, func(explain bool) (k wire.KeptRecall, err error) {
		explained := r
		explained.Explain = explain
		if reply, err = s.recall.Recall(memory.WithMeter(ctx, meter), bank, explained); err != nil {
			return k, err
		}
		k = wire.KeptRecall{Recall: reply.Recall, Items: keptOf(reply.Items), Confidence: reply.Confidence, Tokens: reply.Tokens, Fresh: reply.Fresh, Degraded: reply.Degraded}
		for i := range reply.Items {
			if !r.Explain {
				reply.Items[i].Explain = nil
			}
		}
		return k, nil
	})
	return reply, err
}

// Reflect answers from what memory holds, by a language model that searches it and names what the answer rests on. Where
// there is none, where it fails, or where the request's style is context, the reply is the context for a caller's own
// model.
func (s *Service) Reflect(ctx context.Context, bank memory.BankID, r wire.ReflectRequest) (wire.ReflectReply, error) {
	return s.reflectStream(ctx, bank, r, nil)
}

// reflectStream is Reflect, with its response in pieces first where the request asks for a stream.
func (s *Service) reflectStream(ctx context.Context, bank memory.BankID, r wire.ReflectRequest, send func(wire.Delta) error) (wire.ReflectReply, error) {
	if !r.Stream {
		send = nil
	}
	var reply wire.ReflectReply
	err := s.keepRecall(ctx, bank, wire.Reflect.Name, r.RecallRequest, func(bool) (k wire.KeptRecall, err error) {
		if reply, err = s.reflect.Reflect(ctx, bank, r, send); err != nil {
			return k, err
		}
		k = wire.KeptRecall{Items: []wire.KeptItem{}, Response: memory.Truncate(reply.Response, keptResponse), Tokens: reply.Tokens, Fresh: reply.Fresh, Degraded: reply.Degraded}
		for _, c := range reply.Citations[:min(len(reply.Citations), keptItems)] {
			k.Items = append(k.Items, wire.KeptItem{ID: c.ID, Text: memory.Truncate(c.Text, keptText)})
		}
		return k, nil
	})
	return reply, err
}

// Verify checks the store by itself and against the log it was made from.
func (s *Service) Verify(ctx context.Context, _ memory.BankID, r wire.VerifyRequest) (wire.Verification, error) {
	defer admission.Leave(ctx)() // it takes minutes, and operators ask for it seldom
	select {                     // one holds a connection of the store all the time
	case s.verifying <- struct{}{}:
		defer func() { <-s.verifying }()
	case <-ctx.Done():
		return wire.Verification{}, ctx.Err()
	}
	return verify.Store(ctx, s.conn, s.store, verify.Options{Full: r.Full})
}

// factHistory returns a fact with every fact that it replaced or that replaced it.
func (s *Service) factHistory(ctx context.Context, bank memory.BankID, id memory.FactID) ([]memory.Item, error) {
	h, err := s.History(ctx, bank, wire.HistoryRequest{ID: string(id)})
	return h.Items, err
}

// Config holds the numbers of the query service.
type Config struct {
	// Admission says how many requests run at once, and what a bank may have of them.
	Admission admission.Config
	// IdleAfter is the silence after which a session is flushed (status shows until when).
	IdleAfter time.Duration
	// ReflectTimeout bounds an answer of reflect by a language model; after it the context is the reply.
	ReflectTimeout time.Duration
	// Observer says that a language model answers observe and consolidate too: the request waits for its answer.
	Observer bool
	// Redact says whether secrets are replaced in what is retained by hand and in what a model is shown.
	Redact bool
	// RedactExtra are further patterns that count as secrets.
	RedactExtra []string
	// Recall holds the numbers of recall, and how long any request may wait.
	Recall recall.Config
	// Version is the service's version, by semantic versioning.
	Version string
	// Metadata is what the service tells whoever asks the broker for it; nil = nothing.
	Metadata map[string]string
}

// DefaultConfig returns the numbers Eunoe runs with.
func DefaultConfig() Config {
	return Config{Admission: admission.DefaultConfig(), IdleAfter: 30 * time.Second, ReflectTimeout: time.Minute, Redact: true, Recall: recall.DefaultConfig(), Version: "0.1.0"}
}

// Validate joins the errors of every wrong number.
func (c Config) Validate() error {
	var errs []error
	check := func(ok bool, format string, args ...any) {
		if !ok {
			errs = append(errs, fmt.Errorf(format, args...))
		}
	}
	check(c.IdleAfter >= 0, "idle after is %s; it must not be negative", c.IdleAfter)
	check(c.ReflectTimeout > 0, "reflect timeout is %s; it must be positive", c.ReflectTimeout)
	check(c.Version != "", "version is empty")
	return errors.Join(append(errs, c.Admission.Validate(), c.Recall.Validate())...)
}

// Deps are the collaborators of a Service.
type Deps struct {
	Conn  *events.Conn // nil = the service does not Run, and what needs the log is memory.ErrUnavailable
	Store Store
	// Preview says what a write would change, and changes nothing; nil = whoever asks for that is told
	// memory.ErrUnavailable.
	Preview  func(context.Context, memory.Write) (memory.Changes, error)
	SameLog  func() error         // why the log is not the one that the store was made from; nil = it is
	Embedder memory.Embedder      // nil = no semantic recall, and callers' vectors are not checked against a model
	Reranker memory.Reranker      // nil = the fused order stands
	Answerer memory.LanguageModel // writes the answers of reflect; nil = the reply is the context
	Judge    memory.LanguageModel // judges what was found and says what is missing; nil = neither is done
	Log      zerolog.Logger
	Now      func() time.Time // nil = time.Now
}
