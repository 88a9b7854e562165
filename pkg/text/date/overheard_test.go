package date_test

import "testing"

// The day of these talks is Wednesday, 14 October 2026.

// TestOneCorrectsOneself takes the second of two times where the words between them take the first back.
func TestOneCorrectsOneself(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"our plumber shows up wednesday no wait thursday":          "2026-10-15",
		"Vet is booked for Friday, sorry, I meant Saturday":        "2026-10-17",
		"Recital's on the 23rd, scratch that, the 24th":            "2026-10-24",
		"She lands Thursday or rather Friday":                      "2026-10-16",
		"Die Impfung ist am Donnerstag, quatsch, am Freitag":       "2026-10-16",
		"Le contrôle est jeudi, enfin vendredi":                    "2026-10-16",
		"La revisión es el jueves, perdón, el viernes":             "2026-10-16",
		"La visita è giovedì, anzi venerdì":                        "2026-10-16",
		"De keuring is donderdag, nee wacht, vrijdag":              "2026-10-16",
		"A vacina é na quinta-feira, aliás na sexta-feira":         "2026-10-16",
		"Wizyta jest w czwartek, przepraszam, w piątek":            "2026-10-16",
		"Besöket är på torsdag, nej förlåt, på fredag":             "2026-10-16",
		"Приём в четверг, вернее в пятницу":                        "2026-10-16",
		"Pottery is Wednesday and sorry about the noise on Friday": "2026-10-14",
	} {
		if got := mainTime(text, ""); got != want+" "+want {
			t.Errorf("%q is about %q, want %q", text, got, want)
		}
	}
}

// TestAnAgeIsNoNumberOfMonths tells a number that ends what was said before a time from a count of it.
func TestAnAgeIsNoNumberOfMonths(t *testing.T) {
	t.Parallel()
	checkRanges(t, []dated{
		{"Great-uncle Bert hit 95 last week.", "en", "2026-10-05 2026-10-11"},
		{"We spent 300 last month on diapers.", "en", "2026-09-01 2026-09-30"},
		{"The pup will be 2 next month.", "en", "2026-11-01 2026-11-30"},
		{"I biked 40 last year, 55 this year.", "en", "2025-01-01 2025-12-31, 2026-01-01 2026-12-31"},
		{"Oma wurde 80 letzte Woche.", "de", "2026-10-05 2026-10-11"},
		{"Tante Miep werd 70 vorige maand.", "nl", "2026-09-01 2026-09-30"},
		{"In the 2 next months we paint.", "en", "2026-10-15 2026-12-14"},
	})
}

// TestYearsBeforeADayThatIsNamed counts from the day that is named, and not from the present one.
func TestYearsBeforeADayThatIsNamed(t *testing.T) {
	t.Parallel()
	checkRanges(t, []dated{
		{"Dad's bypass was six years ago this Thursday.", "en", "2020-10-15"},
		{"We opened the café ten years ago tomorrow.", "en", "2016-10-15"},
		{"A year ago next Friday she got the all-clear.", "en", "2025-10-23"},
		{"Gestern vor vier Jahren kam Jonas zur Welt.", "de", "2022-10-13"},
		{"Oggi cinque anni fa abbiamo aperto il bar.", "it", "2021-10-14"},
		{"Hoy hace diez años nos casamos.", "es", "2016-10-14"},
		{"Il y a deux ans aujourd'hui on ouvrait la boutique.", "fr", "2024-10-14"},
		{"He quit six years ago.", "en", "2020-01-01 2020-12-31"},
	})
}

// TestWhatLastsUntilADayLiesAhead reads participles of what still is, beside those of what was done.
func TestWhatLastsUntilADayLiesAhead(t *testing.T) {
	t.Parallel()
	checkRanges(t, []dated{
		{"The creche's shut through Thursday.", "en", "2026-10-15"},
		{"Hiring's frozen until Q1.", "en", "2027-01-01 2027-03-31"},
		{"The clinic was shut until Thursday.", "en", "2026-10-08"},
		{"The vet said soft food until the 9th.", "en", "2026-11-09"},
		{"Barnmorskan sa vila till den 9:e.", "sv", "2026-11-09"},
		{"Jag vilade till den 9:e.", "sv", "2026-10-09"},
		{"Die Bücherei ist am Donnerstag geschlossen.", "de", "2026-10-15"},
		{"De bieb is donderdag gesloten.", "nl", "2026-10-15"},
		{"La piscine reste fermée jusqu'à jeudi.", "fr", "2026-10-15"},
	})
}

