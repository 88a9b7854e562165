package main

import (
	"cmp"
	"fmt"
	"io"
	"log"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/text/language"
	"golang.org/x/text/language/display"

	"github.com/eunoe-memory/eunoe/pkg/text"
)

const most = 2000 // things of one class: the most common ones stay

// writeThings writes the classes of classes.txt: the words that ask for it, a colon, the things that are given, a colon,
// and its hyponyms.
func (n net) writeThings(w io.Writer) {
	eachLine("classes.txt", func(line string) {
		if strings.HasPrefix(line, "#") {
			return
		}
		part := strings.SplitN(line+"::", ":", 4)
		given := strings.Fields(part[2])
		fmt.Fprintf(w, "%s:%s:%s\n", part[0], strings.Join(given, " "), strings.Join(n.things(strings.Fields(part[0]), strings.Fields(part[1]), given), " "))
	})
}

// things returns the most common hyponyms of classes, without those that are given. What asks for the classes, and
// the classes themselves, are no things: texts are searched for the words of a question in any case.
func (n net) things(asked, classes, given []string) []string {
	seen, roots := map[string]bool{}, map[string]bool{}
	counts := map[string]int{}
	for _, c := range classes {
		if of, tags, found := strings.Cut(c, "@"); found && of == "" {
			n.cldr(counts, tags)
			continue
		}
		word, number, _ := strings.Cut(c, "#")
		no, err := strconv.Atoi(number)
		if err != nil || no < 1 || no > len(n.senses[word]) || !n.senses[word][no-1].noun {
			log.Fatalf("%s is no sense of a noun", c)
		}
		roots[n.senses[word][no-1].synset] = true
		n.below(n.senses[word][no-1].synset, seen)
	}
	for synset := range seen {
		for _, w := range n.words[synset] {
			if !roots[synset] {
				n.count(counts, w, synset)
			}
		}
	}
	out := make([]string, 0, len(counts))
	for w := range counts {
		if !slices.Contains(given, w) && !slices.Contains(asked, w) && !slices.Contains(asked, w+"s") {
			out = append(out, w)
		}
	}
	level := func(w string) int { return cmp.Or(n.level[w], knownLevel) }
	slices.SortFunc(out, func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(level(a), level(b)), cmp.Compare(a, b))
	})
	return out[:min(len(out), most)]
}

// cldr notes the countries or languages in some languages: "countries.de.fr".
func (n net) cldr(counts map[string]int, of string) {
	what, in, _ := strings.Cut(of, ".")
	for _, tag := range strings.Split(cmp.Or(in, "en"), ".") {
		names := language.MustParse(tag)
		switch what {
		case "countries":
			for _, r := range language.Supported.Regions() {
				if r.IsCountry() {
					n.name(counts, display.Regions(names).Name(r))
				}
			}
		case "languages":
			for _, l := range display.Supported.Tags() {
				if _, c := l.Base(); c != language.No {
					n.name(counts, display.Languages(names).Name(l))
				}
			}
		default:
			log.Fatalf("@%s: CLDR is asked for countries and languages alone", of)
		}
	}
}

// count notes a word of a synset if it mostly means that: of a name of several words its last word, if that means
// nothing else.
func (n net) count(counts map[string]int, word, synset string) {
	if strings.ContainsAny(word, "_-") {
		if n.names[synset] {
			n.name(counts, word)
		}
		return
	}
	if own, ok := n.means(strings.ToLower(word), synset); ok && (n.names[synset] || n.level[strings.ToLower(word)] > 0) {
		counts[strings.ToLower(word)] = max(counts[strings.ToLower(word)], own)
	}
}

// name notes the last word of a name, unless it means something else, too.
func (n net) name(counts map[string]int, name string) {
	var words []string
	text.EachIndexWord(name, func(w text.IndexWord) { words = append(words, string(w.Folded)) })
	if len(words) == 0 {
		return
	}
	last := words[len(words)-1]
	if len(last) < 4 || !letters(last) || len(words) > 1 && n.common(last) {
		return
	}
	counts[last] = max(counts[last], 1)
}
