package query_test

import (
	"context"
	"errors"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/query"
	"github.com/eunoe-memory/eunoe/pkg/query/recall"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

func TestFilters(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	jan := time.Date(2026, 1, 10, 0, 0, 0, 0, time.UTC)
	w.say(memory.Message{ID: "old", Content: "Piano message three.", Time: noon.Add(-time.Hour)},
		memory.Message{ID: "a", Session: "s1", Speaker: "Alice", Topic: "music", Content: "Piano message one.", Time: jan},
		memory.Message{ID: "b", Session: "s2", Speaker: "Émile", Content: "Piano message two.", Time: noon.Add(-time.Minute), Replaces: "old"})
	facts := w.complete(alice, []memory.Fact{
		{Text: "Piano fact one.", Topic: "music", Speaker: "Alice", Session: "s1", Tags: []string{"tool"}, Type: memory.TypePreference, Said: jan, Entities: []memory.EntityID{"person:alice"}},
		{Text: "Piano fact two.", Topic: "work", Speaker: "Émile", Session: "s2", Kind: memory.KindOpinion, Occurred: memory.Span{From: ptr(jan.AddDate(1, 0, 0))}}})
	ids := []string{string(facts[0].ID), string(facts[1].ID)}
	slices.Sort(ids)
	w.apply(alice, memory.Changes{Facts: facts, Entities: entitiesOf(facts),
		Composites: []memory.Composite{{ID: memory.NewCompositeID(alice, 1, ids), Bank: alice, Level: 1, Text: "Piano composite.", Representative: ids[0], Children: ids, Said: noon, Confidence: 1}},
		Observations: []memory.Observation{{ID: memory.NewObservationID(alice, memory.ObservationPattern, "p"), Type: memory.ObservationPattern, Subject: "p", Text: "Piano observation.",
			Confidence: 1, Facts: []memory.FactID{facts[0].ID}, Said: noon}},
		Replacements: []memory.Replacement{{ID: "old", By: 3, Time: noon.Add(-time.Minute)}}})
	every := []string{"Piano composite.", "Piano fact one.", "Piano fact two.", "Piano message one.", "Piano message two.", "Piano observation."}
	cases := map[string]struct {
		f    memory.Filter
		want []string
	}{
		"none lets everything live through":             {memory.Filter{}, every},
		"records":                                       {memory.Filter{Records: []memory.Record{memory.RecordComposite, memory.RecordObservation}}, []string{"Piano composite.", "Piano observation."}},
		"topic excludes in every record":                {memory.Filter{Topics: []string{"music"}}, []string{"Piano fact one.", "Piano message one.", "Piano observation."}},
		"session":                                       {memory.Filter{Session: "s2"}, []string{"Piano fact two.", "Piano message two."}},
		"speakers in any case":                          {memory.Filter{Speakers: []string{"éMILE"}}, []string{"Piano fact two.", "Piano message two."}},
		"any value of one filter":                       {memory.Filter{Speakers: []string{"alice", "émile", "zoe"}}, every},
		"all filters at once":                           {memory.Filter{Speakers: []string{"alice"}, Session: "s2"}, []string{}},
		"tags in any case":                              {memory.Filter{Tags: []string{"TOOL", "other"}}, []string{"Piano fact one.", "Piano observation."}},
		"types":                                         {memory.Filter{Types: []memory.Type{memory.TypePreference}}, []string{"Piano fact one."}},
		"the type of an observation":                    {memory.Filter{Types: []memory.Type{"pattern"}}, []string{"Piano observation."}},
		"kinds":                                         {memory.Filter{Kinds: []memory.Kind{memory.KindOpinion}}, []string{"Piano fact two."}},
		"the kind observation":                          {memory.Filter{Kinds: []memory.Kind{memory.KindObservation}}, []string{"Piano observation."}},
		"entities":                                      {memory.Filter{Entities: []string{"person:alice"}}, []string{"Piano fact one.", "Piano observation."}},
		"a range of what was said or happened":          {memory.Filter{From: ptr(noon.AddDate(0, 9, 0))}, []string{"Piano fact two."}},
		"a range that ends":                             {memory.Filter{To: ptr(jan.Add(time.Hour))}, []string{"Piano fact one.", "Piano message one.", "Piano observation."}},
		"as_of before a message was replaced":           {memory.Filter{AsOf: ptr(noon.Add(-2 * time.Minute)), Records: []memory.Record{memory.RecordMessage}}, []string{"Piano message one.", "Piano message three."}},
		"what is excluded of a session":                 {memory.Filter{Exclude: &memory.Exclude{Sessions: []memory.SessionID{"s1", "nobody"}}}, []string{"Piano fact two.", "Piano message two."}},
		"what is excluded of a speaker":                 {memory.Filter{Exclude: &memory.Exclude{Speakers: []string{"éMILE", "zoe"}}}, []string{"Piano fact one.", "Piano message one.", "Piano observation."}},
		"what is excluded by id":                        {memory.Filter{Exclude: &memory.Exclude{IDs: []string{"a", string(facts[1].ID)}}}, []string{"Piano fact one.", "Piano message two.", "Piano observation."}},
		"a composite that is excluded leaves its parts": {memory.Filter{Exclude: &memory.Exclude{IDs: []string{string(memory.NewCompositeID(alice, 1, ids))}}}, every[1:]},
		"an observation that is excluded":               {memory.Filter{Exclude: &memory.Exclude{IDs: []string{string(memory.NewObservationID(alice, memory.ObservationPattern, "p"))}}}, every[:5]},
		"what is excluded of what is let in":            {memory.Filter{Session: "s1", Exclude: &memory.Exclude{IDs: []string{"a"}}}, []string{"Piano fact one.", "Piano observation."}},
		"as_of returns the valid leaves of a composite": {memory.Filter{AsOf: ptr(jan), Records: []memory.Record{memory.RecordComposite, memory.RecordFact}}, []string{"Piano fact one."}},
	}
	t.Run("every filter of the contract is among these, and an unknown one is refused by its name", func(t *testing.T) {
		t.Parallel()
		for i := range reflect.TypeFor[memory.Filter]().NumField() {
			used := false
			for _, c := range cases {
				used = used || !reflect.ValueOf(c.f).Field(i).IsZero()
			}
			if name := reflect.TypeFor[memory.Filter]().Field(i).Name; !used {
				t.Errorf("%s is asked for by no case", name)
			}
		}
		s := serve(t)
		s.consolidates()
		for endpoint, body := range map[string]string{"recall": `{"query":"piano","moods":["good"]}`, "list": `{"record":"fact","moods":["good"]}`, "reflect": `{"query":"piano","moods":["good"]}`} {
			err := s.ask("mem.alice."+endpoint, body, nil)
			var fe *memory.FieldError
			if !errors.As(err, &fe) || fe.Field != "moods" || memory.Code(err) != 400 {
				t.Errorf("%s answers %v", endpoint, err)
			}
		}
	})
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := textsOf(w.recall(alice, wire.RecallRequest{Query: "piano", Filter: c.f}).Items)
			slices.Sort(got)
			if !slices.Equal(got, c.want) {
				t.Errorf("recall returns %q, want %q", got, c.want)
			}
			var listed []string
			for _, r := range memory.Records {
				if len(c.f.Records) > 0 && !slices.Contains(c.f.Records, r) {
					continue
				}
				f := c.f
				f.Records = nil
				cursor := ""
				for {
					page, err := w.service.List(context.Background(), alice, wire.ListRequest{Record: r, Filter: f, Limit: 1, Cursor: cursor})
					if err != nil {
						t.Fatal(err)
					}
					listed = append(listed, textsOf(page.Items)...)
					if cursor = page.Next; cursor == "" {
						break
					}
				}
			}
			slices.Sort(listed)
			if !slices.Equal(listed, c.want) && !(len(listed) == 0 && len(c.want) == 0) {
				t.Errorf("list returns %q, want %q", listed, c.want)
			}
		})
	}
	t.Run("list orders by when things were said", func(t *testing.T) {
		t.Parallel()
		for order, want := range map[string]string{"newest": "Piano message two.", "oldest": "Piano message one."} {
			page, err := w.service.List(context.Background(), alice, wire.ListRequest{Record: memory.RecordMessage, Order: order})
			if err != nil || page.Items[0].Text != want {
				t.Errorf("%s begins with %v, %v", order, textsOf(page.Items), err)
			}
		}
	})
	t.Run("tree, get and entities return the stored records", func(t *testing.T) {
		t.Parallel()
		tree, err := w.service.Tree(context.Background(), alice, wire.TreeRequest{})
		if err != nil || len(tree.Items) != 1 || len(tree.Items[0].Nodes) != 2 || len(tree.Items[0].Children) != 2 {
			t.Errorf("tree returns %+v, %v", tree, err)
		}
		item, err := w.service.Get(context.Background(), alice, wire.GetRequest{ID: "a"})
		if err != nil || item.Record != memory.RecordMessage || item.Topic != "music" {
			t.Errorf("get returns %+v, %v", item, err)
		}
		entities, err := w.service.Entities(context.Background(), alice, wire.EntitiesRequest{Match: "ALI"})
		if err != nil || len(entities.Items) != 1 || entities.Items[0].Facts != 1 {
			t.Errorf("entities returns %+v, %v", entities, err)
		}
	})
}

