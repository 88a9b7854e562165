package text_test

import (
	"os"
	"strings"
	"testing"

	"github.com/eunoe-memory/eunoe/pkg/text"
)

func TestGivenNamesOfManyLanguagesAreKnown(t *testing.T) {
	t.Parallel()
	for names, where := range map[string]string{
		"Emily Jack OLIVIA": "English", "Jürgen Heike Lena": "German", "Joaquín Ximena Lucía": "Spanish",
		"Élodie Thibault Aurelie": "French", "Giuseppe Chiara Niccolò": "Italian", "Thiago João Joao Beatriz": "Portuguese",
		"Sjoerd Marijke": "Dutch", "Åsa Håkan Linnéa": "Swedish", "Małgorzata Wojtek Malgorzata": "Polish", "Ольга Дмитрий Саша": "Russian",
		"Priyanka Rahul": "Hindi", "Xiaoming Zihan": "Chinese", "Haruki Sachiko Yuki": "Japanese", "Minjun Seoyeon": "Korean", "Fatima Khalid": "Arabic",
		"Ayşe Mehmet": "Turkish", "Chidi Ngozi": "Igbo", "Siobhán Rhys": "Irish and Welsh",
	} {
		for n := range strings.FieldsSeq(names) {
			if !text.KnownPerson(n) {
				t.Errorf("%s: %s is no name", where, n)
			}
		}
	}
}

func TestOrdinaryWordsAreNoGivenNames(t *testing.T) {
	t.Parallel()
	for w := range strings.FieldsSeq(`Will Mark Grace Hope May April Rose Sol Paz Luz Mai Alba Wolf Ernst Fleur Olive Mercedes Santiago Georgia Paris
		Else Otto Anders Said Made Mega Sultan Roman Salvador Gun Floor Bas Joke Elke Roos Domingo Вера Надежда Слава Лев Роман Ada Will Can Sun Dev`) {
		if text.KnownPerson(w) {
			t.Errorf("%s is a name", w)
		}
	}
}

// TestNoGivenNameIsAWordOfGrammar reads names.txt. "Dan", "Ella" and the like are names of English above all.
func TestNoGivenNameIsAWordOfGrammar(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("names.txt")
	if err != nil {
		t.Fatal(err)
	}
	allowed := text.NewWordSet("dan ella ben mia jen els ann kim hans")
	n := 0
	for line := range strings.Lines(string(raw)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		for w := range strings.FieldsSeq(line) {
			n++
			for _, l := range []text.Language{text.English, "de", "es", "fr", "it", "pt", "nl", "sv", "pl", "ru"} {
				if text.IsFunctionWordIn(w, l) && !allowed.Has(w) {
					t.Errorf("%s is a word of grammar in %q", w, l)
				}
			}
			if strings.ToLower(w) != w {
				t.Errorf("%s is not in lower case", w)
			}
		}
	}
	if n < 3000 {
		t.Errorf("there are %d names", n)
	}
}
