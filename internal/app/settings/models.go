package settings

import (
	"time"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/provider"
	"github.com/eunoe-memory/eunoe/pkg/provider/rerank"
)

// ModelSettings name the models of the stages, their addresses and their keys.
type ModelSettings struct {
	Model          string       `env:"MODEL" doc:"language model of every stage, as provider:model; empty runs on rules"`
	ModelExtract   string       `env:"MODEL_EXTRACT" doc:"language model that extracts facts; default EUNOE_MODEL"`
	ModelDecide    string       `env:"MODEL_DECIDE" doc:"language model that decides about near facts and derives observations; default EUNOE_MODEL"`
	ModelSummarise string       `env:"MODEL_SUMMARISE" doc:"language model that words composites; default EUNOE_MODEL"`
	ModelReflect   string       `env:"MODEL_REFLECT" doc:"language model that answers in reflect; default EUNOE_MODEL"`
	ModelJudge     string       `env:"MODEL_JUDGE" doc:"language model that judges what a recall found; default EUNOE_MODEL"`
	ModelURL       string       `env:"MODEL_URL" doc:"base URL of the models of EUNOE_MODEL's provider; default the provider's own"`
	ModelKey       provider.Key `env:"MODEL_KEY" doc:"key of the models of EUNOE_MODEL's provider; default OPENAI_API_KEY, ANTHROPIC_API_KEY, GOOGLE_API_KEY or GEMINI_API_KEY"`

	Embed            string       `env:"EMBED" doc:"embedding model, as provider:model; empty is the built-in one"`
	EmbedURL         string       `env:"EMBED_URL" doc:"base URL of the embedding model; default EUNOE_MODEL_URL of the same provider, or the provider's own"`
	EmbedKey         provider.Key `env:"EMBED_KEY" doc:"key of the embedding model; default that of the same provider and address"`
	EmbedDim         int          `env:"EMBED_DIM" envDefault:"0" doc:"dimension asked of the embedding model; 0 is its own, asked for at start"`
	EmbedQueryPrefix string       `env:"EMBED_QUERY_PREFIX" doc:"what stands before a question that is embedded"`
	EmbedDocPrefix   string       `env:"EMBED_DOC_PREFIX" doc:"what stands before a stored text that is embedded"`

	RerankURL   string       `env:"RERANK_URL" doc:"URL of a reranker; empty keeps the order of recall"`
	RerankModel string       `env:"RERANK_MODEL" doc:"model of the reranker, where the service has several"`
	RerankKey   provider.Key `env:"RERANK_KEY" doc:"key of the reranker"`

	ModelTimeout     time.Duration `env:"MODEL_TIMEOUT" envDefault:"1m" doc:"how long one call of a model may take, repeats included"`
	ModelConcurrency int           `env:"MODEL_CONCURRENCY" envDefault:"8" doc:"requests to one model at a time; more wait"`

	// providerKey returns the key in a provider's own variable, such as OPENAI_API_KEY; nil where none was read. It is a
	// function so that no way of printing the settings shows a key.
	providerKey func(provider string) provider.Key
}

// keyVariables are the variables in which the users of a provider keep their key.
var keyVariables = map[string][]string{
	provider.OpenAI: {"OPENAI_API_KEY"}, provider.Anthropic: {"ANTHROPIC_API_KEY"}, provider.Google: {"GOOGLE_API_KEY", "GEMINI_API_KEY"},
}

// adopt reads the keys in the providers' own variables and, where a language model extracts, the defaults of windows that
// it works best with.
func (c *Config) adopt(given map[string]string) {
	c.providerKey = func(name string) provider.Key {
		for _, v := range keyVariables[name] {
			if given[v] != "" {
				return provider.Key(given[v])
			}
		}
		return ""
	}
	if c.Model == "" && c.ModelExtract == "" {
		return
	}
	if _, set := given[Prefix+"TRIGGER_EVERY"]; !set {
		c.TriggerEvery = 0
	}
	if _, set := given[Prefix+"WINDOW_TOKENS"]; !set {
		c.WindowTokens = 2048
	}
}

// stageModels lists the stages with the settings that name their models.
func (m ModelSettings) stageModels() []stageModel {
	return []stageModel{
		{memory.StageExtract, "MODEL_EXTRACT", m.ModelExtract}, {memory.StageDecide, "MODEL_DECIDE", m.ModelDecide},
		{memory.StageObserve, "MODEL_DECIDE", m.ModelDecide}, {memory.StageSummarise, "MODEL_SUMMARISE", m.ModelSummarise},
		{memory.StageReflect, "MODEL_REFLECT", m.ModelReflect}, {memory.StageJudge, "MODEL_JUDGE", m.ModelJudge},
	}
}

type stageModel struct{ stage, setting, name string }

// main returns the provider that EUNOE_MODEL_URL and EUNOE_MODEL_KEY belong to: that of EUNOE_MODEL, else of the first
// stage that names a model, else of the embedder; "" if none is named.
func (m ModelSettings) main() string {
	names := []string{m.Model}
	for _, s := range m.stageModels() {
		names = append(names, s.name)
	}
	for _, name := range append(names, m.Embed) {
		if p, _, err := provider.Split(name); err == nil {
			return p
		}
	}
	return ""
}

func (m ModelSettings) keyOf(name string) provider.Key {
	if m.providerKey == nil {
		return ""
	}
	return m.providerKey(name)
}

// keyVariable names the provider's own variable that the key was read from; "" if it was read from none.
func (m ModelSettings) keyVariable(given map[string]string) string {
	for _, v := range keyVariables[m.main()] {
		if given[v] != "" {
			return v
		}
	}
	return ""
}

// model returns a language model with the address and the key of its provider.
func (m ModelSettings) model(name string) provider.Model {
	p, _, err := provider.Split(name)
	if err != nil {
		return provider.Model{Name: name}
	}
	out := provider.Model{Name: name, Key: m.keyOf(p)}
	if p == m.main() {
		out.URL = m.ModelURL
		if m.ModelKey != "" {
			out.Key = m.ModelKey
		}
	}
	return out
}

// embedding returns the embedding model. A key is sent to the address it belongs to and to no other.
func (m ModelSettings) embedding() provider.Embedding {
	out := provider.Embedding{Model: m.model(m.Embed), Dimension: m.EmbedDim, QueryPrefix: m.EmbedQueryPrefix, DocPrefix: m.EmbedDocPrefix}
	if m.EmbedURL != "" {
		same := provider.Model{Name: m.Embed, URL: m.EmbedURL}.BaseURL() == out.BaseURL()
		out.URL = m.EmbedURL
		if p, _, err := provider.Split(m.Embed); err == nil && !same {
			out.Key = m.keyOf(p)
		}
	}
	if m.EmbedKey != "" {
		out.Key = m.EmbedKey
	}
	return out
}

// Models returns the configuration of the providers.
func (c Config) Models() provider.Config {
	m := c.ModelSettings
	out := provider.DefaultConfig()
	out.Stages = map[string]provider.Model{}
	for _, s := range m.stageModels() {
		name := s.name
		if name == "" {
			name = m.Model
		}
		if name != "" {
			out.Stages[s.stage] = m.model(name)
		}
	}
	if m.Embed != "" {
		out.Embed = m.embedding()
	}
	out.Rerank = m.reranking()
	out.Timeout, out.Retries, out.Concurrency = c.ModelTimeout, c.ModelRetries, c.ModelConcurrency
	return out
}

func (m ModelSettings) reranking() rerank.Config {
	return rerank.Config{URL: m.RerankURL, Model: m.RerankModel, Key: m.RerankKey}
}
