package date_test

import (
	"testing"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/text/date"
)

// Monday 8 May 2023, early afternoon.
var monday = time.Date(2023, 5, 8, 13, 56, 0, 0, time.UTC)

func TestDates(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text, expr, from, to string // expr "" = no expression; to "" = the same day as from
	}{
		// Absolute.
		{"I was born on 7 May 1990.", "7 May 1990", "1990-05-07", ""},
		{"The wedding was on the 7th of May, 2021.", "7th of May, 2021", "2021-05-07", ""},
		{"On May 7, 2023 it rained.", "May 7, 2023", "2023-05-07", ""},
		{"On May 7th 2023 it rained.", "May 7th 2023", "2023-05-07", ""},
		{"It opened in May 2021.", "May 2021", "2021-05-01", "2021-05-31"},
		{"They met in 2019.", "2019", "2019-01-01", "2019-12-31"},
		{"Backup of 2023-02-28 failed.", "2023-02-28", "2023-02-28", ""},
		{"Seen at 2023-05-07T09:14:00Z.", "2023-05-07T09:14:00Z", "2023-05-07", ""},
		{"Due 5/17/2023.", "5/17/2023", "2023-05-17", ""},
		{"Due 17/5/2023.", "17/5/2023", "2023-05-17", ""},
		{"Am 07.05.2021 gekauft.", "07.05.2021", "2021-05-07", ""},
		{"We hiked in the summer of 2022.", "summer of 2022", "2022-06-01", "2022-08-31"},
		{"music of the 1990s", "1990s", "1990-01-01", "1999-12-31"},
		{"in early 2022", "early 2022", "2022-01-01", "2022-04-30"},
		{"the week before 9 June 2023", "week before 9 June 2023", "2023-06-02", "2023-06-08"},
		{"the weekend before 9 June 2023", "weekend before 9 June 2023", "2023-06-03", "2023-06-04"},
		{"the Friday before 15 July 2023", "Friday before 15 July 2023", "2023-07-14", ""},
		{"the day after 15 July 2023", "day after 15 July 2023", "2023-07-16", ""},
		{"two days before Christmas 2022", "two days before Christmas 2022", "2022-12-23", ""},
		{"between May 2021 and June 2022", "May 2021 and June 2022", "2021-05-01", "2022-05-31"},
		{"from 2019 to 2021 she studied", "2019 to 2021", "2019-01-01", "2020-12-31"},
		{"Le 12 mai 2021 nous sommes partis", "12 mai 2021", "2021-05-12", ""},
		{"Seit dem 7. März 2021 wohne ich hier", "7. März 2021", "2021-03-07", ""},
		{"会议在2023年5月7日举行", "2023年5月7日", "2023-05-07", ""},
		// Relative days.
		{"I went to a support group yesterday.", "yesterday", "2023-05-07", ""},
		{"yesterday morning we ran", "yesterday morning", "2023-05-07", ""},
		{"Last night we ate out.", "Last night", "2023-05-07", ""},
		{"This morning I ran.", "This morning", "2023-05-08", ""},
		{"See you tomorrow!", "tomorrow", "2023-05-09", ""},
		{"the day before yesterday", "day before yesterday", "2023-05-06", ""},
		{"3 days ago", "3 days ago", "2023-05-05", ""},
		{"a couple of days ago", "a couple of days ago", "2023-05-06", ""},
		{"a few days ago", "a few days ago", "2023-05-04", "2023-05-06"},
		{"我昨天去了", "昨天", "2023-05-07", ""},
		// Weeks and weekends.
		{"I ran a race last week.", "last week", "2023-05-01", "2023-05-07"},
		{"two weeks ago", "two weeks ago", "2023-04-24", ""},
		{"I went camping last weekend.", "last weekend", "2023-05-06", "2023-05-07"},
		{"this past weekend was fun", "this past weekend", "2023-05-06", "2023-05-07"},
		{"We went out over the weekend.", "weekend", "2023-05-06", "2023-05-07"},
		{"I will rest over the weekend.", "weekend", "2023-05-13", "2023-05-14"},
		{"this weekend I'm going away", "this weekend", "2023-05-13", "2023-05-14"},
		{"We'll meet next week", "next week", "2023-05-15", "2023-05-21"},
		{"the past two weeks were hard", "past two weeks", "2023-04-24", "2023-05-07"},
		// Weekdays.
		{"I saw her last Friday.", "last Friday", "2023-05-05", ""},
		{"I saw her on Friday.", "Friday", "2023-05-05", ""},
		{"I'll see her on Friday.", "Friday", "2023-05-12", ""},
		{"Let's meet next Friday.", "next Friday", "2023-05-19", ""},
		{"Friday, 5 May 2023 was fine", "Friday, 5 May 2023", "2023-05-05", ""},
		{"I run every Friday.", "", "", ""},
		{"I run on Fridays.", "", "", ""},
		// Months, seasons, years.
		{"I moved to Lisbon in May.", "May", "2023-05-01", "2023-05-31"},
		{"I moved in December.", "December", "2022-12-01", "2022-12-31"},
		{"I will move in December.", "December", "2023-12-01", "2023-12-31"},
		{"I plan to move in March.", "March", "2024-03-01", "2024-03-31"},
		{"last month we met", "last month", "2023-04-01", "2023-04-30"},
		{"next month I'll know", "next month", "2023-06-01", "2023-06-30"},
		{"last summer we met", "last summer", "2022-06-01", "2022-08-31"},
		{"last winter was cold", "last winter", "2022-12-01", "2023-02-28"},
		{"in the summer we met", "summer", "2022-06-01", "2022-08-31"},
		{"two years ago", "two years ago", "2021-01-01", "2021-12-31"},
		{"I started five years ago.", "five years ago", "2018-01-01", "2018-12-31"},
		{"a month ago", "a month ago", "2023-04-08", ""},
		{"since last year", "last year", "2022-01-01", "2022-12-31"},
		{"next year I'll graduate", "next year", "2024-01-01", "2024-12-31"},
		{"at the end of last year", "the end of last year", "2022-07-01", "2022-12-31"},
		{"My birthday party was on 3 June.", "3 June", "2022-06-03", ""},
		{"I'm going to Rome on 3 June.", "3 June", "2023-06-03", ""},
		{"Christmas was quiet.", "", "", ""},
		{"We met at Christmas.", "Christmas", "2022-12-24", "2022-12-26"},
		{"in two weeks I will fly", "in two weeks", "2023-05-22", ""},
		{"two weeks from now", "two weeks from now", "2023-05-22", ""},
		// Nothing.
		{"I may march on.", "", "", ""},
		{"You may win 24/7.", "", "", ""},
		{"Call me at 555-1234.", "", "", ""},
		{"She has 2023 followers.", "", "", ""},
		{"Fall in love with spring rolls.", "", "", ""},
		{"version 1.2.3 of 10", "", "", ""},
		{"The sun is out, I sat down.", "", "", ""},
		{"It took three weeks.", "", "", ""},
		{"on February 30, 2023", "", "", ""},
	} {
		t.Run(c.text, func(t *testing.T) {
			t.Parallel()
			got := date.Find(c.text, monday, "")
			if c.expr == "" {
				if len(got) != 0 {
					t.Fatalf("found %+v, want nothing", got)
				}
				return
			}
			if len(got) != 1 {
				t.Fatalf("found %+v, want only %q", got, c.expr)
			}
			g := got[0]
			to := c.to
			if to == "" {
				to = c.from
			}
			if g.Text != c.expr || g.From.Format(time.DateOnly) != c.from || g.To.Format(time.DateOnly) != to {
				t.Errorf("got %q %s to %s, want %q %s to %s", g.Text, g.From.Format(time.DateOnly), g.To.Format(time.DateOnly), c.expr, c.from, to)
			}
			if c.text[g.Start:g.End] != g.Text {
				t.Errorf("offsets give %q, not %q", c.text[g.Start:g.End], g.Text)
			}
		})
	}
}

