package local_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/eunoe-memory/eunoe/internal/app/apptest"
	"github.com/eunoe-memory/eunoe/internal/app/local"
)

// modelServer serves vectors of three dimensions and scores, and records the key of each request.
func modelServer(t *testing.T) (url string, keys func() []string) {
	t.Helper()
	var mu sync.Mutex
	var seen []string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		seen = append(seen, r.URL.Path+" "+r.Header.Get("Authorization"))
		mu.Unlock()
		raw, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		var body struct {
			Input, Texts []string
		}
		if err := json.Unmarshal(raw, &body); err != nil {
			t.Error(err)
		}
		var out []string
		switch {
		case strings.HasSuffix(r.URL.Path, "/embeddings"):
			for i := range body.Input {
				out = append(out, fmt.Sprintf(`{"index":%d,"embedding":[1,%d,0]}`, i, len(body.Input[i])))
			}
			_, _ = fmt.Fprintf(w, `{"data":[%s]}`, strings.Join(out, ","))
		case strings.HasSuffix(r.URL.Path, "/rerank"):
			for i, text := range body.Texts {
				score := 0.1
				if strings.Contains(text, "Lisbon") {
					score = 0.9
				}
				out = append(out, fmt.Sprintf(`{"index":%d,"score":%v}`, i, score))
			}
			_, _ = fmt.Fprintf(w, `[%s]`, strings.Join(out, ","))
		default:
			w.WriteHeader(http.StatusNotFound)
		}
	}))
	t.Cleanup(s.Close)
	return s.URL, func() []string {
		mu.Lock()
		defer mu.Unlock()
		return append([]string(nil), seen...)
	}
}

func TestModelsOfAProcess(t *testing.T) {
	t.Parallel()
	t.Run("an embedding model embeds what is retained, a reranker sees a recall, and the store keeps to the model", func(t *testing.T) {
		t.Parallel()
		url, asked := modelServer(t)
		c := apptest.Settings(t, map[string]string{"EMBED": "openai:tiny", "EMBED_URL": url + "/v1", "EMBED_KEY": "k-embed", "RERANK_URL": url, "RERANK_KEY": "k-rerank"})
		l := apptest.Start(t, c)
		nc, err := nats.Connect(l.URL)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(nc.Close)
		request := func(what, body string) string {
			m, err := nc.Request("mem.alice."+what, []byte(body), 10e9)
			if err != nil {
				t.Fatal(err)
			}
			return string(m.Data)
		}
		got := request("retain", `{"facts":[{"text":"Alice lives in Lisbon."},{"text":"Alice has a dog named Rex."}]}`)
		if !strings.Contains(got, `"added"`) {
			t.Fatalf("retain: %s", got)
		}
		got = request("recall", `{"query":"Where does Alice live?","records":["fact"]}`)
		if first, second := strings.Index(got, "Lisbon"), strings.Index(got, "Rex"); first < 0 || second < 0 || first > second || strings.Contains(got, "rerank") {
			t.Errorf("recall: %s", got)
		}
		all := strings.Join(asked(), "\n")
		if !strings.Contains(all, "/v1/embeddings Bearer k-embed") || !strings.Contains(all, "/rerank Bearer k-rerank") {
			t.Errorf("asked were\n%s", all)
		}
		if _, body := apptest.Get(t, "http://"+l.HTTP+"/metrics"); !strings.Contains(body, `eunoe_model_calls_total{model="openai:tiny",outcome="ok",stage="embed"}`) {
			t.Error("the requests are not among the metrics")
		}
		if err := l.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		c.EmbedDim = 3
		if other, err := local.Start(t.Context(), c, os.Stderr); err == nil || !strings.Contains(err.Error(), "openai:tiny@3") {
			if err == nil {
				err = other.Close(t.Context())
			}
			t.Errorf("another model on the same store: %v", err)
		}
	})
	t.Run("an embedding model that cannot be asked is an error that says what to do", func(t *testing.T) {
		t.Parallel()
		url, _ := modelServer(t)
		c := apptest.Settings(t, map[string]string{"EMBED": "openai:tiny", "EMBED_URL": url + "/nowhere/x"})
		c.EmbedURL = url + "/%zz"
		if l, err := local.Start(t.Context(), c, os.Stderr); err == nil {
			t.Errorf("it started: %v", l.Close(t.Context()))
		}
		c = apptest.Settings(t, map[string]string{"EMBED": "openai:tiny", "EMBED_URL": "http://127.0.0.1:1/v1"})
		c.ModelRetries = 0
		l, err := local.Start(t.Context(), c, os.Stderr)
		if err == nil || !strings.Contains(err.Error(), "EUNOE_EMBED_DIM") {
			if err == nil {
				err = l.Close(t.Context())
			}
			t.Errorf("%v", err)
		}
	})
}
