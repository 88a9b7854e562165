package date_test

import "testing"

func TestNumbersThatAreHoursAreNoDays(t *testing.T) {
	t.Parallel()
	checkRanges(t, []dated{
		{"The fitter comes on Friday between 8 and 11.", "en", "2026-10-16"},
		{"The library is open from 10 to 18.", "en", ""},
		{"Der Monteur kommt am Freitag zwischen 8 und 11.", "de", "2026-10-16"},
		{"Vom 20. bis 24. ist die Praxis zu.", "de", "2026-10-20 2026-10-24"},
		{"El cerrajero viene el viernes entre las 8 y las 11.", "es", "2026-10-16"},
		{"La consulta cierra del 20 al 24.", "es", "2026-10-20 2026-10-24"},
		{"Le cabinet est fermé du 20 au 24.", "fr", "2026-10-20 2026-10-24"},
		{"Le plombier passe vendredi entre 8 et 11.", "fr", "2026-10-16"},
		{"Lo studio è chiuso dal 20 al 24.", "it", "2026-10-20 2026-10-24"},
		{"Lo studio apre dalle 8 alle 11.", "it", ""},
		{"The surgery is closed from the 20th to the 24th.", "en", "2026-10-20 2026-10-24"},
		{"診療所は20日から24日まで休みです。", "ja", "2026-10-20 2026-10-23"},
	})
}

// TestClauseBeforeAComma reads plans whose next clause tells what was.
func TestClauseBeforeAComma(t *testing.T) {
	t.Parallel()
	checkRanges(t, []dated{
		{"On part en Corse le 2 mars, on a réservé le ferry.", "fr", "2027-03-02"},
		{"Ma nièce passe son permis le 2 mars, elle a beaucoup révisé.", "fr", "2027-03-02"},
		{"Wir fahren am 2. März nach Korsika, die Fähre haben wir gebucht.", "de", "2027-03-02"},
		{"Mi sobrina se examina el 2 de marzo, estudió mucho.", "es", "2027-03-02"},
		{"Partiamo per la Corsica il 2 marzo, ho prenotato il traghetto.", "it", "2027-03-02"},
		{"We gaan op 2 maart naar Corsica, ik heb de boot geboekt.", "nl", "2027-03-02"},
		{"Улетаем на Корсику 2 марта, я купила билеты.", "ru", "2027-03-02"},
		{"Her niece takes the test on 2 March, she studied a lot.", "en", "2027-03-02"},
		{"Le 2 mars, on a pris le ferry.", "fr", "2026-03-02"},
		{"Am 2. März, als die Fähre ausfiel, sind wir geflogen.", "de", "2026-03-02"},
		{"Siamo partiti il 2 marzo, ho dormito sul traghetto.", "it", "2026-03-02"},
		{"At the harbour on 2 March, we missed the ferry.", "en", "2026-03-02"},
		{"Мы улетели 2 марта, я купила билеты.", "ru", "2026-03-02"},
	})
}

func TestWhatIsClosedIsNotPast(t *testing.T) {
	t.Parallel()
	checkRanges(t, []dated{
		{"La piscine est fermée vendredi.", "fr", "2026-10-16"},
		{"Le marché n'est pas encore ouvert le 2 mars.", "fr", "2027-03-02"},
		{"Elle est partie vendredi.", "fr", "2026-10-09"},
		{"Il s'est cassé le bras vendredi.", "fr", "2026-10-09"},
		{"On est arrivés le 2 mars.", "fr", "2026-03-02"},
		{"On a fermé la piscine le 2 mars.", "fr", "2026-03-02"},
		{"La piscina è chiusa venerdì.", "it", "2026-10-16"},
		{"Si è rotto il braccio venerdì.", "it", "2026-10-09"},
		{"È arrivata il 2 marzo.", "it", "2026-03-02"},
	})
}

// TestWhatADecadeDescribes tells the time of a deed from the kind of a thing.
func TestWhatADecadeDescribes(t *testing.T) {
	t.Parallel()
	checkRanges(t, []dated{
		{"I restore 18th century clocks.", "en", ""},
		{"He collects 1950s postcards.", "en", ""},
		{"My aunt was a nurse in the 1950s.", "en", "1950-01-01 1959-12-31"},
		{"The mill was built in the 18th century by a miller.", "en", "1700-01-01 1799-12-31"},
		{"In the 1950s people took the tram.", "en", "1950-01-01 1959-12-31"},
		{"We have to migrate before Q1.", "en", "2027-01-01 2027-03-31"},
		{"We will hire in Q4.", "en", "2026-10-01 2026-12-31"},
	})
}

