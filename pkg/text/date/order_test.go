package date_test

import (
	"strings"
	"testing"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/text/date"
)

// ranges returns all times of a text as "from to", each behind a comma.
func ranges(text, language string) string {
	got := ""
	for _, s := range date.Find(text, wednesday, language) {
		if got != "" {
			got += ", "
		}
		got += s.From.Format(time.DateOnly)
		if to := s.To.Format(time.DateOnly); to != s.From.Format(time.DateOnly) {
			got += " " + to
		}
	}
	return got
}

// dated is a text in a language and the days it names, as ranges prints them.
type dated struct{ text, language, want string }

func checkRanges(t *testing.T, cases []dated) {
	t.Helper()
	for _, c := range cases {
		if got := ranges(c.text, c.language); got != c.want {
			t.Errorf("%q names %q, want %q", c.text, got, c.want)
		}
	}
}

func TestATimeIsReadByTheOneBeforeIt(t *testing.T) {
	t.Parallel()
	checkRanges(t, []dated{
		{"Grandma lands next Tuesday and drives home Thursday.", "en", "2026-10-20, 2026-10-22"},
		{"Next Tuesday and Thursday the gym is closed.", "en", "2026-10-20, 2026-10-22"},
		{"The match is next Tuesday and we train on Sunday.", "en", "2026-10-20, 2026-10-18"},
		{"Nächsten Dienstag reise ich ab und bin Freitag wieder da.", "de", "2026-10-20, 2026-10-23"},
		{"妹妹下周二飞过来，周四回去。", "zh", "2026-10-20, 2026-10-22"},
		{"In 2016, around Easter, our barn burned down.", "en", "2016-01-01 2016-12-31, 2016-03-27"},
		{"Back in 2014, in July, I ran my first race.", "en", "2014-01-01 2014-12-31, 2014-07-01 2014-07-31"},
		{"In 2014, on 9 July, the twins were born.", "en", "2014-01-01 2014-12-31, 2014-07-09"},
		{"In 2014 I left school, and this November I go back.", "en", "2014-01-01 2014-12-31, 2026-11-01 2026-11-30"},
	})
}

func TestWhatIsDoneEveryWeekHasNoDate(t *testing.T) {
	t.Parallel()
	for text, language := range map[string]string{
		"Los jueves y domingos entreno.":                        "es",
		"每周一和周三我去游泳。":                                           "zh",
		"Her shift is Tuesday to Thursday every week.":          "en",
		"My dad works Monday to Friday.":                        "en",
		"Die Bücherei öffnet von Montag bis Samstag.":           "de",
		"Every Tuesday and Thursday the choir meets.":           "en",
		"Week 2: stretch more. Week 3-5: lift the heavier bar.": "en",
		"She's in week 20, all is well.":                        "en",
		"Va por la semana 30 del embarazo.":                     "es",
	} {
		if got := ranges(text, language); got != "" {
			t.Errorf("%q names %s", text, got)
		}
	}
	checkRanges(t, []dated{
		{"We're in Malmö Monday to Friday.", "en", "2026-10-19 2026-10-23"},
		{"Wir sind von Montag bis Freitag in Graz.", "de", "2026-10-19 2026-10-23"},
		{"The crane comes in calendar week 45.", "en", "2026-11-02 2026-11-08"},
		{"Der Kran kommt in KW 45.", "de", "2026-11-02 2026-11-08"},
		{"The crane comes on Wednesday or Thursday next week.", "en", "2026-10-21, 2026-10-22"},
		{"The crane comes on Friday or Monday next week.", "en", "2026-10-16, 2026-10-19"},
		{"Der Kran kommt Mittwoch oder Donnerstag nächster Woche.", "de", "2026-10-21, 2026-10-22"},
		{"In week 45 komt de kraan.", "nl", "2026-11-02 2026-11-08"},
		{"The crane is here Tue-Thu next week.", "en", "2026-10-20 2026-10-21"},
		{"The crane is here from Thursday to Friday next week.", "en", "2026-10-22"},
		{"Der Kran ist Dienstag bis Donnerstag nächster Woche da.", "de", "2026-10-20 2026-10-21"},
	})
}

func TestTenseOfChineseAndJapaneseClauses(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"昨晚我发烧了，周五再去看医生。":     "2026-10-13, 2026-10-16",
		"周六奶奶飞过来。":            "2026-10-17",
		"周六我们去过那家店。":          "2026-10-10",
		"爸爸对牛奶过敏，周六带他去医院。":    "2026-10-17",
		"我想起来，周一交了房租。":        "2026-10-12",
		"土曜日に歯医者に行って、薬をもらった。": "2026-10-10",
		"土曜日に母が来ます。":          "2026-10-17",
	} {
		if got := ranges(text, ""); got != want {
			t.Errorf("%q names %q, want %q", text, got, want)
		}
	}
}

