package sqlite

import (
	"database/sql"
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/eunoe-memory/eunoe/pkg/consolidate"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// The bounds on what Nearest looks at, whatever the size of the bank.
const (
	nearestNodes    = 200 // nodes compared with the vector, at most
	nearestTerms    = 48  // terms looked up, at most
	nearestEntities = 12  // entities looked up, at most
	termBudget      = 400 // rows of a term; and of all terms together
	entityBudget    = 100 // nodes taken of one entity, the newest
	exactMargin     = 16  // nodes past the limit whose cosine is computed exactly
)

// level says where the nodes of a level of the tree are kept.
type level struct {
	byName string // live nodes of an entity, newest first: ?1 bank, ?2 entity, ?3 level, ?4 limit
	rank   string // nodes by cosine: ?1 rows as JSON, ?2 bank, ?3 level, ?4 vector, ?5 limit
}

var levels = [2]level{
	{
		byName: `SELECT fact FROM fact_entities WHERE bank = ?1 AND entity = ?2 AND live = 1 AND ?3 = 0 ORDER BY said DESC, fact DESC LIMIT ?4`,
		rank: `SELECT f.id FROM json_each(?1) j CROSS JOIN facts f ON f.no = j.value CROSS JOIN fact_vectors k ON k.fact = f.no
WHERE f.bank = ?2 AND f.live = 1 AND ?3 = 0 AND length(k.vector) = length(?4) ORDER BY vec_distance_cosine(k.vector, ?4), f.id LIMIT ?5`,
	},
	{
		byName: `SELECT e.composite FROM composite_entities e JOIN composites c ON c.no = e.composite
WHERE e.bank = ?1 AND e.entity = ?2 AND c.level = ?3 ORDER BY e.composite DESC LIMIT ?4`,
		rank: `SELECT c.id FROM json_each(?1) j CROSS JOIN composites c ON c.no = j.value CROSS JOIN composite_vectors k ON k.composite = c.no
WHERE c.bank = ?2 AND c.level = ?3 AND length(k.vector) = length(?4) ORDER BY vec_distance_cosine(k.vector, ?4), c.id LIMIT ?5`,
	},
}

// Nearest gives up to limit live nodes of the level by descending cosine to v,
// ties by id. Candidates share a rare term or an entity with the given ones:
// terms are taken from the rarest on until their rows together pass a budget,
// entities from the least busy on, and of an entity the newest nodes. A term
// may be a word as it is written or a stem of it.
func (v *view) Nearest(lvl int, vector memory.Vector, terms []string, entities []memory.EntityID, limit int) ([]consolidate.Neighbour, error) {
	if v.bank == 0 || len(vector) == 0 || limit <= 0 {
		return nil, nil
	}
	at := levels[min(lvl, 1)]
	nos, err := v.candidates(at, lvl, terms, entities)
	if err != nil || len(nos) == 0 {
		return nil, err
	}
	raw := vector.Bytes()
	ids, err := listed(v, "rank the nearest", at.rank, []any{jsonList(nos), v.bank, lvl, raw, limit + exactMargin}, func(rows *sql.Rows) (id string, err error) {
		err = rows.Scan(&id)
		return id, err
	})
	if err != nil {
		return nil, err
	}
	nodes, err := v.Nodes(lvl, ids)
	if err != nil {
		return nil, err
	}
	// SQL computes in single precision and as the processor likes; the order that
	// is given is that of the exact cosine.
	out := make([]consolidate.Neighbour, len(nodes))
	for i, n := range nodes {
		out[i] = consolidate.Neighbour{Node: n, Cosine: memory.Cosine(vector, n.Vector)}
	}
	slices.SortFunc(out, func(a, b consolidate.Neighbour) int {
		switch {
		case a.Cosine != b.Cosine && a.Cosine > b.Cosine:
			return -1
		case a.Cosine != b.Cosine:
			return 1
		}
		return strings.Compare(a.ID, b.ID)
	})
	return out[:min(limit, len(out))], nil
}

// candidates gives row numbers, the most promising first: the more and the
// rarer the terms and entities a node shares, the better.
func (v *view) candidates(at level, lvl int, terms []string, entities []memory.EntityID) ([]int64, error) {
	weight := map[int64]float64{}
	found, err := v.rareTerms(lvl, terms)
	if err != nil {
		return nil, err
	}
	spent := 0
	for _, t := range found {
		if spent += len(t); spent > termBudget && len(weight) > 0 {
			break
		}
		for _, no := range t {
			weight[no] += 1 / float64(len(t))
		}
	}
	byEntity, err := v.quietEntities(at, lvl, entities)
	if err != nil {
		return nil, err
	}
	for _, e := range byEntity {
		for _, no := range e {
			weight[no] += 1 / float64(len(e))
		}
	}
	nos := make([]int64, 0, len(weight))
	for no := range weight { // any order: sorted below
		nos = append(nos, no)
	}
	sort.Slice(nos, func(i, j int) bool {
		if weight[nos[i]] != weight[nos[j]] {
			return weight[nos[i]] > weight[nos[j]]
		}
		return nos[i] > nos[j]
	})
	return nos[:min(len(nos), nearestNodes)], nil
}

// rareTerms gives, for each term that few enough live nodes have, their row
// numbers, the rarest term first. Looking one row past the limit tells a common
// term at the same price in a bank of any size.
func (v *view) rareTerms(lvl int, terms []string) ([][]int64, error) {
	// One row for all numbers: stepping through them one by one costs more than finding them.
	const find = `SELECT group_concat(node, ' ') FROM (SELECT node FROM node_terms WHERE bank = ? AND level = ? AND term = ? LIMIT ?)`
	var out [][]int64
	for _, t := range askedTerms(terms, nearestTerms) {
		var list sql.NullString
		if err := v.tx.QueryRowContext(v.ctx, find, v.bank, lvl, t, termBudget+1).Scan(&list); err != nil {
			return nil, fmt.Errorf("look up a term: %w", err)
		}
		nos, err := parseNumbers(list.String)
		if err != nil {
			return nil, err
		}
		if len(nos) > 0 && len(nos) <= termBudget {
			out = append(out, nos)
		}
	}
	slices.SortStableFunc(out, func(a, b []int64) int { return len(a) - len(b) })
	return out, nil
}

// quietEntities gives the newest nodes of the entities, those that the fewest
// live facts name first.
func (v *view) quietEntities(at level, lvl int, entities []memory.EntityID) ([][]int64, error) {
	const count = `SELECT j.value FROM json_each(?1) j LEFT JOIN entity_counts k ON k.bank = ?2 AND k.entity = j.value
GROUP BY j.value ORDER BY coalesce(max(k.live), 0), j.value LIMIT ?3`
	if len(entities) == 0 {
		return nil, nil
	}
	quiet, err := listed(v, "count entities", count, []any{jsonList(entities), v.bank, nearestEntities}, func(rows *sql.Rows) (id string, err error) {
		err = rows.Scan(&id)
		return id, err
	})
	if err != nil {
		return nil, err
	}
	var out [][]int64
	for _, e := range quiet {
		rows, err := listed(v, "read nodes of an entity", at.byName, []any{v.bank, e, lvl, entityBudget}, func(rows *sql.Rows) (no int64, err error) {
			err = rows.Scan(&no)
			return no, err
		})
		if err != nil {
			return nil, err
		}
		if len(rows) > 0 {
			out = append(out, rows)
		}
	}
	return out, nil
}
