package text_test

import (
	"slices"
	"testing"

	"github.com/eunoe-memory/eunoe/pkg/text"
)

func TestLanguageOf(t *testing.T) {
	t.Parallel()
	for language, sentences := range map[text.Language][]string{
		"en": {"The plumber comes on Thursday.", "my cat is called Pip", "I AM SO TIRED OF THIS", "We ate at Trattoria da Enzo.", "Bought a café table for the terrace", "I met Jürgen's boss in São Paulo."},
		"de": {"Im Winter wohne ich bei meiner Tante.", "Mein Hund heißt Bello.", "hab den zug verpasst", "Wir treffen uns am 3. Oktober um 9.", "Das Passwort hat Uwe."},
		"es": {"Me mudé a Sevilla en enero.", "Mi hermana es enfermera.", "tengo dos gatos y un perro", "Dentro de dos semanas operan a mi madre."},
		"fr": {"J'habite à Lyon depuis deux ans.", "Ma fille joue du piano.", "on part demain avec les enfants", "Ce week-end on va à Lille."},
		"it": {"Mi sono trasferita a Torino.", "Il mio medico si chiama Rossi.", "ho due gatti e un cane"},
		"pt": {"Eu moro em Braga com a minha irmã.", "Não gosto de coentros.", "comprei uma bicicleta nova", "No sábado passado corremos dez quilómetros."},
		"nl": {"Ik werk bij een bakker.", "Mijn broer woont in Gent.", "we gaan morgen naar zee"},
		"sv": {"Jag är allergisk mot nötter.", "Min syster bor i Lund."},
		"da": {"Jeg arbejder på et sygehus.", "Min søster hedder Karen og er læge."},
		"pl": {"Mieszkam w Łodzi od dwóch lat.", "Mój brat nie je mięsa."},
		"cs": {"Můj pes se jmenuje Rek.", "Pracuji v nemocnici."},
		"fi": {"Työskentelen sairaalassa ja asun Turussa.", "Minulla on kaksi kissaa."},
		"hu": {"Szeretem a kávét és a teát.", "A nővérem Szegeden lakik."},
		"tr": {"Kız kardeşim Ankara'da oturuyor.", "Ben çay içmeyi çok severim."},
		"ro": {"Locuiesc în Cluj cu sora mea.", "Nu mănânc carne."},
		"id": {"Saya tinggal di Bandung dengan ibu saya.", "Aku tidak suka durian."},
		"vi": {"Tôi sống ở Đà Nẵng với mẹ.", "Chị tôi là bác sĩ."},
		"ru": {"Моя сестра работает врачом.", "Мы переехали в Омск."},
		"uk": {"Я живу у Львові з братом."},
		"el": {"Η αδερφή μου μένει στην Πάτρα."},
		"ja": {"妹は京都に住んでいる。", "ラーメンが好きです"},
		"zh": {"我妹妹在杭州工作。"},
		"ko": {"제 동생은 대구에 살아요."},
		"ar": {"أعيش في عمان مع أخي."},
		"he": {"אני גר בחיפה עם אחי."},
		"hi": {"मैं पुणे में रहता हूँ।"},
		"th": {"ฉันอาศัยอยู่ที่เชียงใหม่"},
		"":   {"", "4711", "Lisbon", "😊", "https://example.com/de/der/die"},
	} {
		for _, s := range sentences {
			if got := text.LanguageOf(s); got != language {
				t.Errorf("LanguageOf(%q) = %q, want %q", s, got, language)
			}
		}
	}
	t.Run("habit decides where the words do not", func(t *testing.T) {
		t.Parallel()
		for _, habit := range []text.Language{"de", "en", "sv"} {
			if got := text.LanguageOf("Lisbon, Porto", habit); got != habit {
				t.Errorf("got %q, want %q", got, habit)
			}
		}
		if got := text.LanguageOf("Meine Tante wohnt in Graz.", "en"); got != "de" {
			t.Errorf("a habit overrules the words: %q", got)
		}
	})
}

func TestIsEnglish(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"I live in Lyon.", "my sister hates olives", "Im going to the gym", "We visited Baden-Baden and Rio de Janeiro.", "I ordered a crème brûlée.",
		"i dont like mushrooms", "Need to call the bank", "Dan eats raw fish.", "Ben repaired Olga's bike", "Kim hates mushrooms", "I'M ALLERGIC TO NUTS", "My neighbour Zoë sold the car."} {
		if !text.IsEnglish(s, "") {
			t.Errorf("%q is taken for another language", s)
		}
	}
	for _, s := range []string{"Im Juni ziehe ich um.", "Me llamo Rosa.", "Kup mi chleb i mleko", "Vi bor i Malmö.", "Me gusta my job pero no mi jefe.", "Ich mag my new job sehr.", "Mi chiamo Ugo",
		"Io e te", "On a mangé chez me parents", "U hebt gelijk", "Wir haben us getroffen", "Moj brat i ja", "I went to meiner Tante und meinem Onkel", "私はI love", "žije"} {
		if text.IsEnglish(s, "") {
			t.Errorf("%q is taken for English", s)
		}
	}
	if !text.IsEnglish("Take care!", "en") || text.IsEnglish("Me too", "de") && text.IsEnglish("Super i fajnie", "pl") {
		t.Error("the habit does not decide")
	}
}

func TestSentencesOfLanguages(t *testing.T) {
	t.Parallel()
	for _, want := range [][]string{
		{"Am 20. Februar habe ich z. B. Geburtstag.", "Und du?"},
		{"20. Februar passt mir gut.", "Danke!"},
		{"Wir feiern den 80. Geburtstag von Oma.", "Sie freut sich."},
		{"Dr. med. Anna Roth zieht in die Gartenstr. 5, d. h. um die Ecke.", "Das ist ca. 2 km weit."},
		{"Vi ses den 3. maj kl. 15 hos mormor.", "Hej!"},
		{"Narodil jsem se 5. 6. 1990 v Brně.", "Ano."},
		{"La Sra. Gil vive en la Avda. Sur, p. ej. al lado.", "Vale."},
		{"M. Petit et Mme. Roy arrivent.", "Super !"},
		{"Mieszkam przy ul. Długiej nr. 7.", "Lubię to."},
		{"Версия 2.5 вышла, т. е. уже есть.", "Да."},
		{"Open https://x.org/A?B=C!D now.", "Version 3.5.1 is out.", "Write to a.b@x.org."},
		{"J.R.R. Tolkien wrote it.", "I have 3.", "She has 4."},
		{"Oh no.", "He left with No. 5 in his hand."},
		{"He asked \"why?\" and left.", "OK."},
		{"मैं पुणे में हूँ।", "ठीक है।"},
		{"أين تسكن؟", "في حلب."},
	} {
		in := ""
		for _, s := range want {
			in += s + " "
		}
		if got := text.Sentences(in); !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
