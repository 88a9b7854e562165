package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"github.com/rs/zerolog"
	"golang.org/x/sync/errgroup"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/provider/hashed"
	"github.com/eunoe-memory/eunoe/pkg/query"
	"github.com/eunoe-memory/eunoe/pkg/query/rank"
	"github.com/eunoe-memory/eunoe/pkg/store"
)

// variant is recall with one thing left out.
type variant struct {
	name   string
	change func(*query.RecallConfig)
}

// variants gives recall as it is, and then without each strategy, each signal
// and each source of words or candidates in turn.
func variants() []variant {
	out := []variant{{"nothing left out", func(*query.RecallConfig) {}}}
	for _, name := range memory.Strategies {
		if name == memory.StrategySemantic {
			continue // words alone: no embedding model is asked
		}
		out = append(out, variant{"strategy " + name, func(c *query.RecallConfig) {
			c.Weights = maps.Clone(c.Weights)
			c.Weights[name] = 0
		}})
	}
	for _, s := range rank.AllSignals() {
		out = append(out, variant{"signal " + s.String(), func(c *query.RecallConfig) { c.Ranking.Signals[s] = 0 }})
	}
	return append(out,
		variant{"look-up of things", func(c *query.RecallConfig) { c.Things = 0 }},
		variant{"words of the caption", func(c *query.RecallConfig) { c.Ranking.Caption = 0 }},
		variant{"words of neighbours", func(c *query.RecallConfig) { c.Ranking.Prev, c.Ranking.Prev2, c.Ranking.Next = 0, 0, 0 }},
		variant{"words of the family", func(c *query.RecallConfig) { c.Ranking.Kin = 0 }},
		variant{"facts lift their messages", func(c *query.RecallConfig) { c.Support = 0 }})
}

// ablated is what recall came to with one thing left out.
type ablated struct {
	Without    string             `json:"without"`
	All        Score              `json:"all"`        // categories 1 to 5
	MultiHop   Score              `json:"multi_hop"`  // category 1
	Difference map[string]float64 `json:"difference"` // of recall@10, hit@10 and MRR over all, and of recall@10 and all@10 of category 1, to nothing left out
}

// runAblation asks every question again of the store in dir with each thing
// left out in turn, by a query service of its own that uses no model.
func runAblation(ctx context.Context, dir string, sets []conversation, o benchOptions, progress io.Writer) ([]ablated, error) {
	db, err := store.Open(store.Config{DSN: filepath.Join(dir, "eunoe.db"), ReadOnly: true})
	if err != nil {
		return nil, err
	}
	defer db.Close() //nolint:errcheck // it was only read
	list := variants()
	bar := newBar(progress, len(list), "leaving out")
	defer bar.Close() //nolint:errcheck // a bar that cannot be drawn changes nothing
	valid := turnIDs(sets)
	var out []ablated
	for _, v := range list {
		cfg := query.DefaultConfig()
		v.change(&cfg.Recall)
		service, err := query.New(cfg, query.Deps{Store: db, Embedder: hashed.New(), Log: zerolog.Nop(), Now: time.Now})
		if err != nil {
			return nil, err
		}
		lines, err := askService(ctx, service, sets, o)
		if err != nil {
			return nil, fmt.Errorf("without %s: %w", v.name, err)
		}
		all, _ := scoreRun(lines, valid)
		groups := byGroup(all)
		a := ablated{Without: v.name, All: groups["1-5"], MultiHop: groups["1"]}
		if len(out) > 0 {
			a.Difference = a.against(out[0])
		}
		out = append(out, a)
		bar.Add(1) //nolint:errcheck // a bar that cannot be drawn changes nothing
	}
	return out, nil
}

// against gives the differences to another.
func (a ablated) against(b ablated) map[string]float64 {
	out := map[string]float64{}
	for _, m := range []string{"recall@10", "hit@10", "MRR"} {
		out[m] = a.All[m] - b.All[m]
	}
	for _, m := range []string{"recall@10", "all@10"} {
		out["multi-hop "+m] = a.MultiHop[m] - b.MultiHop[m]
	}
	return out
}

// askService asks every question of a service that stands in this process.
func askService(ctx context.Context, s *query.Service, sets []conversation, o benchOptions) ([]runLine, error) {
	var lines []runLine
	var nows []time.Time
	for _, set := range sets {
		for _, q := range set.Questions {
			lines = append(lines, runLine{QID: q.QID, Question: q.Question, Category: q.Category, Evidence: q.Evidence, Retrieved: [][]string{}, conversation: set.ID})
			nows = append(nows, set.last())
		}
	}
	tokens := memory.MaxTokens
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i := range lines {
		group.Go(func() error {
			r, err := s.Recall(ctx, memory.BankID(o.bankPrefix+lines[i].conversation), memory.RecallRequest{Query: lines[i].Question,
				Filter: memory.Filter{Records: o.records}, MaxFacts: &o.maxFacts, MaxTokens: &tokens, Now: &nows[i]})
			for _, it := range r.Items {
				lines[i].Retrieved = append(lines[i].Retrieved, sourcesOf(it))
			}
			return err
		})
	}
	return lines, group.Wait()
}

// turnIDs gives the ids of the turns of each conversation.
func turnIDs(sets []conversation) map[string]map[string]bool {
	out := map[string]map[string]bool{}
	for _, set := range sets {
		out[set.ID] = map[string]bool{}
		for _, m := range set.turns() {
			out[set.ID][string(m.ID)] = true
		}
	}
	return out
}

// ablationTable prints what each thing is worth: what is lost without it, the
// dearest first.
func ablationTable(w io.Writer, all []ablated) {
	if len(all) == 0 {
		return
	}
	rest := slices.Clone(all[1:])
	slices.SortStableFunc(rest, func(a, b ablated) int {
		switch x, y := a.Difference["recall@10"], b.Difference["recall@10"]; {
		case x < y:
			return -1
		case x > y:
			return 1
		}
		return 0
	})
	columns := []string{"recall@10", "hit@10", "MRR", "multi-hop recall@10", "multi-hop all@10"}
	base := all[0]
	rows := [][]string{{base.Without, metric("", base.All["recall@10"]), metric("", base.All["hit@10"]), metric("MRR", base.All["MRR"]),
		metric("", base.MultiHop["recall@10"]), metric("", base.MultiHop["all@10"])}}
	for _, a := range rest {
		row := []string{a.Without}
		for _, c := range columns {
			if c == "MRR" {
				row = append(row, fmt.Sprintf("%+.3f", a.Difference[c]))
			} else {
				row = append(row, fmt.Sprintf("%+.1f", 100*a.Difference[c]))
			}
		}
		rows = append(rows, row)
	}
	fmt.Fprintln(w, "left out, and how the figures change by it")
	table(w, append([]string{"without"}, columns...), rows)
	fmt.Fprintln(w)
}
