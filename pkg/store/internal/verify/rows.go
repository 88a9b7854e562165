package verify

import (
	"database/sql"
	"fmt"
	"math"
	"slices"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/store/internal/engine"
	"github.com/eunoe-memory/eunoe/pkg/store/internal/schema"
	"github.com/eunoe-memory/eunoe/pkg/store/sketch"
)

// vectors checks that vectors have the size of the pinned embedder.
func (c *verifier) vectors() error {
	var e schema.Embedder
	if _, err := c.tx.Setting(schema.EmbedderKey, &e); err != nil {
		return c.check("the store knows its embedder", func(func(string)) error { return err })
	}
	size := 0
	if e.Dimension > 0 {
		size = sketch.PackedSize(e.Dimension)
	}
	for _, t := range []struct{ table, id, owner, vector string }{
		{"fact_vectors", "f.id", "JOIN facts f ON f.no = k.fact", "k.vector"},
		{"composite_vectors", "c.id", "JOIN composites c ON c.no = k.composite LEFT JOIN fact_vectors v ON v.fact = k.fact", "coalesce(k.vector, v.vector)"},
		{"message_vectors", "k.message", "", "k.vector"},
	} {
		rule := fmt.Sprintf("%s are of the pinned dimension", t.table)
		find := fmt.Sprintf("SELECT %[1]s FROM %[2]s k %[3]s WHERE length(%[4]s) <> %[5]d", t.id, t.table, t.owner, t.vector, size)
		if err := c.rules(schema.Rule{Name: rule, Find: find}); err != nil {
			return err
		}
	}
	return nil
}

// validity checks what the JSON of facts contains: intervals are sorted and disjoint, and a fact is live when its last
// interval is open.
func (c *verifier) validity() error {
	var unsorted, misjudged []string
	err := c.check("the validity of a fact can be read", func(violated func(string)) error {
		return c.tx.Each("read validity", `SELECT id, live, merged IS NOT NULL, valid, said FROM facts`, nil, func(rows *sql.Rows) error {
			var id string
			var live, merged bool
			var raw []byte
			var said int64
			if err := rows.Scan(&id, &live, &merged, &raw, &said); err != nil {
				return err
			}
			var f memory.Fact
			var err error
			if f.Valid, err = schema.ValidOf(raw, said); err != nil {
				violated(id)
				return nil
			}
			if !disjoint(f.Valid) {
				unsorted = append(unsorted, id)
			}
			if merged {
				f.Merged = "another"
			}
			if f.Live() != live {
				misjudged = append(misjudged, id)
			}
			return nil
		})
	})
	for _, r := range []struct {
		rule string
		list []string
	}{{"the intervals in which a fact is valid are sorted and disjoint", unsorted}, {"a fact is live while its last interval is open", misjudged}} {
		if err == nil {
			err = c.check(r.rule, func(violated func(string)) error {
				for _, id := range r.list {
					violated(id)
				}
				return nil
			})
		}
	}
	return err
}

// disjoint reports whether intervals follow each other, none ends before it begins, and only the last is open.
func disjoint(list []memory.Interval) bool {
	for i, v := range list {
		if v.To != nil && v.To.Before(v.From) {
			return false
		}
		if i > 0 && (list[i-1].To == nil || list[i-1].To.After(v.From)) {
			return false
		}
	}
	return true
}

// termSample is the number of nodes whose terms are computed again, unless the verification is full.
const termSample = 2000

// terms checks the terms under which live nodes are found as neighbours.
func (c *verifier) terms(full bool) error {
	err := c.rules(schema.Rule{Name: "terms are those of live facts and of composites", Find: `SELECT 'node ' || t.node FROM (SELECT DISTINCT bank, level, node FROM node_terms) t
LEFT JOIN facts f ON t.level = 0 AND f.no = t.node AND f.bank = t.bank AND f.live = 1
LEFT JOIN composites c ON t.level > 0 AND c.no = t.node AND c.bank = t.bank AND c.level = t.level WHERE f.no IS NULL AND c.no IS NULL`})
	if err != nil {
		return err
	}
	rule, limit := "a node is found by the terms of its text", math.MaxInt
	if !full {
		rule, limit = fmt.Sprintf("a node is found by the terms of its text (the %d latest of a kind)", termSample), termSample
	}
	return c.check(rule, func(violated func(string)) error {
		for _, nodes := range []string{`SELECT bank, 0, no, id, text FROM facts WHERE live = 1 AND no < ? ORDER BY no DESC LIMIT ?`,
			`SELECT bank, level, no, id, text FROM composites WHERE no < ? ORDER BY no DESC LIMIT ?`} {
			if err := c.termsOf(nodes, limit, violated); err != nil {
				return err
			}
		}
		return nil
	})
}

// nodesAtATime is how many texts are held in memory at most.
const nodesAtATime = 1000

// termsOf checks up to limit nodes of a query that takes a row number, which all are below, and a limit.
func (c *verifier) termsOf(nodes string, limit int, violated func(string)) error {
	for last := int64(math.MaxInt64); limit > 0; limit -= nodesAtATime {
		list, err := engine.All(c.tx, "read texts", nodes, []any{last, min(limit, nodesAtATime)}, func(rows *sql.Rows) (n node, err error) {
			err = rows.Scan(&n.bank, &n.level, &n.no, &n.id, &n.text)
			return n, err
		})
		if err != nil || len(list) == 0 {
			return err
		}
		for _, n := range list {
			has, err := c.hasTerms(n)
			if err != nil {
				return err
			}
			if !has {
				violated(n.id)
			}
		}
		last = list[len(list)-1].no
	}
	return nil
}

// node is a live fact or a composite with the text whose terms it is found by.
type node struct {
	bank, no int64
	level    int
	id, text string
}

// hasTerms reports whether a node is stored under every term of its text.
func (c *verifier) hasTerms(n node) (bool, error) {
	want := schema.Terms(n.text)
	if len(want) == 0 {
		return true, nil
	}
	var found int
	err := c.tx.Get("look up terms", c.tx.Engine().TermTable().Count, []any{n.bank, n.level, n.no, engine.List(slices.Compact(want))}, &found)
	return found == len(want), err
}
