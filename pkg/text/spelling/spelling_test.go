package spelling_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/eunoe-memory/eunoe/pkg/text"
	"github.com/eunoe-memory/eunoe/pkg/text/spelling"
)

func ExampleCorrections() {
	words := spelling.Corrections("weding", text.English, false)
	fmt.Println(slices.Contains(words, "wedding"), slices.Contains(words, "wielding"))
	fmt.Println(spelling.Corrections("wedding", text.English, false))
	// Output:
	// true false
	// []
}

func TestCorrections(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		word     string
		language text.Language
		name     bool
		meant    string // "" = none at all
	}{
		{"brohter", text.English, false, "brother"},
		{"alergy", text.English, false, "allergy"},
		{"dentisst", text.English, false, "dentist"},
		{"holadays", text.English, false, "holidays"},
		{"hochziet", "de", true, "hochzeit"},
		{"собакуа", "ru", false, "собаку"},
		{"micheal", text.English, true, "michael"},
		{"beach", text.English, false, ""},
		{"gardening", text.English, false, ""},
		{"adopted", text.English, false, ""},
		{"brno", text.English, false, ""},
		{"rx7000", text.English, false, ""},
		{"ξενοδοχειο", "el", false, ""},
	} {
		got := spelling.Corrections(c.word, c.language, c.name)
		if c.meant == "" && got != nil || c.meant != "" && !slices.Contains(got, c.meant) {
			t.Errorf("%s: %d corrections; expected %q among them", c.word, len(got), c.meant)
		}
	}
	if got := spelling.Corrections("marla", text.English, true); slices.Contains(got, "maria") {
		t.Error("another letter makes one name of another")
	}
}