func TestOneItemPerContent(t *testing.T) {
	t.Parallel()
	t.Run("the same words of one speaker take one place with both sources", func(t *testing.T) {
		t.Parallel()
		w := newFixture(t)
		w.say(memory.Message{ID: "a", Content: "The tea is ready!"}, memory.Message{ID: "b", Content: "the  tea is ready"}, memory.Message{ID: "c", Speaker: "Bob", Content: "The tea is ready."})
		items := w.recall(alice, wire.RecallRequest{Query: "tea"}).Items
		sources := 0
		for _, i := range items {
			sources += len(i.Sources)
		}
		if len(items) != 2 || sources != 3 {
			t.Errorf("got %+v", items)
		}
	})
	t.Run("a fact stands for its message when it holds the words that were asked for, else the message stands", func(t *testing.T) {
		t.Parallel()
		w := newFixture(t)
		w.say(memory.Message{ID: "a", Content: "I moved to Lisbon, where the trams rattle all night."})
		w.know(alice, memory.Fact{Text: "Alice moved to Lisbon.", Sources: w.from(alice, "a")})
		for query, want := range map[string]memory.Record{"Who moved to Lisbon?": memory.RecordFact, "Do the trams rattle in Lisbon?": memory.RecordMessage} {
			items := w.recall(alice, wire.RecallRequest{Query: query}).Items
			if len(items) != 1 || items[0].Record != want || !slices.Equal(items[0].Sources, []memory.MessageID{"a"}) {
				t.Errorf("%q returns %+v, want a %s", query, items, want)
			}
		}
	})
}

