package text_test

import (
	"testing"

	"github.com/eunoe-memory/eunoe/pkg/text"
)

func TestStemsByLanguage(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		language text.Language
		a, b     string // folded words of one stem
	}{
		{"de", "arbeitet", "arbeite"}, {"de", "arbeitet", "arbeit"}, {"de", "lernt", "lernen"}, {"de", "hauser", "haus"}, {"de", "spielt", "spiele"},
		{"es", "trabaja", "trabajo"}, {"es", "canceladas", "cancelado"}, {"fr", "travaille", "travaillait"}, {"fr", "voitures", "voiture"},
		{"it", "lavorano", "lavorare"}, {"pt", "trabalhou", "trabalhar"}, {"nl", "werkt", "werken"}, {"sv", "bilarna", "bilar"},
		{"ru", "работает", "работаю"}, {"ru", "экзамены", "экзамен"}, {"en", "bought", "buy"}, {"", "running", "runs"},
	} {
		if a, b := text.StemIn(tc.a, tc.language), text.StemIn(tc.b, tc.language); a != b {
			t.Errorf("%s: %q has the stem %q, %q has %q", tc.language, tc.a, a, tc.b, b)
		}
	}
	if a, b := text.StemIn("haus", "de"), text.StemIn("hals", "de"); a == b {
		t.Errorf("two words have one stem, %q", a)
	}
}

func TestFunctionWordsByLanguage(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		language text.Language
		word     string // folded
		want     bool
	}{
		{"de", "welche", true}, {"de", "fur", true}, {"de", "katze", false}, {"es", "donde", true}, {"es", "perro", false},
		{"fr", "ou", true}, {"fr", "chat", false}, {"ru", "где", true}, {"ru", "кошка", false}, {"en", "where", true},
		{"de", "where", false}, {"", "where", true}, {"zh", "where", true},
	} {
		if got := text.IsFunctionWordIn(tc.word, tc.language); got != tc.want {
			t.Errorf("%s: %q is a function word: %v", tc.language, tc.word, got)
		}
	}
}

func TestGramsWithoutContent(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		language text.Language
		gram     string
		want     bool
	}{
		{"zh", "我的", true}, {"zh", "猫吗", true}, {"zh", "医院", false}, {"zh", "里", true}, {"zh", "车", false}, {"ja", "です", true}, {"ja", "の猫", true}, {"ja", "猫の", true},
		{"ja", "働い", false}, {"ja", "何", true}, {"ja", "猫", false}, {"ko", "고양", false},
	} {
		if got := text.IsFunctionGram(tc.gram, tc.language); got != tc.want {
			t.Errorf("%s: %q carries no content: %v", tc.language, tc.gram, got)
		}
	}
}

func FuzzStemIn(f *testing.F) {
	languages := []text.Language{"da", "de", "es", "fi", "fr", "hu", "it", "nb", "nl", "pt", "ro", "ru", "sv", "tr"}
	for i, w := range []string{"häuser", "работает", "öğretmenlerimiz", "aß", "ß", "\xff\xfe", "ııııı", "été"} {
		f.Add(w, i)
	}
	f.Fuzz(func(t *testing.T, word string, language int) {
		l := languages[uint(language)%uint(len(languages))]
		if got := text.StemIn(word, l); word != "" && got == "" {
			t.Errorf("%s: %q has no stem", l, word)
		}
	})
}
