package date_test

import (
	"testing"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/text/date"
)

// Wednesday 14 October 2026, in the morning.
var wednesday = time.Date(2026, 10, 14, 9, 30, 0, 0, time.UTC)

// mainTime returns the time that a sentence is about as "from to", or "" for none.
func mainTime(s, language string) string {
	d, ok := date.Main(date.Find(s, wednesday, language))
	if !ok {
		return ""
	}
	return d.From.Format(time.DateOnly) + " " + d.To.Format(time.DateOnly)
}

func TestTense(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		// The present and the future look ahead.
		"The train to Graz leaves on Monday.":         "2026-10-19 2026-10-19",
		"Her exam is on 3 February.":                  "2027-02-03 2027-02-03",
		"We pay less tax from March.":                 "2027-03-01 2027-03-31",
		"I must renew my passport by Friday.":         "2026-10-16 2026-10-16",
		"The exhibition stays open until 8 November.": "2026-11-08 2026-11-08",
		"Lunch on Thursday?":                          "2026-10-15 2026-10-15",
		"The cast comes off the week after next.":     "2026-10-26 2026-11-01",
		// What is no time, or not sure to be the one that is meant.
		"Our team mostly plays at weekends.":                    "",
		"Her parrot is called Friday.":                          "",
		"There is a parade on founders' day of this year.":      "",
		"They looked for it for the last 3 months and 2 weeks.": "",
		"Could you remind me on the 20th?":                      "2026-10-20 2026-10-20",
		"The vet sees the cat in nine days.":                    "2026-10-23 2026-10-23",
		"My mother's operation is scheduled for November.":      "2026-11-01 2026-11-30",
		"I booked a table for Sunday.":                          "2026-10-18 2026-10-18",
		"We're invited to a christening on Saturday.":           "2026-10-17 2026-10-17",
		"She gets her cast off in December.":                    "2026-12-01 2026-12-31",
		"The lease is signed and the move is on 1 September.":   "2027-09-01 2027-09-01",
		"At Easter we drive to the coast.":                      "2027-03-28 2027-03-28",
		// What somebody said has its own tense.
		"Mum said she's free on Friday.":                         "2026-10-16 2026-10-16",
		"My boss told me I can take Friday off.":                 "2026-10-16 2026-10-16",
		"the plumber said hes coming on fri":                     "2026-10-16 2026-10-16",
		"He said he would call on Friday.":                       "2026-10-16 2026-10-16",
		"The vet said the results are back on Friday.":           "2026-10-16 2026-10-16",
		"Anna asked me to pick her up on Friday.":                "2026-10-16 2026-10-16",
		"Anna asked me on Friday to pick her up.":                "2026-10-09 2026-10-09",
		"My brother says he broke his arm on Friday.":            "2026-10-09 2026-10-09",
		"She said that the results came on Friday.":              "2026-10-09 2026-10-09",
		"I told the kids on Friday.":                             "2026-10-09 2026-10-09",
		"I heard the news on Friday.":                            "2026-10-09 2026-10-09",
		"She told me the story on Friday.":                       "2026-10-09 2026-10-09",
		"I was going to paint the fence on Friday.":              "2026-10-09 2026-10-09",
		"Tom promised he'd mend it by Friday.":                   "2026-10-16 2026-10-16",
		"I can't do Thursday, let's say Friday.":                 "2026-10-16 2026-10-16",
		"I can't do Thursday because the car is away on Friday.": "2026-10-15 2026-10-15",
		"School breaks up for Christmas on 18 December.":         "2026-12-18 2026-12-18",
		"My visa was extended until 30 April.":                   "2027-04-30 2027-04-30",
		// Weeks counted from a day, and weekdays that are counted.
		"Two Fridays ago I ran ten miles.":       "2026-10-02 2026-10-02",
		"The party is a week on Friday.":         "2026-10-23 2026-10-23",
		"I start on Monday week.":                "2026-10-26 2026-10-26",
		"I start a week tomorrow.":               "2026-10-22 2026-10-22",
		"It'll be a week on Sunday.":             "2026-10-18 2026-10-18",
		"I left three weeks ago yesterday.":      "2026-09-22 2026-09-22",
		"She flew in the night before last.":     "2026-10-12 2026-10-12",
		"We are away on Labor Day weekend.":      "2027-09-04 2027-09-06",
		"I'm on call over the Easter weekend.":   "2027-03-27 2027-03-28",
		"I take vitamin D in winter.":            "",
		"In summer the attic gets hot.":          "",
		"I'm moving to Hull in winter.":          "2026-12-01 2027-02-28",
		"We moved to Hull in winter.":            "2025-12-01 2026-02-28",
		"Sunday roast is my favourite meal.":     "",
		"Wednesday Addams is the name of a cat.": "",
		"Friday Tom is coming over.":             "2026-10-16 2026-10-16",
		// What happens again and again.
		"I usually nap on Sunday afternoons.":                            "",
		"I always eat fish on Friday.":                                   "",
		"I'm always busy, but on Friday I'm free.":                       "2026-10-16 2026-10-16",
		"We met on Sunday afternoon.":                                    "2026-10-11 2026-10-11",
		"Black Friday is a scam.":                                        "",
		"My lease ends at the end of October.":                           "2026-10-25 2026-10-31",
		"My lease ends at end of month.":                                 "2026-10-25 2026-10-31",
		"The heating was off from Thursday night till Saturday morning.": "2026-10-08 2026-10-10",
		"We're bringing the tent like last year.":                        "",
		"Sales are better than last month.":                              "",
		"I feel like a walk on Friday.":                                  "2026-10-16 2026-10-16",
		"The fees went up on 1 March by 45 euros.":                       "2026-03-01 2026-03-01",
		"My nan turned ninety a fortnight ago.":                          "2026-09-30 2026-09-30",
		"My cousin visits the weekend after next.":                       "2026-10-31 2026-11-01",
		"Our flight got bumped to Sunday.":                               "2026-10-18 2026-10-18",
		"Tom told me his flight leaves Friday.":                          "2026-10-16 2026-10-16",
		"He raked the leaves on Sunday.":                                 "2026-10-11 2026-10-11",
		"I should have called the bank on Monday.":                       "2026-10-12 2026-10-12",
		"I was to start on Monday but they moved it to Thursday.":        "2026-10-15 2026-10-15",
		"On Monday they told me the exam was moved to 3 November.":       "2026-11-03 2026-11-03",
		// Names of works and streets, and what is merely preferred.
		"I watch Friday Night Lights with my daughter.":  "",
		"Have you read The Thursday Murder Club?":        "",
		"We live at 12 May Street.":                      "",
		"He whistles the song Manic Monday all day.":     "",
		"We subscribe to the Sunday Times.":              "",
		"She baked a May cake and I like autumn.":        "",
		"She quotes The Man Who Was Thursday.":           "",
		"They sailed on the ship Fifth of November.":     "",
		"He is a Monday person.":                         "",
		"The cat hides on Halloween every year.":         "",
		"I prefer autumn to spring.":                     "",
		"On Friday Ana comes home.":                      "2026-10-16 2026-10-16",
		"We go to see a movie Friday.":                   "2026-10-16 2026-10-16",
		"The launch was put back from Monday to Friday.": "2026-10-16 2026-10-16",
		"The last weekend in May we camp at the lake.":   "2027-05-29 2027-05-30",
		"We sing on the first weekend of December.":      "2026-12-05 2026-12-06",
		"A day late, on Monday, the parcel arrived.":     "2026-10-12 2026-10-12",
		"The launch was moved to spring.":                "2027-03-01 2027-05-31",
		// The past looks back.
		"The boiler broke on Monday.":                    "2026-10-12 2026-10-12",
		"She was born in November.":                      "2025-11-01 2025-11-30",
		"I've been off sick since Friday.":               "2026-10-09 2026-10-09",
		"On 3 February we signed the contract.":          "2026-02-03 2026-02-03",
		"They moved out in August.":                      "2026-08-01 2026-08-31",
		"We went to the opera on Saturday.":              "2026-10-10 2026-10-10",
		"I had planned the trip when I fell ill in May.": "2026-05-01 2026-05-31",
		// The verb that the date belongs to.
		"I finished the draft, but the review is on Friday.": "2026-10-16 2026-10-16",
		"The call was moved from Tuesday to Friday.":         "2026-10-16 2026-10-16",
		"The delivery has been postponed to 2 December.":     "2026-12-02 2026-12-02",
		"The call got moved from tuesday to thrsday.":        "",
		"They shifted the viewing from Monday to some day.":  "",
		"Not on Thursday but on Saturday.":                   "2026-10-17 2026-10-17",
		"Rehearsal is on Sunday instead of Monday.":          "2026-10-18 2026-10-18",
		// Several words for one time.
		"I'm in Oslo from 3 to 9 August.":             "2027-08-03 2027-08-09",
		"They were in Oslo from 3 to 9 August.":       "2026-08-03 2026-08-09",
		"The shop is shut from Monday to Thursday.":   "2026-10-19 2026-10-22",
		"I'll be away the last week of October.":      "2026-10-26 2026-11-01",
		"The audit is in the first week of December.": "2026-11-30 2026-12-06",
		"We meet on the second Tuesday of November.":  "2026-11-10 2026-11-10",
		"She retires at the end of the month.":        "2026-10-25 2026-10-31",
		"Sales fell in the third quarter of 2025.":    "2025-07-01 2025-09-30",
		"I saw him the Friday before Halloween 2024.": "2024-10-25 2024-10-25",
		"It is the twenty third of September, 2019.":  "2019-09-23 2019-09-23",
		"I was in Oslo between 3 and 9 August.":       "2026-08-03 2026-08-09",
		"She signed up for the choir trip on 2 May.":  "2027-05-02 2027-05-02",
		// What is not sure.
		"I'll call in three days, on Monday.": "",
		// No time.
		"June is my sister.":                    "",
		"We play chess every Thursday.":         "",
		"March on, brave soldiers!":             "",
		"Room 2024 is on the fourth floor.":     "",
		"I may see it, may I not?":              "",
		"Take the second exit after 3 km.":      "",
		"On Mondays I swim.":                    "",
		"He won 3-2 and then lost 1/2 of it.":   "",
		"Call 030 12 45 or write to box 11/12.": "",
	} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			if got := mainTime(text, ""); got != want {
				t.Errorf("it is about %q, want %q", got, want)
			}
		})
	}
}

