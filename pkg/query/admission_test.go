package query_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/provider/hashed"
	"github.com/eunoe-memory/eunoe/pkg/query"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

// silent is an embedding model that never answers.
type silent struct {
	hashed.Embedder
	asked atomic.Int32
}

func (s *silent) Thresholds() memory.SimilarityThresholds {
	t := s.Embedder.Thresholds()
	t.RankWeight = 1
	return t
}

func (s *silent) Embed(ctx context.Context, _ []string) ([]memory.Vector, error) {
	s.asked.Add(1)
	<-ctx.Done()
	return nil, ctx.Err()
}

func TestOneBankDoesNotBlockAnother(t *testing.T) {
	t.Parallel()
	t.Run("recalls that wait for what never comes leave every place to others, and too many are told when to come again", func(t *testing.T) {
		t.Parallel()
		s := serve(t)
		s.know(alice, memory.Fact{Text: "Alice lives in Lisbon."})
		inbox := s.nc.NewInbox()
		sub, err := s.nc.SubscribeSync(inbox)
		if err != nil {
			t.Fatal(err)
		}
		most := query.DefaultConfig().Admission.PerBank
		for range most + 1 {
			if err := s.nc.PublishRequest("mem.mallory.recall", inbox, []byte(`{"query":"x","after":1099511627776,"wait":"60s"}`)); err != nil {
				t.Fatal(err)
			}
		}
		msg, err := sub.NextMsg(30 * time.Second)
		if err != nil {
			t.Fatal(err)
		}
		var fault wire.Fault
		if err := json.Unmarshal(msg.Data, &fault); err != nil || fault.Error.Code != 429 || fault.Error.RetryAfter != memory.Duration(time.Second) {
			t.Errorf("the request above the bound is answered %s", msg.Data)
		}
		var fe *memory.FieldError
		if err := fault.Err(); !errors.As(err, &fe) || fe.RetryAfter != time.Second {
			t.Errorf("a client reads %v", err)
		}
		var found wire.RecallReply
		if err := s.ask("mem.alice.recall", `{"query":"Lisbon"}`, &found); err != nil || len(found.Items) == 0 {
			t.Errorf("another bank's recall: %+v, %v", found, err)
		}
	})
	t.Run("an embedder that never answers costs a recall one second, is then left alone, and words answer meanwhile", func(t *testing.T) {
		t.Parallel()
		model := &silent{}
		cfg := query.DefaultConfig()
		cfg.Recall.EmbedTimeout = 10 * time.Millisecond
		w := newFixtureWith(t, cfg, func(d *query.Deps) { d.Embedder = model })
		w.say(memory.Message{Content: "The boat is moored in Porto."})
		var degraded []string
		for i := range 20 {
			r := w.recall(alice, wire.RecallRequest{Query: fmt.Sprintf("Where is the boat %d?", i)})
			if len(r.Items) != 1 || len(r.Degraded) != 1 {
				t.Fatalf("recall %d: %+v, degraded %q", i, textsOf(r.Items), r.Degraded)
			}
			degraded = append(degraded, r.Degraded[0])
		}
		if n := model.asked.Load(); n != 3 {
			t.Errorf("the embedder was asked %d times", n)
		}
		if !strings.Contains(degraded[0], "too slow") || !strings.Contains(degraded[19], "words decide until it is back") {
			t.Errorf("degraded says %q, then %q", degraded[0], degraded[19])
		}
		if d := query.DefaultConfig().Recall.EmbedTimeout; d != time.Second {
			t.Errorf("by default a recall waits %s for the embedder", d)
		}
	})
	t.Run("a deadline that is too short for the embedder does not count against it", func(t *testing.T) {
		t.Parallel()
		model := &silent{}
		w := newFixtureWith(t, query.DefaultConfig(), func(d *query.Deps) { d.Embedder = model })
		w.say(memory.Message{Content: "The boat is moored in Porto."})
		for range 6 {
			w.recall(alice, wire.RecallRequest{Query: "Where is the boat?", Deadline: ptr(memory.Duration(5 * time.Millisecond))})
		}
		if n := model.asked.Load(); n != 6 {
			t.Errorf("the embedder was asked %d times", n)
		}
	})
}
