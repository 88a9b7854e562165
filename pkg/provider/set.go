// Package provider makes the models of a process from its settings: language models by stage, an embedder and a
// reranker, with the interfaces of pkg/memory. It knows four providers: openai (and, with a base URL, every server that
// speaks its protocol), anthropic, google and ollama.
//
// New returns a Set; Language, Embedder and Reranker return its models, nil for those that are not configured. Each
// provider has a package of its own that speaks its protocol; package call, beneath them, repeats attempts, bounds
// them, gives failures a meaning and counts them. A Set's Metrics are the counters.
package provider

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/provider/anthropic"
	"github.com/eunoe-memory/eunoe/pkg/provider/call"
	"github.com/eunoe-memory/eunoe/pkg/provider/google"
	"github.com/eunoe-memory/eunoe/pkg/provider/openai"
	"github.com/eunoe-memory/eunoe/pkg/provider/rerank"
)

// Deps are a Set's collaborators; the zero value works.
type Deps struct {
	Transport http.RoundTripper // nil = one of the Set's own
	Log       zerolog.Logger
}

// Set is every model of a process. It is safe for concurrent use.
type Set struct {
	calls  call.Deps
	stages map[string]*language
	embed  *embedder
	rerank *rerank.Reranker
}

// New checks the settings and makes the models. It sends nothing.
func New(c Config, d Deps) (*Set, error) {
	if err := c.Validate(); err != nil {
		return nil, fmt.Errorf("models: %w", err)
	}
	if d.Transport == nil {
		d.Transport = newTransport()
	}
	s := &Set{calls: call.Deps{Transport: d.Transport, Log: d.Log, Metrics: call.NewMetrics()}, stages: map[string]*language{}}
	client := func(at call.Endpoint) *call.Client { return call.New(c.Config, s.calls, at) }
	clients := map[Model]*modelClient{}
	for _, stage := range stages {
		m := c.Stages[stage]
		if m.Name == "" {
			continue
		}
		if clients[m] == nil {
			clients[m] = &modelClient{protocol: speak(m.Name, client(m.endpoint()))}
			clients[m].form.Store(&call.Form{})
		}
		s.stages[stage] = &language{stage: stage, name: m.Name, client: clients[m]}
		s.calls.Metrics.Register(stage, m.Name)
	}
	if c.Embed.Name != "" {
		s.embed = &embedder{config: c.Embed, vectors: speakVectors(c.Embed.Name, client(c.Embed.endpoint())), dimension: c.Embed.Dimension}
		s.calls.Metrics.Register(memory.StageEmbed, c.Embed.Name)
	}
	if c.Rerank.URL != "" {
		at := c.Rerank.Endpoint()
		s.rerank = rerank.New(client(at), c.Rerank)
		s.calls.Metrics.Register(memory.StageRerank, at.Model)
	}
	return s, nil
}

// speak returns the protocol of a model, whose name is valid.
func speak(name string, client *call.Client) protocol {
	provider, model, _ := Split(name) //nolint:errcheck // it is valid
	switch provider {
	case Anthropic:
		return anthropic.New(client, model)
	case Google:
		return google.New(client, model)
	}
	return openai.New(client, model)
}

// speakVectors returns the protocol of an embedding model, whose name is valid.
func speakVectors(name string, client *call.Client) vectorProtocol {
	provider, model, _ := Split(name) //nolint:errcheck // it is valid
	if provider == Google {
		return google.NewEmbeddings(client, model)
	}
	return openai.NewEmbeddings(client, model)
}

func newTransport() *http.Transport {
	return &http.Transport{
		Proxy: http.ProxyFromEnvironment, DialContext: (&net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
		TLSHandshakeTimeout: 10 * time.Second, ForceAttemptHTTP2: true, MaxIdleConnsPerHost: 16, IdleConnTimeout: 90 * time.Second,
		MaxResponseHeaderBytes: 1 << 20,
	}
}

// Language returns the language model of a stage, nil when none is configured.
func (s *Set) Language(stage string) memory.LanguageModel {
	if m, ok := s.stages[stage]; ok {
		return m
	}
	return nil
}

// Embedder returns the embedder, nil when none is configured. Its dimension is known after Measure, or from the start
// where Config names it.
func (s *Set) Embedder() memory.Embedder {
	if s.embed == nil {
		return nil
	}
	return s.embed
}

// Reranker returns the reranker, nil when none is configured.
func (s *Set) Reranker() memory.Reranker {
	if s.rerank == nil {
		return nil
	}
	return s.rerank
}

// Metrics returns the counters, live.
func (s *Set) Metrics() *call.Metrics { return s.calls.Metrics }

// Measure asks the embedding model for its dimension, where Config names none and it is not known yet. Without an
// embedding model it does nothing.
func (s *Set) Measure(ctx context.Context) error {
	if s.embed == nil {
		return nil
	}
	if err := s.embed.measure(ctx); err != nil {
		return fmt.Errorf("ask for the dimension: %w", err)
	}
	return nil
}

// Close closes idle connections. The models can be used after it.
func (s *Set) Close() { (&http.Client{Transport: s.calls.Transport}).CloseIdleConnections() }

// protocol asks one model at one address, in the protocol of its provider.
type protocol interface {
	// Complete answers a prompt that was checked, asking in the given form.
	Complete(ctx context.Context, stage string, p memory.Prompt, form call.Form) (memory.Completion, error)
}

// modelClient asks one model at one address. It is shared by the stages that use the model, as is what it learned
// about the form in which the model accepts requests.
type modelClient struct {
	protocol protocol
	form     atomic.Pointer[call.Form]
}

// language is the language model of one stage.
type language struct {
	stage  string
	name   string // provider:model
	client *modelClient
}

var _ memory.LanguageModel = (*language)(nil)

// Name returns provider and model.
func (m *language) Name() string { return m.name }

// Complete answers a prompt. A model that refuses part of the request's form (a schema, say) is asked without it, now
// and from then on.
func (m *language) Complete(ctx context.Context, p memory.Prompt) (memory.Completion, error) {
	if err := call.Check(p); err != nil {
		return memory.Completion{}, err
	}
	learned := *m.client.form.Load()
	form := learned
	var first error
	for {
		c, err := m.client.protocol.Complete(ctx, m.stage, p, form)
		if err == nil {
			if form != learned {
				m.client.form.Store(&form)
			}
			return c, nil
		}
		if first == nil {
			first = err
		}
		simpler, ok := form.Without(err, p)
		if !ok {
			if errors.Is(err, memory.ErrInvalid) {
				err = first // the answer to the request as it was meant
			}
			return memory.Completion{}, err
		}
		form = simpler
	}
}
