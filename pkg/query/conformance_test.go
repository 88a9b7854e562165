package query_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/query"
	"github.com/eunoe-memory/eunoe/pkg/query/recall"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

var mixes = []map[string]float64{nil, {"keyword": 1}, {"semantic": 1}, {"entity": 1}, {"temporal": 1}, {"graph": 1, "keyword": 1}, {"recency": 1}}

func TestConformance(t *testing.T) {
	t.Parallel()

	t.Run("recall with any strategy mix never returns another bank's memory", func(t *testing.T) {
		t.Parallel()
		w := newFixture(t)
		words := []string{"tea", "garden", "Lisbon", "piano", "Alice", "train", "yesterday", "green"}
		for b, bank := range []memory.BankID{"alice", "bob", "a%2Fb"} {
			for i := range 20 {
				text := fmt.Sprintf("%s likes %s and %s, says %d.", words[(i+b)%8], words[(i*3+b)%8], words[(i*5)%8], i)
				w.say(memory.Message{Bank: bank, ID: memory.MessageID(fmt.Sprintf("%s-%d", bank, i)), Content: text})
				w.know(bank, memory.Fact{Text: text, Tags: []string{string(bank)}, Entities: []memory.EntityID{"person:alice"},
					Sources: w.from(bank, fmt.Sprintf("%s-%d", bank, i))})
			}
		}
		rapid.Check(t, func(t *rapid.T) {
			bank := rapid.SampledFrom([]memory.BankID{"alice", "bob", "a%2Fb"}).Draw(t, "bank")
			q := strings.Join(rapid.SliceOfN(rapid.SampledFrom(append(words, "b1", "b2", "bank:b2", `"b3"`)), 1, 6).Draw(t, "words"), " ")
			mix := rapid.SampledFrom(mixes).Draw(t, "mix")
			reply, err := w.service.Recall(context.Background(), bank, wire.RecallRequest{Query: q, Strategies: mix, MaxFacts: ptr(100)})
			if err != nil {
				t.Fatal(err)
			}
			for _, item := range reply.Items {
				for _, src := range item.Sources {
					if !strings.HasPrefix(string(src), string(bank)+"-") {
						t.Fatalf("bank %s was given %s", bank, src)
					}
				}
			}
		})
	})

	t.Run("a recall returns at most max_facts items in an order that is the same in 100 runs", func(t *testing.T) {
		t.Parallel()
		w := newFixture(t)
		for i := range 30 {
			w.say(memory.Message{Content: fmt.Sprintf("I drink tea in room %d.", i), Time: noon.Add(-time.Hour)})
		}
		var first []string
		for range 100 {
			reply := w.recall(alice, wire.RecallRequest{Query: "tea in the room", MaxFacts: ptr(7)})
			var ids []string
			for k, item := range reply.Items {
				ids = append(ids, item.ID)
				if k > 0 && (item.Score > reply.Items[k-1].Score || item.Score == reply.Items[k-1].Score && item.ID < reply.Items[k-1].ID) {
					t.Fatalf("item %d is out of order: %v", k, ids)
				}
			}
			if first == nil {
				first = ids
			}
			if len(ids) != 7 || !slices.Equal(ids, first) {
				t.Fatalf("got %v, the first time %v", ids, first)
			}
		}
	})

	t.Run("fusion of crafted lists returns the documented scores exactly", func(t *testing.T) {
		t.Parallel()
		weights := map[string]float64{"keyword": 1, "semantic": .5, "entity": .5}
		for _, c := range []struct {
			scores map[string]float64
			want   float64
		}{
			{map[string]float64{"keyword": .8, "semantic": .4}, (.8 + .5*.4) / 2},
			{map[string]float64{"semantic": 1}, .25},
			{map[string]float64{}, 0},
			{nil, 0},
			{map[string]float64{"graph": 1}, 0},
		} {
			if got := recall.FusedScore(c.scores, weights); math.Abs(got-c.want) > 1e-12 {
				t.Errorf("%v returns %v, want %v", c.scores, got, c.want)
			}
		}
		if got := recall.FusedScore(map[string]float64{"keyword": .37}, map[string]float64{"keyword": 3}); got != .37 {
			t.Errorf("a single strategy returns %v, want its own score", got)
		}
		if got := recall.FusedScore(map[string]float64{"keyword": .37}, nil); got != 0 {
			t.Errorf("no weights give %v, want 0", got)
		}
	})

	t.Run("a time range is inclusive at both ends and finds the only memory in it among 10000", func(t *testing.T) {
		t.Parallel()
		w := newFixture(t)
		at := time.Date(2025, 3, 4, 5, 6, 7, 123456000, time.UTC)
		facts := make([]memory.Fact, 0, 10000)
		for i := range 9999 {
			facts = append(facts, memory.Fact{Text: fmt.Sprintf("The weather report of station %d says sun.", i), Vector: memory.Vector{1, 0}, Said: noon.Add(-time.Duration(i) * time.Second)})
		}
		facts = append(facts, memory.Fact{Text: "Bob sold a boat.", Vector: memory.Vector{-1, 0}, Said: at})
		w.know(alice, facts...)
		for _, r := range [][2]time.Time{{at, at}, {at.Add(-time.Hour), at}, {at, at.Add(time.Hour)}} {
			reply := w.recall(alice, wire.RecallRequest{Query: "weather report station sun", Filter: memory.Filter{From: &r[0], To: &r[1]}})
			if got := textsOf(reply.Items); len(got) != 1 || got[0] != "Bob sold a boat." {
				t.Errorf("from %s to %s returns %v", r[0], r[1], got)
			}
		}
		before, after := at.Add(-time.Hour), at.Add(-time.Microsecond)
		if reply := w.recall(alice, wire.RecallRequest{Query: "boat", Filter: memory.Filter{From: &before, To: &after}}); len(reply.Items) != 0 {
			t.Errorf("a range that ends just before returns %v", textsOf(reply.Items))
		}
	})

	t.Run("entity recall is exact on the canonical entity and works without a vector", func(t *testing.T) {
		t.Parallel()
		w := newFixtureWith(t, query.DefaultConfig(), func(d *query.Deps) { d.Embedder = nil })
		w.know(alice,
			memory.Fact{Text: "He repairs bicycles.", Entities: []memory.EntityID{"person:al"}},
			memory.Fact{Text: "She sings.", Entities: []memory.EntityID{"person:alice"}},
			memory.Fact{Text: "The firm is old.", Entities: []memory.EntityID{memory.NewEntityID("organization", "Smith, Jones & Co")}})
		entity := map[string]float64{"entity": 1}
		for q, want := range map[string]string{"What does Al do?": "He repairs bicycles.", "Alice's hobby": "She sings.", "Tell me of Smith, Jones & Co": "The firm is old."} {
			if got := textsOf(w.recall(alice, wire.RecallRequest{Query: q, Strategies: entity}).Items); !slices.Equal(got, []string{want}) {
				t.Errorf("%q returns %v, want %q alone", q, got, want)
			}
		}
		for filter, want := range map[string]string{"person:al": "He repairs bicycles.", "Alice": "She sings.", "organization:Smith, Jones & Co": "The firm is old."} {
			reply := w.recall(alice, wire.RecallRequest{Query: "anything", Filter: memory.Filter{Entities: []string{filter}}})
			if got := textsOf(reply.Items); !slices.Equal(got, []string{want}) {
				t.Errorf("the filter %q returns %v, want %q alone", filter, got, want)
			}
		}
	})

	t.Run("keyword recall survives any punctuation and returns only rows that match", func(t *testing.T) {
		t.Parallel()
		w := newFixtureWith(t, query.DefaultConfig(), func(d *query.Deps) { d.Embedder = nil })
		w.say(memory.Message{Content: "My favourite tea is green tea."}, memory.Message{Content: "The train was late."},
			memory.Message{Content: "我喜欢喝茶。"}, memory.Message{Content: "The party was great 🎉🎉 AND loud"}, memory.Message{Content: "café NEAR the river"})
		keyword := map[string]float64{"keyword": 1}
		for q, want := range map[string][]string{
			`tea?`: {"My favourite tea is green tea."}, `tea's`: {"My favourite tea is green tea."}, `"tea`: {"My favourite tea is green tea."}, `tea*`: {"My favourite tea is green tea."},
			`(tea`: {"My favourite tea is green tea."}, `tea) OR train)`: {"My favourite tea is green tea.", "The train was late."}, `-tea`: {"My favourite tea is green tea."},
			"te\x00a train": {"The train was late."}, `content:tea`: {"My favourite tea is green tea."}, `bank : "b1" OR tea`: {"My favourite tea is green tea."}, "茶": {"我喜欢喝茶。"}, "喝茶": {"我喜欢喝茶。"},
			"🎉 party": {"The party was great 🎉🎉 AND loud"}, "cafe": {"café NEAR the river"}, "NEAR(river, 2)": {"café NEAR the river"},
			"🎉": {}, `? ' " * ( ) -`: {}, "zebra": {}, "\x00": {},
		} {
			reply, err := w.service.Recall(context.Background(), alice, wire.RecallRequest{Query: q, Strategies: keyword})
			if err != nil {
				t.Errorf("%q: %v", q, err)
				continue
			}
			got := textsOf(reply.Items)
			slices.Sort(got)
			slices.Sort(want)
			if !slices.Equal(got, want) {
				t.Errorf("%q returns %q, want %q", q, got, want)
			}
		}
	})

	t.Run("what is retained without a vector is embedded, later where the embedder is down", func(t *testing.T) {
		t.Parallel()
		embeddedLater(t)
	})

	t.Run("a vector of another size is a typed conflict", func(t *testing.T) {
		t.Parallel()
		w := newFixture(t)
		w.know(alice, memory.Fact{Text: "Alice likes tea."})
		_, err := w.service.Recall(context.Background(), alice, wire.RecallRequest{Query: "tea", Vector: memory.Vector{1, 2, 3}})
		var field *memory.FieldError
		if !errors.Is(err, memory.ErrConflict) || !errors.As(err, &field) || field.Field != "vector" {
			t.Errorf("recall says %v", err)
		}
		_, err = w.service.Writes().Retain(context.Background(), alice, wire.RetainRequest{Facts: []memory.FactInput{{Text: "x y", Vector: memory.Vector{1}}}})
		if !errors.Is(err, memory.ErrConflict) {
			t.Errorf("retain says %v", err)
		}
	})

	t.Run("as_of returns exactly what was valid then, in every record, whatever the zone", func(t *testing.T) {
		t.Parallel()
		w := newFixture(t)
		day := func(d int) time.Time { return time.Date(2026, 1, d, 0, 0, 0, 0, time.UTC) }
		paris := memory.NewFactID(alice, "Alice lives in Paris.", memory.KindWorld)
		london := memory.NewFactID(alice, "Alice lives in London.", memory.KindWorld)
		w.say(memory.Message{ID: "p", Content: "I live in Paris now.", Time: day(1)}, memory.Message{ID: "l", Content: "I live in London now.", Time: day(10)})
		w.know(alice,
			memory.Fact{ID: paris, Text: "Alice lives in Paris.", Said: day(1), Superseded: london, Sources: w.from(alice, "p"),
				Valid: []memory.Interval{{From: day(1), To: ptr(day(10))}, {From: day(20), To: ptr(day(25))}}},
			memory.Fact{ID: london, Text: "Alice lives in London.", Said: day(10), Sources: w.from(alice, "l"),
				Valid: []memory.Interval{{From: day(10), To: ptr(day(20))}, {From: day(25)}}})
		facts := []memory.Record{memory.RecordFact}
		for at, want := range map[time.Time][]string{
			day(1).Add(-1): {}, day(1): {"Alice lives in Paris."}, day(10).Add(-time.Microsecond): {"Alice lives in Paris."},
			day(10): {"Alice lives in London."}, day(22): {"Alice lives in Paris."}, day(25): {"Alice lives in London."},
			day(10).In(time.FixedZone("", 7200)): {"Alice lives in London."},
		} {
			got := textsOf(w.recall(alice, wire.RecallRequest{Query: "Where does Alice live?", Filter: memory.Filter{Records: facts, AsOf: ptr(at)}}).Items)
			if !slices.Equal(got, want) {
				t.Errorf("at %s: %v, want %v", at, got, want)
			}
			all := textsOf(w.recall(alice, wire.RecallRequest{Query: "Alice live Paris London now", Filter: memory.Filter{AsOf: ptr(at)}}).Items)
			if at.Before(day(10)) && slices.ContainsFunc(all, func(s string) bool { return strings.Contains(s, "London") }) {
				t.Errorf("at %s something of London is there: %v", at, all)
			}
		}
		if got := textsOf(w.recall(alice, wire.RecallRequest{Query: "Where does Alice live?", Filter: memory.Filter{Records: facts}}).Items); !slices.Equal(got, []string{"Alice lives in London."}) {
			t.Errorf("now: %v", got)
		}
	})

	t.Run("with default settings a neighbour by implies appears next to a strong hit", func(t *testing.T) {
		t.Parallel()
		w := newFixture(t)
		a := memory.NewFactID(alice, "Alice is allergic to shellfish.", memory.KindWorld)
		b := memory.NewFactID(alice, "No prawns at the dinner.", memory.KindWorld)
		facts := w.complete(alice, []memory.Fact{{Text: "Alice is allergic to shellfish."}, {Text: "No prawns at the dinner."}, {Text: "The car is blue."}})
		w.apply(alice, memory.Changes{Facts: facts, Relations: []memory.Relation{{From: string(a), To: string(b), Type: memory.RelImplies, Strength: 1}}})
		got := textsOf(w.recall(alice, wire.RecallRequest{Query: "What is Alice allergic to?"}).Items)
		if !slices.Equal(got, []string{"Alice is allergic to shellfish.", "No prawns at the dinner."}) {
			t.Errorf("got %v", got)
		}
	})

	t.Run("a hit by words alone is returned, and with the embedder down too", func(t *testing.T) {
		t.Parallel()
		w := newFixtureWith(t, query.DefaultConfig(), func(d *query.Deps) { d.Embedder = brokenEmbedder{} })
		w.know(alice, memory.Fact{Text: "The zebra crossed.", Vector: memory.Vector{0, 1}}, memory.Fact{Text: "The lion slept.", Vector: memory.Vector{1, 0}})
		reply := w.recall(alice, wire.RecallRequest{Query: "zebra"})
		if got := textsOf(reply.Items); !slices.Equal(got, []string{"The zebra crossed."}) {
			t.Errorf("got %v", got)
		}
		if len(reply.Degraded) != 1 || !strings.Contains(reply.Degraded[0], "embedder") {
			t.Errorf("degraded is %v", reply.Degraded)
		}
		reply = w.recall(alice, wire.RecallRequest{Query: "zebra", Vector: memory.Vector{1, 0}})
		if got := textsOf(reply.Items); !slices.Contains(got, "The zebra crossed.") {
			t.Errorf("with a vector that points elsewhere: %v", got)
		}
	})

	t.Run("ended and other banks' facts never appear by any path", func(t *testing.T) {
		t.Parallel()
		w := newFixture(t)
		ended := []memory.Interval{{From: noon.Add(-2 * time.Hour), To: ptr(noon.Add(-time.Hour))}}
		old := memory.NewFactID(alice, "Alice works at Acme.", memory.KindWorld)
		now := memory.NewFactID(alice, "Alice works at Initech.", memory.KindWorld)
		facts := w.complete(alice, []memory.Fact{
			{Text: "Alice works at Acme.", Entities: []memory.EntityID{"person:alice"}, Valid: ended, Superseded: now},
			{Text: "Alice works at Initech.", Entities: []memory.EntityID{"person:alice"}}})
		w.apply(alice, memory.Changes{Facts: facts, Entities: entitiesOf(facts), Relations: []memory.Relation{{From: string(now), To: string(old), Type: memory.RelSupersedes, Strength: 1}}})
		w.know("bob", memory.Fact{Text: "Alice works at Hooli.", Entities: []memory.EntityID{"person:alice"}})
		for _, mix := range mixes {
			got := textsOf(w.recall(alice, wire.RecallRequest{Query: "Where does Alice work, Acme or Initech or Hooli?", Strategies: mix}).Items)
			if slices.Contains(got, "Alice works at Acme.") || slices.Contains(got, "Alice works at Hooli.") {
				t.Errorf("%v returns %v", mix, got)
			}
		}
		if _, err := w.service.Get(context.Background(), "bob", wire.GetRequest{ID: string(now)}); !errors.Is(err, memory.ErrNotFound) {
			t.Errorf("bob reads alice's fact: %v", err)
		}
	})

	t.Run("decay follows the request's now, is bounded below, is restored by use, and recalling changes nothing", func(t *testing.T) {
		t.Parallel()
		cfg := query.DefaultConfig().Recall
		day := 24 * time.Hour
		for _, c := range []struct {
			system memory.System
			age    time.Duration
			want   float64
		}{{memory.Episodic, 0, 1}, {memory.Episodic, 30 * day, .5}, {memory.Episodic, 60 * day, .25}, {memory.Episodic, 3000 * day, .2},
			{memory.Semantic, 180 * day, .5}, {memory.Procedural, 3000 * day, 1}, {memory.Episodic, -day, 1}} {
			if got := cfg.Decay(c.system, noon.Add(-c.age), noon); math.Abs(got-c.want) > 1e-12 {
				t.Errorf("%s after %s: %v, want %v", c.system, c.age, got, c.want)
			}
		}
		w := newFixture(t)
		f := memory.Fact{Text: "Alice ran a race.", Type: memory.TypeEvent, Said: noon}
		w.know(alice, f)
		at := func(age time.Duration) float64 {
			return w.recall(alice, wire.RecallRequest{Query: "race", Now: ptr(noon.Add(age))}).Items[0].Score
		}
		young, aged := at(0), at(90*day)
		if aged >= young {
			t.Errorf("a fact of 90 days scores %v, a fresh one %v", aged, young)
		}
		for range 20 {
			if got := at(90 * day); got != aged {
				t.Fatalf("recalling moved the score from %v to %v", aged, got)
			}
		}
		w.apply(alice, memory.Changes{Uses: []memory.Use{{ID: string(memory.NewFactID(alice, f.Text, memory.KindWorld)), Retrieved: 1, Used: 1, At: noon.Add(89 * day)}}})
		if got := at(90 * day); got <= aged {
			t.Errorf("a use left the score at %v, before %v", got, aged)
		}
	})

	t.Run("an item too large is skipped and a budget below every item says so", func(t *testing.T) {
		t.Parallel()
		w := newFixture(t)
		w.say(memory.Message{Content: "tea tea tea " + strings.Repeat("and a very long story about green tea ", 50)}, memory.Message{Content: "I like tea."})
		reply := w.recall(alice, wire.RecallRequest{Query: "tea", MaxTokens: ptr(30)})
		if got := textsOf(reply.Items); !slices.Equal(got, []string{"I like tea."}) || reply.Tokens > 30 || reply.Tokens == 0 {
			t.Errorf("got %v in %d tokens", got, reply.Tokens)
		}
		reply = w.recall(alice, wire.RecallRequest{Query: "tea", MaxTokens: ptr(1)})
		if len(reply.Items) != 0 || !slices.ContainsFunc(reply.Degraded, func(s string) bool { return strings.HasPrefix(s, "max_tokens") }) {
			t.Errorf("got %v, degraded %v", textsOf(reply.Items), reply.Degraded)
		}
	})

	t.Run("a recall that matches five composites still returns the leaves that answer", func(t *testing.T) {
		t.Parallel()
		w := newFixture(t)
		var facts []memory.Fact
		var nodes []memory.Composite
		for c := range 5 {
			var children []string
			for k := range 3 {
				f := memory.Fact{Text: fmt.Sprintf("Alice plays the piano piece number %d on evening %d.", c, k)}
				facts = append(facts, f)
				children = append(children, string(memory.NewFactID(alice, f.Text, memory.KindWorld)))
			}
			slices.Sort(children)
			nodes = append(nodes, memory.Composite{ID: memory.NewCompositeID(alice, 1, children), Bank: alice, Level: 1, Text: fmt.Sprintf("Alice plays the piano, set %d.", c),
				Representative: children[0], Children: children, Said: noon, Confidence: 1})
		}
		w.apply(alice, memory.Changes{Facts: w.complete(alice, facts), Composites: nodes})
		reply := w.recall(alice, wire.RecallRequest{Query: "Which piano piece did Alice play on evening 2 of number 3?", MaxFacts: ptr(8)})
		if reply.Items[0].Text != "Alice plays the piano piece number 3 on evening 2." || len(reply.Items) != 8 {
			t.Errorf("got %v", textsOf(reply.Items))
		}
		reply = w.recall(alice, wire.RecallRequest{Query: "Which piano piece did Alice play on evening 2 of number 3?", MaxFacts: ptr(30)})
		found := map[memory.Record]int{}
		for _, item := range reply.Items {
			found[item.Record]++
		}
		if found[memory.RecordComposite] != 5 || found[memory.RecordFact] != 15 {
			t.Errorf("with room for all: %v", found)
		}
		reply = w.recall(alice, wire.RecallRequest{Query: "Give me an overview of Alice and the piano", MaxFacts: ptr(8)})
		found = map[memory.Record]int{}
		for _, item := range reply.Items {
			found[item.Record]++
		}
		if found[memory.RecordComposite] == 0 || found[memory.RecordComposite] > 3 {
			t.Errorf("an overview: %v", found)
		}
	})

	t.Run("raw messages are recalled in other sessions of the same bank at once", func(t *testing.T) {
		t.Parallel()
		w := newFixture(t)
		w.say(memory.Message{Session: "monday", Content: "The key is under the mat."})
		got := w.recall(alice, wire.RecallRequest{Query: "Where is the key?"})
		if len(got.Items) != 1 || got.Items[0].Session != "monday" || got.Items[0].Record != memory.RecordMessage {
			t.Errorf("got %+v", got.Items)
		}
	})

	t.Run("a removed record's index row is gone and two Chinese characters find their record", func(t *testing.T) {
		t.Parallel()
		w := newFixture(t)
		text := "小明住在北京。"
		w.know(alice, memory.Fact{Text: text})
		find := func() []string { return textsOf(w.recall(alice, wire.RecallRequest{Query: "北京"}).Items) }
		if got := find(); !slices.Equal(got, []string{text}) {
			t.Fatalf("got %v", got)
		}
		w.apply(alice, memory.Changes{RemovedFacts: []memory.FactID{memory.NewFactID(alice, text, memory.KindWorld)}})
		if got := find(); len(got) != 0 {
			t.Errorf("after removal: %v", got)
		}
		v, err := w.db.Verify(context.Background(), true)
		if err != nil || len(v.Problems) > 0 || v.Counts["facts"] != 0 {
			t.Errorf("verify says %+v, %v", v, err)
		}
	})
}

