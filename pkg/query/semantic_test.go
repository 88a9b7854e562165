package query_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/consolidate"
	"github.com/eunoe-memory/eunoe/pkg/consolidate/consolidatetest"
	"github.com/eunoe-memory/eunoe/pkg/events/natstest"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/query"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

// meaning is a fixture with an embedding model.
type meaning struct {
	*fixture
	model *consolidatetest.Embedder
}

func newMeaning(t *testing.T) meaning {
	t.Helper()
	m := consolidatetest.NewEmbedder("test:model")
	return meaning{newFixtureWith(t, query.DefaultConfig(), func(d *query.Deps) { d.Embedder = m }), m}
}

func (m meaning) vector(text string) memory.Vector {
	m.t.Helper()
	v, err := m.model.Embed(context.Background(), []string{text})
	if err != nil {
		m.t.Fatal(err)
	}
	return v[0]
}

// hear stores messages with their vectors.
func (m meaning) hear(messages ...memory.Message) {
	m.t.Helper()
	m.say(messages...)
	for i, msg := range messages {
		seq := m.seq - uint64(len(messages)) + uint64(i) + 1
		bank := msg.Bank
		if bank == "" {
			bank = alice
		}
		m.apply(bank, memory.Changes{MessageVectors: []memory.LateVector{{Record: memory.RecordMessage, Seq: seq, Model: m.model.Name(), Vector: m.vector(msg.Content)}}})
	}
}

func TestSemanticRecall(t *testing.T) {
	t.Parallel()
	ids := func(items []memory.Item) (out []string) {
		for _, i := range items {
			out = append(out, i.ID)
		}
		return out
	}
	ask := wire.RecallRequest{Query: "Which automobile?", Explain: true}
	t.Run("finds a message by what it means, though it shares no word", func(t *testing.T) {
		t.Parallel()
		m := newMeaning(t)
		m.hear(memory.Message{ID: "bees", Content: "We keep bees on the roof."}, memory.Message{ID: "car", Content: "My old car broke down."}, memory.Message{ID: "rain", Content: "Nothing but rain today."})
		r := m.recall(alice, ask)
		if len(r.Items) == 0 || r.Items[0].ID != "car" || r.Items[0].Explain[memory.StrategySemantic].Score <= .3 || len(r.Degraded) != 0 {
			t.Errorf("found are %+v, degraded %q", r.Items, r.Degraded)
		}
	})
	t.Run("passes messages through every filter", func(t *testing.T) {
		t.Parallel()
		m := newMeaning(t)
		early, late := noon.Add(-48*time.Hour), noon.Add(-time.Hour)
		m.hear(memory.Message{ID: "mine", Content: "My old car broke down.", Time: early, Speaker: "Ann", Topic: "garage"},
			memory.Message{ID: "other", Content: "That car is mine.", Time: late, Session: "s2", Speaker: "Ben"},
			memory.Message{ID: "was", Content: "The car is red.", Time: early, Speaker: "Ann"},
			memory.Message{ID: "now", Content: "The car is blue.", Time: late, Speaker: "Ann", Replaces: "was"},
			memory.Message{ID: "far", Bank: "bob", Content: "The car of another bank."})
		only := ask
		only.Strategies = map[string]float64{memory.StrategySemantic: 1}
		for _, c := range []struct {
			name   string
			change func(*wire.RecallRequest)
			want   []string
		}{
			{"none", func(*wire.RecallRequest) {}, []string{"mine", "now", "other"}},
			{"session", func(r *wire.RecallRequest) { r.Session = "s2" }, []string{"other"}},
			{"speaker", func(r *wire.RecallRequest) { r.Speakers = []string{"ben"} }, []string{"other"}},
			{"topic", func(r *wire.RecallRequest) { r.Topics = []string{"garage"} }, []string{"mine"}},
			{"from", func(r *wire.RecallRequest) { r.From = ptr(noon.Add(-2 * time.Hour)) }, []string{"now", "other"}},
			{"as of", func(r *wire.RecallRequest) { r.AsOf = ptr(noon.Add(-24 * time.Hour)) }, []string{"mine", "was"}},
			{"record", func(r *wire.RecallRequest) { r.Records = []memory.Record{memory.RecordFact} }, nil},
		} {
			r := only
			c.change(&r)
			got := ids(m.recall(alice, r).Items)
			slices.Sort(got)
			if !slices.Equal(got, c.want) {
				t.Errorf("%s: found %v; want %v", c.name, got, c.want)
			}
		}
		m.apply(alice, memory.Changes{Forgotten: &memory.Forgotten{Messages: []uint64{1}}})
		if got := ids(m.recall(alice, only).Items); slices.Contains(got, "mine") {
			t.Errorf("a forgotten message is found: %v", got)
		}
	})
	t.Run("a word match also has its similarity, however many items are nearer", func(t *testing.T) {
		t.Parallel()
		cfg := query.DefaultConfig()
		cfg.Recall.Messages, cfg.Recall.Facts = 3, 3
		model := consolidatetest.NewEmbedder("test:model")
		m := meaning{newFixtureWith(t, cfg, func(d *query.Deps) { d.Embedder = model }), model}
		for range 6 {
			m.hear(memory.Message{Content: "A car, a car, a car."})
		}
		m.hear(memory.Message{ID: "word", Content: "The automobile museum in Turin has a tower, a cellar, a garden and a library."})
		for _, i := range m.recall(alice, ask).Items {
			if i.ID == "word" {
				if s := i.Explain[memory.StrategySemantic].Score; s <= 0 {
					t.Errorf("its similarity is %v", s)
				}
				return
			}
		}
		t.Error("the message with the word was not found")
	})
	t.Run("a fact and the message it came from take one place", func(t *testing.T) {
		t.Parallel()
		m := newMeaning(t)
		m.hear(memory.Message{ID: "car", Content: "My old car broke down."}, memory.Message{ID: "bees", Content: "We keep bees."})
		text := "Alice has an old car."
		m.know(alice, memory.Fact{Text: text, Sources: m.from(alice, "car"), Vector: m.vector(text), Model: m.model.Name()})
		r := m.recall(alice, ask)
		if len(r.Items) == 0 || r.Items[0].Text != text || slices.Contains(ids(r.Items), "car") {
			t.Errorf("found are %v", textsOf(r.Items))
		}
	})
	t.Run("asks a model that tells questions from texts for a question's vector", func(t *testing.T) {
		t.Parallel()
		model := &asker{Embedder: consolidatetest.NewEmbedder("test:model")}
		w := newFixtureWith(t, query.DefaultConfig(), func(d *query.Deps) { d.Embedder = model })
		m := meaning{w, model.Embedder}
		m.hear(memory.Message{ID: "bees", Content: "We keep bees."}, memory.Message{ID: "car", Content: "My car broke down."})
		r := m.recall(alice, wire.RecallRequest{Query: "Anything?", Strategies: map[string]float64{memory.StrategySemantic: 1}})
		if model.asked != "Anything?" || len(r.Items) == 0 || r.Items[0].ID != "bees" {
			t.Errorf("asked for %q, found %v", model.asked, ids(r.Items))
		}
	})
}

