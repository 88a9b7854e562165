package main

import (
	"math"
	"slices"
	"strings"
	"unicode"

	"github.com/kljensen/snowball/english"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// BM25 is the plain yardstick: an index of texts in memory, stemmed, stop words
// left out, any word of the query matching. It knows nothing of who spoke or when.
type BM25 struct {
	k1, b  float64
	ids    []string
	length []float64
	mean   float64
	terms  map[string][]posting
}

type posting struct {
	doc int
	tf  float64
}

// NewBM25 indexes the messages' text and captions with k1 and b.
func NewBM25(messages []memory.Message, k1, b float64) *BM25 {
	x := &BM25{k1: k1, b: b, terms: map[string][]posting{}}
	for i, m := range messages {
		counts := map[string]float64{}
		words := stems(m.Content + " " + m.Caption())
		for _, w := range words {
			counts[w]++
		}
		for w, n := range counts {
			x.terms[w] = append(x.terms[w], posting{i, n})
		}
		x.ids = append(x.ids, string(m.ID))
		x.length = append(x.length, float64(len(words)))
		x.mean += float64(len(words))
	}
	if len(messages) > 0 {
		x.mean /= float64(len(messages))
	}
	return x
}

// Search gives the ids of the best limit messages, ties in the order they were said.
func (x *BM25) Search(query string, limit int) []string {
	scores := make([]float64, len(x.ids))
	words := stems(query)
	slices.Sort(words)
	for _, w := range slices.Compact(words) {
		list := x.terms[w]
		n := float64(len(list))
		idf := math.Log(1 + (float64(len(x.ids))-n+0.5)/(n+0.5))
		for _, p := range list {
			scores[p.doc] += idf * p.tf * (x.k1 + 1) / (p.tf + x.k1*(1-x.b+x.b*x.length[p.doc]/x.mean))
		}
	}
	var order []int
	for i, s := range scores {
		if s > 0 {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(i, j int) int {
		switch {
		case scores[i] > scores[j]:
			return -1
		case scores[i] < scores[j]:
			return 1
		}
		return i - j
	})
	out := make([]string, 0, limit)
	for _, i := range order[:min(limit, len(order))] {
		out = append(out, x.ids[i])
	}
	return out
}

// plainStopWords are function words and question words of English.
var plainStopWords = strings.Fields(`a about am an and are as at be been being but by can could d did do does for from had has
have he her his how i if in into is it just ll m me my no not of on or our re s she should so such t than that the their
then there these they this to too us ve very was we were what when where which who whom why will with would you your`)

// stems gives the stems of the words of a text that are no stop words.
func stems(text string) []string {
	var out []string
	for _, w := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		if !slices.Contains(plainStopWords, w) {
			out = append(out, english.Stem(w, false))
		}
	}
	return out
}
