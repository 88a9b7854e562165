package projection

import (
	"cmp"
	"database/sql"
	"slices"

	"github.com/eunoe-memory/eunoe/pkg/consolidate/plan"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/store/internal/cache"
	"github.com/eunoe-memory/eunoe/pkg/store/internal/engine"
	"github.com/eunoe-memory/eunoe/pkg/store/internal/schema"
	"github.com/eunoe-memory/eunoe/pkg/store/sketch"
)

// The bounds on what Nearest looks at, whatever the size of the bank. Of a term it looks at cache.TermLimit nodes, and of
// all terms together; of an entity at the cache.EntityLimit newest.
const (
	maxCandidates     = 128 // nodes compared with the vector
	maxTerms          = 48  // terms looked up
	maxLookedEntities = 12  // entities looked up
	exactMargin       = 24  // nodes past the limit whose cosine is computed exactly
)

// Nearest returns up to limit live nodes of the level whose cosine to vector is least or more, by descending cosine, ties
// by id. Candidates share a rare term or an entity with the given ones: terms are used from the rarest on until their
// rows together exceed a budget, entities from the one with the fewest live facts on, and of an entity the newest nodes.
// A term may be a word as it is written or its stem. The nodes returned are shared and must not be changed.
func (v *view) Nearest(lvl int, vector memory.Vector, terms []string, entities []memory.EntityID, least float64, limit int) ([]plan.Neighbour, error) {
	if v.bank == 0 || len(vector) == 0 || limit <= 0 {
		return nil, nil
	}
	nos, err := v.candidates(lvl, terms, entities)
	if err != nil || len(nos) == 0 {
		return nil, err
	}
	// The result is ordered by the exact cosine. Only nodes near the front by the coarse one are read.
	if nos, err = v.nearestCoarse(lvl, nos, vector, least, limit+exactMargin); err != nil || len(nos) == 0 {
		return nil, err
	}
	nodes, err := v.nodesByRow(lvl, nos)
	if err != nil {
		return nil, err
	}
	out := make([]plan.Neighbour, 0, len(nodes))
	for _, n := range nodes {
		if c := memory.Cosine(vector, n.Vector); c >= least {
			out = append(out, plan.Neighbour{Node: n, Cosine: c})
		}
	}
	slices.SortFunc(out, func(a, b plan.Neighbour) int { return cmp.Or(cmp.Compare(b.Cosine, a.Cosine), cmp.Compare(a.ID, b.ID)) })
	return out[:min(limit, len(out))], nil
}

