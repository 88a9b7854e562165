package provider

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// The providers.
const (
	OpenAI    = "openai"
	Anthropic = "anthropic"
	Google    = "google"
	Ollama    = "ollama"
)

// The shapes a reranker's endpoint can have.
const (
	ShapeCohere = "cohere"
	ShapeJina   = "jina"
	ShapeTEI    = "tei"
)

// Key is a secret that never shows in text: what is printed of it is whether
// it is set.
type Key string

// String says whether the key is set.
func (k Key) String() string {
	if k == "" {
		return ""
	}
	return "(set)"
}

// GoString is String.
func (k Key) GoString() string { return k.String() }

// MarshalText is String, so that encoders do not tell it either.
func (k Key) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

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

// Reranking is the endpoint that reranks.
type Reranking struct {
	URL   string // of the service, with or without its path; "" = none
	Model string // "" = the service has one model
	Key   Key
	Shape string // cohere, jina or tei; "" = as the URL says
}

// Config names the models and says how they are called.
type Config struct {
	// Stages are the language models by stage (memory.StageExtract and so on).
	Stages map[string]Model
	Embed  Embedding
	Rerank Reranking

	Timeout     time.Duration // of one call, its attempts and waits included
	Retries     int           // attempts after the first one
	Wait        time.Duration // before the second attempt, doubled each time; a provider's Retry-After goes first
	Concurrency int           // requests to one model at a time; more wait
	Trip        int           // failures in a row after which a model is left alone
	Rest        time.Duration // how long it is left alone
}

// DefaultConfig names no model.
func DefaultConfig() Config {
	return Config{Timeout: time.Minute, Retries: 2, Wait: 500 * time.Millisecond, Concurrency: 8, Trip: 5, Rest: 15 * time.Second}
}

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
	errs = append(errs, c.Embed.Validate(), c.Rerank.Validate())
	if c.Timeout <= 0 || c.Wait <= 0 || c.Rest <= 0 {
		errs = append(errs, memory.Invalid("timeout", "timeout, wait and rest must be more than 0"))
	}
	if c.Retries < 0 || c.Concurrency < 1 || c.Trip < 1 {
		errs = append(errs, memory.Invalid("retries", "retries must be 0 or more, concurrency and trip at least 1"))
	}
	return errors.Join(errs...)
}

// stages are those that call a language model.
var stages = []string{memory.StageExtract, memory.StageDecide, memory.StageSummarise, memory.StageObserve, memory.StageReflect, memory.StageJudge}

// Split gives provider and model of a name.
func Split(name string) (provider, model string, err error) {
	provider, model, ok := strings.Cut(name, ":")
	if !ok || strings.TrimSpace(model) == "" || len(name) > 200 || strings.ContainsAny(name, " \t\r\n") {
		return "", "", memory.Invalid("", "%q is no model; expected provider:model, as openai:gpt-4o-mini", name)
	}
	switch provider {
	case OpenAI, Anthropic, Google, Ollama:
		return provider, model, nil
	}
	return "", "", memory.Invalid("", "%q is no provider; expected openai, anthropic, google or ollama (openai with a base URL is every compatible server)", provider)
}

// own are the base URLs of the providers.
func own(provider string) string {
	switch provider {
	case OpenAI:
		return "https://api.openai.com/v1"
	case Anthropic:
		return "https://api.anthropic.com/v1"
	case Google:
		return "https://generativelanguage.googleapis.com/v1beta"
	case Ollama:
		return "http://127.0.0.1:11434/v1"
	}
	return ""
}

// BaseURL is where the model is asked, without a slash at its end.
func (m Model) BaseURL() string {
	if m.URL != "" {
		return strings.TrimRight(m.URL, "/")
	}
	provider, _, _ := strings.Cut(m.Name, ":")
	return own(provider)
}

// Validate checks name and URL, and that a model beyond this machine has a key.
func (m Model) Validate() error {
	provider, _, err := Split(m.Name)
	if err != nil {
		return err
	}
	if err := checkURL(m.BaseURL()); err != nil {
		return err
	}
	if m.Key == "" && provider != Ollama && !loopback(m.BaseURL()) {
		return fmt.Errorf("%s at %s needs a key: %w", m.Name, m.BaseURL(), ErrNoKey)
	}
	return nil
}

// ErrNoKey: a model beyond this machine has no key.
var ErrNoKey = fmt.Errorf("no key is set: %w", memory.ErrInvalid)

// Validate checks an embedding model; none is fine.
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

// Validate checks a reranker; none is fine.
func (r Reranking) Validate() error {
	if r.URL == "" {
		return nil
	}
	if err := checkURL(r.URL); err != nil {
		return fmt.Errorf("reranker: %w", err)
	}
	if !slices.Contains([]string{"", ShapeCohere, ShapeJina, ShapeTEI}, r.Shape) {
		return memory.Invalid("shape", "%q is no shape of a reranker; expected cohere, jina or tei", r.Shape)
	}
	return nil
}

// checkURL wants an http or https URL that holds no credentials.
func checkURL(raw string) error {
	u, err := url.Parse(raw)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		return memory.Invalid("url", "expected an http or https URL with a host")
	case u.User != nil:
		return memory.Invalid("url", "a URL must not hold credentials: a key is a setting of its own")
	case u.RawQuery != "" || u.Fragment != "":
		return memory.Invalid("url", "expected a URL without query and fragment")
	}
	return nil
}

// loopback reports whether a URL is of this machine.
func loopback(raw string) bool {
	u, err := url.Parse(raw)
	if err != nil {
		return false
	}
	ip := net.ParseIP(u.Hostname())
	return u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
}
