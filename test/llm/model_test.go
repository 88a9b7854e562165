// Package llm tests the whole pipeline with language models that fail, and
// with ones that obey what they should not.
package llm_test

import (
	"bytes"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/provider/providertest"
)

// ward is a model's server in which each case can be given a fault of its
// own: a call belongs to the case whose name its body holds.
type ward struct {
	url  string
	well *providertest.Handler
	sick map[providertest.Kind]*providertest.Handler

	mu    sync.Mutex
	ill   map[string]illness // by name of the case
	asked map[string]int     // calls by stage and name
}

type illness struct {
	stage string // "" = every one
	kind  providertest.Kind
	left  int // calls that still meet it; negative = all until the cure
}

// caseName is the form of the names of cases: people whom a text speaks of.
var caseName = regexp.MustCompile(`\bKim[a-z]{3}\b`)

// slowly is how long a trickle takes: longer than any call may.
const slowly = time.Minute

func newWard(t *testing.T, kinds []providertest.Kind) *ward {
	t.Helper()
	w := &ward{well: providertest.New(nil), sick: map[providertest.Kind]*providertest.Handler{}, ill: map[string]illness{}, asked: map[string]int{}}
	for _, k := range kinds {
		f := providertest.Fault{Kind: k}
		switch k {
		case providertest.Slow, providertest.Hang:
			f.Wait = slowly
		case providertest.RateLimit, providertest.Overloaded:
			f.Wait = time.Second
		}
		w.sick[k] = providertest.New((&providertest.Script{}).Inject(f))
	}
	s := httptest.NewServer(w)
	t.Cleanup(func() {
		w.well.Close()
		for _, h := range w.sick {
			h.Close()
		}
		s.CloseClientConnections()
		s.Close()
	})
	w.url = s.URL
	return w
}

// ServeHTTP answers well, or as the case's fault has it.
func (w *ward) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	stage, to := stageOf(r.URL.Path, string(body)), w.well
	w.mu.Lock()
	for _, name := range caseName.FindAllString(string(body), -1) {
		if i, ok := w.ill[name]; ok && (i.stage == stage || i.stage == "") && i.left != 0 {
			to = w.sick[i.kind]
			w.asked[stage+" "+name]++
			i.left--
			w.ill[name] = i
			break
		}
	}
	w.mu.Unlock()
	to.ServeHTTP(rw, r)
}

// stageOf reads the stage of a call.
func stageOf(path, body string) string {
	switch {
	case strings.HasSuffix(path, "/embeddings"):
		return memory.StageEmbed
	case strings.HasSuffix(path, "/rerank"):
		return memory.StageRerank
	}
	_, rest, _ := strings.Cut(body, "Task: ")
	return rest[:max(0, strings.IndexFunc(rest, func(r rune) bool { return r < 'a' || r > 'z' }))]
}

// infect gives the next calls of a case's stage a fault, so many times;
// negative = until the cure.
func (w *ward) infect(name, stage string, kind providertest.Kind, times int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ill[name] = illness{stage, kind, times}
}

func (w *ward) cure(name string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.ill, name)
}

// hits is how many calls of a case's stage met its fault so far.
func (w *ward) hits(stage, name string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.asked[stage+" "+name]
}

// calls is how many calls of each stage came, well or ill, as they are counted:
// adequacy is among the judge's.
func (w *ward) calls() map[string]int {
	out := map[string]int{}
	for _, h := range append(slices.Collect(maps.Values(w.sick)), w.well) {
		for stage, u := range h.Stats().Stages {
			if stage == providertest.StageAdequacy {
				stage = memory.StageJudge
			}
			out[stage] += u.Calls
		}
	}
	return out
}
