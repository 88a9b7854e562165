package schema

import (
	"database/sql"
	"slices"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/store/internal/engine"
	"github.com/eunoe-memory/eunoe/pkg/store/sketch"
)

// Composites describes composites: nodes of the tree over facts. One passes a filter when all facts beneath it do.
func Composites() Kind {
	return Kind{
		Record: memory.RecordComposite, Table: "composites", Alias: "c", Number: "no", Said: "said", Indexed: []string{"text"},
		Versioned: true, Confidence: true,
		Passes: func(f Filter) Condition {
			if f.Plain {
				return Condition{SQL: "TRUE"}
			}
			return Condition{`NOT EXISTS (WITH RECURSIVE t(no) AS (SELECT c.no UNION ALL SELECT k.no FROM t CROSS JOIN composites k ON k.parent = t.no)
SELECT 1 FROM t CROSS JOIN facts f ON f.parent = t.no WHERE NOT (` + f.Facts.SQL + `)) AND ` + f.Composites.SQL, slices.Concat(f.Facts.Args, f.Composites.Args)}
		},
		Items: Items{Select: compositeItem, Scan: scanCompositeItem, Sources: compositeItemSources},
		Rules: compositeRules,
		Tables: []Table{
			{Name: "composites", OfBank: true, Dump: `SELECT c.id, b.id, c.level, c.text, c.grams, c.representative, c.children, c.entities, c.tags, c.occurred_from, c.occurred_to, c.said,
  c.confidence, c.version, c.made, (SELECT p.id FROM composites p WHERE p.no = c.parent) FROM composites c JOIN banks b ON b.no = c.bank ORDER BY c.id`},
			{Name: "composite_entities", Dump: `SELECT b.id, e.entity, c.id FROM composite_entities e JOIN composites c ON c.no = e.composite JOIN banks b ON b.no = e.bank ORDER BY b.id, e.entity, c.id`},
			{Name: "composite_vectors", Dump: `SELECT b.id, c.id, coalesce(k.vector, v.vector) FROM composite_vectors k LEFT JOIN fact_vectors v ON v.fact = k.fact JOIN composites c ON c.no = k.composite JOIN banks b ON b.no = k.bank ORDER BY b.id, c.id`},
		},
	}
}

// SelectComposites reads composites by id, which it takes as ?1, in the bank ?2. ScanComposite reads its rows.
const SelectComposites = `SELECT c.id, c.level, c.text, c.representative, c.children, c.entities, c.tags, c.occurred_from, c.occurred_to, c.said,
  c.confidence, c.version, coalesce(k.vector, v.vector), c.made
FROM json_each(?1) j CROSS JOIN composites c ON c.id = j.value LEFT JOIN composite_vectors k ON k.composite = c.no
LEFT JOIN fact_vectors v ON v.fact = k.fact WHERE +c.bank = ?2`

// ScanComposite reads a row of SelectComposites. Empty lists are nil. Bank is not filled.
func ScanComposite(rows *sql.Rows) (c memory.Composite, err error) {
	var said int64
	var from, to sql.NullInt64
	var children, entities, tags, vector []byte
	var made string
	err = rows.Scan(&c.ID, &c.Level, &c.Text, &c.Representative, &children, &entities, &tags, &from, &to, &said, &c.Confidence, &c.Version, &vector, &made)
	if err != nil {
		return c, err
	}
	c.Said, c.Occurred = engine.Time(said), engine.Span(from, to)
	if len(vector) > 0 {
		c.Vector = sketch.Unpack(vector)
	}
	if c.By, err = StampOf(made); err != nil {
		return c, err
	}
	err = engine.AllFromJSON(children, &c.Children, entities, &c.Entities, tags, &c.Tags)
	c.Children, c.Entities, c.Tags = engine.NilIfEmpty(c.Children), engine.NilIfEmpty(c.Entities), engine.NilIfEmpty(c.Tags)
	return c, err
}

