package statement_test

import (
	"testing"

	"github.com/eunoe-memory/eunoe/pkg/consolidate/plan/statement"
)

func TestRelateInOtherLanguages(t *testing.T) {
	t.Parallel()
	const stands, corrected, denied = statement.Unrelated, statement.Correction, statement.Contradiction
	for _, c := range []struct {
		older, newer string
		want         statement.Relation
	}{
		{"Mira: Ich arbeite in der Bäckerei.", "Mira: Ich arbeite nicht mehr in der Bäckerei.", corrected},
		{"Mira: Ich jogge jeden Tag.", "Mira: Ich habe mit dem Joggen aufgehört.", corrected},
		{"Mira: Meine Katze heißt Minka.", "Mira: Meine Schwester wohnt nicht mehr in Aachen.", stands},
		{"Mira: Ich wohne in Aachen.", "Mira: Mein Bruder ist nach Essen umgezogen.", stands},
		{"Mira: Ich habe einen Hund.", "Mira: Der Hund meiner Nachbarin ist gestorben.", stands},
		{"Mira: Ich rauche.", "Mira: Mein Mann raucht nicht mehr.", stands},
		{"Mira: Fumo.", "Mira: Mi padre ha dejado de fumar.", stands},
		{"Mira: Ich mag Hunde.", "Mira: Ich habe keinen Hund mehr.", stands},
		{"Mira: Ich habe Hunde.", "Mira: Ich habe keinen Hund mehr.", corrected},
		{"Mira: J'habite à Metz.", "Mira: Ma copine a déménagé à Nancy.", stands},
		{"Mira: J'habite à Metz.", "Mira: Ma copine et moi, nous avons déménagé à Nancy.", corrected},
		{"Mira: Lavoro in banca.", "Mira: Mio fratello non lavora più in banca.", stands},
		{"Mira: Toco el violín.", "Mira: Mi hermana ya no toca el violín.", stands},
		{"Mira: Mi hermana toca el violín.", "Mira: Mi hermana ya no toca el violín.", corrected},
		{"Mira: Mein Hund heißt Bello.", "Mira: Bello ist gestorben.", corrected},
		{"Mira: Je suis avec Marc.", "Mira: Marc et moi, on a rompu.", corrected},
		{"Mira: Je suis avec Marc.", "Mira: Paul et Zoé ont rompu.", stands},
		{"Mira: Ich mag Oliven.", "Mira: Ich mag auch Kapern.", stands},
		{"Mira: Ich mag Oliven.", "Mira: Ich mag keine Oliven.", denied},
		{"Mira: Ich bin ledig.", "Mira: Ich bin jetzt mit Olof zusammen.", corrected},
		{"Mira: Estoy soltera.", "Mira: Estoy casada con Olof.", corrected},
		{"Mira: Nos separamos en mayo.", "Mira: Estoy casada con Olof.", stands},
		{"Mira: Das Konzert ist am 3. Mai (3 May 2026).", "Mira: Das Konzert wurde auf den 9. Mai (9 May 2026) verschoben.", corrected},
		{"Mira: Mein Zug geht am 9. Mai (9 May 2026).", "Mira: Das Konzert wurde auf den 9. Juni (9 June 2026) verschoben.", stands},
		{"Mira: Mein Zug geht im Juni.", "Mira: Das Konzert wurde auf den 9. Juni (9 June 2026) verschoben.", stands},
		{"Mira: Mon train part le 9 mai (9 May 2026).", "Mira: Le concert est déplacé au 9 juin (9 June 2026).", stands},
		{"Mira: Ich esse Fleisch.", "Mira: Seit heute (4 May 2026) esse ich kein Fleisch.", corrected},
		{"Mira: Ich esse Fleisch.", "Mira: Heute (4 May 2026) esse ich kein Fleisch.", stands},
		{"Mira: Vivo en León.", "Mira: Nos mudamos a Burgos.", corrected},
		{"Mira: Vivo en León.", "Mira: Mi tía vive en Burgos.", stands},
		{"Mira: Tengo una tortuga.", "Mira: Ya no tengo la tortuga.", corrected},
		{"Mira: Je mange du poisson.", "Mira: Je ne mange plus de poisson.", corrected},
		{"Mira: Mon loyer est de 500 euros.", "Mira: Mon loyer est maintenant de 540 euros.", corrected},
		{"Mira: Suono il flauto.", "Mira: Ho smesso di suonare il flauto.", corrected},
		{"Mira: Ik woon in Breda.", "Mira: Ik ben verhuisd naar Zwolle.", corrected},
		{"Mira: Moro em Faro.", "Mira: Mudei-me para Évora.", corrected},
		{"Mira: Я живу в Туле.", "Mira: Я переехала в Тверь.", corrected},
		{"Mira: 私は神戸に住んでいます。", "Mira: 奈良に引っ越しました。", corrected},
		{"Mira: J'adore la planche à voile.", "Mira: Je n'aime plus la planche à voile.", corrected},
		{"Mira: Ich liebe Techno.", "Mira: Ich mag Techno nicht mehr.", corrected},
		{"Mira: Me encantan los toros.", "Mira: Ya no me gustan los toros.", corrected},
		{"Mira: Обожаю оливки.", "Mira: Я больше не люблю оливки.", corrected},
		{"Mira: Ich liebe Techno.", "Mira: Ich mag keinen Jazz mehr.", stands},
		{"Mira: Ich liebe Techno.", "Mira: Ich mag nicht mehr.", stands},
		{"Mira: Ich mag Pizza.", "Mira: Ich esse keine Pizza mehr.", stands},
		{"Paul: Ich jogge jeden Tag.", "Mira: Ich habe mit dem Joggen aufgehört.", stands},
	} {
		t.Run(c.older+" "+c.newer, func(t *testing.T) {
			t.Parallel()
			if got := statement.Relate(statement.Read(c.newer, nil), statement.Read(c.older, nil)); got != c.want {
				t.Errorf("relation %d, want %d", got, c.want)
			}
		})
	}
}