func TestDatesWithoutReference(t *testing.T) {
	t.Parallel()
	t.Run("a relative expression stays unresolved", func(t *testing.T) {
		t.Parallel()
		for _, s := range []string{"yesterday", "last week", "in May", "two years ago", "last Friday", "on 7 May", "on Friday", "this summer",
			"in the summer", "next year", "the weekend before yesterday", "at Christmas", "on the 5th", "in two weeks I will", "昨天"} {
			if got := date.Find("We met "+s+".", time.Time{}, ""); len(got) != 0 {
				t.Errorf("%q gave %+v", s, got)
			}
		}
	})
	t.Run("an absolute one is given", func(t *testing.T) {
		t.Parallel()
		got := date.Find("We met yesterday and on 7 May 2021.", time.Time{}, "")
		if len(got) != 1 || got[0].Text != "7 May 2021" {
			t.Fatalf("got %+v", got)
		}
	})
}

func TestDatesInText(t *testing.T) {
	t.Parallel()
	t.Run("several expressions come in order, each once", func(t *testing.T) {
		t.Parallel()
		got := date.Find("Last week I ran, on 1 May 2023 I rested. I'll run again next Friday.", monday, "")
		if len(got) != 3 || got[0].Text != "Last week" || got[1].Text != "1 May 2023" || got[2].Text != "next Friday" {
			t.Fatalf("got %+v", got)
		}
	})
	t.Run("days are in the zone of the reference", func(t *testing.T) {
		t.Parallel()
		zone := time.FixedZone("x", 9*3600)
		got := date.Find("yesterday", monday.In(zone), "")
		if want := time.Date(2023, 5, 7, 0, 0, 0, 0, zone); len(got) != 1 || !got[0].From.Equal(want) {
			t.Fatalf("got %+v, want from %s", got, want)
		}
	})
}

