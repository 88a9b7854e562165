// Package llm tests the whole pipeline with language models that fail, and with ones that obey what they should not.
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
	"github.com/eunoe-memory/eunoe/test/scriptedmodel"
)

// faultyModel is a model server in which each case can have its own fault; a call belongs to the case that its body
// names.
type faultyModel struct {
	url     string
	healthy *scriptedmodel.Handler
	faulty  map[scriptedmodel.Kind]*scriptedmodel.Handler

	mu     sync.Mutex
	active map[string]activeFault // by name of the case
	asked  map[string]int         // calls by stage and name
}

type activeFault struct {
	stage string // "" = every one
	kind  scriptedmodel.Kind
	left  int // calls that still meet it; negative = all until the cure
}

// caseName matches the names of cases, which are names of people in the texts.
var caseName = regexp.MustCompile(`\bKim[a-z]{3}\b`)

// slowly is the duration of a trickled answer, longer than any call may take.
const slowly = time.Minute

func newFaultyModel(t *testing.T, kinds []scriptedmodel.Kind) *faultyModel {
	t.Helper()
	w := &faultyModel{healthy: scriptedmodel.New(nil), faulty: map[scriptedmodel.Kind]*scriptedmodel.Handler{}, active: map[string]activeFault{}, asked: map[string]int{}}
	for _, k := range kinds {
		f := scriptedmodel.Fault{Kind: k}
		switch k {
		case scriptedmodel.Slow, scriptedmodel.Hang:
			f.Wait = slowly
		case scriptedmodel.RateLimit, scriptedmodel.Overloaded:
			f.Wait = time.Second
		}
		w.faulty[k] = scriptedmodel.New((&scriptedmodel.Script{}).Inject(f))
	}
	s := httptest.NewServer(w)
	t.Cleanup(func() {
		w.healthy.Close()
		for _, h := range w.faulty {
			h.Close()
		}
		s.CloseClientConnections()
		s.Close()
	})
	w.url = s.URL
	return w
}

// ServeHTTP answers without faults, or with the fault of the case.
func (w *faultyModel) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	stage, to := stageOf(r.URL.Path, string(body)), w.healthy
	w.mu.Lock()
	for _, name := range caseName.FindAllString(string(body), -1) {
		if i, ok := w.active[name]; ok && (i.stage == stage || i.stage == "") && i.left != 0 {
			to = w.faulty[i.kind]
			w.asked[stage+" "+name]++
			i.left--
			w.active[name] = i
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

// setFault injects a fault into the next n calls of a case's stage; negative means every call until clearFault.
func (w *faultyModel) setFault(name, stage string, kind scriptedmodel.Kind, times int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.active[name] = activeFault{stage, kind, times}
}

func (w *faultyModel) clearFault(name string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.active, name)
}

// hits returns how many calls of a case's stage hit its fault so far.
func (w *faultyModel) hits(stage, name string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.asked[stage+" "+name]
}

// calls returns the number of calls of each stage, with or without a fault; adequacy counts as judge.
func (w *faultyModel) calls() map[string]int {
	out := map[string]int{}
	for _, h := range append(slices.Collect(maps.Values(w.faulty)), w.healthy) {
		for stage, u := range h.Stats().Stages {
			if stage == scriptedmodel.StageAdequacy {
				stage = memory.StageJudge
			}
			out[stage] += u.Calls
		}
	}
	return out
}
