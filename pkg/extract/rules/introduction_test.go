package rules_test

import (
	"testing"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// Speakers who tell the name by which they are known say nothing with it; what stands behind it is about them.
func TestWhoTellsTheirName(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		said, want string
		typ        memory.Type
	}{
		{"Hello, I'm Vera and I teach chemistry", "Vera teaches chemistry.", memory.TypeFact},
		{"My name is Vera, a beekeeper in Graz", "Vera's name is Vera, a beekeeper in Graz.", memory.TypeFact},
		{"This is Vera, my train to Linz was cancelled", "Vera's train to Linz was cancelled.", anyType},
		{"I'm Vera, the new beekeeper", "Vera is the new beekeeper.", memory.TypeFact},
		{"I'm Olga, the new beekeeper", "Vera is Olga, the new beekeeper.", memory.TypeFact},
		{"I'm Vera.", "", ""},
	} {
		checkDraft(t, nil, c.said, c.want, c.typ)
	}
}

func TestQuestionsWithoutTheirMarks(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		said, want string
		typ        memory.Type
	}{
		{"wheres my parcel", "", ""},
		{"what time does the bus leave on 2 May", "Vera asked: what time does the bus leave on 2 May (2 May 2026).", memory.TypeQuestion},
		{"not gonna renew the lease in Linz", "Vera is not gonna renew the lease in Linz.", memory.TypeFact},
		{"Not going to the fair, my knee is swollen", "Vera is not going to the fair, their knee is swollen.", memory.TypeFact},
	} {
		checkDraft(t, nil, c.said, c.want, c.typ)
	}
}
