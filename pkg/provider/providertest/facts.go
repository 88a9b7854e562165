package providertest

import (
	"sync"
)

// Facts are published facts of a dataset, answered in the place of what a model
// would extract: each to the window whose new messages hold the last turn it
// rests on, and to no other. A window, or a part of it, that is asked again gets
// the same. It is safe for concurrent use.
type Facts struct {
	mu       sync.Mutex
	facts    []publishedFact
	sessions [][]turn
	unplaced int
	asked    map[int]bool
	given    map[int]map[int]bool // fact → turns of the window it was given to
}

type publishedFact struct {
	text, speaker string
	turns         []int // by number, in order
}

// turn is one message of the dataset.
type turn struct {
	number int    // in the whole dataset
	text   string // as it is shown, white space folded
}

// FactStats count published facts.
type FactStats struct {
	Published int `json:"published"`
	Unplaced  int `json:"unplaced"` // rest on no turn of the dataset
	Asked     int `json:"asked"`    // a turn they rest on was in a window
	Answered  int `json:"answered"`
}

// Stats gives the counts so far.
func (f *Facts) Stats() FactStats {
	f.mu.Lock()
	defer f.mu.Unlock()
	return FactStats{len(f.facts) + f.unplaced, f.unplaced, len(f.asked), len(f.given)}
}

// answer gives the facts of the turns that are shown as new.
func (f *Facts) answer(shown []item) []told {
	var items []item
	for _, it := range shown {
		if it.before || it.number > 0 {
			items = append(items, it)
		}
	}
	turns := f.place(items)
	at := map[int]item{} // by turn
	window := map[int]bool{}
	for i, n := range turns {
		if n > 0 && !items[i].before {
			at[n], window[n] = items[i], true
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	var out []told
	for i, p := range f.facts {
		var sources []any
		for _, n := range p.turns {
			if it, ok := at[n]; ok {
				sources = append(sources, it.id())
				f.asked[i] = true
			}
		}
		if !window[p.last()] {
			continue
		}
		if before, ok := f.given[i]; ok && !within(window, before) {
			continue
		} else if !ok {
			f.given[i] = window
		}
		out = append(out, told{text: p.text, sources: sources, speaker: p.speaker})
	}
	return out
}

func within(part, whole map[int]bool) bool {
	for n := range part {
		if !whole[n] {
			return false
		}
	}
	return true
}