func TestLanguages(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ language, text, want string }{
		{"de", "Die Prüfung ist am Montag.", "2026-10-19 2026-10-19"},
		{"de", "Am 3. Februar haben wir geheiratet.", "2026-02-03 2026-02-03"},
		{"de", "Vor zwei Wochen war ich in Wien.", "2026-09-30 2026-09-30"},
		{"de", "Wir ziehen im März um.", "2027-03-01 2027-03-31"},
		{"de", "Übermorgen kommt der Klempner.", "2026-10-16 2026-10-16"},
		{"de", "Das Konzert war letzten Samstag.", "2026-10-10 2026-10-10"},
		{"de", "Die Ausstellung läuft bis zum 12.11.", "2026-11-12 2026-11-12"},
		{"de", "Der Termin wurde auf Freitag verschoben.", "2026-10-16 2026-10-16"},
		{"de", "Das Fest wurde auf den 18. Juni verschoben.", "2027-06-18 2027-06-18"},
		{"nl", "De vergadering is verplaatst naar 3 juni.", "2027-06-03 2027-06-03"},
		{"de", "Die Sitzung wurde von Dienstag auf Freitag verlegt.", "2026-10-16 2026-10-16"},
		{"de", "Die Sitzung von Dienstag fand ohne uns statt.", "2026-10-13 2026-10-13"},
		{"de", "1998 haben wir das Haus gekauft.", "1998-01-01 1998-12-31"},
		{"de", "1998 Euro haben wir bezahlt.", ""},
		{"de", "Wir haben 2019 in Lübeck geheiratet.", "2019-01-01 2019-12-31"},
		{"de", "Meine Oma wurde 1938 in Danzig geboren.", "1938-01-01 1938-12-31"},
		{"de", "Ich habe 2012 mein Abitur gemacht.", "2012-01-01 2012-12-31"},
		{"de", "Wir haben 2012 Flaschen gesammelt.", ""},
		{"de", "Der Laden hat 2019 neue Artikel verkauft.", ""},
		{"de", "Ich wohne in der Straße des 17. Juni.", ""},
		{"es", "Vivo en la calle Dos de Mayo.", ""},
		{"fr", "J'habite rue du 4 Septembre.", ""},
		{"fr", "Le vendredi je mange du poisson.", ""},
		{"fr", "On se voit vendredi.", "2026-10-16 2026-10-16"},
		{"fr", "Le vendredi 16 octobre je suis à Lille.", "2026-10-16 2026-10-16"},
		{"nl", "Mijn opa is in 1941 geboren.", "1941-01-01 1941-12-31"},
		{"sv", "2012 flyttade jag till Malmö.", "2012-01-01 2012-12-31"},
		{"fr", "Le dîner de mardi est repoussé au vendredi.", "2026-10-16 2026-10-16"},
		{"fr", "Il faut payer les entrées avant le 12 mai.", "2027-05-12 2027-05-12"},
		{"fr", "Les musées rouvrent le 12 mai.", "2027-05-12 2027-05-12"},
		{"de", "Jeden Dienstag gehe ich schwimmen.", ""},
		{"de", "Der Kurs geht vom 3. bis 9. August.", "2027-08-03 2027-08-09"},
		{"de", "Heute in zwei Wochen heiraten wir.", "2026-10-28 2026-10-28"},
		{"de", "Er hat gesagt er kommt am Freitag.", "2026-10-16 2026-10-16"},
		{"de", "Sie sagte, dass der Zug am Freitag fährt.", "2026-10-16 2026-10-16"},
		{"de", "Am Freitag habe ich gesagt, dass ich kündige.", "2026-10-09 2026-10-09"},
		{"de", "Donnerstag kann ich nicht, lieber Freitag.", "2026-10-16 2026-10-16"},
		{"de", "Freitag in zwei Wochen fahren wir los.", "2026-10-30 2026-10-30"},
		{"de", "Montag in zwei Wochen fahren wir los.", ""},
		{"de", "Die OP war vor drei Wochen am Montag.", "2026-09-21 2026-09-21"},
		{"de", "Vor zwei Samstagen war ich in Hamburg.", "2026-10-03 2026-10-03"},
		{"es", "Me dijo que viene el viernes.", "2026-10-16 2026-10-16"},
		{"es", "El jueves no puedo, mejor el viernes.", "2026-10-16 2026-10-16"},
		{"es", "Hace dos sábados corrí un maratón.", "2026-10-03 2026-10-03"},
		{"fr", "Il m'a dit qu'il vient vendredi.", "2026-10-16 2026-10-16"},
		{"fr", "Paul a dit que le train part vendredi.", "2026-10-16 2026-10-16"},
		{"fr", "Je ne peux pas jeudi, plutôt vendredi.", "2026-10-16 2026-10-16"},
		{"fr", "Il y a deux samedis j'ai couru un marathon.", "2026-10-03 2026-10-03"},
		{"de", "Er verkauft am Freitag sein Auto.", "2026-10-16 2026-10-16"},
		{"de", "Am Freitag operiert mich Dr. Weiß.", "2026-10-16 2026-10-16"},
		{"de", "Die Chefin hat gesagt, wir bekommen am Freitag frei.", "2026-10-16 2026-10-16"},
		{"de", "Ich habe am Freitag mein Auto verkauft.", "2026-10-09 2026-10-09"},
		{"de", "Am Freitag wurde ich operiert.", "2026-10-09 2026-10-09"},
		{"de", "Am liebsten wandere ich im Herbst.", ""},
		{"de", "Mein Vertrag läuft Ende des Monats aus.", "2026-10-25 2026-10-31"},
		{"fr", "En hiver, je fais souvent du ski.", ""},
		{"es", "El jueves me dieron el alta.", "2026-10-08 2026-10-08"},
		{"it", "Venerdì ho dato l'esame.", "2026-10-09 2026-10-09"},
		{"pl", "Urodziłam się 4 maja 1988 roku.", "1988-05-04 1988-05-04"},
		{"pl", "Za tydzień lecę do Gdańska.", "2026-10-21 2026-10-21"},
		{"ru", "Неделю назад я купила машину.", "2026-10-07 2026-10-07"},
		{"es", "Dentro de dos semanas operan a mi madre.", "2026-10-28 2026-10-28"},
		{"pt", "No sábado passado corremos dez quilómetros.", "2026-10-10 2026-10-10"},
		{"de", "Donnerstag in acht Tagen fahren wir los.", "2026-10-22 2026-10-22"},
		{"de", "Ich bringe wie letztes Jahr den Grill mit.", ""},
		{"de", "Die Miete wurde zum 1. April um 45 Euro erhöht.", "2027-04-01 2027-04-01"},
		{"es", "Celebramos como el año pasado.", ""},
		{"de", "Sie hat mich gebeten, am Freitag zu kommen.", "2026-10-16 2026-10-16"},
		{"fr", "Le médecin m'a dit de revenir vendredi.", "2026-10-16 2026-10-16"},
		{"es", "El examen es el lunes.", "2026-10-19 2026-10-19"},
		{"es", "El lunes vi a mi hermana.", "2026-10-12 2026-10-12"},
		{"es", "La semana pasada compré una bici.", "2026-10-05 2026-10-11"},
		{"es", "Hace tres días llegó el paquete.", "2026-10-11 2026-10-11"},
		{"es", "Nos mudamos el 3 de febrero.", "2027-02-03 2027-02-03"},
		{"es", "Nació el 9 de mayo de 1988.", "1988-05-09 1988-05-09"},
		{"es", "Juego al tenis todos los jueves.", ""},
		{"fr", "Mon train part lundi.", "2026-10-19 2026-10-19"},
		{"fr", "Il y a deux semaines, j'ai vu Paul.", "2026-09-30 2026-09-30"},
		{"fr", "Nous avons déménagé en mars.", "2026-03-01 2026-03-31"},
		{"fr", "La réunion est le 20 novembre.", "2026-11-20 2026-11-20"},
		{"fr", "Elle arrive après-demain.", "2026-10-16 2026-10-16"},
		{"nl", "Ik heb maandag een afspraak bij de kapper.", "2026-10-19 2026-10-19"},
		{"nl", "Vorige week was ik in Gent.", "2026-10-05 2026-10-11"},
		{"nl", "We verhuizen op 3 februari.", "2027-02-03 2027-02-03"},
		{"nl", "Drie dagen geleden kwam het pakket.", "2026-10-11 2026-10-11"},
		{"pt", "A prova é na segunda-feira.", "2026-10-19 2026-10-19"},
		{"pt", "Na semana passada comprei um carro.", "2026-10-05 2026-10-11"},
		{"pt", "Amanhã vou ao dentista.", "2026-10-15 2026-10-15"},
		{"it", "L'esame è lunedì.", "2026-10-19 2026-10-19"},
		{"it", "La settimana scorsa ho visto Marta.", "2026-10-05 2026-10-11"},
		{"it", "Due giorni fa è arrivato il pacco.", "2026-10-12 2026-10-12"},
		{"it", "Partiamo il 3 febbraio.", "2027-02-03 2027-02-03"},
		{"it", "Dal 3 al 9 maggio siamo a Pisa.", "2027-05-03 2027-05-09"},
		{"nl", "Ik ben weg van volgende vrijdag tot 1 november 2026.", "2026-10-23 2026-10-31"},
		{"zh", "我们下周五去看电影。", "2026-10-23 2026-10-23"},
		{"zh", "上周五我去了医院。", "2026-10-09 2026-10-09"},
		{"zh", "2025年3月7日我们结婚了。", "2025-03-07 2025-03-07"},
		{"zh", "三天前我买了一辆车。", "2026-10-11 2026-10-11"},
		{"ja", "来週の月曜日に面接があります。", "2026-10-19 2026-10-19"},
		{"ja", "三日前に引っ越しました。", "2026-10-11 2026-10-11"},
		{"ja", "昨日、母に会いました。", "2026-10-13 2026-10-13"},
		{"ja", "11月3日に出発します。", "2026-11-03 2026-11-03"},
		{"ko", "내일 병원에 갑니다.", "2026-10-15 2026-10-15"},
		{"sv", "Igår köpte jag en cykel.", "2026-10-13 2026-10-13"},
		{"pl", "Wczoraj byłem u lekarza.", "2026-10-13 2026-10-13"},
		{"ru", "Завтра у меня экзамен.", "2026-10-15 2026-10-15"},
		{"tr", "Yarın doktora gideceğim.", "2026-10-15 2026-10-15"},
		{"fi", "Tapaaminen on 2026-11-05.", "2026-11-05 2026-11-05"},
	} {
		t.Run(c.text, func(t *testing.T) {
			t.Parallel()
			if got := mainTime(c.text, c.language); got != c.want {
				t.Errorf("known to be %s it is about %q, want %q", c.language, got, c.want)
			}
			if got := mainTime(c.text, ""); got != c.want {
				t.Errorf("guessed it is about %q, want %q", got, c.want)
			}
		})
	}
}

func TestGuess(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"Check 'em out!":                   "",
		"We lay in the sun.":               "",
		"I won the raffle on Monday.":      "2026-10-12 2026-10-12",
		"I won't be there on Monday.":      "2026-10-19 2026-10-19",
		"The Christmas market was lovely.": "",
		"Set it out, do it so.":            "",
	} {
		if got := mainTime(text, ""); got != want {
			t.Errorf("%q is about %q, want %q", text, got, want)
		}
	}
}

func TestSeveralTimesOfASentence(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"She arrives on Saturday and leaves on Thursday.":          "2026-10-17 2026-10-22",
		"She flew home on Sunday and starts work on Monday.":       "2026-10-11 2026-10-19",
		"I'm free on Thursday and Friday.":                         "2026-10-15 2026-10-16",
		"I can't do Saturday, let's say Thursday.":                 "2026-10-17 2026-10-15",
		"Am Samstag kommt sie und am Donnerstag fährt sie wieder.": "2026-10-17 2026-10-22",
	} {
		got := ""
		for _, s := range date.Find(text, wednesday, "") {
			got += " " + s.From.Format(time.DateOnly)
		}
		if got != " "+want {
			t.Errorf("%q names%s, want %s", text, got, want)
		}
	}
}
