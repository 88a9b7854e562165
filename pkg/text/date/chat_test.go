package date_test

import "testing"

// TestAmountsAreNoYears reads what costs or measures as many as a year has, in talk whose day is 12 October 2026.
func TestAmountsAreNoYears(t *testing.T) {
	t.Parallel()
	checkRanges(t, []dated{
		{"They put the rent up from 1375 to 1525 starting December.", "en", "2026-12-01 2026-12-31"},
		{"My pay went from 1990 to 2075 pounds.", "en", ""},
		{"She burns around 1950 to 2075 calories a day.", "en", ""},
		{"Between 1500 and 2000 people turned up.", "en", ""},
		{"Our heating bill rose from 1810 to 2060 crowns.", "en", ""},
		{"Bake it for 10-15 minutes.", "en", ""},
		{"Dinner for 3-4 of us on Friday.", "en", "2026-10-16"},
		{"Im Ofen für 10-15 Minuten backen.", "de", ""},
		{"Ferritin went down from 7.4 to 6.1.", "en", ""},
		{"He rents at 2100 a month till June 30.", "en", "2027-06-30"},
		{"The call is at 9:15 every day except Friday.", "en", ""},
		{"Wir haben täglich offen außer am Montag.", "de", ""},
		{"On ouvre tous les jours sauf le lundi.", "fr", ""},
		{"Uncle Vern kept bees from 1961 to 1983.", "en", "1961-01-01 1982-12-31"},
		{"We lived in Cork between 1994 and 1999.", "en", "1994-01-01 1998-12-31"},
		{"Die Miete geht von 1100 auf 1250 hoch, ab Februar.", "de", "2027-02-01 2027-02-28"},
		{"Das Gehalt ist von 1890 auf 1960 Euro gestiegen.", "de", ""},
		{"Opa war von 1962 bis 1990 Lokführer.", "de", "1962-01-01 1989-12-31"},
		{"Le loyer est passé de 1150 à 1210.", "fr", ""},
		{"J'ai vécu à Nantes de 1998 à 2004.", "fr", "1998-01-01 2003-12-31"},
		{"La cuota sube de 1210 a 1305 pesos.", "es", ""},
		{"Viví en Lima de 1998 a 2004.", "es", "1998-01-01 2003-12-31"},
		{"L'affitto passa da 1150 a 1210.", "it", ""},
		{"De huur gaat van 1150 naar 1210 euro.", "nl", ""},
		{"房租从1800涨到2050元。", "zh", ""},
		{"1950年から2000年まで京都に住んでいた。", "ja", "1950-01-01 1999-12-31"},
	})
}

// TestCancelledDaysLieAhead tells the day of an appointment from the day on which it was cancelled.
func TestCancelledDaysLieAhead(t *testing.T) {
	t.Parallel()
	checkRanges(t, []dated{
		{"The rehearsal on Thursday was cancelled.", "en", "2026-10-15"},
		{"Thursday's rehearsal got called off.", "en", "2026-10-15"},
		{"They've cancelled my Thursday lesson.", "en", "2026-10-15"},
		{"On Thursday I cancelled the gym.", "en", "2026-10-08"},
		{"I cancelled the gym on Thursday.", "en", "2026-10-08"},
		{"The rehearsal on the 14th was put off.", "en", "2026-10-14"},
		{"Thursday's rehearsal went well.", "en", "2026-10-08"},
		{"Thursday's meeting went well.", "en", "2026-10-08"},
		{"Thursday's looking good.", "en", ""},
		{"I'm at the pool Monday's and Thursday's.", "en", ""},
		{"Die Probe am Donnerstag wurde abgesagt.", "de", "2026-10-15"},
		{"Ich habe am Donnerstag die Probe abgesagt.", "de", "2026-10-08"},
		{"Die haben die Probe am Donnerstag gestrichen.", "de", "2026-10-15"},
		{"La répétition de jeudi a été annulée.", "fr", "2026-10-15"},
		{"Jeudi j'ai annulé la répétition.", "fr", "2026-10-08"},
		{"Cancelaron el ensayo del jueves.", "es", "2026-10-15"},
		{"El jueves cancelé el ensayo.", "es", "2026-10-08"},
		{"Hanno spostato la prova di giovedì.", "it", "2026-10-15"},
		{"O ensaio de quinta-feira foi cancelado.", "pt", "2026-10-15"},
		{"De repetitie van donderdag werd afgezegd.", "nl", "2026-10-15"},
		{"Próba w czwartek została odwołana.", "pl", "2026-10-15"},
		{"Репетицию в четверг отменили.", "ru", "2026-10-15"},
		{"Prova perşembe günü iptal edildi.", "tr", "2026-10-15"},
		{"Perşembe günü provayı iptal ettim.", "tr", "2026-10-08"},
		{"木曜日の練習は中止になりました。", "ja", "2026-10-15"},
		{"周四的排练取消了。", "zh", "2026-10-15"},
	})
}

