package class_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/eunoe-memory/eunoe/pkg/text"
	"github.com/eunoe-memory/eunoe/pkg/text/class"
)

func ExampleThings() {
	pets := class.Things([]string{"which", "pets", "do", "they", "have"}, text.English)
	fmt.Println(slices.Contains(pets, "hamster"), slices.Contains(pets, "piano"))
	// Output: true false
}

func TestAQuestionAsksForThingsOfAClass(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		language  text.Language
		asked     string
		things    string
		notThings string
	}{
		{"en", "which countries have we been to", "portugal germany kosovo zealand", "lisbon"},
		{"en", "what cities did she see", "lisbon toronto kyoto francisco", "hamster"},
		{"en", "where did he travel", "portugal lisbon beach museum", "hamster"},
		{"en", "which instruments does he play", "violin ukulele oboe bassoon sitar", "hamster"},
		{"en", "which food does she like", "sushi lasagna broccoli cake", "hamster"},
		{"en", "which cities beside galveston", "lisbon", "galveston"},
		{"en", "what pets did i have", "dog hamster goldfish borzoi greyhound gecko", "piano"},
		{"en", "how many languages does he speak", "english german swahili catalan", "piano"},
		{"en", "which colour is it", "red turquoise scarlet", "piano"},
		{"en", "which sports does she do", "tennis rowing badminton archery", "piano"},
		{"en", "what vehicle did we rent", "van motorcycle ferry tricycle", "piano"},
		{"en", "what diseases did grandpa have", "pneumonia measles gout", "piano"},
		{"en", "which kinds of fruit is she allergic to", "kiwi papaya quince", "piano"},
		{"en", "which old cheeses taste good", "brie camembert gorgonzola", "piano"}, // no class of classes.txt
		{"en", "what breeds of dog did they have", "collie dachshund whippet", "piano"},
		{"en", "which musicians are coming", "cellist drummer organist", "piano"},
		{"de", "welche lander kennst du", "spanien griechenland japan", "gitarre"},
		{"de", "welche haustiere hatte ich", "hund meerschweinchen windhund", "gitarre"},
		{"fr", "quels pays connais tu", "espagne allemagne", "guitare"},
		{"es", "en que paises estuve", "alemania suecia", "guitarra"},
		{"de", "wogegen bin ich allergisch", "erdnusse haselnussen bienenstich", "gitarre"},
		{"de", "welchen sport macht er", "klettert geschwommen gejoggt fußball", "gitarre"},
		{"it", "quali mobili abbiamo", "divani poltrone sedie", "chitarra"},
		{"pt", "que animais eles tem", "caes gatos papagaios", "violao"},
		{"nl", "welke dieren heeft ze", "katten muizen hondje schapen", "gitaar"},
		{"sv", "vilka mobler har vi", "soffan stolar hyllorna", "gitarr"},
		{"pl", "jakie zwierzeta ma", "kota kotce psem papugami", "gitara"},
		{"ru", "какие у неё питомцы", "кошку собаками котёнком попугая", "гитара"},
		{"zh", "她有 有什 什么 么宠 宠物", "猫 仓鼠 拉布拉多", "钢琴"},
		{"zh", "坐什 什么 么交 交通 通工 工具", "自行车 地铁", "钢琴"},
		{"ja", "どん んな な楽 楽器", "ピアノ 三味線", "犬"},
		{"", "haustiere", "hund katzen", "gitarre"},                                    // its language cannot be told
		{"es", "que eletrodomesticos quebraram", "geladeira liquidificador", "violao"}, // it is Portuguese
		{"sv", "vilka vaxter har vi", "orkideerna tulpanen", "gitarr"},
		{"nl", "welke medicijnen slik ik", "paracetamolletjes zalf", "gitaar"},
	} {
		things := class.Things(strings.Fields(c.asked), c.language)
		for w := range strings.FieldsSeq(c.things) {
			if !slices.Contains(things, w) {
				t.Errorf("%q: %s is none", c.asked, w)
			}
		}
		for w := range strings.FieldsSeq(c.notThings + " the do get monday thing") {
			if slices.Contains(things, w) {
				t.Errorf("%q: %s is one", c.asked, w)
			}
		}
		if slices.Contains(things, "") {
			t.Errorf("%q: no word at all is one", c.asked)
		}
		if slices.Sort(things); len(slices.Compact(slices.Clone(things))) != len(things) {
			t.Errorf("%q: a thing is named twice", c.asked)
		}
	}
}

func TestAQuestionAsksForNoClass(t *testing.T) {
	t.Parallel()
	for _, asked := range []string{"", "quelle langue", "宠物", "what did anna say", "which thing", "what xyzzy", "how much pays she", "does she land soon", "any"} {
		if things := class.Things(strings.Fields(asked), text.English); things != nil {
			t.Errorf("%q asks for %d things: %v", asked, len(things), things[:min(9, len(things))])
		}
	}
}

func TestSingulars(t *testing.T) {
	t.Parallel()
	for word, want := range map[string]string{"berries": "berrie berri berry", "foxes": "foxe fox", "dogs": "dog", "grass": "", "bus": "", "dog": "", "": ""} {
		var got []string
		if class.Singulars(word, func(s string) bool { got = append(got, s); return false }) {
			t.Errorf("%s: nothing was accepted, but something was", word)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s may be the plural of %q; expected %s", word, got, want)
		}
	}
	if !class.Singulars("dogs", func(s string) bool { return s == "dog" }) {
		t.Error("dog was not accepted")
	}
}

// TestThingsAreGenerated fails where classes.txt has changed and things.txt was not generated anew.
func TestThingsAreGenerated(t *testing.T) {
	t.Parallel()
	read := func(name string) (asked []string) {
		raw, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(raw)) {
			if words, _, found := strings.Cut(line, ":"); found && !strings.HasPrefix(line, "#") {
				asked = append(asked, words)
			}
		}
		return asked
	}
	if want, got := read("classes.txt"), read("things.txt"); !slices.Equal(want, got) || len(got) == 0 {
		t.Errorf("things.txt has the classes %q, classes.txt %q: run go generate", got, want)
	}
}