// TestSinceADeed reads since when something holds; a clause behind "since" may be a reason.
func TestSinceADeed(t *testing.T) {
	t.Parallel()
	checkRanges(t, []dated{
		{"My knee clicks since the injury in February.", "en", "2026-02-01 2026-02-28"},
		{"Since the merger in November we share an office.", "en", "2025-11-01 2025-11-30"},
		{"I cook since Tomas arrives on Friday.", "en", "2026-10-16"},
		{"Mein Ohr pfeift seit dem Konzert im Februar.", "de", "2026-02-01 2026-02-28"},
		{"Seit wir im November umziehen wollen, packe ich.", "de", "2026-11-01 2026-11-30"},
		{"J'ai mal au dos depuis l'accident en février.", "fr", "2026-02-01 2026-02-28"},
		{"Ik slaap slecht sinds de verhuizing in februari.", "nl", "2026-02-01 2026-02-28"},
		{"No corro desde la lesión de febrero.", "es", "2026-02-01 2026-02-28"},
	})
}

func TestWhatOneHasGot(t *testing.T) {
	t.Parallel()
	checkRanges(t, []dated{
		{"I've got a viva on the 3rd.", "en", "2026-11-03"},
		{"She has only got a slot on Friday.", "en", "2026-10-16"},
		{"He got a parcel on Friday.", "en", "2026-10-09"},
		{"Passed grade 5 on the flute, grade 6 by spring.", "en", "2027-03-01 2027-05-31"},
	})
}

func TestPartsOfManyDaysHaveNoDate(t *testing.T) {
	t.Parallel()
	checkRanges(t, []dated{
		{"Choir rehearses on Thursday evenings.", "en", ""},
		{"I'm off Friday afternoons.", "en", ""},
		{"Choir rehearses on Thursday evening.", "en", "2026-10-15"},
	})
}

func TestCountsAreNoDays(t *testing.T) {
	t.Parallel()
	checkRanges(t, []dated{
		{"We rehearse it for the fourth time.", "en", ""},
		{"Grandma turned 30 in March.", "en", "2026-03-01 2026-03-31"},
		{"Mein Enkel wurde im Juni 3 und läuft schon.", "de", "2026-06-01 2026-06-30"},
		{"In August 12 of us went rowing.", "en", "2026-08-01 2026-08-31"},
		{"Mia hizo 7 en agosto.", "es", "2026-08-01 2026-08-31"},
		{"Ela fez 9 em abril.", "pt", "2026-04-01 2026-04-30"},
		{"The 9th in April was a Thursday.", "en", "2026-04-09"},
		{"Come for the 15th.", "en", "2026-10-15"},
	})
}

func TestWhatFollowedAnEarlierNumber(t *testing.T) {
	t.Parallel()
	checkRanges(t, []dated{
		{"The flock has 40 sheep, up from 25 in December.", "en", "2025-12-01 2025-12-31"},
		{"Gas is at $3.10, down from $4 in November.", "en", "2025-11-01 2025-11-30"},
		{"The fee rises from 5 to 7 in December.", "en", "2026-12-01 2026-12-31"},
	})
}

func TestMayIsAMonthAndAVerb(t *testing.T) {
	t.Parallel()
	checkRanges(t, []dated{
		{"The regatta in May was windy.", "en", "2026-05-01 2026-05-31"},
		{"The May minutes from Monday were thin.", "en", "2026-10-12"},
		{"She may call on Friday.", "en", "2026-10-16"},
	})
}

func TestAPictureEndsAClause(t *testing.T) {
	t.Parallel()
	checkRanges(t, []dated{
		{"bike broke 😩 fetching it on tuesday", "en", "2026-10-20"},
		{"we won on tuesday 🎉", "en", "2026-10-13"},
	})
}

func TestWhatAQuarterDescribes(t *testing.T) {
	t.Parallel()
	checkRanges(t, []dated{
		{"Draft the Q4 newsletter by Friday.", "en", "2026-10-16"},
		{"The plan for Q4 is thin.", "en", "2026-10-01 2026-12-31"},
	})
}
