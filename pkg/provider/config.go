package provider

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/provider/anthropic"
	"github.com/eunoe-memory/eunoe/pkg/provider/call"
	"github.com/eunoe-memory/eunoe/pkg/provider/google"
	"github.com/eunoe-memory/eunoe/pkg/provider/openai"
	"github.com/eunoe-memory/eunoe/pkg/provider/rerank"
)

// The providers.
const (
	OpenAI    = "openai"
	Anthropic = "anthropic"
	Google    = "google"
	Ollama    = "ollama"
)

// ollamaURL is where Ollama speaks OpenAI's protocol: its own protocol embeds one text per request.
const ollamaURL = "http://127.0.0.1:11434/v1"

// Key is a secret that never appears in text.
type Key = call.Key

// Model is one model and where it is.
type Model struct {
	Name string // "provider:model"; "" = none
	URL  string // base URL; "" = the provider's own
	Key  Key    // "" = requests carry none
}

// Embedding is the model that embeds.
type Embedding struct {
	Model
	// Dimension is asked of the model; 0 = the model's own, which Measure finds out.
	Dimension   int
	QueryPrefix string // stands before every question
	DocPrefix   string // stands before every text that is stored
}

// Config names the models and bounds the calls to them.
type Config struct {
	call.Config
	// Stages are the language models by stage (memory.StageExtract and so on).
	Stages map[string]Model
	Embed  Embedding
	Rerank rerank.Config
}

// DefaultConfig names no model.
func DefaultConfig() Config { return Config{Config: call.DefaultConfig()} }

// Validate joins everything that is wrong.
func (c Config) Validate() error {
	var errs []error
	for _, stage := range stages {
		if m := c.Stages[stage]; m.Name != "" {
			if err := m.Validate(); err != nil {
				errs = append(errs, fmt.Errorf("model of %s: %w", stage, err))
			}
		}
	}
	for stage := range c.Stages {
		if !slices.Contains(stages, stage) {
			errs = append(errs, memory.Invalid("stages", "%q is no stage with a language model", stage))
		}
	}
	return errors.Join(append(errs, c.Embed.Validate(), c.Rerank.Validate(), c.Config.Validate())...)
}

// stages are those that call a language model.
var stages = []string{
	memory.StageExtract, memory.StageDecide, memory.StageSummarise, memory.StageObserve, memory.StageReflect, memory.StageJudge,
}

// Split returns provider and model of a name. The error is memory.ErrInvalid.
func Split(name string) (provider, model string, err error) {
	provider, model, ok := strings.Cut(name, ":")
	if !ok || strings.TrimSpace(model) == "" || len(name) > 200 || strings.ContainsAny(name, " \t\r\n") {
		return "", "", memory.Invalid("", "%q is no model; expected provider:model, as openai:gpt-4o-mini", name)
	}
	if defaultURL(provider) == "" {
		return "", "", memory.Invalid("", "%q is no provider; expected openai, anthropic, google or ollama "+
			"(openai with a base URL is every compatible server)", provider)
	}
	return provider, model, nil
}

// defaultURL returns the base URL of a provider's own models, "" for an unknown provider.
func defaultURL(provider string) string {
	switch provider {
	case OpenAI:
		return openai.URL
	case Anthropic:
		return anthropic.URL
	case Google:
		return google.URL
	case Ollama:
		return ollamaURL
	}
	return ""
}

// BaseURL returns where the model is asked, without a slash at its end.
func (m Model) BaseURL() string {
	if m.URL != "" {
		return strings.TrimRight(m.URL, "/")
	}
	provider, _, _ := strings.Cut(m.Name, ":")
	return defaultURL(provider)
}

// endpoint returns name, address and key.
func (m Model) endpoint() call.Endpoint {
	return call.Endpoint{Model: m.Name, URL: m.BaseURL(), Key: m.Key}
}

// ErrNoKey: a model beyond this machine has no key.
var ErrNoKey = fmt.Errorf("no key is set: %w", memory.ErrInvalid)

// What a failed call says about the settings. Both come with memory.ErrUnavailable.
var (
	ErrKeyRefused = call.ErrKeyRefused
	ErrNotThere   = call.ErrNotThere
)

// Validate checks name and URL, and that a model beyond this machine has a key.
func (m Model) Validate() error {
	provider, _, err := Split(m.Name)
	if err != nil {
		return err
	}
	if err := call.CheckURL(m.BaseURL()); err != nil {
		return err
	}
	if m.Key == "" && provider != Ollama && !isLoopback(m.BaseURL()) {
		return fmt.Errorf("%s at %s needs a key: %w", m.Name, m.BaseURL(), ErrNoKey)
	}
	return nil
}

// Validate checks an embedding model; none is valid.
func (e Embedding) Validate() error {
	if e.Name == "" {
		return nil
	}
	if err := e.Model.Validate(); err != nil {
		return fmt.Errorf("embedding model: %w", err)
	}
	if strings.HasPrefix(e.Name, Anthropic+":") {
		return memory.Invalid("embed", "anthropic has no embedding models; expected openai, google or ollama")
	}
	if e.Dimension < 0 || e.Dimension > memory.MaxDimension {
		return memory.Invalid("dimension", "%d is out of range; expected 0 to %d", e.Dimension, memory.MaxDimension)
	}
	return nil
}

// isLoopback reports whether a URL is on this machine.
func isLoopback(raw string) bool {
	u, err := url.Parse(raw)
	if err != nil {
		return false
	}
	ip := net.ParseIP(u.Hostname())
	return u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
}
