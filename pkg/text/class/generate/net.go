package main

import (
	"cmp"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/eunoe-memory/eunoe/pkg/text"
)

// sense is one meaning of a word.
type sense struct {
	synset string
	noun   bool
	count  int // how often the word has it in the texts that WordNet tagged
}

// net is what is used of WordNet and SCOWL.
type net struct {
	words  map[string][]string // of each synset of nouns
	kinds  map[string][]string // the synsets of which it is the hypernym
	parts  map[string][]string // the synsets of which it is the whole
	names  map[string]bool     // synsets of one thing that has a name
	senses map[string][]sense  // of each word in lower case, nouns first, in the order of WordNet
	level  map[string]int      // of SCOWL, by word in lower case
	given  map[string]bool     // names of people, in lower case
}

// readSynsets reads a line a synset: offset, file, type, count of words in hexadecimal, each word with an id, count of
// pointers, each pointer with its symbol, target, part of speech and words.
func (n net) readSynsets(path string) {
	eachLine(path, func(line string) {
		if strings.HasPrefix(line, "  ") {
			return
		}
		before, _, _ := strings.Cut(line, "|")
		f := strings.Fields(before)
		words, err := strconv.ParseInt(f[3], 16, 32)
		if err != nil {
			log.Fatal(err)
		}
		for i := range int(words) {
			n.words[f[0]] = append(n.words[f[0]], f[4+2*i])
		}
		for p := f[5+2*words:]; len(p) >= 4; p = p[4:] {
			switch p[0] {
			case "@", "@i":
				n.kinds[p[1]] = append(n.kinds[p[1]], f[0])
				n.names[f[0]] = n.names[f[0]] || p[0] == "@i"
			case "#p":
				n.parts[p[1]] = append(n.parts[p[1]], f[0])
			}
		}
	})
}

// readSenses reads a line a sense: key, synset, number of the sense, count.
func (n net) readSenses(path string) {
	numbers := map[string]int{}
	eachLine(path, func(line string) {
		f := strings.Fields(line)
		word, rest, _ := strings.Cut(f[0], "%")
		number, _ := strconv.Atoi(f[2])
		count, _ := strconv.Atoi(f[3])
		n.senses[word] = append(n.senses[word], sense{synset: f[1], noun: rest[0] == '1', count: count})
		numbers[word+" "+f[1]] = number
	})
	for word, list := range n.senses {
		slices.SortStableFunc(list, func(a, b sense) int {
			if a.noun != b.noun {
				return map[bool]int{true: -1, false: 1}[a.noun]
			}
			return cmp.Compare(numbers[word+" "+a.synset], numbers[word+" "+b.synset])
		})
	}
}

// names is the list of SCOWL with names of people.
const names = "english-proper-names"

// readLevels reads the lists of SCOWL, a word a line; the end of a list's name is its level.
func (n net) readLevels(dir string) {
	for _, kind := range []string{"english-words", "american-words", "british-words", "english-upper", "american-upper", names} {
		for _, level := range []int{10, 20, 35, 40, 50, 55, 60, 70} {
			path := filepath.Join(dir, fmt.Sprintf("%s.%d", kind, level))
			if _, err := os.Stat(path); err != nil {
				continue // not every kind has every level
			}
			eachLine(path, func(word string) {
				if word = strings.ToLower(word); n.level[word] == 0 || level < n.level[word] {
					n.level[word] = level
				}
				n.given[word] = n.given[word] || kind == names && level <= commonLevel
			})
		}
	}
}

// below adds a synset and all of which it is the hypernym.
func (n net) below(synset string, seen map[string]bool) {
	if seen[synset] {
		return
	}
	seen[synset] = true
	for _, kind := range n.kinds[synset] {
		n.below(kind, seen)
	}
}

// means reports whether a word mostly means a synset, and how often it does in what WordNet tagged: at least half as often
// as it means anything, or where it was not tagged first of all, or second if it is a noun alone. Names, past forms of verbs and words of grammar mean
// something else ("john", "saw", "must").
func (n net) means(word, synset string) (int, bool) {
	if !letters(word) || len(word) < 3 || text.IsFunctionWordIn(word, text.English) || text.IsPastForm(word) {
		return 0, false
	}
	if !n.names[synset] && (n.given[word] || slices.ContainsFunc(n.senses[word], func(s sense) bool { return n.names[s.synset] })) {
		return 0, false
	}
	all, own, place, alone := 0, 0, 0, true
	for i, s := range n.senses[word] {
		all += s.count
		alone = alone && s.noun
		if s.synset == synset {
			own, place = s.count, i
		}
	}
	if all > 0 {
		return own, own*2 >= all
	}
	return 0, place == 0 || place == 1 && alone
}

// common reports whether a word means anything but things that have names.
func (n net) common(word string) bool {
	return slices.ContainsFunc(n.senses[word], func(s sense) bool { return !n.names[s.synset] })
}

// letters reports whether a word has letters of English alone.
func letters(s string) bool {
	for _, c := range s {
		if c < 'a' || c > 'z' {
			return false
		}
	}
	return true
}