func TestHalvesAndVagueCounts(t *testing.T) {
	t.Parallel()
	checkRanges(t, []dated{
		{"A year and a half ago the bakery closed.", "en", "2025-01-14 2025-07-14"},
		{"The bakery closed three and a half years ago.", "en", "2023-01-14 2023-07-14"},
		{"Half a year ago it reopened.", "en", "2026-03-14 2026-05-14"},
		{"Vor anderthalb Jahren hat die Bäckerei zugemacht.", "de", "2025-01-14 2025-07-14"},
		{"La panadería cerró hace un año y medio.", "es", "2025-01-14 2025-07-14"},
		{"La boulangerie a fermé il y a un an et demi.", "fr", "2025-01-14 2025-07-14"},
		{"面包店一年半前关了。", "zh", "2025-01-14 2025-07-14"},
		{"半年前にパン屋が閉まった。", "ja", "2026-03-14 2026-05-14"},
		{"The baker called two or three days ago.", "en", "2026-10-11 2026-10-12"},
		{"The new oven arrives in 3 to 4 weeks.", "en", "2026-11-04 2026-11-11"},
		{"Building it takes 3-4 weeks.", "en", ""},
		{"Es dauert anderthalb Jahre.", "de", ""},
	})
}

func TestHolidaysBetweenOtherWords(t *testing.T) {
	t.Parallel()
	checkRanges(t, []dated{
		{"Silvester feiern wir bei Oma.", "de", "2026-12-31"},
		{"Zu Ostern kommt der Besuch.", "de", "2027-03-28"},
		{"Frohe Ostern!", "de", ""},
		{"En Nochevieja cocinamos nosotros.", "es", "2026-12-31"},
		{"El árbol de Navidad es falso.", "es", ""},
		{"À Noël nous restons ici.", "fr", "2026-12-24 2026-12-26"},
		{"Le marché de Noël est fermé.", "fr", ""},
		{"L'anno scorso a Pasqua nevicava.", "it", "2025-01-01 2025-12-31, 2025-04-20"},
		{"Na véspera de Natal vou à missa.", "pt", "2026-12-24"},
		{"The Easter market was packed.", "en", ""},
		{"Every other Friday we cook together.", "en", ""},
		{"Desde el martes llueve.", "es", "2026-10-13"},
		{"The sofa should have come on Monday.", "en", "2026-10-12"},
	})
}

func TestAStayEndsBehindTheDayItBeginsOn(t *testing.T) {
	t.Parallel()
	checkRanges(t, []dated{
		{"Collect the goat on Saturday and Monday my aunt moves in until Friday.", "en", "2026-10-17, 2026-10-19, 2026-10-23"},
		{"Samstag kommt meine Tante zu uns bis Freitag.", "de", "2026-10-17, 2026-10-23"},
		{"Samedi ma tante vient chez nous jusqu'à vendredi.", "fr", "2026-10-17, 2026-10-23"},
		{"El sábado viene mi tía hasta el viernes.", "es", "2026-10-17, 2026-10-23"},
		{"The fair is Saturday so we rehearse until Friday.", "en", "2026-10-17, 2026-10-16"},
		{"The fair is Saturday but I must enrol by Friday.", "en", "2026-10-17, 2026-10-16"},
	})
}

func TestAMonthThatComesIsDatedBeforeItsPlace(t *testing.T) {
	t.Parallel()
	checkRanges(t, []dated{
		{"They tie the knot next april in Galway.", "en", "2027-04-01 2027-04-30"},
		{"Last august at the lake we saw otters.", "en", "2026-08-01 2026-08-31"},
		{"Nos mudamos el próximo abril en tren.", "es", "2027-04-01 2027-04-30"},
		{"Nächsten April in Graz heiraten sie.", "de", "2027-04-01 2027-04-30"},
	})
	if got := ranges("It was the last May of 2021.", "en"); strings.HasPrefix(got, "2026") {
		t.Errorf("the last May of 2021 is %s", got)
	}
}

func TestASeasonBehindItsYear(t *testing.T) {
	t.Parallel()
	checkRanges(t, []dated{
		{"来年の春に娘が生まれます", "ja", "2027-03-01 2027-05-31"},
		{"去年の夏休みは山形にいた", "ja", "2025-06-01 2025-08-31"},
		{"明年秋天我要考试", "zh", "2027-09-01 2027-11-30"},
		{"2024年冬天她住在哈尔滨", "zh", "2024-12-01 2025-02-28"},
		{"去年秋葉原で買った", "ja", "2025-01-01 2025-12-31"},
		{"来年夏子が結婚する", "ja", "2027-01-01 2027-12-31"},
	})
}