// TestWhatWasToldForLater reads what somebody said of the time ahead.
func TestWhatWasToldForLater(t *testing.T) {
	t.Parallel()
	checkRanges(t, []dated{
		{"The dentist said no coffee until the 9th.", "en", "2026-11-09"},
		{"The physio told me no running till Friday.", "en", "2026-10-16"},
		{"They told us the lab results come on the 3rd.", "en", "2026-11-03"},
		{"He said he stayed until the 9th.", "en", "2026-10-09"},
		{"The gala was postponed to the 9th.", "en", "2026-11-09"},
		{"Das Fest wurde auf den 9. verschoben.", "de", "2026-11-09"},
		{"La visite est reportée au 9.", "fr", "2026-11-09"},
		{"I walked to the 9th hole.", "en", ""},
		{"Ich bin auf den 9. Platz gekommen.", "de", ""},
	})
}

// TestDaysOfAMonthInChats reads days that are said without their month, and what belongs to a day.
func TestDaysOfAMonthInChats(t *testing.T) {
	t.Parallel()
	checkRanges(t, []dated{
		{"Night shifts from the 21st for ten days.", "en", "2026-10-21"},
		{"Ab dem 21. bin ich weg.", "de", "2026-10-21"},
		{"Das Ticket gilt bis zum 21.", "de", "2026-10-21"},
		{"Je suis absente à partir du 21.", "fr", "2026-10-21"},
		{"Dal 21 lavoro da casa.", "it", "2026-10-21"},
		{"Vanaf de 21e werk ik thuis.", "nl", "2026-10-21"},
		{"The lift is broken from the 3rd floor up.", "en", ""},
		{"Desde el 3% de interés ya es caro.", "es", ""},
		{"People are nervous on the first date.", "en", ""},
		{"Boil it until all the H2O is gone.", "en", ""},
		{"Her viva is the 21st.", "en", "2026-10-21"},
		{"She's the 21st in the queue.", "en", ""},
		{"He is the 21st.", "en", ""},
		{"The fair is the 21st to the 25th.", "en", "2026-10-21 2026-10-25"},
		{"Walk from the 4th to the 7th floor.", "en", ""},
		{"Dad retired in '08.", "en", "2008-01-01 2008-12-31"},
		{"A '92 Volvo stood there.", "en", ""},
		{"Yesterday's match was a joke.", "en", "2026-10-13"},
		{"Last week's figures look odd.", "en", "2026-10-05 2026-10-11"},
		{"Last Friday's quiz was hard.", "en", "2026-10-09"},
		{"Drinks on the last Friday of the month.", "en", ""},
		{"Term dates out 21 August, fingers crossed.", "en", "2027-08-21"},
		{"On 21 August, we missed the ferry.", "en", "2026-08-21"},
		{"Lessons start Jan 11, Tuesday evenings.", "en", "2027-01-11"},
	})
}

// TestClausesWithATenseOfTheirOwn reads what stands behind a comma and shows no tense.
func TestClausesWithATenseOfTheirOwn(t *testing.T) {
	t.Parallel()
	checkRanges(t, []dated{
		{"Me echaron el martes, busco piso en enero.", "es", "2026-10-13, 2027-01-01 2027-01-31"},
		{"Ho finito ieri, comincio altrove a gennaio.", "it", "2026-10-13, 2027-01-01 2027-01-31"},
		{"Saí na terça, começo noutro lado em janeiro.", "pt", "2026-10-13, 2027-01-01 2027-01-31"},
		{"Estuve en Roma en mayo, en París en junio.", "es", "2026-05-01 2026-05-31, 2026-06-01 2026-06-30"},
		{"Had the scan this morning, results on Friday.", "en", "2026-10-14, 2026-10-16"},
		{"Hatte heute die Prüfung, Ergebnis am Freitag.", "de", "2026-10-14, 2026-10-16"},
		{"Saw Ann on Monday, Bob on Friday.", "en", "2026-10-12, 2026-10-09"},
		{"We were in Rome in May, in Paris in June.", "en", "2026-05-01 2026-05-31, 2026-06-01 2026-06-30"},
		{"Opa kommt am 23. und reist am 27. wieder ab.", "de", "2026-10-23, 2026-10-27"},
		{"Ich wurde am 3. Mai geboren, am 9. Juni getauft.", "de", "2026-05-03, 2026-06-09"},
		{"El examen lo han pasado al 22 de octubre.", "es", "2026-10-22"},
	})
}

