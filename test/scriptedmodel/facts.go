package scriptedmodel

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"
)

// Facts are published facts of a dataset, answered in the place of what a model would extract: each to the window whose
// new messages hold the last turn it rests on, and to no other. A window, or a part of it, that is asked again gets the
// same. It is safe for concurrent use.
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
	text   string // as it is shown, white space collapsed
}

// FactStats counts published facts.
type FactStats struct {
	Published int `json:"published"`
	Unplaced  int `json:"unplaced"` // rest on no turn of the dataset
	Asked     int `json:"asked"`    // a turn they rest on was in a window
	Answered  int `json:"answered"`
}

// Stats returns the counts so far.
func (f *Facts) Stats() FactStats {
	f.mu.Lock()
	defer f.mu.Unlock()
	return FactStats{len(f.facts) + f.unplaced, f.unplaced, len(f.asked), len(f.given)}
}

// answer returns the facts of the turns that are shown as new.
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

// place finds which turn each message is; 0 for none. All are of one session, the one that holds most of them; of
// several that hold equally many the first in which a fact is still to be given.
func (f *Facts) place(items []item) []int {
	best := make([]int, len(items))
	most, open := 0, false
	for _, session := range f.sessions {
		for found, n := range alignments(items, session) {
			if n == 0 || n < most {
				continue
			}
			if left := f.open(found); n > most || left && !open {
				best, most, open = slices.Clone(found), n, left
			}
		}
	}
	return best
}

// alignments returns the ways in which messages may stand in a session, with how many of them are found: in a row, from
// each turn on, and last in their order with turns between them.
func alignments(items []item, session []turn) func(func([]int, int) bool) {
	return func(yield func([]int, int) bool) {
		texts := make([]string, len(items))
		for i, it := range items {
			texts[i] = collapseSpace(it.text)
		}
		found := make([]int, len(items))
		for from := 1 - len(items); from < len(session); from++ {
			n := 0
			for i, text := range texts {
				found[i] = 0
				if k := from + i; k >= 0 && k < len(session) && same(text, session[k].text) {
					found[i] = session[k].number
					n++
				}
			}
			if n > 0 && !yield(found, n) {
				return
			}
		}
		n, from := 0, 0
		for i, text := range texts {
			found[i] = 0
			for k := from; k < len(session); k++ {
				if same(text, session[k].text) {
					found[i], from = session[k].number, k+1
					n++
					break
				}
			}
		}
		yield(found, n)
	}
}

// open reports whether one of the turns ends a fact that was not given yet.
func (f *Facts) open(turns []int) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i, p := range f.facts {
		if _, given := f.given[i]; !given && slices.Contains(turns, p.last()) {
			return true
		}
	}
	return false
}

// same reports whether a shown text is a turn's, with or without a caption behind it.
func same(shown, turn string) bool {
	rest, ok := strings.CutPrefix(shown, turn)
	return ok && (rest == "" || strings.HasPrefix(rest, " [image:"))
}

// ReadFacts reads facts, one JSON object a line with sample_id, session, speaker, fact and evidence (a turn's id, or
// several), and the dataset with their turns: a list of samples with sample_id and conversation, whose session_N are
// lists of turns with dia_id, speaker and text.
func ReadFacts(facts, dataset []byte) (*Facts, error) {
	f := &Facts{asked: map[int]bool{}, given: map[int]map[int]bool{}}
	places, err := f.readTurns(dataset)
	if err != nil {
		return nil, fmt.Errorf("turns: %w", err)
	}
	in := bufio.NewScanner(bytes.NewReader(facts))
	in.Buffer(nil, 16<<20)
	for n := 1; in.Scan(); n++ {
		line := bytes.TrimSpace(in.Bytes())
		if len(line) == 0 {
			continue
		}
		var one struct {
			Sample   string          `json:"sample_id"`
			Speaker  string          `json:"speaker"`
			Fact     string          `json:"fact"`
			Evidence json.RawMessage `json:"evidence"`
		}
		if err := json.Unmarshal(line, &one); err != nil || one.Fact == "" {
			return nil, fmt.Errorf("facts, line %d: no object with a fact", n)
		}
		p := publishedFact{text: one.Fact, speaker: one.Speaker}
		for _, id := range evidence(one.Evidence) {
			if at, ok := places[one.Sample+" "+id]; ok && !slices.Contains(p.turns, at) {
				p.turns = append(p.turns, at)
			}
		}
		if len(p.turns) == 0 {
			f.unplaced++
			continue
		}
		slices.Sort(p.turns)
		f.facts = append(f.facts, p)
	}
	if err := in.Err(); err != nil {
		return nil, fmt.Errorf("facts: %w", err)
	}
	sort.SliceStable(f.facts, func(i, j int) bool { return f.facts[i].last() < f.facts[j].last() })
	return f, nil
}

func (p publishedFact) last() int { return p.turns[len(p.turns)-1] }

// evidence reads one turn's id or several, as a text or a list.
func evidence(raw json.RawMessage) []string {
	var list []string
	var one string
	if json.Unmarshal(raw, &one) == nil {
		list = []string{one}
	} else if json.Unmarshal(raw, &list) != nil {
		return nil
	}
	var out []string
	for _, e := range list {
		out = append(out, strings.FieldsFunc(e, func(r rune) bool { return strings.ContainsRune(" ,;", r) })...)
	}
	return out
}

func (f *Facts) readTurns(dataset []byte) (map[string]int, error) {
	var samples []struct {
		ID           string                     `json:"sample_id"`
		Conversation map[string]json.RawMessage `json:"conversation"`
	}
	if err := json.Unmarshal(dataset, &samples); err != nil {
		return nil, err
	}
	places, n := map[string]int{}, 0
	for _, s := range samples {
		var numbers []int
		for name := range s.Conversation {
			rest, ok := strings.CutPrefix(name, "session_")
			if k, err := strconv.Atoi(rest); ok && err == nil {
				numbers = append(numbers, k)
			}
		}
		slices.Sort(numbers)
		for _, k := range numbers {
			var turns []struct {
				ID      string `json:"dia_id"`
				Text    string `json:"text"`
				Caption string `json:"blip_caption"`
			}
			if err := json.Unmarshal(s.Conversation["session_"+itoa(k)], &turns); err != nil {
				return nil, fmt.Errorf("sample %s, session %d: %w", s.ID, k, err)
			}
			var session []turn
			for _, t := range turns {
				n++
				places[s.ID+" "+t.ID] = n
				if text := collapseSpace(t.Text); text != "" {
					session = append(session, turn{n, text})
				} else if t.Caption != "" {
					session = append(session, turn{n, "[image: " + collapseSpace(t.Caption) + "]"})
				}
			}
			f.sessions = append(f.sessions, session)
		}
	}
	return places, nil
}

func collapseSpace(text string) string { return strings.Join(strings.Fields(text), " ") }
