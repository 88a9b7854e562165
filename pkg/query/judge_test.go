package query_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/provider/hashed"
	"github.com/eunoe-memory/eunoe/pkg/query"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

// tea is a fixture with a composite over two of its three facts about tea, and a message.
func tea(t *testing.T, m *told) *fixture {
	t.Helper()
	w := newFixtureWith(t, query.DefaultConfig(), withJudge(m))
	w.say(memory.Message{ID: "m", Content: "Tea, tea and tea again."})
	facts := w.complete(alice, []memory.Fact{{Text: "Alice drinks green tea."}, {Text: "Alice drinks black coffee at dawn."}, {Text: "Bob grows tea."}})
	leaves := []string{string(facts[0].ID), string(facts[1].ID)}
	slices.Sort(leaves)
	w.apply(alice, memory.Changes{Facts: facts, Composites: []memory.Composite{{ID: memory.NewCompositeID(alice, 1, leaves), Bank: alice, Level: 1,
		Text: "Alice has her tea and other drinks.", Representative: leaves[0], Children: leaves, Said: noon, Confidence: 1}}})
	return w
}

// judges scores the shown items by their text; other items receive rest.
func judges(t *testing.T, scores map[string]float64, rest float64) step {
	return func(_ context.Context, p memory.Prompt) (memory.Completion, error) {
		if !strings.HasPrefix(p.System, "Task: judge\n") || p.SchemaName == "" || !json.Valid(p.Schema) {
			t.Errorf("asked with %.40q", p.System)
		}
		var list []string
		for line := range strings.Lines(p.User) {
			var n int
			if _, err := fmt.Sscanf(strings.TrimSpace(line), "[%d]", &n); err != nil {
				continue
			}
			score := rest
			for text, s := range scores {
				if strings.Contains(line, text) {
					score = s
				}
			}
			list = append(list, fmt.Sprintf(`{"n":%d,"score":%g}`, n, score))
		}
		return memory.Completion{Text: `{"judgements":[` + strings.Join(list, ",") + `]}`}, nil
	}
}

func judged(threshold *float64) wire.RecallRequest {
	return wire.RecallRequest{Query: "Who has tea?", Judge: &wire.Judge{Threshold: threshold}}
}

