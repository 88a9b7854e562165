package query_test

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/provider"
	"github.com/eunoe-memory/eunoe/pkg/provider/rerank"
	"github.com/eunoe-memory/eunoe/pkg/query"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

// reranking returns the reply of a recall whose HTTP reranker sends the given answer.
func reranking(t *testing.T, answer http.HandlerFunc) wire.RecallReply {
	t.Helper()
	server := httptest.NewServer(answer)
	t.Cleanup(server.Close)
	cfg := provider.DefaultConfig()
	cfg.Rerank, cfg.Retries = rerank.Config{URL: server.URL, Shape: rerank.Cohere}, 0
	models, err := provider.New(cfg, provider.Deps{})
	if err != nil {
		t.Fatal(err)
	}
	settings := query.DefaultConfig()
	settings.Recall.RerankTimeout = 500 * time.Millisecond
	w := newFixtureWith(t, settings, func(d *query.Deps) { d.Reranker = models.Reranker() })
	w.say(memory.Message{Content: "Green tea, black tea, any tea."}, memory.Message{Content: "I like tea, and the card 4111 1111 1111 1111."}, memory.Message{Content: "Tea was had by all in the garden that day."})
	return w.recall(alice, wire.RecallRequest{Query: "tea"})
}

// scoresOf encodes scores like the rerank services.
func scoresOf(pairs ...[2]float64) string {
	var list []string
	for _, p := range pairs {
		list = append(list, fmt.Sprintf(`{"index":%d,"relevance_score":%g}`, int(p[0]), p[1]))
	}
	return `{"results":[` + strings.Join(list, ",") + `]}`
}

func TestRerankOverHTTP(t *testing.T) {
	t.Parallel()
	write := func(body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, body) }
	}
	plain := reranking(t, write(`{"results":[]}`))
	if len(plain.Items) != 3 {
		t.Fatalf("found %v", textsOf(plain.Items))
	}
	t.Run("a reranker behind HTTP is blended .4 to .6, and reads no secret", func(t *testing.T) {
		t.Parallel()
		var asked atomic.Value
		reply := reranking(t, func(w http.ResponseWriter, r *http.Request) {
			var body struct {
				Documents []string `json:"documents"`
			}
			if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
				t.Error(err)
			}
			asked.Store(strings.Join(body.Documents, "|"))
			fmt.Fprint(w, scoresOf([2]float64{2, 9}, [2]float64{0, 1}, [2]float64{1, 5}))
		})
		want := map[string]float64{}
		for i, scaled := range []float64{0, .5, 1} {
			want[plain.Items[i].Text] = .4*plain.Items[i].Score + .6*scaled
		}
		for _, item := range reply.Items {
			if math.Abs(item.Score-want[item.Text]) > 1e-9 {
				t.Errorf("%q scores %v, want %v", item.Text, item.Score, want[item.Text])
			}
		}
		if reply.Items[0].Text != plain.Items[2].Text || hasDegraded(reply.Degraded, "rerank") || strings.Contains(asked.Load().(string), "4111 1111") {
			t.Errorf("got %v, degraded %v, having asked %v", textsOf(reply.Items), reply.Degraded, asked.Load())
		}
	})
	for name, answer := range map[string]http.HandlerFunc{
		"an error":            func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no", http.StatusInternalServerError) },
		"no JSON":             write("fine"),
		"nothing":             write(scoresOf()),
		"a part":              write(scoresOf([2]float64{0, 1}, [2]float64{2, 3})),
		"one text twice":      write(scoresOf([2]float64{0, 1}, [2]float64{1, 2}, [2]float64{1, 3})),
		"a text nobody asked": write(scoresOf([2]float64{0, 1}, [2]float64{1, 2}, [2]float64{7, 3})),
		"NaN":                 write(`{"results":[{"index":0,"relevance_score":NaN},{"index":1,"relevance_score":1},{"index":2,"relevance_score":1}]}`),
		"nothing in time": func(_ http.ResponseWriter, r *http.Request) {
			if _, err := io.Copy(io.Discard, r.Body); err == nil { // the end of a request is seen once it was read
				<-r.Context().Done()
			}
		},
	} {
		t.Run("a reranker behind HTTP that answers "+name+" changes nothing", func(t *testing.T) {
			t.Parallel()
			reply := reranking(t, answer)
			if !slices.Equal(textsOf(reply.Items), textsOf(plain.Items)) || !hasDegraded(reply.Degraded, "rerank: ") {
				t.Errorf("got %v, degraded %v", textsOf(reply.Items), reply.Degraded)
			}
			for i := range reply.Items {
				if reply.Items[i].Score != plain.Items[i].Score {
					t.Errorf("%q scores %v", reply.Items[i].Text, reply.Items[i].Score)
				}
			}
		})
	}
}
