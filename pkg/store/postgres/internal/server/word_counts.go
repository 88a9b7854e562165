package server

import (
	"hash/maphash"
	"sync"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/eunoe-memory/eunoe/pkg/store/internal/engine"
)

// mostWordCounts bounds the searches whose numbers of rows are held: 4 MB.
const mostWordCounts = 32_768

// wordCounts are about how many rows the latest searches for words found. They decide how the next search for the same words
// is done, and nothing of what it finds.
type wordCounts struct {
	mu   sync.Mutex
	held *simplelru.LRU[uint64, int] // by hashes: what is asked for may be what somebody has to forget
	seed maphash.Seed
}

func newWordCounts() *wordCounts {
	held, _ := simplelru.NewLRU[uint64, int](mostWordCounts, nil) // the size is positive
	return &wordCounts{held: held, seed: maphash.MakeSeed()}
}

type countedWords struct {
	index string
	bank  int64
	words string
}

func (c *wordCounts) key(i engine.TextIndex, q engine.WordQuery, words string) uint64 {
	return maphash.Comparable(c.seed, countedWords{i.Table, q.Bank, words})
}

// get returns about how many rows of a bank have one of several words.
func (c *wordCounts) get(i engine.TextIndex, q engine.WordQuery, words string) (n int, known bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.held.Get(c.key(i, q, words))
}

// enoughCounted is how many of the latest rows tell of all of them.
const enoughCounted = 100

// put notes what a search found: all rows, or the latest as many as were asked for. Of those there are as many in every range
// of numbers as in the one that they fill; a few tell nothing.
func (c *wordCounts) put(i engine.TextIndex, q engine.WordQuery, words string, found []int64) {
	n := len(found)
	if n > 0 && n >= q.Limit {
		if n < enoughCounted {
			return
		}
		n = int(float64(n) * float64(q.Last-q.First+1) / float64(max(1, q.Last-found[n-1]+1)))
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.held.Add(c.key(i, q, words), n)
}
