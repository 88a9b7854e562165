package thesaurus_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/eunoe-memory/eunoe/pkg/text"
	"github.com/eunoe-memory/eunoe/pkg/text/thesaurus"
)

func ExampleStandIns() {
	fmt.Println(thesaurus.StandIns("boss", text.English))
	fmt.Println(thesaurus.StandIns("adresse", "de"))
	// Output:
	// [manager supervisor]
	// [anschrift wohne wohnen wohnt]
}

// What stands behind ">" stands for the words before it, and not the other way round.
func TestStandInsHaveADirection(t *testing.T) {
	t.Parallel()
	if !slices.Contains(thesaurus.StandIns("address", text.English), "lives") {
		t.Error(`"lives" does not stand for "address"`)
	}
	if slices.Contains(thesaurus.StandIns("lives", text.English), "address") {
		t.Error(`"address" stands for "lives"`)
	}
	if got := thesaurus.StandIns("weddings", text.English); !slices.Contains(got, "married") {
		t.Errorf("a plural has the stand-ins %q", got)
	}
	if got := thesaurus.StandIns("hochzeiten", "de"); !slices.Contains(got, "verheiratet") {
		t.Errorf("a plural of German has the stand-ins %q", got)
	}
	if got := thesaurus.StandIns("boit", "fr"); got != nil {
		t.Errorf("a verb with the stem of a noun has the stand-ins %q", got)
	}
	if got := thesaurus.StandIns("lugubrious", text.English); got != nil {
		t.Errorf("an unknown word has stand-ins %q", got)
	}
	if a, b := thesaurus.StandIns("dentist", ""), thesaurus.StandIns("dentist", text.English); len(a) == 0 || !slices.Equal(a, b) {
		t.Errorf("without a language %q, in English %q", a, b)
	}
	if got := thesaurus.StandIns("hund", text.English); got != nil {
		t.Errorf("English knows a German word: %q", got)
	}
}

// Every line of the list can be read: its language is one that texts are told to be in, it has a word that is asked for and
// one that stands for it, and no word is one that every text has.
func TestEveryLineIsAGroup(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("words.txt")
	if err != nil {
		t.Fatal(err)
	}
	groups := 0
	for line := range strings.Lines(string(raw)) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		groups++
		language := text.English
		if tag, rest, other := strings.Cut(line, ": "); other {
			if language, line = text.Language(tag), rest; language != text.English && language != "zh" && !text.HasStems(language) {
				t.Errorf("%q: no language that has stems", tag)
			}
		}
		before, behind, _ := strings.Cut(line, ">")
		asked := strings.Fields(before)
		if len(asked) == 0 || len(asked)+len(strings.Fields(behind)) < 2 {
			t.Errorf("%q is no group", line)
			continue
		}
		text.EachIndexWord(line, func(w text.IndexWord) {
			if word := string(w.Folded); text.IsFunctionWordIn(word, language) {
				t.Errorf("%s: %q of %q is a word of grammar", language, word, line)
			}
		})
		text.EachIndexWord(asked[0], func(w text.IndexWord) {
			if len(thesaurus.StandIns(string(w.Folded), language)) == 0 {
				t.Errorf("%s: %q has no stand-ins", language, w.Folded)
			}
		})
	}
	if groups < 100 {
		t.Errorf("%d groups", groups)
	}
}
