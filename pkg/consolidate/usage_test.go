package consolidate_test

import (
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/eunoe-memory/eunoe/pkg/consolidate/consolidatetest"
	"github.com/eunoe-memory/eunoe/pkg/events/natstest"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/query"
	"github.com/eunoe-memory/eunoe/pkg/store/sqlite"
)

// took is what one call of a stage takes.
func took(stage string, calls, failed, prompt int) []memory.StageUsage {
	return []memory.StageUsage{{Stage: stage, Model: "fake:m", Usage: memory.Usage{Calls: calls, Failed: failed, PromptTokens: prompt, CachedTokens: 1, CompletionTokens: 2}}}
}

// appendAgain appends a write past the broker's memory of ids.
func (s *stage) appendAgain(w memory.Write) uint64 {
	s.Helper()
	body, err := json.Marshal(w)
	if err != nil {
		s.Fatal(err)
	}
	ack, err := s.conn.JS.Publish(s.Context(), s.conn.Naming.WriteSubject("alice", w.Kind), body)
	if err != nil {
		s.Fatal(err)
	}
	return ack.Sequence
}

func (s *stage) usage(db *sqlite.DB) []memory.StageUsage {
	s.Helper()
	var out []memory.StageUsage
	err := db.Read(s.Context(), "alice", func(r query.Reader) (err error) {
		out, err = r.Usage()
		return err
	})
	if err != nil && !errors.Is(err, memory.ErrNotFound) {
		s.Fatal(err)
	}
	return out
}

func (s *stage) rebuilt() *sqlite.DB {
	s.Helper()
	again := openStore(s.T, filepath.Join(s.TempDir(), "again.db"))
	if err := s.rebuilder(again).Rebuild(s.Context(), nil); err != nil {
		s.Fatal(err)
	}
	return again
}

func TestUsage(t *testing.T) {
	t.Parallel()
	t.Run("usage counts once for every event, forgotten and rebuilt or not, and goes with its bank", func(t *testing.T) {
		t.Parallel()
		s := newStage(t)
		c := s.consolidator(natstest.Another(t, s.conn), s.db)
		s.runAs(c)
		m1, m2 := s.say("m1", "I own a boat."), s.say("m2", "I own a plane.")
		w := memory.Window{ID: memory.NewWindowID("alice", "s1", m1, m2, 0), Trigger: memory.TriggerFlush, New: []memory.WindowMessage{{Seq: m1}, {Seq: m2}}}
		write := memory.Write{Kind: memory.WriteWindow, Op: string(w.ID), Upto: m2, Usage: took(memory.StageExtract, 2, 1, 100),
			Window: &memory.WindowEnd{Window: w, SessionID: "s1", Outcome: memory.WindowFacts}}
		for i, text := range []string{"Alice owns a boat.", "Alice owns a plane."} {
			f := consolidatetest.Fact(t, "Alice", text)
			f.ID, f.Sources = memory.NewFactID("alice", text, f.Kind), []memory.Source{{Message: memory.MessageID([]string{"m1", "m2"}[i]), Seq: m1 + uint64(i)}}
			write.Facts = append(write.Facts, f)
		}
		s.append(write)
		s.appendAgain(write) // extracted twice: it took tokens twice
		s.append(memory.Write{Kind: memory.WriteUsage, Op: "a failed try", Usage: took(memory.StageExtract, 1, 1, 7)})
		byHand := consolidatetest.Fact(t, "Alice", "Alice is tall.")
		byHand.ID = memory.NewFactID("alice", byHand.Text, byHand.Kind)
		s.applied(s.append(memory.Write{Kind: memory.WriteRetain, Op: "by hand", Facts: []memory.Fact{byHand}, Usage: took(memory.StageEmbed, 1, 0, 3)}))
		want := []memory.StageUsage{
			{Stage: memory.StageEmbed, Model: "fake:m", Usage: memory.Usage{Calls: 1, PromptTokens: 3, CachedTokens: 1, CompletionTokens: 2}},
			{Stage: memory.StageExtract, Model: "fake:m", Usage: memory.Usage{Calls: 5, Failed: 3, PromptTokens: 207, CachedTokens: 3, CompletionTokens: 6}},
		}
		same := func(when string, got []memory.StageUsage) {
			t.Helper()
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("usage %s (-want +got):\n%s", when, diff)
			}
		}
		same("as applied", s.usage(s.db))
		same("rebuilt", s.usage(s.rebuilt()))
		for i, id := range []string{"m1", string(byHand.ID)} {
			s.applied(s.append(memory.Write{Kind: memory.WriteForget, Op: []string{"f1", "f2"}[i], Upto: m2, Forget: &memory.ForgetRequest{ID: id}}))
		}
		s.erasedAll()
		last, err := s.conn.LastWrite(t.Context(), "alice")
		if err != nil {
			t.Fatal(err)
		}
		s.applied(last)
		same("after what was forgotten was appended anew", s.usage(s.db))
		same("rebuilt after it", s.usage(s.rebuilt()))
		if err := testutil.CollectAndCompare(c.Metrics(), strings.NewReader(`
# HELP eunoe_usage_calls_total Calls of models.
# TYPE eunoe_usage_calls_total counter
eunoe_usage_calls_total{model="fake:m",outcome="failed",stage="embed"} 0
eunoe_usage_calls_total{model="fake:m",outcome="failed",stage="extract"} 3
eunoe_usage_calls_total{model="fake:m",outcome="ok",stage="embed"} 1
eunoe_usage_calls_total{model="fake:m",outcome="ok",stage="extract"} 2
`), "eunoe_usage_calls_total"); err != nil {
			t.Error(err)
		}
		s.applied(s.append(memory.Write{Kind: memory.WriteForget, Op: "all", Upto: m2, Forget: &memory.ForgetRequest{Bank: true}}))
		s.erasedAll()
		want = nil
		same("of an erased bank", s.usage(s.db))
		s.say("m3", "I am back.")
		same("of an erased bank, rebuilt", s.usage(s.rebuilt()))
	})
}

// erasedAll waits until the log holds nothing that a forget still has to erase.
func (s *stage) erasedAll() {
	s.Helper()
	natstest.Eventually(s.T, "the log is erased", func() bool {
		list, err := s.db.Erasures(s.Context(), "", 1)
		return err == nil && len(list) == 0
	})
}