func TestSuccessors(t *testing.T) {
	t.Parallel()
	t.Run("what holds now answers before the message it took the place of, over a chain and through a cycle", func(t *testing.T) {
		t.Parallel()
		w := newFixture(t)
		w.say(memory.Message{ID: "p", Content: "I live in Paris."}, memory.Message{ID: "m", Content: "I settled down in Madrid."}, memory.Message{ID: "o", Content: "Off to Oslo for good."})
		id := func(text string) memory.FactID { return memory.NewFactID(alice, text, memory.KindWorld) }
		ended := []memory.Interval{{From: noon.Add(-2 * time.Hour), To: ptr(noon.Add(-time.Hour))}}
		w.know(alice,
			memory.Fact{Text: "Alice lives in Paris.", Sources: w.from(alice, "p"), Valid: ended, Superseded: id("Alice settled down in Madrid.")},
			memory.Fact{Text: "Alice settled down in Madrid.", Sources: w.from(alice, "m"), Valid: ended, Superseded: id("Alice went to Oslo for good.")},
			memory.Fact{Text: "Alice went to Oslo for good.", Sources: w.from(alice, "o"), Superseded: id("Alice lives in Paris.")})
		got := textsOf(w.recall(alice, wire.RecallRequest{Query: "Where does Alice live?"}).Items)
		if len(got) < 2 || got[0] != "Alice went to Oslo for good." || got[1] != "I live in Paris." {
			t.Errorf("got %q", got)
		}
	})
	t.Run("what was valid at an earlier time comes before what had ended by then, even where it is valid again today", func(t *testing.T) {
		t.Parallel()
		w := newFixture(t)
		day := func(n int) time.Time { return noon.AddDate(0, 0, n-10) }
		w.say(memory.Message{ID: "p", Content: "I live in Paris.", Time: day(1)}, memory.Message{ID: "m", Content: "I settled down in Madrid.", Time: day(2)},
			memory.Message{ID: "q", Content: "I live in Paris.", Time: day(3)})
		state := func(value string) *memory.State {
			return &memory.State{Subject: "person:alice", Attribute: "residence", Value: value}
		}
		w.know(alice,
			memory.Fact{Text: "Alice lives in Paris.", Sources: w.from(alice, "p", "q"), State: state("paris"), Valid: []memory.Interval{{From: day(1), To: ptr(day(2))}, {From: day(3)}}},
			memory.Fact{Text: "Alice settled down in Madrid.", Sources: w.from(alice, "m"), State: state("madrid"), Valid: []memory.Interval{{From: day(2), To: ptr(day(3))}},
				Superseded: memory.NewFactID(alice, "Alice lives in Paris.", memory.KindWorld)})
		then := day(2).Add(time.Hour)
		got := textsOf(w.recall(alice, wire.RecallRequest{Query: "living in", Filter: memory.Filter{AsOf: &then}}).Items)
		if len(got) != 2 || got[0] != "Alice settled down in Madrid." {
			t.Errorf("got %q", got)
		}
	})
	t.Run("a question for all there is looks for what it names, not for its own words", func(t *testing.T) {
		t.Parallel()
		w := newFixture(t)
		w.say(memory.Message{Speaker: "Bob", Content: "Good to know!"}, memory.Message{Speaker: "Bob", Content: "I saw Carla in town."})
		for _, q := range []string{"What do you know about Carla?", "Tell me everything you know about Carla", "please give me an overview of Carla"} {
			if got := textsOf(w.recall(alice, wire.RecallRequest{Query: q}).Items); len(got) == 0 || got[0] != "I saw Carla in town." {
				t.Errorf("%q returns %q", q, got)
			}
		}
	})
}

