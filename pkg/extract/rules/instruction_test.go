package rules_test

import (
	"testing"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// The class is a probability, so a few may be wrong.
func TestInstructionsAskTheBotToBehave(t *testing.T) {
	t.Parallel()
	wrong := 0
	for said, want := range map[string]bool{
		"Please always write to me in Danish.": true, "Never use exclamation marks.": true, "Keep your replies under two lines.": true,
		"Don't recommend podcasts any more.": true, "From now on, quote prices in euros.": true, "Call me Lou please.": true, "Never deploy on Sundays.": true,
		"Bitte antworte immer auf Dänisch.": true, "Verwende keine Abkürzungen.": true, "Por favor, responde siempre en catalán.": true,
		"No uses abreviaturas en tus respuestas.": true, "Réponds toujours en italien.": true, "N'utilise pas d'abréviations.": true,

		// What is asked for from now on may be a question.
		"Could you always round prices to full crowns?": true, "can you pls quote prices in euros from now on?": true, "Would you mind always citing the source?": true,
		"Würdest du mich künftig siezen?": true, "¿Podrías tutearme siempre?": true, "Pourrais-tu désormais répondre en danois ?": true, "Potresti rispondere sempre in danese?": true,
		"Poderias sempre responder em dinamarquês?": true, "Zou je voortaan Deens willen praten?": true, "Kan du alltid svara på danska?": true, "Czy możesz zawsze odpowiadać po duńsku?": true,
		"Могла бы ты впредь писать по-датски?": true, "可以一直用丹麦语回答吗？": true, "いつもデンマーク語で答えてもらえますか？": true, "앞으로 덴마크어로 대답해 주세요": true,
		"Kannst du uns einfach duzen?": true, "Könntest du etwas langsamer sprechen?": true, "Magst du bitte aufhören, mich Frau Doktor zu nennen?": true,
		"¿Puedes hablarme de usted?": true, "¿Podrías dejar de mandarme recordatorios?": true, "Tu peux me répondre en danois stp ?": true,
		"Pourrais-tu arrêter de m'envoyer des blagues ?": true, "Potresti per favore darmi del tu quando mi scrivi?": true, "Puoi rispondere più in breve?": true, "Você poderia falar mais devagar, por favor?": true,
		"Kun je wat simpeler praten?": true, "Kannst du den Brief kürzer formulieren?": false, "¿Puedes traducir la carta al danés?": false,
		"Kannst du auf Festen reden?": false, "¿Puedes hablar en público?": false, "Tu peux parler en public ?": false, "Puoi parlare in chiesa?": false,
		"Kannst du bitte auf Dänisch antworten?": true, "¿Me puedes contestar en danés?": true,
		"Tu peux parler au plombier ?": false, "Puoi parlare con Torben domani?": false, "Kan je met Torben praten?": false,
		"Could you always see the sea from there?": false, "Will you always live in Aarhus?": false, "Could you write to Torben tomorrow?": false, "Kannst du immer noch Dänisch?": false,
		"¿Puedes dormir siempre tan bien?": false, "Tu peux toujours passer à Aarhus ?": false, "Puoi sempre contare su Torben?": false, "你以后想住在奥胡斯吗？": false,

		"Never mind, the plumber came at nine.": false, "Don't worry about the broken vase.": false, "Always nice to see you, Torben.": false,
		"Please come in, the kettle is on.": false, "Make sure you visit the lighthouse in Skagen.": false, "Don't forget your passport on Monday.": false,
		"Call me when the train gets to Aarhus.": false, "Never been to Aarhus, but my sister has.": false, "Never say never, Torben might sing again.": false,
		"Mach dir keine Sorgen wegen der Miete.": false, "Immer schön, dich zu sehen, Torben.": false, "Habla español con su abuela.": false,
		"No te preocupes por la maleta.": false, "Ne t'inquiète pas pour la valise.": false,
	} {
		got := false
		for _, f := range facts(t, by("Mette", said)) {
			got = got || f.Type == memory.TypeInstruction
		}
		if got != want {
			t.Logf("%q is an instruction: %t, want %t", said, got, want)
			wrong++
		}
	}
	if wrong > 3 {
		t.Errorf("%d of them are wrong", wrong)
	}
}
