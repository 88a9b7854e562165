package text_test

import (
	"os"
	"strings"
	"testing"
	"unicode"

	"github.com/kljensen/snowball/english"

	"github.com/eunoe-memory/eunoe/pkg/text"
)

// TestStemIsPorter2 compares every word of this package's own sources and word lists, and made-up words with every
// ending of the algorithm, with the Snowball library.
func TestStemIsPorter2(t *testing.T) {
	t.Parallel()
	words := map[string]bool{}
	files, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if f.IsDir() {
			continue
		}
		source, err := os.ReadFile(f.Name())
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range strings.FieldsFunc(strings.ToLower(string(source)), func(r rune) bool { return r < 'a' || r > 'z' }) {
			words[w] = true
		}
	}
	ends := strings.Fields(`s es ed ing er ly ies ied sses us ss eedly ingly edly eed ational fulness iveness ization ousness biliti lessli
		tional alism aliti ation entli fulli iviti ousli anci abli alli ator enci izer bli ogi logi li alize icate ative iciti ical ful
		ness ement ance ence able ible ment ent ant ism ate iti ous ive ize ion sion tion al ic e ll l y 's ' 's'`)
	for _, base := range strings.Fields(`a be cry hop hopp tax gener commun arsen play say dyn enroll nat sens relat conform happ luxuri y yell toy
		bow fizz rag roll xyz qu ski skies bias`) {
		for _, end := range ends {
			words[base+end] = true
			for _, more := range ends {
				words[base+end+more] = true
			}
		}
	}
	for w := range words {
		if want := english.Stem(w, true); len(w) <= 64 && text.Stem(w) != want {
			t.Errorf("the stem of %q is %q, want %q", w, text.Stem(w), want)
		}
	}
}

func FuzzStem(f *testing.F) {
	for _, s := range []string{"running", "flies", "generously", "skies", "straße", "приветствие", "aß", "yoyo", "l'été", "x_y", "día's"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		text.Stem(s)
		for _, term := range text.Terms(s) {
			if term.Stop || term.Number || len(term.Text) > 40 || strings.ContainsFunc(term.Text, func(r rune) bool { return r > unicode.MaxASCII }) {
				continue
			}
			if want := english.Stem(term.Text, true); term.Stem != want {
				t.Fatalf("the stem of %q is %q, want %q", term.Text, term.Stem, want)
			}
		}
	})
}
