package query_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/provider"
	"github.com/eunoe-memory/eunoe/pkg/query"
	"github.com/eunoe-memory/eunoe/pkg/wire"
	"github.com/eunoe-memory/eunoe/test/scriptedmodel"
)

// gated passes a number of bytes of every answer, and the rest once open is closed.
type gated struct {
	http.ResponseWriter
	left int
	open <-chan struct{}
}

func (g *gated) Unwrap() http.ResponseWriter { return g.ResponseWriter }

func (g *gated) Write(p []byte) (int, error) {
	if g.left -= len(p); g.left < 0 {
		<-g.open
	}
	return g.ResponseWriter.Write(p)
}

// serveScript returns a service with a scripted model behind HTTP.
func serveScript(t *testing.T, script *scriptedmodel.Script, wrap func(http.ResponseWriter) http.ResponseWriter) *served {
	t.Helper()
	h := scriptedmodel.New(script)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { h.ServeHTTP(wrap(w), r) }))
	t.Cleanup(func() { srv.Close(); h.Close() })
	c := provider.DefaultConfig()
	c.Stages = map[string]provider.Model{memory.StageReflect: {Name: "openai:testmodel", URL: srv.URL + "/v1"}}
	set, err := provider.New(c, provider.Deps{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(set.Close)
	s := serveWith(t, func(d *query.Deps) { d.Answerer = set.Language(memory.StageReflect) })
	furnish(s.fixture)
	return s
}

func TestStreamFromAProvider(t *testing.T) {
	t.Parallel()
	const text = "She lives in Lisbon [1], as she said in May herself; it is by the sea, and her sister Clara lives in Porto."
	t.Run("an answer in the arguments of done is told while the model still writes it", func(t *testing.T) {
		t.Parallel()
		open := make(chan struct{})
		release := sync.OnceFunc(func() { close(open) })
		t.Cleanup(release)
		s := serveScript(t, (&scriptedmodel.Script{}).Call(memory.StageReflect, "done", doneArgs(text, 1)),
			func(w http.ResponseWriter) http.ResponseWriter { return &gated{w, 1000, open} })
		got := s.watchEach(t, twoTurns, func(wire.Delta) { release() })
		if len(got.deltas) < 3 || got.resets != 0 || got.reply.Response != text || got.reply.Mode != "answer" || len(got.reply.Citations) != 1 {
			t.Errorf("got %+v", got)
		}
	})
	t.Run("an answer that is written slowly is streamed too", func(t *testing.T) {
		t.Parallel()
		script := (&scriptedmodel.Script{}).Respond(memory.StageReflect, scriptedmodel.Response{Fault: scriptedmodel.Slow, Wait: 300 * time.Millisecond,
			Calls: []memory.ToolCall{{Name: "done", Arguments: doneArgs(text, 1)}}})
		got := serveScript(t, script, func(w http.ResponseWriter) http.ResponseWriter { return w }).watch(t, lastTurn)
		if len(got.deltas) < 3 || got.resets != 0 || strings.Join(got.deltas, "") != text || got.reply.Usage.Calls != 1 {
			t.Errorf("got %+v", got)
		}
	})
	t.Run("a model that follows the rules searches, then streams its answer", func(t *testing.T) {
		t.Parallel()
		got := serveScript(t, nil, func(w http.ResponseWriter) http.ResponseWriter { return w }).watch(t, `{"query":"Where does Alice live?","stream":true}`)
		if got.reply.Mode != "answer" || !strings.Contains(got.reply.Response, "Lisbon") || len(got.reply.Citations) == 0 || len(got.deltas) < 2 || got.reply.Turns != 2 {
			t.Errorf("got %+v", got)
		}
	})
}
