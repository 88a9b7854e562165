package worth_test

import (
	"testing"

	"github.com/eunoe-memory/eunoe/pkg/text/worth"
)

// TestWhatDeservesAFact judges sentences that are not in the corpus. The classifier is right of some of them only as a
// probability, so a few may come out wrong.
func TestWhatDeservesAFact(t *testing.T) {
	t.Parallel()
	wrong, all := 0, 0
	for deserves, list := range map[bool][]string{
		true: {
			"My landlady is called Frau Ziegler.", "We moved the wedding to 14 September.", "I'm lactose intolerant.", "My brother-in-law runs a bike shop in Ghent.",
			"I gave up coffee in January.", "Our team decided to drop Kotlin for the importer.", "Please answer in British English from now on.", "The wifi password is tulip-9921.",
			"The crash came from a missing index on the orders table.", "I hate being called at work.", "Meine Oma wird im Juni 90.", "Ich vertrage keine Hülsenfrüchte.",
			"Ma fille fait du judo le mercredi.", "Mi hermano se casa en octubre.", "Мы переезжаем в Казань в марте.", "我对青霉素过敏。", "来月から名古屋に転勤します。",
			"Eşim diş hekimi.", "Mam psa, który wabi się Fafik.", "أعمل مهندسة في الدوحة.",
		},
		false: {
			"Hey there, long time no see!", "haha same", "Thanks a million!", "What time is it in Tokyo?", "If I were rich I'd buy a lighthouse.", "Fix the grammar in this paragraph.",
			"You could try restarting the router.", "Photosynthesis turns light into chemical energy.", "Let me look into that for you.", "Sure, happy to help!", "ok cool",
			"Schönes Wochenende euch allen!", "Was meinst du dazu?", "Merci, à plus !", "¿Y tú qué tal?", "Спасибо, понял.", "谢谢，辛苦了！", "お疲れさまです！", "Günaydın herkese!", "شكراً لك",
		},
	} {
		for _, s := range list {
			v := worth.Judge(worth.Sentence{Text: s, Count: 1})
			if all++; (v.Worth >= .4) != deserves {
				t.Logf("%q deserves a fact with %.2f, want %t", s, v.Worth, deserves)
				wrong++
			}
		}
	}
	if wrong*10 > all {
		t.Errorf("%d of %d are wrong", wrong, all)
	}
}

func TestClassesTellWhatAFactIs(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]worth.Class{
		"I'm allergic to latex.": worth.Constraint, "My favourite film is Stalker.": worth.Liking, "My aunt lives in Bergen.": worth.State,
		"From now on reply in Dutch, please.": worth.Instruction, "We agreed to ship without the importer.": worth.Decision,
	} {
		if v := worth.Judge(worth.Sentence{Text: s, Count: 1}); v.Class != want {
			t.Errorf("%q is of class %d (%.2f), want %d", s, v.Class, v.Sure, want)
		}
	}
}

func TestTheSameExamplesResultInTheSameModel(t *testing.T) {
	t.Parallel()
	var examples []worth.Example
	for i := range 40 {
		e := worth.Example{Sentence: worth.Sentence{Text: "my cat is grey", Count: 1}, Class: worth.State}
		if i%2 == 0 {
			e = worth.Example{Sentence: worth.Sentence{Text: "thanks a lot", Count: 1}, Class: worth.SmallTalk}
		}
		examples = append(examples, e)
	}
	m := worth.Fit(examples)
	for _, e := range examples[:2] {
		if v := m.Judge(e.Sentence); v.Best != e.Class {
			t.Errorf("%q is of class %d", e.Text, v.Best)
		}
	}
	if a, b := m.Encode(), worth.Fit(examples).Encode(); string(a) != string(b) {
		t.Error("the same examples result in another model")
	}
}

func TestAsks(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]bool{"Are you in?": true, "你在吗？": true, "هل أنت هنا؟": true, "Really?!": true, "(is it?) 😊": true, "I wonder.": false, "Why? Because.": false, "": false} {
		if got := worth.Asks(s); got != want {
			t.Errorf("%q asks: %t", s, got)
		}
	}
}
