package sqlite

import (
	"cmp"
	"database/sql"
	"slices"
	"strings"

	"github.com/eunoe-memory/eunoe/pkg/consolidate"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// The bounds on what Nearest looks at, whatever the size of the bank.
const (
	nearestNodes    = 128 // nodes compared with the vector, at most
	nearestTerms    = 48  // terms looked up, at most
	nearestEntities = 12  // entities looked up, at most
	termBudget      = 400 // rows of a term; and of all terms together
	entityBudget    = 100 // nodes taken of one entity, the newest
	exactMargin     = 24  // nodes past the limit whose cosine is computed exactly
)

// Nearest gives up to limit live nodes of the level whose cosine to v is least or
// more, by descending cosine, ties by id. Candidates share a rare term or an entity with the given ones:
// terms are taken from the rarest on until their rows together pass a budget,
// entities from the least busy on, and of an entity the newest nodes. A term
// may be a word as it is written or a stem of it. What is given is shared: it
// must not be changed.
func (v *view) Nearest(lvl int, vector memory.Vector, terms []string, entities []memory.EntityID, least float64, limit int) ([]consolidate.Neighbour, error) {
	if v.bank == 0 || len(vector) == 0 || limit <= 0 {
		return nil, nil
	}
	nos, err := v.candidates(lvl, terms, entities)
	if err != nil || len(nos) == 0 {
		return nil, err
	}
	// The order that is given is that of the exact cosine; only what comes near
	// the front by the quick one is read whole.
	if nos, err = v.quickest(lvl, nos, vector, least, limit+exactMargin); err != nil || len(nos) == 0 {
		return nil, err
	}
	nodes, err := v.nodesByRow(lvl, nos)
	if err != nil {
		return nil, err
	}
	out := make([]consolidate.Neighbour, 0, len(nodes))
	for _, n := range nodes {
		if c := memory.Cosine(vector, n.Vector); c >= least {
			out = append(out, consolidate.Neighbour{Node: n, Cosine: c})
		}
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

// candidates gives row numbers, in no order; of many the most promising: the
// more and the rarer the terms and entities a node shares, the better.
func (v *view) candidates(lvl int, terms []string, entities []memory.EntityID) ([]int64, error) {
	found, err := v.rareTerms(lvl, terms)
	if err != nil {
		return nil, err
	}
	byEntity, err := v.quietEntities(lvl, entities)
	if err != nil {
		return nil, err
	}
	weight := map[int64]float64{}
	spent := 0
	for _, t := range found {
		if spent += len(t); spent > termBudget && len(weight) > 0 {
			break
		}
		for _, no := range t {
			weight[no] += 1 / float64(len(t))
		}
	}
	for _, e := range byEntity {
		for _, no := range e {
			weight[no] += 1 / float64(len(e))
		}
	}
	type weighed struct {
		no     int64
		weight float64
	}
	all := make([]weighed, 0, len(weight))
	for no, w := range weight { // any order: sorted below, where some are left out
		all = append(all, weighed{no, w})
	}
	if len(all) > nearestNodes {
		slices.SortFunc(all, func(a, b weighed) int {
			if a.weight != b.weight {
				return cmp.Compare(b.weight, a.weight)
			}
			return cmp.Compare(b.no, a.no)
		})
	}
	nos := make([]int64, min(len(all), nearestNodes))
	for i := range nos {
		nos[i] = all[i].no
	}
	return nos, nil
}

// rareTerms gives, for each term that few enough live nodes have, their row
// numbers, the rarest term first. Looking one row past the limit tells a common
// term at the same price in a bank of any size.
func (v *view) rareTerms(lvl int, terms []string) ([][]int64, error) {
	const find = `SELECT j.value, (SELECT group_concat(node, ' ') FROM
  (SELECT node FROM node_terms WHERE bank = ?2 AND level = ?3 AND term = j.value LIMIT ?4)) FROM json_each(?1) j`
	hashes := askedTerms(terms, nearestTerms)
	found := make(map[uint32]*posting, len(hashes))
	var missing []uint32
	for _, t := range hashes {
		if found[t] = v.memo.posting(termKey{v.bank, lvl, t}); found[t] == nil {
			missing = append(missing, t)
		}
	}
	if len(missing) > 0 {
		err := v.rows("look up terms", find, []any{jsonList(missing), v.bank, lvl, termBudget + 1}, func(rows *sql.Rows) error {
			var t uint32
			var list sql.NullString
			if err := rows.Scan(&t, &list); err != nil {
				return err
			}
			nos, err := parseNumbers(list.String)
			found[t] = v.memo.putPosting(termKey{v.bank, lvl, t}, nos)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	var out [][]int64
	for _, t := range hashes {
		if p := found[t]; p != nil && len(p.nos) > 0 {
			out = append(out, p.nos)
		}
	}
	slices.SortStableFunc(out, func(a, b []int64) int { return len(a) - len(b) })
	return out, nil
}
