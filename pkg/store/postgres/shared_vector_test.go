package postgres_test

import (
	"database/sql"
	"errors"
	"fmt"
	"testing"

	"github.com/eunoe-memory/eunoe/pkg/consolidate/plan"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/store/postgres"
)

// TestACompositeSharesTheVectorOfAFact puts a composite that takes the row of an earlier one together with the fact that
// represents it. The vector of both is stored once.
func TestACompositeSharesTheVectorOfAFact(t *testing.T) {
	t.Parallel()
	dsn := newSchema(t)
	db := open(t, postgres.DefaultConfig(dsn))
	fact := func(text string, v memory.Vector) memory.Fact {
		return memory.Fact{ID: memory.NewFactID("kiln", text, memory.KindWorld), Bank: "kiln", Text: text, Kind: memory.KindWorld, Type: memory.TypeFact,
			Speaker: "Ida", Said: said, Recorded: said, Session: "s", Valid: []memory.Interval{{From: said}}, Version: 1, Confidence: .6, Vector: v.Unit()}
	}
	over := func(representative memory.Fact, children ...string) memory.Composite {
		return memory.Composite{ID: memory.NewCompositeID("kiln", 1, children), Bank: "kiln", Level: 1, Text: representative.Text,
			Representative: string(representative.ID), Children: children, Said: said, Confidence: .6, Version: 1, Vector: representative.Vector}
	}
	cup, bowl := fact("Ida glazed a cup.", memory.Vector{3, 4}), fact("Ida glazed a bowl.", memory.Vector{4, 3})
	vase := fact("Ida glazed a tall blue vase.", memory.Vector{1, 1})
	first := over(cup, string(cup.ID), string(bowl.ID))
	second := over(vase, string(bowl.ID), string(cup.ID), string(vase.ID))
	for i, c := range []memory.Changes{
		{Facts: []memory.Fact{cup, bowl}, Composites: []memory.Composite{first}},
		{Facts: []memory.Fact{vase}, Composites: []memory.Composite{second}, RemovedComposites: []memory.CompositeID{first.ID},
			Renewed: map[memory.CompositeID]memory.CompositeID{second.ID: first.ID}},
	} {
		seq := uint64(i) + 1 //nolint:gosec // 0 and 1
		w := memory.Write{Bank: "kiln", Kind: memory.WriteRetain, Seq: seq, Op: fmt.Sprint("op ", seq), Time: said}
		err := db.ApplyWrites(t.Context(), seq-1, seq, []memory.Write{w}, func(plan.View, memory.Write) (memory.Changes, error) { return c, nil })
		if err != nil {
			t.Fatal(err)
		}
	}
	raw, err := sql.Open("pgx/v5", dsn)
	if err != nil {
		t.Fatal(err)
	}
	var n, shared, own int
	var of string
	err = raw.QueryRowContext(t.Context(), `SELECT count(*), count(k.fact), count(k.vector), coalesce(max(f.text), '')
FROM composite_vectors k LEFT JOIN facts f ON f.no = k.fact`).Scan(&n, &shared, &own, &of)
	if err := errors.Join(err, raw.Close()); err != nil {
		t.Fatal(err)
	}
	if n != 1 || shared != 1 || own != 0 || of != vase.Text {
		t.Errorf("of %d composites %d share the vector of %q, and %d have their own", n, shared, of, own)
	}
}
