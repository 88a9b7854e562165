package rules_test

import (
	"testing"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// TestChatShorthand reads what people type in a hurry, in the form of the words that it stands for.
func TestChatShorthand(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		said, want string
		typ        memory.Type
	}{
		{"can u stop using hashtags", "Vera asked: can you stop using hashtags.", memory.TypeInstruction},
		{"plz dont use hashtags", "Vera asked: please don't use hashtags.", memory.TypeInstruction},
		{"u can call me Vee", "Vera asked: you can call Vera Vee.", memory.TypeInstruction},
		{"didnt get the flat", "Vera didn't get the flat.", anyType},
		{"cant do sundays", "Vera can't do sundays.", memory.TypeFact},
		{"id rather take the train", "Vera would rather take the train.", anyType},
		{"its not Bern its Basel", "Vera said: it's not Bern it's Basel.", memory.TypeFact},
		{"husband doesn't mind but he gets it", "Vera said: husband doesn't mind but he gets it.", memory.TypeFact},
		{"I'm blind in one eye and I run marathons", "Vera is blind in one eye and Vera runs marathons.", memory.TypeFact},
		{"No I meant the Basel office", "Vera meant the Basel office.", memory.TypeFact},
		{"Never mind, I'm on the bus", "Vera is on the bus.", memory.TypeFact},
		{"Working as a lifeguard really builds patience", "", ""},
		{"Working as a lifeguard this summer", "Vera is working as a lifeguard this summer (June to August 2026).", anyType},
		{"Plan U worked for the ill patient", "Vera said: Plan U worked for the ill patient.", memory.TypeFact},
		{"the team lost its 3 best players in May", "Vera said: the team lost its 3 best players in May (May 2025).", memory.TypeEvent},
		{"Nan was ill just before the move", "Nan was ill just before the move.", memory.TypeFact},
		{"doing okay Nils, the cast comes off soon", "Vera is doing okay, the cast comes off soon.", memory.TypeFact},
		{"I'm fine with Nils coming along", "Vera is fine with Nils coming along.", memory.TypeFact},
		{"I'm good Tuesday afternoon", "Vera is good Tuesday afternoon (14 April 2026).", anyType},
		{"so ill be late for choir", "Vera will be late for choir.", memory.TypeFact},
		{"the team lost its two best players", "Vera said: the team lost its two best players.", anyType},
	} {
		checkDraft(t, nil, c.said, c.want, c.typ)
	}
}