func FuzzDates(f *testing.F) {
	for _, s := range []string{"yesterday", "last Friday", "5/17/2023", "in May 2021 and 7. März 2021", "99999 years ago", "the week before 0001-01-01",
		"between 2019 and 2020", "2023年5月7日", "30 February 2023", "new year's eve", "two weeks after 31.12.9998", "mid of the last 3 decades"} {
		f.Add(s, int64(1683554160))
	}
	for _, s := range []string{"bis zum 31.12.9999", "от 1 января 1", "来年の2月から10月1日まで", "au cours des 99999 dernières années", "第9999周", "Q4 9999-Q1 1",
		"the last 20000 centuries of 9999", "am siebenundzwanzigsten zwölften", "上上个星期五", "de 1 a 31 de diciembre de 9999"} {
		f.Add(s, int64(253402300798))
	}
	f.Add("on 29 February", int64(-62135596800))
	f.Fuzz(func(t *testing.T, content string, sec int64) {
		ref := time.Unix(sec%253402300799, 0).UTC()
		switch sec % 3 {
		case 1:
			ref = ref.In(time.FixedZone("west", -12*3600))
		case 2:
			ref = ref.In(time.FixedZone("east", 14*3600))
		}
		end := 0
		for _, d := range date.Find(content, ref, "") {
			if d.Start < end || d.End <= d.Start || d.End > len(content) || content[d.Start:d.End] != d.Text {
				t.Fatalf("offsets of %+v in %q", d, content)
			}
			end = d.End
			if d.To.Before(d.From) || d.From.Year() < 1 || d.To.Year() > 9999 || d.From.UTC().Year() < 1 || d.To.UTC().Year() > 9999 {
				t.Fatalf("range of %+v", d)
			}
		}
	})
}

func BenchmarkDates(b *testing.B) {
	for _, c := range []struct{ name, text string }{
		{"no date words", "Caroline attended an LGBTQ support group and found the transgender stories inspiring."},
		{"with date words", "Last Friday I went to Lisbon with my sister, and we will go again in December 2023 or next summer."},
		{"foreign", "Seit dem 7. März 2021 wohne ich mit meiner Schwester in Lissabon."},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				date.Find(c.text, monday, "")
			}
		})
	}
}