// Nodes of the tree, as clustering sees them: live facts at level 0, composites above.
const (
	factNode = `SELECT f.no, f.id, 0, f.text, k.vector, f.entities, f.tags, f.confidence, f.said, f.occurred_from, f.occurred_to,
  coalesce((SELECT p.id FROM composites p WHERE p.no = f.parent), ''), '[]'
FROM json_each(?1) j CROSS JOIN facts f ON `
	factNodeEnd   = ` = j.value LEFT JOIN fact_vectors k ON k.fact = f.no WHERE +f.bank = ?2 AND f.live = 1 AND ?3 = 0`
	compositeNode = `SELECT c.no, c.id, c.level, c.text, coalesce(k.vector, v.vector), c.entities, c.tags, c.confidence, c.said, c.occurred_from, c.occurred_to,
  coalesce((SELECT p.id FROM composites p WHERE p.no = c.parent), ''), c.children
FROM json_each(?1) j CROSS JOIN composites c ON `
	compositeNodeEnd = ` = j.value LEFT JOIN composite_vectors k ON k.composite = c.no LEFT JOIN fact_vectors v ON v.fact = k.fact
WHERE +c.bank = ?2 AND c.level = ?3`
)

var (
	nodesByID  = [2]string{factNode + `f.id` + factNodeEnd, compositeNode + `c.id` + compositeNodeEnd}
	nodesByRow = [2]string{factNode + `f.no` + factNodeEnd, compositeNode + `c.no` + compositeNodeEnd}
)

// NodesByID is the query of the nodes of a level. It takes ids as ?1, the bank as ?2 and the level as ?3; ScanNode
// reads its rows.
func NodesByID(level int) string { return nodesByID[min(level, 1)] }

// NodesByRow is NodesByID with row numbers as ?1.
func NodesByRow(level int) string { return nodesByRow[min(level, 1)] }

// ScanNode reads a node and its row number. Empty lists are nil.
func ScanNode(rows *sql.Rows) (no int64, n memory.Node, err error) {
	var said int64
	var from, to sql.NullInt64
	var vector, entities, tags, children []byte
	err = rows.Scan(&no, &n.ID, &n.Level, &n.Text, &vector, &entities, &tags, &n.Confidence, &said, &from, &to, &n.Parent, &children)
	if err != nil {
		return no, n, err
	}
	if len(vector) > 0 {
		n.Vector = sketch.Unpack(vector)
	}
	n.Said, n.Occurred = engine.Time(said), engine.Span(from, to)
	err = engine.AllFromJSON(entities, &n.Entities, tags, &n.Tags, children, &n.Children)
	n.Entities, n.Tags, n.Children = engine.NilIfEmpty(n.Entities), engine.NilIfEmpty(n.Tags), engine.NilIfEmpty(n.Children)
	return no, n, err
}

// Leaves begins a query that walks from composites, whose row numbers it takes as ?1 in the bank ?2, down to the facts
// at the bottom: t(root, no). CROSS JOIN keeps SQLite from walking up from all facts that have a parent.
const Leaves = `WITH RECURSIVE t(root, no) AS (
  SELECT c.no, c.no FROM json_each(?1) j CROSS JOIN composites c ON c.no = j.value WHERE +c.bank = ?2
  UNION ALL
  SELECT t.root, k.no FROM t CROSS JOIN composites k ON k.parent = t.no
) `

const compositeItem = `SELECT c.no, c.id, c.level, c.text, c.children, c.entities, c.tags, c.occurred_from, c.occurred_to, c.said, c.confidence, c.version
FROM json_each(?) j CROSS JOIN composites c ON c.no = j.value WHERE +c.bank = ?`

const compositeItemSources = Leaves + `SELECT DISTINCT t.root, s.message, s.seq FROM t CROSS JOIN facts f ON f.parent = t.no
CROSS JOIN fact_sources s ON s.fact = f.no ORDER BY t.root, s.seq`

func scanCompositeItem(rows *sql.Rows) (no int64, i memory.Item, err error) {
	i = memory.Item{Record: memory.RecordComposite}
	var said int64
	var from, to sql.NullInt64
	var children, entities, tags []byte
	err = rows.Scan(&no, &i.ID, &i.Level, &i.Text, &children, &entities, &tags, &from, &to, &said, &i.Confidence, &i.Version)
	if err != nil {
		return no, i, err
	}
	setTimes(&i, said, from, to)
	return no, i, engine.AllFromJSON(entities, &i.Entities, tags, &i.Tags, children, &i.Children)
}
