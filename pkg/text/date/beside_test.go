package date_test

import "testing"

func TestADayBesideAnother(t *testing.T) {
	t.Parallel()
	checkRanges(t, []dated{
		{"The concert is on 6 March and we drive back the day after.", "en", "2027-03-06, 2027-03-07"},
		{"The concert is on 6 March; the day before, we rehearse.", "en", "2027-03-06, 2027-03-05"},
		{"The concert was on 6 March and the next day I lost my voice.", "en", "2026-03-06, 2026-03-07"},
		{"The concert is on 6 March, the party on the Friday after.", "en", "2027-03-06, 2027-03-12"},
		{"We sang last Friday and the following Monday the critics wrote.", "en", "2026-10-09, 2026-10-12"},
		{"We'll sing the Friday after.", "en", ""},
		{"The next day nobody sang.", "en", ""},
		{"The Friday after next there is no choir.", "en", "2026-10-23"},
		{"The Sunday before last the choir was in Bonn.", "en", "2026-10-04"},
		{"I can sing on Friday after work.", "en", "2026-10-16"},
		{"Das Konzert ist am 6. März, am Tag danach fahren wir heim.", "de", "2027-03-06, 2027-03-07"},
		{"Das Konzert ist am 6. März, gefeiert wird am Freitag darauf.", "de", "2027-03-06, 2027-03-12"},
		{"Das Konzert war am 6. März und am nächsten Tag war ich heiser.", "de", "2026-03-06, 2026-03-07"},
		{"Le concert est le 6 mars, on répète la veille.", "fr", "2027-03-06, 2027-03-05"},
		{"Le concert est le 6 mars, on rentre le lendemain.", "fr", "2027-03-06, 2027-03-07"},
		{"El concierto es el 6 de marzo y la cena es el viernes siguiente.", "es", "2027-03-06, 2027-03-12"},
		{"コンサートは3月6日で、翌日に帰ります。", "ja", "2027-03-06, 2027-03-07"},
	})
}