// asker is an embedder that embeds every question as a question about bees.
type asker struct {
	*consolidatetest.Embedder
	asked string
}

func (a *asker) EmbedQuery(ctx context.Context, text string) (memory.Vector, error) {
	a.asked = text
	v, err := a.Embed(ctx, []string{"bees"})
	if err != nil {
		return nil, err
	}
	return v[0], nil
}

func TestTheEmbedderAndTheEndpoints(t *testing.T) {
	t.Parallel()
	t.Run("a vector of another size is a conflict that says what to do", func(t *testing.T) {
		t.Parallel()
		m := newMeaning(t)
		m.hear(memory.Message{Content: "My car broke down."})
		_, err := m.service.Recall(t.Context(), alice, wire.RecallRequest{Query: "car", Vector: memory.Vector{1, 0}})
		if !errors.Is(err, memory.ErrConflict) || !strings.Contains(err.Error(), "test:model") || !strings.Contains(err.Error(), "or none") {
			t.Errorf("recall gave %v", err)
		}
		_, err = m.service.Writes().Retain(t.Context(), alice, wire.RetainRequest{Facts: []memory.FactInput{{Text: "A fact.", Vector: memory.Vector{1, 0}}}})
		if !errors.Is(err, memory.ErrConflict) {
			t.Errorf("retain gave %v", err)
		}
	})
	t.Run("with the embedder down words still answer and degraded says so", func(t *testing.T) {
		t.Parallel()
		m := newMeaning(t)
		m.hear(memory.Message{ID: "car", Content: "My car broke down."})
		m.model.Down(true)
		r := m.recall(alice, wire.RecallRequest{Query: "What about the car?"})
		if len(r.Items) != 1 || r.Items[0].ID != "car" || len(r.Degraded) != 1 || !strings.Contains(r.Degraded[0], "semantic") {
			t.Errorf("found %v, degraded %q", r.Items, r.Degraded)
		}
	})
}

// embeddedLater retains and edits facts while the embedder is down: they are stored at once, found by words, and found
// by similarity when the embedder is back.
func embeddedLater(t *testing.T) {
	conn := natstest.Start(t)
	model := consolidatetest.NewEmbedder("test:model")
	w := newFixtureWith(t, query.DefaultConfig(), func(d *query.Deps) { d.Embedder, d.Conn = model, conn })
	cfg := consolidate.DefaultConfig()
	cfg.Thresholds, cfg.Model, cfg.Dimension = model.Thresholds(), model.Name(), model.Dimension()
	c, err := consolidate.New(cfg, consolidate.Deps{Conn: natstest.Another(t, conn), Store: w.db, Redactor: plain{}, Embedder: model})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- c.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	model.Down(true)
	wait := ptr(memory.Duration(10 * time.Second))
	kept, err := w.service.Writes().Retain(t.Context(), alice, wire.RetainRequest{WriteControl: wire.WriteControl{Wait: wait},
		Facts: []memory.FactInput{{Text: "Alice drives a red car."}, {Text: "Alice keeps bees."}}})
	if err != nil || len(kept.Results) != 2 || kept.Results[0].Outcome != memory.OutcomeAdded {
		t.Fatalf("retain gave %+v, %v", kept, err)
	}
	edited, err := w.service.Writes().Edit(t.Context(), alice, wire.EditRequest{WriteControl: wire.WriteControl{Wait: wait},
		ID: memory.FactID(kept.Results[1].ID), Text: "Alice keeps many bees."})
	if err != nil {
		t.Fatal(err)
	}
	r := w.recall(alice, wire.RecallRequest{Query: "bees", AfterWrite: edited.Write, Wait: wait})
	if len(r.Items) == 0 || r.Items[0].Text != "Alice keeps many bees." || len(r.Degraded) == 0 {
		t.Errorf("found %v, degraded %q", textsOf(r.Items), r.Degraded)
	}
	model.Down(false)
	natstest.Eventually(t, "they are found by what they mean", func() bool {
		r := w.recall(alice, wire.RecallRequest{Query: "vehicle", Strategies: map[string]float64{memory.StrategySemantic: 1}})
		return len(r.Items) > 1 && r.Items[0].Text == "Alice drives a red car."
	})
}

type plain struct{}

func (plain) Redact(text string) string { return text }