// candidates returns row numbers, in no order; of many the most promising: the more terms and entities a node shares, and
// the rarer they are, the better.
func (v *view) candidates(lvl int, terms []string, entities []memory.EntityID) ([]int64, error) {
	var found, byEntity [][]int64
	err := v.tx.Together(
		func(tx *engine.Tx) (err error) {
			found, err = v.in(tx).rareTerms(lvl, terms)
			return err
		},
		func(tx *engine.Tx) (err error) {
			byEntity, err = v.in(tx).byEntity(lvl, entities)
			return err
		},
	)
	if err != nil {
		return nil, err
	}
	weight := map[int64]float64{}
	spent := 0
	for _, t := range found {
		if spent += len(t); spent > cache.TermLimit && len(weight) > 0 {
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
	for no, w := range weight { // in any order: they are sorted when some are left out
		all = append(all, weighed{no, w})
	}
	if len(all) > maxCandidates {
		slices.SortFunc(all, func(a, b weighed) int { return cmp.Or(cmp.Compare(b.weight, a.weight), cmp.Compare(b.no, a.no)) })
	}
	nos := make([]int64, min(len(all), maxCandidates))
	for i := range nos {
		nos[i] = all[i].no
	}
	return nos, nil
}

// rareTerms returns, for each term that few enough live nodes have, their row numbers, the rarest term first. Reading one
// row past the limit recognises a common term at the same cost in a bank of any size.
func (v *view) rareTerms(lvl int, terms []string) ([][]int64, error) {
	hashes := schema.TermsOf(terms, maxTerms)
	found := make(map[uint32]*cache.Posting, len(hashes))
	missing := v.uncached(lvl, hashes, found)
	if len(missing) > 0 {
		reads := []func(*engine.Tx) error{func(tx *engine.Tx) error { return v.lookUpTerms(tx, lvl, missing, found) }}
		for _, above := range levelsAhead(lvl) {
			if ahead := v.uncached(above, missing, nil); len(ahead) > 0 && v.cache != nil && v.tx.Sends() {
				reads = append(reads, func(tx *engine.Tx) error { return v.lookUpTerms(tx, above, ahead, nil) })
			}
		}
		if err := v.tx.Together(reads...); err != nil {
			return nil, err
		}
	}
	var out [][]int64
	for _, t := range hashes {
		if p := found[t]; p != nil && len(p.Nos) > 0 {
			out = append(out, p.Nos)
		}
	}
	slices.SortStableFunc(out, func(a, b []int64) int { return len(a) - len(b) })
	return out, nil
}

// levelsAhead returns the levels whose nodes with a term are likely to be asked for after those of a level: the composite
// that a node comes into often has its text. A store of which common round trips save time reads them at once.
func levelsAhead(lvl int) []int {
	if lvl == 0 {
		return []int{1}
	}
	return []int{lvl + 1, lvl + 2}
}

// uncached puts the nodes of terms that are cached into found, which may be nil, and returns the other terms.
func (v *view) uncached(lvl int, terms []uint32, found map[uint32]*cache.Posting) (missing []uint32) {
	for _, t := range terms {
		p := v.cache.Posting(v.bank, lvl, t)
		switch {
		case p == nil:
			missing = append(missing, t)
		case found != nil:
			found[t] = p
		}
	}
	return missing
}

// lookUpTerms reads the nodes of terms, caches them and puts them into found, which may be nil.
func (v *view) lookUpTerms(tx *engine.Tx, lvl int, terms []uint32, found map[uint32]*cache.Posting) error {
	return tx.Each("look up terms", tx.Engine().TermTable().Find, []any{engine.List(terms), v.bank, lvl, cache.TermLimit + 1}, func(rows *sql.Rows) error {
		var t uint32
		var list sql.NullString
		if err := rows.Scan(&t, &list); err != nil {
			return err
		}
		nos, err := engine.ParseNumbers(list.String)
		slices.Sort(nos)
		p := v.cache.PutPosting(v.bank, lvl, t, nos)
		if found != nil {
			found[t] = p
		}
		return err
	})
}

// vectorsOfRows reads the vectors of facts and of composites. It takes row numbers as ?1 and the bank as ?2.
var vectorsOfRows = [2]string{
	`SELECT k.fact, k.vector FROM json_each(?1) j CROSS JOIN fact_vectors k ON k.fact = j.value WHERE +k.bank = ?2`,
	`SELECT k.composite, coalesce(k.vector, v.vector) FROM json_each(?1) j CROSS JOIN composite_vectors k ON k.composite = j.value
LEFT JOIN fact_vectors v ON v.fact = k.fact WHERE +k.bank = ?2`,
}

// nearestCoarse returns, of rows of the level that may be as near to the vector as least, the limit nearest by their
// coarse vectors, and all that are as near as the last of them, in no order. It reads their vectors and nothing else.
func (v *view) nearestCoarse(lvl int, nos []int64, vector memory.Vector, least float64, limit int) ([]int64, error) {
	type scored struct {
		no    int64
		score float32
	}
	all := make([]scored, 0, 2*limit)
	asked, floor := sketch.Coarsen(sketch.Pack(vector)), float32(least-sketch.CoarseError)
	add := func(no int64, c sketch.Coarse) {
		if c.Dimension() != len(vector) {
			return
		}
		if score := asked.Cosine(c); score >= floor {
			all = append(all, scored{no, score})
		}
	}
	var missing []int64
	for _, no := range nos {
		if c, cached := v.cache.Vector(lvl, no); cached {
			add(no, c)
		} else {
			missing = append(missing, no)
		}
	}
	if len(missing) > 0 {
		var no int64
		var raw sql.RawBytes
		err := v.tx.Each("read vectors of candidates", vectorsOfRows[min(lvl, 1)], []any{engine.List(missing), v.bank}, func(rows *sql.Rows) error {
			err := rows.Scan(&no, &raw)
			if err == nil {
				add(no, v.cache.PutVector(lvl, no, raw))
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	slices.SortFunc(all, func(a, b scored) int { return cmp.Compare(b.score, a.score) })
	out := make([]int64, 0, min(limit, len(all)))
	for i, s := range all {
		if i >= limit && s.score < all[limit-1].score {
			break
		}
		out = append(out, s.no)
	}
	return out, nil
}