func TestJudgeConformance(t *testing.T) {
	t.Parallel()
	scores := map[string]float64{"green tea": .6, "Bob grows": .59, "other drinks": .9, "black coffee": .3, "again": .1}
	t.Run("a configured threshold is applied, the default is 0.6 and what reaches it is kept", func(t *testing.T) {
		t.Parallel()
		for _, c := range []struct {
			threshold *float64
			want      []string
			kept      wire.Judged
		}{
			{nil, []string{"Alice drinks green tea.", "Alice has her tea and other drinks."}, wire.Judged{Kept: 2, Dropped: 3}},
			{ptr(.3), []string{"Alice drinks black coffee at dawn.", "Alice drinks green tea.", "Alice has her tea and other drinks.", "Bob grows tea."}, wire.Judged{Kept: 4, Dropped: 1}},
			{ptr(.91), []string{}, wire.Judged{Dropped: 5}},
			{ptr(0.), []string{"Alice drinks black coffee at dawn.", "Alice drinks green tea.", "Alice has her tea and other drinks.", "Bob grows tea.", "Tea, tea and tea again."}, wire.Judged{Kept: 5}},
		} {
			reply := tea(t, &told{steps: []step{judges(t, scores, 0)}}).recall(alice, judged(c.threshold))
			got := textsOf(reply.Items)
			slices.Sort(got)
			if !slices.Equal(got, c.want) || reply.Judged == nil || *reply.Judged != c.kept {
				t.Errorf("at %v: kept %v, counted %+v", c.threshold, got, reply.Judged)
			}
		}
	})
	t.Run("a composite is judged with its leaves, which may be kept though the search did not find them", func(t *testing.T) {
		t.Parallel()
		m := &told{steps: []step{judges(t, map[string]float64{"black coffee": 1}, 0)}}
		r := judged(nil)
		r.Query, r.Explain, r.Sources = "Give me an overview of tea", true, ptr(false)
		w := tea(t, m)
		var more []memory.Fact
		for i := range 17 { // the coffee is the 21st
			more = append(more, memory.Fact{Text: fmt.Sprintf("Field number %d grows tea.", i)})
		}
		w.know(alice, more...)
		reply := w.recall(alice, r)
		if got := textsOf(reply.Items); !slices.Equal(got, []string{"Alice drinks black coffee at dawn."}) || reply.Items[0].Sources != nil {
			t.Fatalf("got %v", got)
		}
		if reply.Items[0].Explain["judge"].Score != 1 || !strings.Contains(m.prompt(t, 1).User, "\n  [") {
			t.Errorf("explained by %v after\n%s", reply.Items[0].Explain, m.prompt(t, 1).User)
		}
	})
	plain := textsOf(tea(t, &told{}).recall(alice, wire.RecallRequest{Query: "Who has tea?"}).Items)
	for name, s := range map[string]step{
		"prose":           says("They all look fine to me."),
		"nothing":         says(""),
		"other numbers":   says(`{"judgements":[{"n":"x","score":1},{"n":1,"score":7}]}`),
		"an empty list":   says(`{"judgements":[]}`),
		"an error":        fails(errDown),
		"too late":        hangs,
		"a list of words": says(`{"judgements":["good","bad"]}`),
	} {
		t.Run("a judge that answers "+name+" drops nothing and degraded says so", func(t *testing.T) {
			t.Parallel()
			cfg := query.DefaultConfig()
			cfg.Recall.JudgeTimeout = 100 * time.Millisecond
			m := &told{steps: []step{s}}
			w := tea(t, m)
			if name == "too late" {
				w.service = serviceOf(t, w, cfg, withJudge(m))
			}
			reply := w.recall(alice, judged(nil))
			if got := textsOf(reply.Items); !slices.Equal(got, plain) || reply.Judged != nil || !hasDegraded(reply.Degraded, "judge: ") {
				t.Errorf("got %v, degraded %v", got, reply.Degraded)
			}
		})
	}
	t.Run("what a judge leaves out or does not score stays, and degraded counts it", func(t *testing.T) {
		t.Parallel()
		reply := tea(t, &told{steps: []step{says("```json\n{\"judgements\":[{\"n\":1,\"score\":0.1},{\"n\":2,\"score\":\"much\"},{\"n\":1,\"score\":1},{\"n\":99,\"score\":0},{\"n\":3,\"sco")}}).recall(alice, judged(nil))
		if reply.Judged == nil || *reply.Judged != (wire.Judged{Kept: 4, Dropped: 1}) || !hasDegraded(reply.Degraded, "judge: 4 of 5 items got no judgement") {
			t.Errorf("counted %+v, degraded %v", reply.Judged, reply.Degraded)
		}
	})
	t.Run("without a language model degraded says so for both, and the result is the plain one", func(t *testing.T) {
		t.Parallel()
		w := tea(t, &told{})
		w.service = serviceOf(t, w, query.DefaultConfig(), nil)
		r := judged(nil)
		r.Adequacy = 2
		reply := w.recall(alice, r)
		if !slices.Equal(textsOf(reply.Items), plain) || !slices.Contains(reply.Degraded, "judge: no language model is configured") || !slices.Contains(reply.Degraded, "adequacy: no language model is configured") {
			t.Errorf("got %v, degraded %v", textsOf(reply.Items), reply.Degraded)
		}
	})
	t.Run("judge takes true, false and a threshold, and adequacy 0 to 2; anything else is refused by its field", func(t *testing.T) {
		t.Parallel()
		for body, field := range map[string]string{`{"query":"q","judge":true}`: "", `{"query":"q","judge":false}`: "", `{"query":"q","judge":{}}`: "", `{"query":"q","judge":{"threshold":1}}`: "",
			`{"query":"q","judge":{"threshold":1.5}}`: "judge.threshold", `{"query":"q","judge":{"treshold":1}}`: "judge", `{"query":"q","judge":7}`: "judge"} {
			var r wire.RecallRequest
			err := memory.Decode([]byte(body), &r)
			var fe *memory.FieldError
			if field == "" && (err != nil || r.Judge == nil || r.Judge.Off != strings.Contains(body, "false")) || field != "" && (!errors.As(err, &fe) || fe.Field != field) {
				t.Errorf("%s: %+v, %v", body, r.Judge, err)
			}
			if again, err := json.Marshal(r); field == "" && (err != nil || memory.Decode(again, &r) != nil) {
				t.Errorf("%s does not come back from %s", body, again)
			}
		}
		w := tea(t, &told{})
		for _, rounds := range []int{-1, 3} {
			_, err := w.service.Recall(context.Background(), alice, wire.RecallRequest{Query: "q", Adequacy: rounds})
			var fe *memory.FieldError
			if !errors.As(err, &fe) || fe.Field != "adequacy" {
				t.Errorf("%d rounds: %v", rounds, err)
			}
		}
	})
}

