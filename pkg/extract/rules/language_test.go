package rules_test

import (
	"strings"
	"testing"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/extract"
	"github.com/eunoe-memory/eunoe/pkg/extract/rules"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// without drops what dates add in brackets.
func without(s string) string {
	for i := strings.Index(s, "("); i >= 0; i = strings.Index(s, "(") {
		j := strings.IndexByte(s[i:], ')')
		if j < 0 {
			break
		}
		s = strings.TrimSuffix(s[:i], " ") + s[i+j+1:]
	}
	return s
}

func TestOtherLanguagesStandWordForWord(t *testing.T) {
	t.Parallel()
	typed := map[string]memory.Type{ // of the others several are right
		"So was mag ich am liebsten.": memory.TypePreference, "У меня аллергия на орехи.": memory.TypeConstraint, "我对花生过敏。": memory.TypeConstraint,
		"No como carne ni pescado.": memory.TypeConstraint, "Me encantan los gatos but my husband hates them.": memory.TypePreference,
	}
	for _, said := range []string{
		"Im Oktober bin ich im Harz, im November im Büro.", "Man sagt, die Post war so früh da wie nie.", "Also ich war als Kind oft in Wien.", "So was mag ich am liebsten.",
		"Mein Sohn hat am 20. Februar z. B. Training.", "We schilderen i de keuken met my broer.", "Mi hija me regaló un reloj a mí.", "No como carne ni pescado.",
		"On me dit que j'ai tort, mais on verra.", "Me le ha detto mio zio.", "Ho visto i nonni e i cugini.", "Vi ho scritto i miei dati.", "Eu me lembro de ti na praia.",
		"Jag och min fru har en stuga i skogen.", "I morgen rejser vi i bil til Aarhus.", "I dag jobber jeg i butikken.", "My z bratem i mamą jedziemy w góry.",
		"I do Gdańska mam bilet na my.", "Já i my jsme v pátek v kině.", "I moj brat i ja radimo u banci.", "Minä ja me muut asumme Oulussa.", "Én is szeretem a halat.",
		"Ben Bursa'da bir evde kalıyorum.", "Eu am un câine și locuiesc în Iași.", "Saya dan kakak saya tinggal di Solo.", "Anh ấy làm bác sĩ ở Huế.",
		"У меня аллергия на орехи.", "Аз живея в Пловдив и съм учител.", "Мене звати Олена, я з Одеси.", "Έχω δύο γάτες και έναν σκύλο.", "أنا أعمل ممرضة في بيروت.",
		"יש לי שני כלבים וחתול.", "मेरी बहन डॉक्टर है।", "ฉันแพ้ถั่วลิสง", "私は毎朝コーヒーを飲みます。", "我对花生过敏。", "저는 간호사예요.", "Ben bor i huset i skoven.",
		"Ich liebe it when we skypen mit Oma.", "Mi boss me dijo que my laptop no funciona.", "J'ai un call avec my manager à 15h.",
		"Me encantan los gatos but my husband hates them.", "我的猫今年五岁了。",
	} {
		t.Run(said, func(t *testing.T) {
			t.Parallel()
			got := read(t, by("Alice", said))
			if len(got) != 1 || without(got[0].Text) != "Alice: "+said || got[0].State != nil {
				t.Errorf("got %q", texts(got))
			}
			if want, ok := typed[said]; len(got) == 1 && (ok && got[0].Type != want || got[0].Type == memory.TypeInstruction || got[0].Type == memory.TypeQuestion) {
				t.Errorf("it is %q", got[0].Type)
			}
		})
	}
}

func TestSmallTalkOfOtherLanguagesMakesNoFact(t *testing.T) {
	t.Parallel()
	for _, said := range []string{
		"Danke schön!", "Guten Morgen zusammen", "Kein Problem.", "Ja, genau.", "Alles klar, bis später!", "Moment mal bitte.", "Wie geht's dir?", "Super 😊",
		"¡Muchas gracias!", "Buenos días a todos", "Vale, perfecto.", "Un momento, por favor.", "¿Qué tal?", "Sí, claro.", "Merci beaucoup !", "D'accord, à demain.",
		"Pas de souci.", "Ça va ?", "C'est vrai.", "Grazie mille!", "Va bene, a dopo.", "Certo!", "Come stai?", "Obrigada!", "Tudo bem?", "Bom dia a todos",
		"Dank je wel!", "Geen probleem.", "Tot straks", "Tack så mycket!", "God morgon", "Tak!", "Takk for det", "Kiitos paljon!", "Dzień dobry", "Dzięki, nie ma sprawy.", "Děkuji moc",
		"Teşekkür ederim!", "Tamam, görüşürüz", "Köszönöm szépen!", "Mulțumesc mult", "Terima kasih banyak", "Cảm ơn bạn", "Спасибо большое!", "Доброе утро всем", "Понятно.",
		"Дякую дуже", "Ευχαριστώ πολύ!", "شكرا جزيلا", "תודה רבה", "धन्यवाद", "ขอบคุณค่ะ", "ありがとうございます！", "なるほど。", "おはよう", "谢谢你！", "好的，没问题。", "早上好", "감사합니다", "네, 알겠어요.", "哈哈哈",
	} {
		if got := read(t, by("Alice", said)); len(got) != 0 {
			t.Errorf("%q gives %q", said, texts(got))
		}
	}
}

func TestSmallTalkMakesNoFact(t *testing.T) {
	t.Parallel()
	for _, said := range []string{
		"Sounds good!", "brb", "One sec.", "Let me check.", "Will do.", "Never mind.", "Got it, thanks!", "Fair enough.", "I don't know.", "Just a second please", "You bet!", "No way!",
		"Not really.", "That makes sense.", "Good night all", "I know, right?", "Hang on a moment.", "Same here!", "Why not?", "Oh, I see what you mean.", "Thank you so much!", "Hahaha", "Of course!",
		"Happy birthday!", "Let me think about it.", "k", "Sure thing", "👍", "I get it.", "Absolutely.", "Are you there?", "Anything else?", "Give me a moment.", "Give me a sec!", "Oh no, I'm so sorry.", "My condolences.", "Apologies!", "I'm really sorry about that.",
	} {
		if got := read(t, by("Alice", said)); len(got) != 0 {
			t.Errorf("%q gives %q", said, texts(got))
		}
	}
}

func TestNumbersAndCodesSurvive(t *testing.T) {
	t.Parallel()
	for said, must := range map[string]string{
		"My number is 0171 555 01 23 99.":                "0171 555 01 23 99",
		"Call the office at +1 (555) 010-4477.":          "+1 (555) 010-4477",
		"The gate code is 7741#.":                        "7741#",
		"Thanks, the tracking number is 1Z 999 AA1 012!": "1Z 999 AA1 012",
		"We live at 12/4 Rue des Lilas, 69003 Lyon.":     "12/4 Rue des Lilas, 69003 Lyon",
		"My license plate is B-XY 1234.":                 "B-XY 1234",
		"Mail me at pia.k@example.org or 10.0.0.7:8080.": "pia.k@example.org or 10.0.0.7:8080",
		"Meine Kundennummer ist 88-1203-55.":             "88-1203-55",
		"Mi vuelo es el IB3166, asiento 14C.":            "IB3166, asiento 14C",
		"The docs are at https://x.org/a_b/c?d=1&e=2.":   "https://x.org/a_b/c?d=1&e=2",
		"The wifi is called FRITZ!Box 7590 AX.":          "FRITZ!Box 7590 AX",
		"Lol it cost 89,99 €.":                           "89,99",
		"Room 4.12, third door.":                         "4.12",
		"The toner for the printer is a CF259X.":         "CF259X",
	} {
		if got := texts(read(t, by("Alice", said))); !strings.Contains(got, must) {
			t.Errorf("%q gives %q", said, got)
		}
	}
	t.Run("each of ten in one message", func(t *testing.T) {
		t.Parallel()
		said := ""
		for _, n := range strings.Fields("4411 5522 6633 7744 8855 9966 1177 2288 3399 4400") {
			said += "Locker " + n + " belongs to the team. "
		}
		got := texts(read(t, by("Alice", said)))
		for _, n := range strings.Fields("4411 5522 6633 7744 8855 9966 1177 2288 3399 4400") {
			if !strings.Contains(got, n) {
				t.Errorf("%s is missing", n)
			}
		}
	})
}

func TestAnswersAreReadWithTheirQuestion(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ question, answer, want string }{
		{"Where is the drill?", "In the cellar, red box", "Ben: Where is the drill? Alice: In the cellar, red box"},
		{"Which bike is yours?", "Mine is the green one", "Ben: Which bike is yours? Alice: Mine is the green one"},
		{"Here is the rack.", "Which bike did you take? Mine is green.", "Alice: Which bike did you take? Mine is green."},
		{"Hi! Which school does your son go to?", "Lindgren Primary", "Ben: Which school does your son go to? Alice: Lindgren Primary"},
		{"Are you allergic to penicillin?", "Yes", "Ben: Are you allergic to penicillin? Alice: Yes"},
		{"How many chairs do we need?", "12", "Ben: How many chairs do we need? Alice: 12"},
		{"Wo liegt der Ersatzschlüssel?", "Unter der Matte.", "Ben: Wo liegt der Ersatzschlüssel? Alice: Unter der Matte."},
		{"¿Dónde trabaja tu hermana?", "En una farmacia.", "Ben: ¿Dónde trabaja tu hermana? Alice: En una farmacia."},
		{"お名前は何ですか？", "田中です。", "Ben: お名前は何ですか？ Alice: 田中です。"},
		{"Where do you live?", "I live in Porto.", "Alice lives in Porto."},
		{"How are you?", "Great!", ""},
		{"What's up?", "Nothing much.", ""},
		{"Do you want some more soup?", "Why?", ""},
		{"The soup is on the stove.", "In the cellar, red box", ""},
	} {
		in := extract.Input{Bank: "b", Session: "s", New: []memory.Message{by("Alice", c.answer)},
			Context: []memory.Message{{ID: "q", Seq: 1, Role: memory.RoleUser, Speaker: "Ben", Content: c.question, Time: said.Add(-time.Minute)}}}
		in.New[0].Seq = 2
		drafts, err := rules.New().Extract(t.Context(), in)
		if err != nil {
			t.Fatal(err)
		}
		got, refused := extract.Validate(in, rules.Name, drafts, redactor{})
		var all []string
		for _, f := range got {
			all = append(all, f.Text)
		}
		if text := strings.Join(all, " | "); text != c.want && !(c.want == "" && !strings.Contains(text, "Ben: ")) || len(refused) > 0 {
			t.Errorf("%q %q gives %q, refused %v, want %q", c.question, c.answer, text, refused, c.want)
		}
		if strings.HasPrefix(c.want, "Ben: ") && len(got) == 1 && (len(got[0].Sources) != 2 || got[0].Speaker != "Alice" || got[0].Tags[0] != memory.TagAnswer) {
			t.Errorf("it rests on %v of %q with tags %v", got[0].Sources, got[0].Speaker, got[0].Tags)
		}
	}
}

// What an assistant did and found out is a fact, and says so; what it explains and advises is none.
func TestWhatTheBotDoesIsAttributed(t *testing.T) {
	t.Parallel()
	did := "I booked you a table in Lisbon for 5 June. The outage on 2 May came from an expired certificate. Ich habe den Termin auf den 7. Juni gelegt."
	advice := "Lisbon has two airports. You should try the custard tarts. Das Museum hat montags geschlossen.\n\n## Plan\n1. **Visit** the old castle in the morning.\n2. Eat grilled sardines at the harbour."
	m := by("assistant", did+"\n\n"+advice)
	m.Role = memory.RoleAssistant
	want := "The assistant booked you a table in Lisbon for 5 June (5 June 2023). | The assistant said: The outage on 2 May (2 May 2023) came from an expired certificate. | The assistant: Ich habe den Termin auf den 7. Juni gelegt."
	if got := texts(read(t, m)); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
