package statement_test

import (
	"testing"

	"github.com/eunoe-memory/eunoe/pkg/consolidate/plan/statement"
)

// TestWhatBefallsAThingOfAnotherEndsNothing keeps the things of two people apart, of whom one is named by the other.
func TestWhatBefallsAThingOfAnotherEndsNothing(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		older, newer string
		ends         bool
	}{
		{"Odile's parrot is called Koko.", "Odile's colleague's parrot died on Monday.", false},
		{"Odile's parrot is called Koko.", "Odile said: A friend's parrot flew off and died.", false},
		{"Odile's parrot is called Koko.", "Odile's parrot died on Monday.", true},
		{"Odile's aunt's parrot is called Koko.", "Odile's parrot died on Monday.", false},
		{"Odile's aunt's parrot is called Koko.", "Odile's aunt's parrot died on Monday.", true},
		{"Odile's aunt has a parrot called Koko.", "Odile's aunt's parrot died on Monday.", true},
		{"Odile's scooter is a Vespa.", "Odile's brother's scooter was stolen.", false},
		{"Odile's scooter is a Vespa.", "Odile's scooter was stolen.", true},
		{"Odile's recital is on 3 March.", "Odile's niece's recital was cancelled.", false},
		{"Odile's niece's recital is on 3 March.", "Odile's niece's recital was cancelled.", true},
	} {
		got := statement.Relate(statement.Read(c.newer, nil), statement.Read(c.older, nil))
		if (got != statement.Unrelated) != c.ends {
			t.Errorf("%q is of relation %d to %q", c.newer, got, c.older)
		}
	}
}

// TestWhatNearlyWasEndsNothing reads moves that did not happen, and one in each language that did.
func TestWhatNearlyWasEndsNothing(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		home, moved string
		not         []string
	}{
		{"Jost: Ich wohne in Bremen.", "Jost: Ich bin nach Kiel gezogen.",
			[]string{"Jost: Beinahe wäre ich nach Kiel gezogen.", "Jost: Falls ich nach Kiel ziehe, brauche ich ein Boot.", "Jost: Vielleicht ziehe ich nach Kiel."}},
		{"Pia: Vivo en Lugo.", "Pia: Me mudé a Vigo.", []string{"Pia: Por poco me mudo a Vigo.", "Pia: Si me mudo a Vigo, vendo el coche.", "Pia: Ojalá me mudara a Vigo."}},
		{"Luc: J'habite à Brest.", "Luc: J'ai déménagé à Lille.", []string{"Luc: J'ai failli déménager à Lille.", "Luc: Si je déménage à Lille, je vends tout."}},
		{"Ugo: Abito a Bari.", "Ugo: Mi sono trasferito a Pisa.", []string{"Ugo: Mi sono quasi trasferito a Pisa.", "Ugo: Forse mi sono trasferito troppo presto a Pisa."}},
		{"Rui: Moro em Faro.", "Rui: Mudei-me para Braga.", []string{"Rui: Quase mudei para Braga.", "Rui: Se calhar mudei cedo demais para Braga."}},
		{"Bas: Ik woon in Gent.", "Bas: Ik ben naar Breda verhuisd.", []string{"Bas: Ik ben bijna naar Breda verhuisd.", "Bas: Als ik naar Breda verhuisd ben, bel ik je."}},
		{"Ola: Mieszkam w Radomiu.", "Ola: Przeprowadziłam się do Torunia.",
			[]string{"Ola: Omal przeprowadziłam się do Torunia.", "Ola: Gdybym się przeprowadziła do Torunia, miałabym bliżej.", "Ola: Moja ciocia przeprowadziła się do Torunia."}},
		{"Liv: Jag bor i Umeå.", "Liv: Jag har flyttat till Lund.", []string{"Liv: Jag flyttade nästan till Lund.", "Liv: Om jag flyttar till Lund säljer jag båten."}},
		{"Яна: Я живу в Омске.", "Яна: Я переехала в Тверь.", []string{"Яна: Я едва не переехала в Тверь.", "Яна: Если я переезжаю в Тверь, продаю дачу."}},
	} {
		older := statement.Read(c.home, nil)
		if got := statement.Relate(statement.Read(c.moved, nil), older); got != statement.Correction {
			t.Errorf("%q is of relation %d to %q", c.moved, got, c.home)
		}
		for _, s := range c.not {
			if got := statement.Relate(statement.Read(s, nil), older); got != statement.Unrelated {
				t.Errorf("%q is of relation %d to %q", s, got, c.home)
			}
		}
	}
}

// TestOtherFormsOfNews ends what is said in other words than the news.
func TestOtherFormsOfNews(t *testing.T) {
	t.Parallel()
	for _, c := range [][2]string{
		{"Odile's phone number is 0151 332211.", "Odile's new number is 0152 998800."},
		{"Odile takes 5 mg of ramipril.", "Odile's cardiologist raised the ramipril to 10 mg."},
		{"Odile said: We use Django 4.", "Odile said: We upgraded to Django 5."},
		{"Odile goes to yoga every Tuesday.", "Odile stopped going to yoga."},
		{"Odile's nephew Tim is 11.", "Tim turned 12."},
	} {
		if got := statement.Relate(statement.Read(c[1], nil), statement.Read(c[0], nil)); got != statement.Correction {
			t.Errorf("%q is of relation %d to %q", c[1], got, c[0])
		}
	}
	for _, c := range [][2]string{
		{"Odile's phone number is 0151 332211.", "Odile's mum's new number is 0152 998800."},
		{"Odile said: We use Django 4.", "Odile said: We upgraded to Redis 7."},
		{"Odile takes 5 mg of ramipril.", "Odile's dad's cardiologist raised the iron to 10 mg."},
	} {
		if got := statement.Relate(statement.Read(c[1], nil), statement.Read(c[0], nil)); got != statement.Unrelated {
			t.Errorf("%q is of relation %d to %q", c[1], got, c[0])
		}
	}
}

// TestWhatSomebodyDoesEndsNothingOfThem reads verbs that end a subscription and say something else of a person.
func TestWhatSomebodyDoesEndsNothingOfThem(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		older, newer string
		ends         bool
	}{
		{"Odile's cousin lives in Nantes.", "Odile's cousin is over the measles.", false},
		{"Odile's cousin lives in Nantes.", "Odile's cousin ran out of flour.", false},
		{"Odile's cousin lives in Nantes.", "Odile's cousin finished early.", false},
		{"Odile's colleague sings bass.", "Odile's colleague came over.", false},
		{"Odile lives in Brest.", "Odile is finished for today.", false},
		{"Odile takes ramipril.", "Odile ran out of ramipril.", false},
		{"Odile's phone is a Nokia.", "Odile lost Odile's phone on the tram but found it.", false},
		{"Odile's fencing course is on Fridays.", "Odile's fencing course is over now.", true},
		{"Odile's fencing course is on Fridays.", "Odile's fencing course ended last week (5 to 11 October 2026).", true},
	} {
		got := statement.Relate(statement.Read(c.newer, nil), statement.Read(c.older, nil))
		if (got != statement.Unrelated) != c.ends {
			t.Errorf("%q is of relation %d to %q", c.newer, got, c.older)
		}
	}
}
