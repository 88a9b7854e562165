// Generate writes the stems of common English words, pkg/text/spelling/stems.txt, from the word lists of SCOWL: go generate
// in that folder, with SCOWL naming the folder of english-words.10 (of the package scowl of Debian).
package main

import (
	"log"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/eunoe-memory/eunoe/pkg/text"
)

// common is the level of SCOWL up to which a word is common.
const common = 50

func main() {
	lists, err := filepath.Glob(filepath.Join(os.Getenv("SCOWL"), "*-words.*"))
	if err != nil || len(lists) == 0 {
		log.Fatalf("SCOWL names no folder with english-words.10 (%v)", err)
	}
	var stems []string
	for _, list := range lists {
		level, err := strconv.Atoi(strings.TrimPrefix(filepath.Ext(list), "."))
		variety, _, _ := strings.Cut(filepath.Base(list), "-words")
		if err != nil || level > common || !slices.Contains([]string{"english", "american", "british"}, variety) {
			continue
		}
		raw, err := os.ReadFile(list) //nolint:gosec // in the folder that was named
		if err != nil {
			log.Fatal(err)
		}
		text.EachIndexWord(string(raw), func(w text.IndexWord) {
			if stem := text.BaseStem(string(w.Folded)); len(stem) > 1 {
				stems = append(stems, stem)
			}
		})
	}
	slices.Sort(stems)
	if err := os.WriteFile("stems.txt", []byte(strings.Join(slices.Compact(stems), "\n")+"\n"), 0o600); err != nil {
		log.Fatal(err)
	}
}
