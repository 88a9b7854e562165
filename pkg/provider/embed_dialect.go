package provider

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"sync/atomic"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// openAIVectors asks an endpoint of OpenAI's protocol. It does not go through
// langchaingo, which takes vectors in the order they come in, whatever their
// index says, and changes the texts it is given.
func openAIVectors(m Model, model string) vectorDialect {
	var oneSize atomic.Bool // the server refused to be told a dimension, and gave vectors without
	ask := func(ctx context.Context, l *line, texts []string, dimension int) ([][]float64, error) {
		body := map[string]any{"model": model, "input": texts, "encoding_format": "float"}
		if dimension > 0 {
			body["dimensions"] = dimension
		}
		return postVectors(ctx, l, m.BaseURL()+"/embeddings", bearer(m.Key), body, func(raw []byte) ([][]float64, memory.Usage, error) {
			return readVectors(raw, len(texts))
		})
	}
	return func(ctx context.Context, l *line, texts []string, dimension int) ([][]float64, error) {
		if oneSize.Load() {
			dimension = 0
		}
		out, err := ask(ctx, l, texts, dimension)
		if dimension == 0 || !errors.Is(err, memory.ErrInvalid) {
			return out, err
		}
		if out, again := ask(ctx, l, texts, 0); again == nil { // whether it is the right size is checked
			oneSize.Store(true)
			return out, nil
		}
		return nil, err
	}
}

// googleVectors asks Gemini's protocol.
func googleVectors(m Model, model string) vectorDialect {
	at := m.BaseURL() + "/models/" + url.PathEscape(model) + ":batchEmbedContents"
	return func(ctx context.Context, l *line, texts []string, dimension int) ([][]float64, error) {
		list := make([]map[string]any, len(texts))
		for i, t := range texts {
			list[i] = map[string]any{"model": "models/" + model, "content": googleContent{Parts: []googlePart{{Text: t}}}}
			if dimension > 0 {
				list[i]["outputDimensionality"] = dimension
			}
		}
		return postVectors(ctx, l, at, googleKey(m.Key), map[string]any{"requests": list}, func(raw []byte) ([][]float64, memory.Usage, error) {
			return readGoogleVectors(raw, len(texts))
		})
	}
}

// bearer gives the headers of OpenAI's protocol.
func bearer(key Key) http.Header {
	h := http.Header{"Content-Type": {"application/json"}}
	if key != "" {
		h.Set("Authorization", "Bearer "+string(key))
	}
	return h
}

func postVectors(ctx context.Context, l *line, at string, header http.Header, body any, read func([]byte) ([][]float64, memory.Usage, error)) ([][]float64, error) {
	raw, err := json.Marshal(body)
	if err != nil {
		return nil, memory.Invalid("texts", "the texts are no JSON")
	}
	var out [][]float64
	err = l.exchange(ctx, request{
		stage: memory.StageEmbed, url: at, header: header, body: raw,
		answer: func(r io.Reader) (usage memory.Usage, err error) {
			raw, err := io.ReadAll(r)
			if err == nil {
				out, usage, err = read(raw)
			}
			return usage, err
		},
	})
	return out, err
}

// readVectors reads the vectors of n texts and puts each where its index says.
// Without any index they stand in the texts' order.
func readVectors(raw []byte, n int) ([][]float64, memory.Usage, error) {
	var a struct {
		Data []struct {
			Index     *int      `json:"index"`
			Embedding []float64 `json:"embedding"`
		} `json:"data"`
		Usage *chatUsage `json:"usage"`
	}
	if json.Unmarshal(raw, &a) != nil {
		return nil, memory.Usage{}, garbled("the answer holds no vectors but %s", kind(raw))
	}
	usage := a.Usage.usage()
	if len(a.Data) != n {
		return nil, usage, garbled("%d vectors came for %d texts", len(a.Data), n)
	}
	out := make([][]float64, n)
	for i, d := range a.Data {
		at := i
		if d.Index != nil {
			at = *d.Index
		}
		if at < 0 || at >= n || out[at] != nil || len(d.Embedding) == 0 {
			return nil, usage, garbled("the vectors are not one for each text")
		}
		out[at] = d.Embedding
	}
	return out, usage, nil
}

func readGoogleVectors(raw []byte, n int) ([][]float64, memory.Usage, error) {
	var a struct {
		Embeddings []struct {
			Values []float64 `json:"values"`
		} `json:"embeddings"`
	}
	if json.Unmarshal(raw, &a) != nil {
		return nil, memory.Usage{}, garbled("the answer holds no vectors but %s", kind(raw))
	}
	if len(a.Embeddings) != n {
		return nil, memory.Usage{}, garbled("%d vectors came for %d texts", len(a.Embeddings), n)
	}
	out := make([][]float64, n)
	for i, e := range a.Embeddings {
		if len(e.Values) == 0 {
			return nil, memory.Usage{}, garbled("the vectors are not one for each text")
		}
		out[i] = e.Values
	}
	return out, memory.Usage{}, nil
}
