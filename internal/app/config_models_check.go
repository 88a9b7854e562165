package app

import (
	"errors"
	"strings"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/provider"
)

func (m ModelSettings) check(wrong func(name, format string, args ...any)) {
	// say names the setting that is behind what is wrong with a model.
	say := func(setting, group string, x provider.Model, err error) {
		var field *memory.FieldError
		switch {
		case err == nil:
			return
		case errors.Is(err, provider.ErrNoKey):
			wrong(group+"_KEY", "%s at %s needs a key: set it%s; for a server that asks for none any word will do", x.Name, x.BaseURL(), usualHint(x.Name))
			return
		case errors.As(err, &field) && field.Field == "url":
			setting = group + "_URL"
		case errors.As(err, &field) && field.Field == "dimension":
			setting = group + "_DIM"
		case errors.As(err, &field) && field.Field == "shape":
			setting = group + "_SHAPE"
		}
		wrong(setting, "%v", err)
	}
	if m.Model != "" {
		say("MODEL", "MODEL", m.at(m.Model), m.at(m.Model).Validate())
	}
	for _, s := range m.stageModels() {
		if s.name != "" && s.stage != memory.StageObserve {
			say(s.setting, "MODEL", m.at(s.name), m.at(s.name).Validate())
		}
	}
	if m.Embed != "" {
		say("EMBED", "EMBED", m.embedding().Model, m.embedding().Validate())
	}
	r := m.reranking()
	say("RERANK_URL", "RERANK", provider.Model{}, r.Validate())
	for _, useless := range []struct {
		name, of string
		set      bool
	}{
		{"MODEL_URL", "EUNOE_MODEL", m.ModelURL != "" && m.main() == ""},
		{"EMBED_URL", "EUNOE_EMBED", m.EmbedURL != "" && m.Embed == ""},
		{"EMBED_DIM", "EUNOE_EMBED", m.EmbedDim != 0 && m.Embed == ""},
		{"RERANK_MODEL", "EUNOE_RERANK_URL", m.RerankModel != "" && m.RerankURL == ""},
	} {
		if useless.set {
			wrong(useless.name, "is set, but %s names nothing that it belongs to", useless.of)
		}
	}
	if m.ModelTimeout <= 0 {
		wrong("MODEL_TIMEOUT", "%s must be more than 0", m.ModelTimeout)
	}
	if m.ReflectTimeout <= 0 {
		wrong("REFLECT_TIMEOUT", "%s must be more than 0", m.ReflectTimeout)
	}
	if m.SummariseMin < 2 || m.SummariseMin > 1000000 {
		wrong("SUMMARISE_MIN", "%d is out of range; expected 2 to 1000000", m.SummariseMin)
	}
	if m.ConsolidateBatch < 1 || m.ConsolidateBatch > 1000000 {
		wrong("CONSOLIDATE_BATCH", "%d is out of range; expected 1 to 1000000", m.ConsolidateBatch)
	}
	if m.ConsolidateAfter <= 0 || m.ConsolidateAfter > 365*24*time.Hour {
		wrong("CONSOLIDATE_AFTER", "%s is out of range; expected more than 0 and at most a year", m.ConsolidateAfter)
	}
	if m.ModelRetries < 0 || m.ModelRetries > 20 {
		wrong("MODEL_RETRIES", "%d is out of range; expected 0 to 20", m.ModelRetries)
	}
	if m.ModelConcurrency < 1 || m.ModelConcurrency > 1024 {
		wrong("MODEL_CONCURRENCY", "%d is out of range; expected 1 to 1024", m.ModelConcurrency)
	}
}

// usualHint names the variables that a provider's users keep their key in.
func usualHint(model string) string {
	p, _, err := provider.Split(model)
	if err != nil || len(usualKeys[p]) == 0 {
		return ""
	}
	return ", or " + strings.Join(usualKeys[p], " or ")
}
