package sqlite

import (
	"hash/fnv"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/eunoe-memory/eunoe/pkg/analysis"
)

// termHash is how node_terms names a term: 23 bits, which SQLite keeps in three
// bytes. Terms that share one only bring candidates that are then compared.
func termHash(term string) uint32 {
	h := fnv.New32a()
	_, _ = h.Write([]byte(term))
	return h.Sum32() & (1<<23 - 1)
}

// textTerms gives the terms under which a text is found: the stems of its
// words that carry content, and pairs of Chinese, Japanese or Korean
// characters, hashed, rising.
func textTerms(text string) []uint32 {
	var out []uint32
	for _, s := range analysis.ContentStems(text) {
		out = append(out, termHash(s))
	}
	for g := range strings.FieldsSeq(analysis.Grams(text)) {
		out = append(out, termHash(g))
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// askedTerms gives the terms to look up for words as they are written, or
// stems of them, at most limit, in the order given: single characters that
// follow each other are a pair as well.
func askedTerms(terms []string, limit int) []uint32 {
	var out []uint32
	add := func(s string) {
		if h := termHash(s); !slices.Contains(out, h) {
			out = append(out, h)
		}
	}
	before := ""
	for _, t := range terms {
		t = strings.TrimSpace(t)
		for _, s := range analysis.ContentStems(t) {
			add(s)
		}
		single := len(t) > 1 && utf8.RuneCountInString(t) == 1
		if single && before != "" {
			add(before + t)
		}
		before = ""
		if single {
			before = t
		}
		if len(out) >= limit {
			return out[:limit]
		}
	}
	return out
}

// putTerms makes the terms of a node those of its new text; "" has none.
func (a *applier) putTerms(bank int64, level int, no int64, was, now string) error {
	if was == now {
		return nil
	}
	if was != "" {
		const remove = `DELETE FROM node_terms WHERE bank = ?1 AND level = ?2 AND node = ?3 AND term IN (SELECT value FROM json_each(?4))`
		terms := textTerms(was)
		a.memo.removeTerms(bank, level, no, terms)
		if err := a.exec("remove terms", remove, bank, level, no, jsonList(terms)); err != nil {
			return err
		}
	}
	if now == "" {
		return nil
	}
	const insert = `INSERT INTO node_terms (bank, level, term, node) SELECT ?1, ?2, value, ?3 FROM json_each(?4) WHERE true ON CONFLICT DO NOTHING`
	terms := textTerms(now)
	a.memo.addTerms(bank, level, no, terms)
	return a.exec("store terms", insert, bank, level, no, jsonList(terms))
}

// indexed is the text under which a fact is found as a neighbour: that of a live one.
func (f factBefore) indexed() string {
	if f.no == 0 || !f.live {
		return ""
	}
	return f.text
}
