// Package bm25 is the baseline of recall: plain BM25 over messages in memory, by Porter's stems and without stop words, any
// word of the query matching; of Chinese, Japanese and Korean by characters and pairs of them. It does not know who spoke or
// when.
package bm25

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode"

	porterstemmer "github.com/blevesearch/go-porterstemmer"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/text"
)

// Index is an inverted index of messages. It does not change once it is made.
type Index struct {
	k1, b    float64
	ids      []string
	length   []float64            // terms of each message
	postings map[string][]posting // by term, in the order of the messages
}

type posting struct {
	message   int
	frequency float64
}

// New indexes the text and captions of messages with the parameters k1 and b.
func New(messages []memory.Message, k1, b float64) *Index {
	x := &Index{k1: k1, b: b, postings: map[string][]posting{}}
	for i, m := range messages {
		counts := map[string]float64{}
		words := terms(m.Content + " " + m.Caption())
		for _, w := range words {
			counts[w]++
		}
		for w, n := range counts {
			x.postings[w] = append(x.postings[w], posting{i, n})
		}
		x.ids = append(x.ids, string(m.ID))
		x.length = append(x.length, float64(len(words)))
	}
	return x
}

// Search returns the ids of the best limit messages among the first n that share a word with the query, equal scores in the
// order of the messages. The statistics are those of the first n.
func (x *Index) Search(query string, n, limit int) []string {
	n = min(n, len(x.ids))
	scores, mean := make([]float64, n), 0.0
	for _, length := range x.length[:n] {
		mean += length / float64(n)
	}
	words := terms(query)
	slices.Sort(words)
	for _, w := range slices.Compact(words) {
		list := x.postings[w]
		end, _ := slices.BinarySearchFunc(list, n, func(p posting, n int) int { return p.message - n })
		df := float64(end)
		idf := math.Log(1 + (float64(n)-df+0.5)/(df+0.5))
		for _, p := range list[:end] {
			scores[p.message] += idf * p.frequency * (x.k1 + 1) / (p.frequency + x.k1*(1-x.b+x.b*x.length[p.message]/mean))
		}
	}
	var order []int
	for i, s := range scores {
		if s > 0 {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(scores[j], scores[i]) })
	out := make([]string, 0, limit)
	for _, i := range order[:min(limit, len(order))] {
		out = append(out, x.ids[i])
	}
	return out
}

// stopWords are function words and question words of English.
var stopWords = text.NewWordSet(`a an the and or but if of to in on at by for with from as is are was were be been being am do
does did doing have has had having i me my mine we us our you your yours he him his she her hers it its they them their this
that these those what which who whom whose when where why how not no nor so than too very can could will would shall should
may might must about into over under again then once there here all any both each few more most other some such only own same
s t d ll m re ve just don isn aren wasn weren doesn didn hasn haven hadn won wouldn`)

// terms returns the stems of the words of a text that are not stop words, and of a run of Chinese, Japanese or Korean
// each character and each two neighbours.
func terms(s string) []string {
	var out []string
	var word []rune
	withoutSpaces := false
	end := func() {
		switch {
		case len(word) == 0:
		case withoutSpaces:
			for i := range word {
				out = append(out, string(word[i]))
				if i > 0 {
					out = append(out, string(word[i-1:i+1]))
				}
			}
		case !stopWords.Has(string(word)):
			out = append(out, porterstemmer.StemString(string(word)))
		}
		word = word[:0]
	}
	for _, r := range strings.ToLower(s) {
		cjk := unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul)
		if cjk != withoutSpaces || !unicode.IsLetter(r) && !unicode.IsNumber(r) {
			end()
		}
		if withoutSpaces = cjk; cjk || unicode.IsLetter(r) || unicode.IsNumber(r) {
			word = append(word, r)
		}
	}
	end()
	return out
}
