package statement_test

import (
	"testing"

	"github.com/eunoe-memory/eunoe/pkg/consolidate/plan/statement"
)

// TestNewsEndsOnlyWhatItIsAbout compares each of some news with everything that is known of somebody. A memory that gives
// up an allergy because a meeting was moved is worse than one that keeps both.
func TestNewsEndsOnlyWhatItIsAbout(t *testing.T) {
	t.Parallel()
	known := []string{
		"Lena works at the library as an archivist.",
		"Lena said: we live in Ghent, above a bakery.",
		"Lena takes 20mg of iron every evening.",
		"Lena is allergic to bee stings.",
		"Lena's brother Arno lives in Perth.",
		"Lena drives a Fiat Panda.",
		"Lena said: the wedding is on 4 July in Bruges.",
		"Lena said: we got married in 2012.",
		"Lena's dad's birthday is 9 May.",
		"Lena's blood type is A-.",
		"Lena has two kids.",
		"Lena is vegetarian.",
		"Lena is single.",
		"Lena's rent is 910 euros a month.",
		"Lena is training for a triathlon in August.",
		"Lena is learning Greek on Babbel.",
		"Lena's phone is a Fairphone 5.",
		"Lena drinks three teas a day.",
		"Lena's ferry to Hull is on 2 November.",
		"Lena trusts Odd with her keys.",
		"Lena said: I love long train trips.",
		"Lena is saving for when Lena has kids.",
		"Lena is proud of how her work helps people.",
		"Lena has just started playing badminton.",
		"Lena said: choir on Wednesdays.",
		"Lena has the Panda, two canoes, six noisy friends, a dog and the Alps in mind for every single summer.",
	}
	for news, ended := range map[string]string{
		"The choir moved Lena to Fridays.":                     "",
		"Lena's boss moved Lena to the night desk.":            "",
		"Lena's interview was moved to Friday.":                "",
		"lena's interview was moved to Friday.":                "",
		"Lena's Wednesday lesson was called off.":              "",
		"Lena is tired now.":                                   "",
		"Lena is back at home now.":                            "",
		"Lena prefers tea now.":                                "",
		"Lena's phone died.":                                   "",
		"Lena ended the call.":                                 "",
		"Lena hasn't talked to Odd in a while.":                "",
		"Lena hasn't played in years.":                         "",
		"Lena lost Lena's scarf.":                              "",
		"Lena said: the trip is over.":                         "",
		"Lena said: the wedding is off.":                       "Lena said: the wedding is on 4 July in Bruges.",
		"Lena's ferry was cancelled.":                          "Lena's ferry to Hull is on 2 November.",
		"Lena has three kids now.":                             "Lena has two kids.",
		"Lena sold the Panda.":                                 "Lena drives a Fiat Panda.",
		"Lena is done with Babbel.":                            "Lena is learning Greek on Babbel.",
		"Lena's rent went up to 960 euros.":                    "Lena's rent is 910 euros a month.",
		"Lena quit the library.":                               "Lena works at the library as an archivist.",
		"Lena gave up on the garden by the library's car park": "",
	} {
		for _, o := range known {
			got := statement.Relate(statement.Read(news, nil), statement.Read(o, nil))
			if (got != statement.Unrelated) != (o == ended) {
				t.Errorf("%q: relation %d to %q", news, got, o)
			}
		}
	}
}

func TestNewsOfOneEndsNothingOfAnother(t *testing.T) {
	t.Parallel()
	if statement.Relate(statement.Read("Inés: nos mudamos a Vigo", nil), statement.Read("Inés: vivo con mi marido en Lugo", nil)) != statement.Correction {
		t.Error("who lives with somebody and moves lives elsewhere")
	}
	for _, c := range [][2]string{
		{"Léa: ma cousine habite à Dijon", "Léa: j'ai déménagé à Rennes"},
		{"Léa: ma cousine habite à Dijon", "Léa: mon oncle a déménagé à Rennes"},
		{"Léa: j'habite à Dijon", "Léa: mon oncle a déménagé à Rennes"},
		{"Inés: mi tía vive en Lugo", "Inés: mi tío ya no vive en Lugo"},
		{"Inés: tengo dos gatos", "Inés: tengo trabajo nuevo en Correos"},
		{"文: 我每周一去游泳", "文: 我今天(14 September 2026)没去游泳"},
		{"文: 我妹妹住在上海", "文: 我搬到了成都"},
		{"Jonna: min kusin bor i Lund", "Jonna: jag har flyttat till Umeå"},
	} {
		if got := statement.Relate(statement.Read(c[1], nil), statement.Read(c[0], nil)); got != statement.Unrelated {
			t.Errorf("%q is of relation %d to %q", c[1], got, c[0])
		}
	}
}
