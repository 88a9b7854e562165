package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

const (
	mostTwice = 150 // synsets below one that stands under each of its hypernyms; a larger one stands under the first alone

	commonLevel, knownLevel = 50, 70 // of SCOWL: up to it a word is common, and one that talk has at all
)

// writeNouns writes the hyponyms of all nouns as a tree, a line a synset with words that talk has: a letter for its depth,
// then its words in lower case. "-" follows a word that means something else first, "~" one that is not common.
func (n net) writeNouns(w io.Writer) {
	written := map[string]bool{}
	var write func(synset string, depth int)
	write = func(synset string, depth int) {
		if written[synset] {
			all := map[string]bool{}
			if n.below(synset, all); len(all) > mostTwice {
				return
			}
		}
		written[synset] = true
		var words []string
		for _, word := range n.words[synset] {
			word = strings.ToLower(word)
			level := n.level[word]
			if _, ok := n.means(word, synset); !ok || level == 0 || slices.ContainsFunc(words, func(s string) bool { return strings.TrimRight(s, "-~") == word }) {
				continue
			}
			marked := word
			if n.senses[word][0].synset != synset {
				marked += "-"
			}
			if level > commonLevel {
				marked += "~"
			}
			words = append(words, marked)
		}
		if len(words) > 0 {
			fmt.Fprintf(w, "%c %s\n", 'A'+depth, strings.Join(words, " "))
			depth++
		}
		below := n.kinds[synset]
		if n.names[synset] {
			below = append(slices.Clone(below), slices.DeleteFunc(slices.Clone(n.parts[synset]), func(s string) bool { return !n.names[s] })...)
		}
		for _, kind := range below {
			write(kind, depth)
		}
	}
	write(n.senses["entity"][0].synset, 0)
}
