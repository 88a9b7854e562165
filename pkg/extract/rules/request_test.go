package rules_test

import (
	"testing"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// What somebody asks a bot to do once is no fact about anybody; how it is to behave from now on is one.
func TestRequestsAreNoStatements(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		said, want string
		typ        memory.Type
	}{
		{"Draft me a letter to my landlord in Ghent", "", ""},
		{"please book two seats for the matinee on 3 May", "", ""},
		{"Could you look again, I think the VAT is wrong", "", ""},
		{"Can you believe it, I got the flat!", "Vera got the flat!", anyType},
		{"Help me with this, my printer is a Brother HL-1110", "Vera's printer is a Brother HL-1110.", memory.TypeFact},
		{"how do I get my cat used to the new flat", "", ""},
		{"Wake me at 5 tomorrow", "", ""},
		{"Summarise it", "", ""},
		{"give me another one", "", ""},
		{"Let me know when it's finished", "", ""},
		{"Put on some music", "", ""},
		{"Tell me more about fjords", "", ""},
		{"can you make it a bit longer", "", ""},
		{"Send me a digest every Monday", "Vera asked: Send Vera a digest every Monday.", memory.TypeInstruction},
		{"Whenever I mention money, use Swiss francs", "Vera asked: Whenever Vera mentions money, use Swiss francs.", memory.TypeInstruction},
		{"Going forward, write dates the ISO way", "Vera asked: Going forward, write dates the ISO way.", memory.TypeInstruction},
		{"Don't call me Mrs. Lund", "Vera asked: Don't call Vera Mrs. Lund.", memory.TypeInstruction},
		{"Please keep replies below fifty words", "Vera asked: Please keep replies below fifty words.", memory.TypeInstruction},
		{"Please translate this", "", ""},
		{"Keep in mind that I'm diabetic", "Vera is diabetic.", anyType},
		{"Reminder: the boiler is serviced on 20 April", "Vera said: the boiler is serviced on 20 April (20 April 2026).", memory.TypeEvent},
		{"Having three dogs, I walk a lot", "Having three dogs, Vera walks a lot.", memory.TypeFact},
		{"Starting in June I'll teach yoga", "Starting in June (June 2026) Vera will teach yoga.", memory.TypeEvent},
		{"Working on a novel that my agent likes", "Vera is working on a novel that their agent likes.", memory.TypeFact},
		{"Code for the shed is 2218", "Vera said: Code for the shed is 2218.", memory.TypeFact},
		{"Update: the roof is finished", "Vera said: Update: the roof is finished.", memory.TypeEvent},
		{"Book club meets on Monday evenings", "Vera said: Book club meets on Monday evenings.", memory.TypeFact},
		{"Call me old-fashioned but I write letters", "Call Vera old-fashioned but Vera writes letters.", memory.TypeFact},
		{"List price is 300 francs", "Vera said: List price is 300 francs.", memory.TypeFact},
		{"Change of plan, we fly on 2 May", "Vera said: Change of plan, we fly on 2 May (2 May 2026).", memory.TypeEvent},
		{"Plan B worked", "Plan B worked.", memory.TypeFact},
		{"Plan to retire at sixty", "Vera plans to retire at sixty.", memory.TypeFact},
		{"Looking forward to Lisbon", "Vera is looking forward to Lisbon.", memory.TypeFact},
		{"Mail me at vera@example.org", "Mail Vera at vera@example.org.", memory.TypeFact},
		{"I go by she/they", "Vera goes by she/they.", memory.TypeFact},
		{"I have a parrot called Otto", "Vera has a parrot called Otto.", memory.TypeFact},
		{"I called the garage", "Vera called the garage.", anyType},
		{"My kitchen has a built-in oven", "Vera's kitchen has a built-in oven.", memory.TypeFact},
		{"Born in Split, raised in Graz", "Vera was born in Split, raised in Graz.", anyType},
	} {
		checkDraft(t, []memory.Message{message("m0", 0, memory.RoleAssistant, "", "Hello.")}, c.said, c.want, c.typ)
	}
}

