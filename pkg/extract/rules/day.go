package rules

import (
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/text"
	"github.com/eunoe-memory/eunoe/pkg/text/date"
	"github.com/eunoe-memory/eunoe/pkg/text/pattern"
)

// maxTalk bounds what is read of a message before for the days that the talk is about, in bytes.
const maxTalk = 1000

// dates returns the time expressions of a sentence in any language. "The 20th" is the one nearest to the days that were named last,
// and "that same day" are those days.
func (t *drafter) dates(s string) []date.Span {
	language := string(text.LanguageOf(s, t.habit))
	if !hasDigit(s) && !sameDays.MatchString(s) {
		return date.Find(s, t.said, language)
	}
	last, known := t.lastDays()
	out := date.FindAbout(s, t.said, last.From, language)
	if known && sameDays.MatchString(s) && len(out) == 0 {
		return []date.Span{{From: last.From, To: last.To}}
	}
	return out
}

// lastDays returns the days that were named last before the message, if they were named as days, by anybody.
func (t *drafter) lastDays() (date.Span, bool) {
	if t.talk == nil {
		t.talk = &date.Span{}
		for i := len(t.cast.before) - 1; i >= 0 && t.talk.From.IsZero(); i-- {
			m := t.cast.before[i]
			for _, s := range text.Sentences(memory.Truncate(m.Content, maxTalk)) {
				t.named(date.FindAbout(s, m.Clock(), t.talk.From, string(text.LanguageOf(s, t.cast.habit(nameOf(m))))))
			}
		}
	}
	return *t.talk, !t.talk.From.IsZero() && t.talk.Days() <= 16
}

// named notes the days that a sentence is about.
func (t *drafter) named(dates []date.Span) {
	if main, ok := date.Main(dates); ok && main.Days() <= mostDays {
		t.talk = &main
	}
}

// mostDays is the longest time in which "the 20th" is sought; "those days" are sixteen at most.
const mostDays = 31

// sameDays finds that something is on the days that were named last.
var sameDays = pattern.New(`(?i)(?:^|[^\pL])(?:(?:that|on the|the) same days?|same (?:days?|dates?)|(?:on )?those (?:days|dates)|on that (?:same )?day|am selben tag|am gleichen tag|(?:an|zu) d(?:en|iesen|em|iesem) tag(?:en)?|genau da|` +
	`gleiche(?:r|n)? tage?|(?:ese|el) mismo día|es(?:e|os) días?|los mismos días|mismas fechas|(?:ce|le même|ces|les mêmes) jours?(?:-là)?|mêmes dates|(?:n?esse|no mesmo|n?esses|nos mesmos) dias?|` +
	`mesmas datas|quel giorno|quei giorni|(?:lo )?stess[oi] giorn[oi]|stesse date|(?:op )?die dag(?:en)?|dezelfde dag(?:en)?|samma dagar?|samme dage?r?|tego (?:samego )?dnia|te same dni|ten sam dzień|` +
	`в (?:тот|те)(?: же)? д(?:ень|ни)|того ж дня|aynı gün(?:ler)?|o gün(?:ler)?|samana päivänä|ugyanaz(?:on)? a napo[nk]|τις ίδιες μέρες|την ίδια μέρα)(?:$|[^\pL])|那几天|那幾天|那天|同一天|同じ日|その日|같은 날|그날|نفس (?:اليوم|الأيام)|उसी दिन|उन्हीं दिनों|באותו יום|באותם ימים`)
