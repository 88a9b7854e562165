package cluster_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/eunoe-memory/eunoe/pkg/consolidate/plan/cluster"
	"github.com/eunoe-memory/eunoe/pkg/consolidate/plan/statement"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// at returns a node whose vector has this angle in degrees, so that the cosine of two nodes is that of the angle between.
func at(id string, degrees float64) cluster.Item {
	return cluster.Item{ID: id, Vector: memory.Vector{float32(math.Cos(degrees * math.Pi / 180)), float32(math.Sin(degrees * math.Pi / 180))}}
}

// circle returns nodes by id, each in a group of its own, and every edge between two of them.
func circle(items ...cluster.Item) (byID map[string]cluster.Item, groups [][]string, edges []cluster.Edge) {
	byID = map[string]cluster.Item{}
	for i, a := range items {
		byID[a.ID] = a
		groups = append(groups, []string{a.ID})
		for _, b := range items[i+1:] {
			edges = append(edges, cluster.Edge{A: a.ID, B: b.ID, Cosine: memory.Cosine(a.Vector, b.Vector)})
		}
	}
	return byID, groups, edges
}

// limits join nodes up to 20 degrees apart into groups of at most 30 degrees and 8 members.
var limits = cluster.Limits{Cluster: math.Cos(20 * math.Pi / 180), Diameter: math.Cos(30 * math.Pi / 180), Cap: 8}

func TestGroup(t *testing.T) {
	t.Parallel()

	t.Run("neighbours join, and a node with none stays alone", func(t *testing.T) {
		t.Parallel()
		items, groups, edges := circle(at("a", 0), at("b", 10), at("c", 90))
		if diff := cmp.Diff([][]string{{"a", "b"}, {"c"}}, cluster.Group(items, groups, edges, limits)); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("a chain of neighbours does not hold unlike ends together", func(t *testing.T) {
		t.Parallel()
		items, groups, edges := circle(at("a", 0), at("b", 15), at("c", 31), at("d", 47))
		if diff := cmp.Diff([][]string{{"a", "b"}, {"c", "d"}}, cluster.Group(items, groups, edges, limits)); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("a group that grows past the cap is split around its ends", func(t *testing.T) {
		t.Parallel()
		small := limits
		small.Cap = 4
		items, groups, edges := circle(at("a", 0), at("b", 1), at("c", 2), at("x", 24), at("y", 25))
		got := cluster.Group(items, groups, edges, small)
		if diff := cmp.Diff([][]string{{"a", "b", "c"}, {"x", "y"}}, got); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("two nodes without a common content word stay apart where one is required", func(t *testing.T) {
		t.Parallel()
		a, b := at("a", 0), at("b", 5)
		a.Reading, b.Reading = statement.Read("Nora repairs bicycles.", nil), statement.Read("Nora sings ballads.", nil)
		items, groups, edges := circle(a, b)
		words := limits
		words.SharedWord = true
		if got := cluster.Group(items, groups, edges, words); len(got) != 2 {
			t.Errorf("groups %v", got)
		}
		b.Reading = statement.Read("Nora sells bicycles.", nil)
		items["b"] = b
		if got := cluster.Group(items, groups, edges, words); len(got) != 1 {
			t.Errorf("groups %v", got)
		}
	})
	t.Run("an edge to an unknown node changes nothing", func(t *testing.T) {
		t.Parallel()
		items, groups, edges := circle(at("a", 0), at("b", 90))
		edges = append(edges, cluster.Edge{A: "a", B: "gone", Cosine: 1})
		if got := cluster.Group(items, groups, edges, limits); len(got) != 2 {
			t.Errorf("groups %v", got)
		}
	})
}

func TestGroupKeepsItsPromises(t *testing.T) {
	t.Parallel()
	for seed := range uint64(50) {
		r := rand.New(rand.NewPCG(seed, 1))
		var list []cluster.Item
		for i := range 40 {
			list = append(list, at(fmt.Sprintf("n%02d", i), r.Float64()*120))
		}
		items, groups, edges := circle(list...)
		got := cluster.Group(items, groups, edges, limits)
		var all []string
		for _, g := range got {
			if len(g) > limits.Cap {
				t.Fatalf("seed %d: a group of %d, the cap is %d", seed, len(g), limits.Cap)
			}
			for i, a := range g {
				for _, b := range g[i+1:] {
					if !limits.Fit(items[a], items[b]) {
						t.Fatalf("seed %d: %s and %s do not fit in one group", seed, a, b)
					}
				}
			}
			all = append(all, g...)
		}
		slices.Sort(all)
		if len(all) != len(items) || len(slices.Compact(all)) != len(items) {
			t.Fatalf("seed %d: %d nodes are in groups, expected each of %d once", seed, len(all), len(items))
		}
		r.Shuffle(len(groups), func(i, j int) { groups[i], groups[j] = groups[j], groups[i] })
		r.Shuffle(len(edges), func(i, j int) {
			edges[i], edges[j] = cluster.Edge{A: edges[j].B, B: edges[j].A, Cosine: edges[j].Cosine}, edges[i]
		})
		if diff := cmp.Diff(got, cluster.Group(items, groups, edges, limits)); diff != "" {
			t.Fatalf("seed %d: another order of the input groups otherwise: %s", seed, diff)
		}
	}
}
