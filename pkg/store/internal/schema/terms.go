package schema

import (
	"hash/fnv"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/eunoe-memory/eunoe/pkg/text"
)

// termHash is the name of a term in the table node_terms: 23 bits, which SQLite stores in three bytes. Terms that share
// a hash only bring candidates that are compared in vain.
func termHash(term string) uint32 {
	h := fnv.New32a()
	_, _ = h.Write([]byte(term))
	return h.Sum32() & (1<<23 - 1)
}

// Terms returns the hashed terms under which a text is found as a neighbour, ascending: the stems of its content words,
// and pairs of Chinese, Japanese or Korean characters.
func Terms(s string) []uint32 {
	var out []uint32
	for _, stem := range text.ContentStems(s) {
		out = append(out, termHash(stem))
	}
	for gram := range strings.FieldsSeq(text.Grams(s)) {
		out = append(out, termHash(gram))
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// TermsOf returns the hashed terms to look up for words as they are written or their stems, in the order given, limit
// at most. Two single characters in succession also make a pair.
func TermsOf(words []string, limit int) []uint32 {
	var out []uint32
	add := func(s string) {
		if h := termHash(s); !slices.Contains(out, h) {
			out = append(out, h)
		}
	}
	before := ""
	for _, w := range words {
		w = strings.TrimSpace(w)
		for _, stem := range text.ContentStems(w) {
			add(stem)
		}
		single := len(w) > 1 && utf8.RuneCountInString(w) == 1
		if single && before != "" {
			add(before + w)
		}
		before = ""
		if single {
			before = w
		}
		if len(out) >= limit {
			return out[:limit]
		}
	}
	return out
}

// Grams returns the grams of several texts, as the column grams of a text index has them.
func Grams(texts ...string) string {
	var out []string
	for _, t := range texts {
		if g := text.Grams(t); g != "" {
			out = append(out, g)
		}
	}
	return strings.Join(out, " ")
}

// Embedder is the embedding model that the vectors of a file are pinned to.
type Embedder struct {
	Name      string `json:"name"`
	Dimension int    `json:"dimension"`
	Used      bool   `json:"used"` // a vector was stored
}

// EmbedderKey is the setting of the Embedder.
const EmbedderKey = "embedder"
