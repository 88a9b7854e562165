package rules_test

import (
	"testing"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

func TestInstructionsAskTheBotToBehave(t *testing.T) {
	t.Parallel()
	for said, want := range map[string]bool{
		"Please always write to me in Danish.": true, "Never use exclamation marks.": true, "Keep your replies under two lines.": true,
		"Don't recommend podcasts any more.": true, "From now on, quote prices in euros.": true, "Call me Lou please.": true, "Never deploy on Sundays.": true,
		"Bitte antworte immer auf Dänisch.": true, "Verwende keine Abkürzungen.": true, "Por favor, responde siempre en catalán.": true,
		"No uses abreviaturas en tus respuestas.": true, "Réponds toujours en italien.": true, "N'utilise pas d'abréviations.": true,

		"Never mind, the plumber came at nine.": false, "Don't worry about the broken vase.": false, "Always nice to see you, Torben.": false,
		"Please come in, the kettle is on.": false, "Make sure you visit the lighthouse in Skagen.": false, "Don't forget your passport on Monday.": false,
		"Call me when the train gets to Aarhus.": false, "Never been to Aarhus, but my sister has.": false, "Never say never, Torben might sing again.": false,
		"Mach dir keine Sorgen wegen der Miete.": false, "Immer schön, dich zu sehen, Torben.": false, "Habla español con su abuela.": false,
		"No te preocupes por la maleta.": false, "Ne t'inquiète pas pour la valise.": false,
	} {
		t.Run(said, func(t *testing.T) {
			t.Parallel()
			got := false
			for _, f := range facts(t, by("Mette", said)) {
				got = got || f.Type == memory.TypeInstruction
			}
			if got != want {
				t.Errorf("is an instruction: %t, want %t", got, want)
			}
		})
	}
}