// Without a bot an imperative may be a note of what is to be done.
func TestNotesOfWhatIsToBeDoneStand(t *testing.T) {
	t.Parallel()
	for said, want := range map[string]string{
		"Prepare the slides for the board":      "Vera said: Prepare the slides for the board.",
		"Check the tyres before the long drive": "Vera said: Check the tyres before the long drive.",
	} {
		if got := facts(t, by("Vera", said)); len(got) != 1 || got[0].Text != want {
			t.Errorf("%q makes %+v", said, got)
		}
	}
}

func TestRequestsInOtherLanguages(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		said, want string
		typ        memory.Type
	}{
		{"Such mir einen Zug nach Bremen", "", ""},
		{"Könntest du das bitte kürzer machen", "", ""},
		{"Könntest du bitte nur noch auf Dänisch antworten?", "Vera: Könntest du bitte nur noch auf Dänisch antworten?", memory.TypeInstruction},
		{"Weck mich morgen um sechs", "", ""},
		{"Mach mir einen Speiseplan, ich esse kein Fleisch und habe montags keine Zeit", "Vera: ich esse kein Fleisch und habe montags keine Zeit", anyType},
		{"Ich mache mir immer Sorgen um meinen Bruder", "Vera: Ich mache mir immer Sorgen um meinen Bruder", memory.TypeFact},
		{"Schreib mir ab jetzt auf Englisch", "Vera: Schreib mir ab jetzt auf Englisch", memory.TypeInstruction},
		{"Explícame cómo funciona el motor", "", ""},
		{"Recuérdame llamar a mi tía Berta el 3 de mayo", "", ""},
		{"Traduis cette phrase s'il te plaît", "", ""},
		{"Trouve-moi un cadeau pour mon frère Hugo qui aime la voile", "", ""},
		{"Trouve-moi un cadeau, mon frère Hugo adore la voile", "Vera: mon frère Hugo adore la voile", anyType},
		{"Spiegami la differenza tra questi due contratti", "", ""},
		{"Me ajuda com a lição de casa", "", ""},
		{"帮我写一首诗", "", ""},
		{"帮我订五月三日去杭州的车票", "", ""},
		{"この文章を訳してください", "", ""},
		{"이 문장 번역해 줘", "", ""},
		{"Напиши мне стихи", "", ""},
		{"Napisz mi proszę wiersz o jesieni", "", ""},
		{"Skriv en dikt om hösten", "", ""},
		{"Meine Tochter ist Veganerin", "Vera: Meine Tochter ist Veganerin", anyType},
		{"Mio figlio è celiaco", "Vera: Mio figlio è celiaco", anyType},
		{"そばアレルギーがあります", "Vera: そばアレルギーがあります", memory.TypeConstraint},
		{"Je préfère voyager en train de nuit", "Vera: Je préfère voyager en train de nuit", anyType},
		{"Обожаю грибной суп", "Vera: Обожаю грибной суп", memory.TypePreference},
		{"我最喜欢爬山", "Vera: 我最喜欢爬山", anyType},
		{"Im Mai mag ich den Garten", "Vera: Im Mai mag ich den Garten", anyType},
		{"Geef me een voorbeeld van zo'n brief", "", ""},
	} {
		checkDraft(t, nil, c.said, c.want, c.typ)
	}
}

// anyType is for facts that may be of several types.
const anyType memory.Type = "*"

// checkDraft reports an error unless what Vera says after other messages is the one fact that is wanted, or none for "".
func checkDraft(t *testing.T, before []memory.Message, said, want string, typ memory.Type) {
	t.Helper()
	m := message("m1", 1, memory.RoleUser, "Vera", said)
	m.Time = time.Date(2026, 4, 14, 10, 0, 0, 0, time.UTC)
	got := facts(t, append(before, m)...)
	switch {
	case want == "" && len(got) != 0:
		t.Errorf("%q is kept as %q", said, got[0].Text)
	case want != "" && len(got) != 1:
		t.Errorf("%q makes %d facts", said, len(got))
	case want != "" && (got[0].Text != want || typ != anyType && got[0].Type != typ):
		t.Errorf("%q is %s: %q", said, got[0].Type, got[0].Text)
	}
}
