package settings

import (
	"errors"
	"strings"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/provider"
)

func (m ModelSettings) check(wrong func(name, format string, args ...any)) {
	// report names the variable that an invalid model comes from.
	report := func(setting, group string, x provider.Model, err error) {
		var field *memory.FieldError
		switch {
		case err == nil:
			return
		case errors.Is(err, provider.ErrNoKey):
			wrong(group+"_KEY", "%s at %s needs a key: set it%s; for a server that asks for none any word will do", x.Name, x.BaseURL(), keyHint(x.Name))
			return
		case errors.As(err, &field) && field.Field == "url":
			setting = group + "_URL"
		case errors.As(err, &field) && field.Field == "dimension":
			setting = group + "_DIM"
		}
		wrong(setting, "%v", err)
	}
	if m.Model != "" {
		report("MODEL", "MODEL", m.model(m.Model), m.model(m.Model).Validate())
	}
	for _, s := range m.stageModels() {
		if s.name != "" && s.stage != memory.StageObserve {
			report(s.setting, "MODEL", m.model(s.name), m.model(s.name).Validate())
		}
	}
	if m.Embed != "" {
		report("EMBED", "EMBED", m.embedding().Model, m.embedding().Validate())
	}
	r := m.reranking()
	report("RERANK_URL", "RERANK", provider.Model{}, r.Validate())
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
	if m.ModelConcurrency < 1 || m.ModelConcurrency > 1024 {
		wrong("MODEL_CONCURRENCY", "%d is out of range; expected 1 to 1024", m.ModelConcurrency)
	}
}

// keyHint names the variables in which the users of a model's provider keep their key.
func keyHint(model string) string {
	p, _, err := provider.Split(model)
	if err != nil || len(keyVariables[p]) == 0 {
		return ""
	}
	return ", or " + strings.Join(keyVariables[p], " or ")
}
