package class_test

import (
	"os"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/eunoe-memory/eunoe/pkg/text"
	"github.com/eunoe-memory/eunoe/pkg/text/class"
)

// linesOf reads a list of this folder without its comments.
func linesOf(t *testing.T, name string) (out []string) {
	t.Helper()
	raw, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(raw)) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			out = append(out, line)
		}
	}
	return out
}

// TestEveryWordThatAsksHasThings asks with each word of languages.txt.
func TestEveryWordThatAsksHasThings(t *testing.T) {
	t.Parallel()
	for _, line := range linesOf(t, "languages.txt") {
		language, rest, found := strings.Cut(line, ": ")
		end := strings.IndexAny(rest, ">|")
		if !found || end < 0 {
			t.Errorf("%s: it is no class", line)
			continue
		}
		for asked := range strings.FieldsSeq(rest[:end]) {
			var words []string
			text.EachIndexWord(asked, func(w text.IndexWord) { words = append(words, string(w.Folded)) })
			if got := class.Things(words, text.Language(language)); len(got) < 3 {
				t.Errorf("%s asks for %v", asked, got)
			}
		}
		if utf8.RuneCountInString(rest[:end]) > 1 && (language == "zh" || language == "ja") && strings.ContainsAny(rest, "+") {
			t.Errorf("%s: words of a language without spaces are not inflected", line)
		}
	}
}

// TestThingsAreNoWordsOfGrammar fails where what every text has would count as a thing.
func TestThingsAreNoWordsOfGrammar(t *testing.T) {
	t.Parallel()
	for _, line := range linesOf(t, "languages.txt") {
		language, rest, _ := strings.Cut(line, ": ")
		var asked []string
		text.EachIndexWord(rest[:strings.IndexAny(rest, ">|")], func(w text.IndexWord) { asked = append(asked, string(w.Folded)) })
		for _, thing := range class.Things(asked, text.Language(language)) {
			if text.IsFunctionWordIn(thing, text.Language(language)) {
				t.Errorf("%s: %q is a word of grammar", rest[:min(len(rest), 20)], thing)
			}
		}
	}
}

// TestEndingsAreOfKnownLanguages reads endings.txt.
func TestEndingsAreOfKnownLanguages(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, line := range linesOf(t, "endings.txt") {
		head, forms, found := strings.Cut(line, ">")
		f := strings.Fields(head)
		if !found || len(f) != 3 || f[1] != "noun" && f[1] != "verb" || !strings.HasPrefix(f[2], "-") {
			t.Errorf("%s: it is no ending", line)
			continue
		}
		if seen[head] {
			t.Errorf("%s: it is there twice", head)
		}
		seen[head] = true
		if slices.ContainsFunc(strings.Fields(forms), func(s string) bool { return s[0] != '-' }) {
			t.Errorf("%s: an ending begins with -", line)
		}
	}
}

// TestALongWordAsksAsAWhole asks of a sponge, which begins as the Japanese word for sport.
func TestALongWordAsksAsAWhole(t *testing.T) {
	t.Parallel()
	if got := class.Things([]string{"スポ", "ポン", "ンジ"}, "ja"); got != nil {
		t.Errorf("a sponge asks for %v", got)
	}
	if got := class.Things([]string{"スポ", "ポー", "ーツ"}, "ja"); !slices.Contains(got, "卓球") {
		t.Errorf("sport asks for %v", got)
	}
}