func TestDaysOfAMonthOneAfterAnother(t *testing.T) {
	t.Parallel()
	checkRanges(t, []dated{
		{"He lands on the 12th and flies home on the 20th.", "en", "2026-11-12, 2026-11-20"},
		{"He lands on the 20th and flies home on the 22nd.", "en", "2026-10-20, 2026-10-22"},
		{"Rent is due on the 12th. Dad comes on the 20th.", "en", "2026-11-12, 2026-10-20"},
		{"He landed on the 9th and flew home on the 11th.", "en", "2026-10-09, 2026-10-11"},
		{"Oma kommt am 12. und fährt am 20. wieder.", "de", "2026-11-12, 2026-11-20"},
		{"Il medico mi ha detto niente nuoto fino al 12.", "it", "2026-11-12"},
		{"Der Arzt hat gesagt, kein Sport bis zum 12.", "de", "2026-11-12"},
		{"Her viva is now the 21st.", "en", "2026-10-21"},
	})
}

func TestWhatTakesEffectSoon(t *testing.T) {
	t.Parallel()
	checkRanges(t, []dated{
		{"I've been made foreman as of 1 November.", "en", "2026-11-01"},
		{"They raised the fare with effect from 2 November.", "en", "2026-11-02"},
		{"He was ill from 2 May.", "en", "2026-05-02"},
		{"She was born on 1 November.", "en", "2025-11-01"},
		{"Ich wurde ab dem 1. November versetzt.", "de", "2026-11-01"},
		{"Ich wurde zum 1. November versetzt.", "de", "2026-11-01"},
		{"La fiesta del 1 de noviembre estuvo genial.", "es", "2025-11-01"},
		{"J'ai été nommée à partir du 1er novembre.", "fr", "2026-11-01"},
	})
}

// TestTriesAreNoDays reads ordinals that count tries, in talk whose day is 12 October 2026.
func TestTriesAreNoDays(t *testing.T) {
	t.Parallel()
	checkRanges(t, []dated{
		{"Got my licence on the second attempt.", "en", ""},
		{"It worked on the third go!", "en", ""},
		{"She made it on the fourth try.", "en", ""},
		{"We lost in the second round.", "en", ""},
		{"On the 20th try to arrive early.", "en", "2026-10-20"},
		{"On the 15th go to the bank.", "en", "2026-10-15"},
		{"We go on the second.", "en", "2026-11-02"},
		{"The plumber came on the third.", "en", "2026-10-03"},
	})
}

// TestArticlesMakeNumbersDays reads days of the month as Spanish, French, Italian, Swedish and Dutch have them, in talk whose
// day is 12 October 2026.
func TestArticlesMakeNumbersDays(t *testing.T) {
	t.Parallel()
	checkRanges(t, []dated{
		{"El 21 tenemos la boda de mi prima.", "es", "2026-10-21"},
		{"Nos dan las llaves el 30.", "es", "2026-10-30"},
		{"Mi hermano llega el 2 con los niños.", "es", "2026-11-02"},
		{"Firmaron el 5 por la tarde.", "es", "2026-10-05"},
		{"Somos los vecinos del piso en el 15.", "es", ""},
		{"El 20 por ciento no votó.", "es", ""},
		{"Su número es el 8.", "es", ""},
		{"Compramos el 3 puertas.", "es", ""},
		{"Nos han puesto el 5G.", "es", ""},
		{"Vendimos el 4x4.", "es", ""},
		{"El 4 a 2 fue merecido.", "es", ""},
		{"Comeremos el 4 a mediodía.", "es", "2026-11-04"},
		{"Elle a eu le 3 sur 10.", "fr", ""},
		{"On dîne le 16 à 20h.", "fr", "2026-10-16"},
		{"Il 4 stagioni era pieno.", "it", ""},
		{"Le 21 je passe le permis.", "fr", "2026-10-21"},
		{"Le plombier vient le 17.", "fr", "2026-10-17"},
		{"J'ai rendu les clés le 6.", "fr", "2026-10-06"},
		{"Je descends puis je prends le 19.", "fr", ""},
		{"Elle joue avec le 10.", "fr", ""},
		{"Il 21 devo fare il tagliando.", "it", "2026-10-21"},
		{"Mi operano il 29.", "it", "2026-10-29"},
		{"Per andare in centro prendo il 14.", "it", ""},
		{"Vi reser hem den 25.", "sv", "2026-10-25"},
		{"Hon bor i den 3.", "sv", ""},
		{"Den 24:e kommer hantverkarna.", "sv", "2026-10-24"},
		{"Den 4:e gången gick det bra.", "sv", ""},
		{"Зарплата будет 25 числа.", "ru", "2026-10-25"},
		{"Сдаём проект 30-го.", "ru", "2026-10-30"},
		{"Купили билеты 2-го класса.", "ru", ""},
		{"Hydraulik przyjdzie 19-go.", "pl", "2026-10-19"},
		{"We krijgen de 20e een nieuwe keuken.", "nl", "2026-10-20"},
		{"Het was de 2e keer.", "nl", ""},
		{"Ich hab am 21. eine Prüfung.", "de", "2026-10-21"},
		{"Wir wohnen am 2. Ring.", "de", ""},
	})
}
