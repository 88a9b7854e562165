package main

import (
	"cmp"
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

	"github.com/eunoe-memory/eunoe/bench/dataset"
	"github.com/eunoe-memory/eunoe/bench/score"
	"github.com/eunoe-memory/eunoe/internal/console"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/provider/hashed"
	"github.com/eunoe-memory/eunoe/pkg/query"
	"github.com/eunoe-memory/eunoe/pkg/query/recall"
	"github.com/eunoe-memory/eunoe/pkg/store"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

// variant is recall with one thing left out.
type variant struct {
	name   string
	change func(*recall.Config)
}

// variants returns recall as it is, and then without each strategy and each source of words or candidates in turn. What
// the signals of the ranking are worth says fit, which need not ask again for each.
func variants() []variant {
	out := []variant{{"nothing left out", func(*recall.Config) {}}}
	for _, name := range memory.Strategies {
		if name == memory.StrategySemantic {
			continue // words alone: no embedding model is asked
		}
		out = append(out, variant{"strategy " + name, func(c *recall.Config) {
			c.Weights = maps.Clone(c.Weights)
			c.Weights[name] = 0
		}})
	}
	return append(out,
		variant{"look-up of things", func(c *recall.Config) { c.Things = 0 }},
		variant{"look-up in the time asked for", func(c *recall.Config) { c.Dated = 0 }},
		variant{"words of the caption", func(c *recall.Config) { c.Ranking.Caption = 0 }},
		variant{"words of neighbours", func(c *recall.Config) { c.Ranking.Prev, c.Ranking.Prev2, c.Ranking.Next = 0, 0, 0 }},
		variant{"words of the family", func(c *recall.Config) { c.Ranking.Family = 0 }},
		variant{"facts lift their messages", func(c *recall.Config) { c.Support = 0 }})
}

// ablated is what recall found with one thing left out.
type ablated struct {
	Without    string             `json:"without"`
	All        score.Score        `json:"all"`        // categories 1 to 5
	MultiHop   score.Score        `json:"multi_hop"`  // category 1
	Sets       []setFigures       `json:"sets"`       // each dataset by itself
	Difference map[string]float64 `json:"difference"` // of recall@10, hit@10 and MRR over all, and of recall@10 and all@10 of category 1, to nothing left out
}

// runAblation asks the store in o.dir every question again with each thing left out in turn.
func runAblation(ctx context.Context, sets []dataset.Conversation, o runOptions) ([]ablated, error) {
	list := variants()
	bar := console.NewBar(o.progress, len(list), "leaving out")
	defer bar.Close() //nolint:errcheck // a bar that cannot be drawn changes nothing
	valid := dataset.TurnIDs(sets)
	var out []ablated
	for _, v := range list {
		lines, err := askChanged(ctx, o, sets, v.change)
		if err != nil {
			return nil, fmt.Errorf("without %s: %w", v.name, err)
		}
		all, _ := score.Run(lines, valid)
		groups := score.ByGroup(all)
		a := ablated{Without: v.name, All: groups["1-5"], MultiHop: groups["1"], Sets: newSetFigures(sets, lines, nil)}
		if len(out) > 0 {
			a.Difference = a.against(out[0])
		}
		out = append(out, a)
		bar.Add(1) //nolint:errcheck // a bar that cannot be drawn changes nothing
	}
	return out, nil
}

// against returns the differences to another.
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

// askChanged asks the store in o.dir every question by a query service of its own, with a change of recall and without a model.
func askChanged(ctx context.Context, o runOptions, sets []dataset.Conversation, change func(*recall.Config)) ([]score.Line, error) {
	db, err := store.Open(store.Config{DSN: filepath.Join(o.dir, "eunoe.db"), ReadOnly: true})
	if err != nil {
		return nil, err
	}
	defer db.Close() //nolint:errcheck // it was only read
	cfg := query.DefaultConfig()
	change(&cfg.Recall)
	s, err := query.New(cfg, query.Deps{Store: db, Embedder: hashed.New(), Log: zerolog.Nop(), Now: time.Now})
	if err != nil {
		return nil, err
	}
	var lines []score.Line
	var requests []wire.RecallRequest
	for _, set := range sets {
		for _, q := range set.Questions {
			lines = append(lines, score.NewLine(set, q))
			requests = append(requests, o.request(set, q))
		}
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i := range lines {
		group.Go(func() error {
			r, err := s.Recall(ctx, memory.BankID(o.bankPrefix+lines[i].Conversation), requests[i])
			for _, it := range r.Items {
				lines[i].Retrieved = append(lines[i].Retrieved, sourcesOf(it))
			}
			return err
		})
	}
	return lines, group.Wait()
}

// ablationTable prints how the figures change without each thing, the largest loss first.
func ablationTable(w io.Writer, all []ablated) {
	if len(all) == 0 {
		return
	}
	if len(all[0].Sets) > 1 {
		ablationBySet(w, all)
		return
	}
	rest := slices.Clone(all[1:])
	slices.SortStableFunc(rest, func(a, b ablated) int {
		return cmp.Compare(a.Difference["recall@10"], b.Difference["recall@10"])
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
	console.Table(w, append([]string{"without"}, columns...), rows)
	fmt.Fprintln(w)
}
