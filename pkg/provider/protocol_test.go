package provider_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/provider"
	"github.com/eunoe-memory/eunoe/pkg/provider/rerank"
	"github.com/eunoe-memory/eunoe/test/scriptedmodel"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestAgainstAServer runs against a server that speaks the whole protocol.
func TestAgainstAServer(t *testing.T) {
	t.Parallel()
	t.Run("answers of every kind come to an end that has a meaning, and the meter tells what the server reported", func(t *testing.T) {
		t.Parallel()
		for _, kind := range scriptedmodel.Kinds() {
			script := (&scriptedmodel.Script{}).Inject(scriptedmodel.Fault{Kind: kind, Wait: time.Millisecond})
			if kind == scriptedmodel.RateLimit || kind == scriptedmodel.Overloaded {
				script = (&scriptedmodel.Script{}).Inject(scriptedmodel.Fault{Kind: kind, Wait: time.Hour})
			}
			s := scriptedmodel.Start(t, script)
			c := config("openai:testmodel", s.URL)
			c.Timeout = 20 * time.Second // what ends on its way to the server is counted here alone
			ctx, took := metered()
			got, err := open(t, c).Language(memory.StageExtract).Complete(ctx, memory.Prompt{
				System: "Task: extract", User: "[1] Alice: I live in Lisbon.", Schema: []byte(factSchema), SchemaName: "facts",
			})
			wrong := err != nil && !errors.Is(err, memory.ErrUnavailable) && !errors.Is(err, memory.ErrInvalid) && !errors.Is(err, memory.ErrTooLarge)
			if wrong || err == nil && (got.Text == "") != (kind == scriptedmodel.Empty) || err == nil && kind == scriptedmodel.Length && !got.Truncated {
				t.Errorf("%s: %+v, %v", kind, got, err)
			}
			sum, total := took(), s.Stats().Total()
			if kind == scriptedmodel.WebPage {
				total.PromptTokens, total.CompletionTokens = 0, 0 // nothing in a page tells of them
			}
			if sum.Tokens() != total.Tokens() || sum.Calls != total.Calls {
				t.Errorf("%s: counted %+v, the server reported %+v", kind, sum, total)
			}
		}
	})
	t.Run("embeddings and both shapes of reranking", func(t *testing.T) {
		t.Parallel()
		s := scriptedmodel.Start(t, &scriptedmodel.Script{Dimension: 32})
		for _, rerank := range []rerank.Config{{URL: s.URL, Model: "bge"}, {URL: strings.TrimSuffix(s.URL, "/v1"), Shape: rerank.TEI}} {
			c := config("openai:testmodel", s.URL)
			c.Embed = provider.Embedding{Model: provider.Model{Name: "openai:embed", URL: s.URL}}
			c.Rerank = rerank
			set := open(t, c)
			if err := set.Measure(context.Background()); err != nil || set.Embedder().Dimension() != 32 {
				t.Fatalf("dimension %d, %v", set.Embedder().Dimension(), err)
			}
			if v, err := set.Embedder().Embed(context.Background(), []string{"Alice lives in Lisbon.", "a build"}); err != nil || len(v) != 2 || len(v[0]) != 32 {
				t.Errorf("%v, %v", v, err)
			}
			got, err := set.Reranker().Rerank(context.Background(), "Where does Alice live?", []string{"The build is broken.", "Alice lives in Lisbon."})
			if err != nil || len(got) != 2 || got[1] <= got[0] {
				t.Errorf("%+v: %v, %v", rerank, got, err)
			}
		}
	})
	t.Run("concurrent calls each get their own answer", func(t *testing.T) {
		t.Parallel()
		script := &scriptedmodel.Script{}
		script.Func("", func(r scriptedmodel.Request) scriptedmodel.Response {
			return scriptedmodel.Response{Text: "re " + r.User}
		})
		s := scriptedmodel.Start(t, script)
		c := config("openai:testmodel", s.URL)
		c.Concurrency = 3
		m := open(t, c).Language(memory.StageReflect)
		done := make(chan error)
		for i := range 40 {
			go func() {
				want := fmt.Sprintf("re question %d", i)
				var said strings.Builder
				p := memory.Prompt{User: fmt.Sprintf("question %d", i)}
				if i%2 == 0 {
					p.Stream = func(piece string) error { said.WriteString(piece); return nil }
				}
				got, err := m.Complete(context.Background(), p)
				if err == nil && (got.Text != want || p.Stream != nil && said.String() != want) {
					err = fmt.Errorf("got %q and %q, want %q", got.Text, said.String(), want)
				}
				done <- err
			}()
		}
		for range 40 {
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
	})
}
