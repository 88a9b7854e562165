package recall_test

import (
	"fmt"
	"slices"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/query/recall"
)

// Each strategy scores a row from 0 to 1; the weights say how much the strategies count against each other.
func ExampleFusedScore() {
	scores := map[string]float64{memory.StrategyKeyword: .8, memory.StrategySemantic: .4}
	weights := map[string]float64{memory.StrategyKeyword: 3, memory.StrategySemantic: 1}
	fmt.Printf("%.2f\n", recall.FusedScore(scores, weights))
	// Output: 0.70
}

// An item that does not fit into what is left of the tokens is passed over, and a smaller one may still fit.
func ExamplePack() {
	texts := []string{"Anna lives in Lisbon.", "A long story about how Anna came to live there, told at length.", "Ben likes tea."}
	chosen, _ := recall.Pack(texts, 10, 12)
	fmt.Println(chosen)
	// Output: [0 2]
}

// Activation runs along relations both ways and loses half of itself on every hop.
func ExampleSpreadActivation() {
	relations := []memory.Relation{{From: "f_job", To: "f_city", Type: memory.RelImplies, Strength: 1}, {From: "f_city", To: "f_flat", Type: memory.RelImplies, Strength: 1}}
	reached, err := recall.SpreadActivation(map[string]float64{"f_job": 1}, 2, func([]string) ([]memory.Relation, error) { return relations, nil })
	if err != nil {
		fmt.Println(err)
		return
	}
	var ids []string
	for id := range reached {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	for _, id := range ids {
		fmt.Println(id, reached[id])
	}
	// Output:
	// f_city 0.5
	// f_flat 0.25
	// f_job 1
}

// A reranker's scores may be of any scale: they are scaled onto 0 to 1 before they are mixed in.
func ExampleBlend() {
	blended, ok := recall.Blend([]float64{.5, .3}, []float64{-4, 6}, .5)
	fmt.Println(blended, ok)
	// Output: [0.25 0.65] true
}
