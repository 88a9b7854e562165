package provider

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/rs/zerolog"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// Deps are a Set's collaborators; the zero value works.
type Deps struct {
	Client *http.Client // nil = one of its own, which follows no redirects
	Log    zerolog.Logger
}

// Set is every model of a process. It is safe for concurrent use.
type Set struct {
	metrics *Metrics
	client  *http.Client
	stages  map[string]*language
	embed   *embedder
	rerank  *reranker
}

// New checks the settings and makes the models. It asks none of them anything.
func New(c Config, d Deps) (*Set, error) {
	if err := c.Validate(); err != nil {
		return nil, fmt.Errorf("models: %w", err)
	}
	if d.Client == nil {
		d.Client = newClient()
	}
	s := &Set{metrics: newMetrics(), client: d.Client, stages: map[string]*language{}}
	ways := map[Model]*way{}
	for _, stage := range stages {
		m := c.Stages[stage]
		if m.Name == "" {
			continue
		}
		if ways[m] == nil {
			w, err := newWay(c, d, s.metrics, m)
			if err != nil {
				return nil, err
			}
			ways[m] = w
		}
		s.stages[stage] = &language{stage: stage, name: m.Name, way: ways[m]}
		s.metrics.known(stage, m.Name)
	}
	if c.Embed.Name != "" {
		provider, model, _ := Split(c.Embed.Name) //nolint:errcheck // it is valid
		s.embed = &embedder{line: newLine(c, d, s.metrics, c.Embed.Name, c.Embed.Key), config: c.Embed, model: c.Embed.Name, dimension: c.Embed.Dimension}
		s.embed.ask = openAIVectors(c.Embed.Model, model)
		if provider == Google {
			s.embed.ask = googleVectors(c.Embed.Model, model)
		}
		s.metrics.known(memory.StageEmbed, c.Embed.Name)
	}
	if c.Rerank.URL != "" {
		r := c.Rerank
		s.rerank = &reranker{line: newLine(c, d, s.metrics, r.name(), r.Key), at: r.endpoint(), shape: r.shapeOf(), model: r.Model}
		s.metrics.known(memory.StageRerank, r.name())
	}
	return s, nil
}

func newWay(c Config, d Deps, metrics *Metrics, m Model) (*way, error) {
	provider, model, err := Split(m.Name)
	if err != nil {
		return nil, err
	}
	w := &way{line: newLine(c, d, metrics, m.Name, m.Key)}
	w.traits.Store(&traits{})
	switch provider {
	case Anthropic:
		w.speak, err = newAnthropic(m, model)
	case Google:
		w.speak = newGoogle(m, model)
	default:
		w.speak, err = newOpenAI(m, model)
	}
	return w, err
}

// newClient makes the client of a Set. It follows no redirects: the keys of
// some providers stand in headers that would go along to any host.
func newClient() *http.Client {
	return &http.Client{
		Transport: &http.Transport{
			Proxy: http.ProxyFromEnvironment, DialContext: (&net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
			TLSHandshakeTimeout: 10 * time.Second, ForceAttemptHTTP2: true, MaxIdleConnsPerHost: 16, IdleConnTimeout: 90 * time.Second,
			MaxResponseHeaderBytes: 1 << 20,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// Language gives the language model of a stage, nil when none is configured.
func (s *Set) Language(stage string) memory.LanguageModel {
	if m, ok := s.stages[stage]; ok {
		return m
	}
	return nil
}

// Embedder gives the embedder, nil when none is configured. Its dimension is
// known after Measure, or from the start where Config names it.
func (s *Set) Embedder() memory.Embedder {
	if s.embed == nil {
		return nil
	}
	return s.embed
}

// Reranker gives the reranker, nil when none is configured.
func (s *Set) Reranker() memory.Reranker {
	if s.rerank == nil {
		return nil
	}
	return s.rerank
}

// Metrics gives the counters, live.
func (s *Set) Metrics() *Metrics { return s.metrics }

// Measure asks the embedding model for its dimension, where Config names none
// and it is not known yet. Without an embedding model it does nothing.
func (s *Set) Measure(ctx context.Context) error {
	if s.embed == nil {
		return nil
	}
	if err := s.embed.measure(ctx); err != nil {
		return fmt.Errorf("ask for the dimension: %w", err)
	}
	return nil
}

// Close lets go of idle connections. The models can be used after it.
func (s *Set) Close() { s.client.CloseIdleConnections() }