// TestSinceAWeekday reads words that mean "from" and "since" by what stands before them.
func TestSinceAWeekday(t *testing.T) {
	t.Parallel()
	checkRanges(t, []dated{
		{"Mio suocero è in clinica da giovedì.", "it", "2026-10-08"},
		{"Da giovedì lavoro al mattino.", "it", "2026-10-15"},
		{"Ciocia jest w sanatorium od czwartku.", "pl", "2026-10-08"},
		{"Od czwartku pracuję zdalnie.", "pl", "2026-10-15"},
		{"Jest w Łodzi od środy do piątku.", "pl", "2026-10-14 2026-10-16"},
		{"Dedem perşembeden beri yatıyor.", "tr", "2026-10-08"},
	})
}

// TestPastFormsOfManyVerbs reads months of the past behind verbs with a vowel of their own.
func TestPastFormsOfManyVerbs(t *testing.T) {
	t.Parallel()
	for text, language := range map[string]string{
		"Mijn zus is in november bevallen.":        "nl",
		"We zijn in november vertrokken.":          "nl",
		"Buurman Piet is in november overleden.":   "nl",
		"Die Nachbarin verstarb im November.":      "de",
		"Im November stand hier noch ein Baum.":    "de",
		"Sąsiad zmarł w listopadzie.":              "pl",
		"Kuba poszedł do wojska w listopadzie.":    "pl",
		"Сосед умер в ноябре.":                     "ru",
		"Брат ушёл из армии в ноябре.":             "ru",
		"Han dog i november.":                      "sv",
		"Syrran har fått jobb i november.":         "sv",
		"Ho smesso con le sigarette a novembre.":   "it",
		"Kasım'da evlendik.":                       "tr",
		"The cellar flooded and froze in November": "en",
	} {
		if got := ranges(text, language); got != "2025-11-01 2025-11-30" {
			t.Errorf("%q names %q, want November 2025", text, got)
		}
	}
}

// TestNumbersOfDaysInPlans reads days that only their article, their ending or the verb behind them shows.
func TestNumbersOfDaysInPlans(t *testing.T) {
	t.Parallel()
	checkRanges(t, []dated{
		{"The 22nd suits us better.", "en", "2026-10-22"},
		{"We exchange contracts the 22nd.", "en", "2026-10-22"},
		{"I've the 21st and 22nd off.", "en", "2026-10-21, 2026-10-22"},
		{"Could do the 21st or the 23rd.", "en", "2026-10-21, 2026-10-23"},
		{"They're away from the 28th to the 3rd.", "en", "2026-10-28 2026-11-03"},
		{"Nan came 7th at bowls.", "en", ""},
		{"Labs are on the 5th and 6th floors.", "en", ""},
		{"My cousin was the 7th.", "en", ""},
		{"She's writing the 9th book.", "en", ""},
		{"Kutunun 10'u bozuktu.", "tr", ""},
		{"Le 22 va à la plage.", "fr", ""},
		{"Code freeze begins 10/19.", "en", "2026-10-19"},
		{"Der 22. passt uns.", "de", "2026-10-22"},
		{"Le 22 nous convient.", "fr", "2026-10-22"},
		{"Je suis en congé jusqu'au 22.", "fr", "2026-10-22"},
		{"Il 22 ci va bene.", "it", "2026-10-22"},
		{"Partiamo il 22 alle 7.", "it", "2026-10-22"},
		{"De 22e past me prima.", "nl", "2026-10-22"},
		{"Ik ben vrij tot de 22e.", "nl", "2026-10-22"},
		{"Estou fora até dia 22.", "pt", "2026-10-22"},
		{"22-go wraca tata.", "pl", "2026-10-22"},
		{"22-го прилетает тётя.", "ru", "2026-10-22"},
		{"Ayın 22'sinde sınavım var.", "tr", "2026-10-22"},
		{"I torsdags fick jag körkort.", "sv", "2026-10-08"},
		{"The lodger leaves at the end of November.", "en", "2026-11-24 2026-11-30"},
		{"Fin novembre on ferme.", "fr", "2026-11-24 2026-11-30"},
		{"Late November is quiet here.", "en", "2026-11-16 2026-11-30"},
	})
}