// serviceOf returns another service on a fixture's store.
func serviceOf(t *testing.T, w *fixture, cfg query.Config, change func(*query.Deps)) *query.Service {
	t.Helper()
	deps := query.Deps{Store: w.db, Embedder: hashed.New(), Log: zerolog.Nop(), Now: func() time.Time { return noon }}
	if change != nil {
		change(&deps)
	}
	s, err := query.New(cfg, deps)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestAdequacyConformance(t *testing.T) {
	t.Parallel()
	missing := func(queries ...string) step {
		b, _ := json.Marshal(map[string]any{"enough": false, "queries": queries})
		return says(string(b))
	}
	judged := func(t *testing.T, m *told) *fixture {
		w := newFixtureWith(t, query.DefaultConfig(), withJudge(m))
		return furnish(w)
	}
	request := func(rounds int) wire.RecallRequest {
		return wire.RecallRequest{Query: "Where does Alice live?", Adequacy: rounds}
	}
	plain := textsOf(judged(t, &told{}).recall(alice, request(0)).Items)
	t.Run("a round asks new queries and joins what they find; queries already asked are dropped", func(t *testing.T) {
		t.Parallel()
		m := &told{steps: []step{missing("where does ALICE live", "Porto"), missing("Porto.", "weather")}}
		reply := judged(t, m).recall(alice, request(2))
		got := textsOf(reply.Items)
		if m.asked() != 2 || !slices.Contains(got, "Clara lives in Porto.") || !slices.Contains(got, "The weather was fine.") {
			t.Errorf("after %d rounds: %v, degraded %v", m.asked(), got, reply.Degraded)
		}
		for _, text := range plain {
			if !slices.Contains(got, text) {
				t.Errorf("%q was lost in %v", text, got)
			}
		}
		p := m.prompt(t, 2)
		if !strings.HasPrefix(p.System, "Task: adequacy\n") || !strings.Contains(p.User, "Already asked:\n- \"Porto\"") || strings.Contains(p.User, "ALICE") || !strings.Contains(p.User, "Clara lives in Porto.") {
			t.Errorf("the second round reads\n%s", p.User)
		}
		scores := make([]float64, len(reply.Items))
		for i, item := range reply.Items {
			scores[i] = -item.Score
		}
		if !slices.IsSorted(scores) {
			t.Errorf("the order is %v", scores)
		}
	})
	t.Run("at most so many rounds as were asked for, none when what is there suffices or nothing new is asked", func(t *testing.T) {
		t.Parallel()
		for _, c := range []struct {
			rounds, asked int
			steps         []step
		}{
			{0, 0, []step{missing("Porto")}},
			{1, 1, []step{missing("Porto"), missing("weather")}},
			{2, 2, []step{missing("Porto"), missing("weather"), missing("sister")}},
			{2, 1, []step{says(`{"enough":true,"queries":["Porto"]}`), missing("Porto")}},
			{2, 1, []step{missing("Where does Alice live"), missing("Porto")}},
			{2, 1, []step{missing(), missing("Porto")}},
		} {
			m := &told{steps: c.steps}
			reply := judged(t, m).recall(alice, request(c.rounds))
			if m.asked() != c.asked || hasDegraded(reply.Degraded, "adequacy") {
				t.Errorf("%d rounds asked %d times, want %d; degraded %v", c.rounds, m.asked(), c.asked, reply.Degraded)
			}
		}
	})
	for name, s := range map[string]step{"prose": says("I would look for her sister."), "nothing": says(""), "another object": says(`{"verdict":"no"}`), "other types": says(`{"enough":"no","queries":7}`), "an error": fails(errDown)} {
		t.Run("a judgement of "+name+" keeps the first result and degraded says so", func(t *testing.T) {
			t.Parallel()
			reply := judged(t, &told{steps: []step{s}}).recall(alice, request(2))
			if !slices.Equal(textsOf(reply.Items), plain) || !hasDegraded(reply.Degraded, "adequacy: ") {
				t.Errorf("got %v, degraded %v", textsOf(reply.Items), reply.Degraded)
			}
		})
	}
	t.Run("the request's filters hold for what a round finds, and a judge sees it", func(t *testing.T) {
		t.Parallel()
		m := &told{steps: []step{missing("Porto", "Bob safe code"), judges(t, map[string]float64{"Lisbon": 1}, 0)}}
		r := request(1)
		r.Session, r.Judge = "s1", &wire.Judge{}
		reply := judged(t, m).recall(alice, r)
		for _, item := range reply.Items {
			if item.Session != "s1" && item.Session != "" || strings.Contains(item.Text, "Porto") || strings.Contains(item.Text, "4711") {
				t.Errorf("%q passed", item.Text)
			}
		}
		if m.asked() != 2 || strings.Contains(m.prompt(t, 2).User, "Porto") || reply.Judged == nil {
			t.Errorf("after %d calls: %+v", m.asked(), reply.Judged)
		}
	})
	t.Run("reflect shows its model what the judge kept", func(t *testing.T) {
		t.Parallel()
		m, j := &told{steps: []step{done("Porto.", 1)}}, &told{}
		j.steps = []step{missing("Porto"), judges(t, map[string]float64{"Clara lives": 1}, 0)}
		w := newFixtureWith(t, query.DefaultConfig(), func(d *query.Deps) { withModel(m)(d); withJudge(j)(d) })
		furnish(w)
		q := question("Where does Alice live?")
		q.Judge, q.Adequacy = &wire.Judge{}, 1
		r := mustReflect(t, w, q)
		if r.Judged == nil || r.Judged.Kept != 1 || r.Usage.Calls != 3 || strings.Contains(m.prompt(t, 1).User, "Alice lives in") || len(r.Citations) != 1 || r.Citations[0].Text != "Clara lives in Porto." {
			t.Errorf("got %+v", r)
		}
	})
}