// scripted is a reranker with prepared answers.
type scripted struct {
	scores func(texts []string) ([]float64, error)
}

func (s scripted) Rerank(ctx context.Context, _ string, texts []string) ([]float64, error) {
	return s.scores(texts)
}

func TestRerank(t *testing.T) {
	t.Parallel()
	ask := func(t *testing.T, model memory.Reranker) wire.RecallReply {
		w := newFixtureWith(t, query.DefaultConfig(), func(d *query.Deps) { d.Reranker = model })
		w.say(memory.Message{Content: "Green tea, black tea, any tea."}, memory.Message{Content: "I like tea."}, memory.Message{Content: "Tea was had by all in the garden that day."})
		return w.recall(alice, wire.RecallRequest{Query: "tea"})
	}
	plain := ask(t, nil)
	t.Run("the blended score is exactly .4 of the fused score plus .6 of the reranker's", func(t *testing.T) {
		t.Parallel()
		got, ok := recall.Blend([]float64{.5, .4, .3}, []float64{-2, 6, 2}, .6)
		want := []float64{.4 * .5, .4*.4 + .6, .4*.3 + .6*.5}
		for i := range want {
			if !ok || math.Abs(got[i]-want[i]) > 1e-12 {
				t.Errorf("got %v, want %v", got, want)
			}
		}
		reply := ask(t, scripted{func(texts []string) ([]float64, error) { return []float64{0, 0, 1}[:len(texts)], nil }})
		if reply.Items[0].Text != plain.Items[2].Text {
			t.Errorf("the reranker's favourite is not first: %v", textsOf(reply.Items))
		}
	})
	for name, scores := range map[string]func([]string) ([]float64, error){
		"an error":              func([]string) ([]float64, error) { return nil, errors.New("down") },
		"an empty answer":       func([]string) ([]float64, error) { return nil, nil },
		"a partial answer":      func([]string) ([]float64, error) { return []float64{1}, nil },
		"too long an answer":    func([]string) ([]float64, error) { return []float64{3, 2, 1, 0}, nil },
		"an answer with NaN":    func([]string) ([]float64, error) { return []float64{1, math.NaN(), 2}, nil },
		"an answer of infinity": func([]string) ([]float64, error) { return []float64{1, math.Inf(1), 2}, nil },
	} {
		t.Run("after "+name+" the order stands and degraded says so", func(t *testing.T) {
			t.Parallel()
			reply := ask(t, scripted{scores})
			if !slices.Equal(textsOf(reply.Items), textsOf(plain.Items)) || !strings.Contains(strings.Join(reply.Degraded, ";"), "rerank") {
				t.Errorf("got %v, degraded %v", textsOf(reply.Items), reply.Degraded)
			}
		})
	}
}
