package rules_test

import (
	"testing"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// TestNotesOfRelatives reads notes about relatives who have no name in them, and what follows of them in few words.
func TestNotesOfRelatives(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		said, want string
		typ        memory.Type
	}{
		{"Husband's snoring again.", "Vera said: Husband's snoring again.", memory.TypeFact},
		{"Grandpa slipped on the ice. He can't stand.", "Vera said: Grandpa slipped on the ice. He can't stand.", memory.TypeEvent},
		{"The nurse changed the drip. She's calmer.", "Vera said: The nurse changed the drip. She's calmer.", memory.TypeFact},
		{"ugh missed my driving test again", "Vera missed their driving test again.", memory.TypeEvent},
		{"ngl I hate leeks", "Vera hates leeks.", memory.TypePreference},
	} {
		checkDraft(t, nil, c.said, c.want, c.typ)
	}
}