// Two sentences of which one denies what the other says are not the same, in whichever language.
func TestWhatIsDeniedIsNotTheSame(t *testing.T) {
	t.Parallel()
	for _, c := range [][2]string{
		{"Mira: 我喜欢喝咖啡", "Mira: 我不喜欢喝咖啡了"}, {"Mira: 私は魚を食べる。", "Mira: 私は魚を食べない。"}, {"Mira: 저는 고기를 먹어요.", "Mira: 저는 고기를 안 먹어요."},
		{"Mira: Я ем мясо.", "Mira: Я не ем мясо."}, {"Mira: Jem mięso.", "Mira: Nie jem mięsa."}, {"Mira: Jag äter kött.", "Mira: Jag äter inte kött."},
		{"Mira: Jeg spiser fisk.", "Mira: Jeg spiser ikke fisk."}, {"Mira: Et yiyorum.", "Mira: Et yemiyorum."}, {"Mira: Ich esse Fisch.", "Mira: Ich esse keinen Fisch."},
		{"Mira: Je mange du porc.", "Mira: Je ne mange pas de porc."}, {"Mira: Como carne.", "Mira: No como carne."}, {"Mira: Mangio carne.", "Mira: Non mangio carne."},
		{"Mira: Como carne de porco.", "Mira: Não como carne de porco."}, {"Mira: Ik eet vlees.", "Mira: Ik eet geen vlees."}, {"Mira: Syön lihaa.", "Mira: En syö lihaa."},
	} {
		if a, b := statement.Read(c[0], nil), statement.Read(c[1], nil); statement.Same(a, b) || statement.Same(b, a) {
			t.Errorf("%q and %q are one", c[0], c[1])
		}
	}
	for _, c := range [][2]string{
		{"Mira: 我喜欢喝咖啡", "Mira: 我很喜欢喝咖啡"}, {"Mira: Ich esse keinen Fisch.", "Mira: Ich esse gar keinen Fisch."}, {"Mira: No como carne.", "Mira: Yo no como carne."},
		{"Mira: J'aime le thé.", "Mira: J'aime le thé et le café."}, {"Mira: Jag bor i Oslo.", "Mira: Jag bor nu i Oslo."},
	} {
		if a, b := statement.Read(c[0], nil), statement.Read(c[1], nil); !statement.Same(a, b) {
			t.Errorf("%q and %q are two", c[0], c[1])
		}
	}
}