type brokenEmbedder struct{}

func (brokenEmbedder) Name() string   { return "broken" }
func (brokenEmbedder) Dimension() int { return 2 }
func (brokenEmbedder) Thresholds() memory.SimilarityThresholds {
	return memory.SimilarityThresholds{RankWeight: 1}
}
func (brokenEmbedder) Embed(context.Context, []string) ([]memory.Vector, error) {
	return nil, fmt.Errorf("down: %w", memory.ErrUnavailable)
}

func TestSpread(t *testing.T) {
	t.Parallel()
	t.Run("the documented formula holds over all ten types, two hops, and cycles", func(t *testing.T) {
		t.Parallel()
		var edges []memory.Relation
		want := map[string]float64{"seed": .8}
		for i, typ := range memory.RelationTypes {
			near, far := fmt.Sprintf("n%d", i), fmt.Sprintf("z%d", i)
			edges = append(edges, memory.Relation{From: "seed", To: near, Type: typ, Strength: .5},
				memory.Relation{From: far, To: near, Type: memory.RelImplies, Strength: 1},
				memory.Relation{From: near, To: "seed", Type: memory.RelImplies, Strength: .01},
				memory.Relation{From: far, To: "beyond" + far, Type: memory.RelImplies, Strength: 1})
			want[near] = .8 * .5 * recall.RelationWeight(typ) * recall.HopDecay
			want[far] = want[near] * 1 * recall.HopDecay
		}
		got, err := recall.SpreadActivation(map[string]float64{"seed": .8}, 2, func(from []string) ([]memory.Relation, error) {
			return edges, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		for id := range want {
			if math.Abs(got[id]-want[id]) > 1e-12 {
				t.Errorf("%s has %v, want %v", id, got[id], want[id])
			}
		}
		if len(got) != len(want) {
			t.Errorf("reached %d nodes, want %d", len(got), len(want))
		}
		again, _ := recall.SpreadActivation(map[string]float64{"seed": .8}, 2, func([]string) ([]memory.Relation, error) { return edges, nil })
		if !reflect.DeepEqual(got, again) {
			t.Error("a second run differs")
		}
	})
}
