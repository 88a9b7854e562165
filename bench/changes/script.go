// Package changes makes conversations in which what people tell about themselves changes, and questions about what holds
// now and what held then. The same seed makes the same conversation.
package changes

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// attribute is something that people have one value of at a time, and how it is spoken of. In the sentences %s stands
// for a value, in the question for a name.
type attribute struct {
	values     []string
	statements []string
	denial     string
	question   string
}

var attributes = []attribute{
	{strings.Fields("Lisbon Oslo Prague Vienna Dublin Athens Madrid Warsaw Helsinki Zurich Geneva Naples Kyoto Osaka Nairobi Cairo Lima Quito Bogota Havana"),
		[]string{"I live in %s now.", "I moved to %s.", "I live in %s."}, "I no longer live in %s.", "Where does %s live?"},
	{strings.Fields("Acme Globex Initech Umbra Vandelay Hooli Soylent Tyrell Cyberdyne Wonka Oscorp Aperture Nakatomi Gringotts Monarch Stark"),
		[]string{"I work at %s.", "I work for %s now.", "I started working at %s."}, "I no longer work at %s.", "Where does %s work?"},
	{strings.Fields("Volvo Skoda Fiat Renault Mazda Toyota Peugeot Saab Subaru Citroen Lancia Hyundai"),
		[]string{"I drive a %s.", "I drive a %s now."}, "I no longer drive a %s.", "Which car does %s drive?"},
	{strings.Fields("teal crimson violet amber turquoise indigo scarlet olive ivory magenta"),
		[]string{"My favourite colour is %s.", "My favourite colour is %s now."}, "My favourite colour is no longer %s.", "What is %s's favourite colour?"},
	{strings.Fields("555-0142 555-0199 555-0107 555-0173 555-0121 555-0188 555-0136 555-0154"),
		[]string{"My phone number is %s.", "My phone number is now %s."}, "My phone number is no longer %s.", "What is %s's phone number?"},
}

var (
	firstNames = strings.Fields("Ana Bela Carl Dora Emil Frida Goran Hana Igor Jana Karl Lena Milan Nora Oskar Petra Rosa Stefan Tilda Ugo Vera Walter Xenia Yuri Zora")
	lastNames  = strings.Fields("Abel Brandt Costa Dahl Eder Falk Grau Holm Iversen Jansen Kessler Lund Moreau Novak Olsen Pohl Quist Rossi Sand Thorn")
	smallTalk  = []string{"The weather was fine today.", "Ha, that is a good one!", "Thanks, talk to you soon.", "How was your weekend?", "I read a long book about ships.",
		"My sister sends her regards.", "We had soup for dinner.", "The bus was late again."}
)

// MaxAttributes is how many attributes Make can give different people.
var MaxAttributes = len(attributes) * len(firstNames) * len(lastNames)

// Script is a made conversation and what memory must hold of it.
type Script struct {
	Said    []Said   // in the order in which it is published
	Forgets []string // ids of messages that are forgotten at the end
	Probes  []Probe
}

// Said is a message and the session it is published to.
type Said struct {
	Session memory.SessionID
	Message memory.Message
}

// Kinds names the kinds of probes, in the order of the tables.
var Kinds = []string{"now", "as_of", "withdrawn", "denied", "forgotten"}

// Probe asks for the value of one person's attribute at a time.
type Probe struct {
	Kind     string // one of Kinds
	Question string
	Subject  string
	AsOf     *time.Time // nil = now
	Values   []string   // every value of the attribute
	Want     string     // the value that held then, "" = none
	Never    string     // the value that was forgotten, "" = none
}

// Stated lists the values that items plainly state of the subject, in the order of the items.
func (p Probe) Stated(items []memory.Item) []string {
	var out []string
	for _, it := range items {
		if it.Speaker != p.Subject && !strings.Contains(it.Text, p.Subject) || strings.Contains(it.Text, "no longer") || strings.Contains(it.Text, "?") {
			continue
		}
		for _, v := range p.Values {
			if strings.Contains(it.Text, v) {
				out = append(out, v)
			}
		}
	}
	return out
}

// Now is when the questions of a script are asked.
var Now = time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)

// statement is one message of a timeline.
type statement struct {
	id        string
	at        time.Time
	value     string
	denies    bool
	withdrawn *time.Time // when a later message took it back
	forgotten bool
}

// Make writes a script of n attributes, at most MaxAttributes. The same seed and n make the same script.
func Make(seed uint64, n int) Script {
	w := &writer{r: rand.New(rand.NewPCG(seed, 11))}
	for i := range n {
		w.attribute(i)
	}
	w.shuffle()
	return w.out
}

type writer struct {
	r   *rand.Rand
	out Script
	n   int // messages so far
}

// pick draws an element of a list.
func pick[T any](r *rand.Rand, list []T) T { return list[r.IntN(len(list))] }

// say adds a message to the session of the attribute i and returns its id.
func (w *writer) say(i int, speaker, text string, at time.Time, replaces string) string {
	w.n++
	id := fmt.Sprintf("m%04d", w.n)
	w.out.Said = append(w.out.Said, Said{memory.SessionID(fmt.Sprintf("talk%d", i/10)), memory.Message{ID: memory.MessageID(id), Speaker: speaker, Content: text, Time: at,
		Replaces: memory.MessageID(replaces)}})
	return id
}

// attribute makes the timeline of one attribute of one person, with what distracts from it, and the questions about it.
// The person changes with every len(attributes) attributes.
func (w *writer) attribute(i int) {
	a, who := attributes[i%len(attributes)], i/len(attributes)
	subject := firstNames[who%len(firstNames)] + " " + lastNames[(who/len(firstNames)+who)%len(lastNames)]
	at := time.Date(2024, 1, 1+w.r.IntN(20), 8+w.r.IntN(12), w.r.IntN(60), i%60, 0, time.UTC)
	var timeline []statement
	for range 2 + w.r.IntN(5) { // one to five changes
		value := pick(w.r, a.values)
		switch last := len(timeline) - 1; {
		case last > 0 && w.r.IntN(3) == 0: // and back
			value = timeline[last-1].value
		case last >= 0 && w.r.IntN(8) == 0 && !timeline[last].denies:
			timeline = append(timeline, statement{at: at, value: timeline[last].value, denies: true})
			at = at.AddDate(0, 0, 10+w.r.IntN(60))
			continue
		}
		if last := len(timeline) - 1; last >= 0 && !timeline[last].denies && value == timeline[last].value {
			continue
		}
		timeline = append(timeline, statement{at: at, value: value})
		at = at.AddDate(0, 0, 10+w.r.IntN(60))
	}
	for k := range timeline {
		text := fmt.Sprintf(pick(w.r, a.statements), timeline[k].value)
		if timeline[k].denies {
			text = fmt.Sprintf(a.denial, timeline[k].value)
		}
		timeline[k].id = w.say(i, subject, text, timeline[k].at, "")
		w.distract(i, a, subject, timeline[k].at.Add(time.Hour))
	}
	kind := w.end(i, subject, timeline, at)
	w.ask(a, subject, timeline, kind)
}

// end withdraws the last statement of some timelines or has it forgotten. It returns the kind of the probe that asks for
// what holds at the end; "" where nothing was done.
func (w *writer) end(i int, subject string, timeline []statement, at time.Time) string {
	last := &timeline[len(timeline)-1]
	switch {
	case last.denies:
		return "denied"
	case w.r.IntN(5) == 0:
		last.withdrawn = &at
		w.say(i, subject, "Forget that, I got it mixed up.", at, last.id)
		return "withdrawn"
	case w.r.IntN(6) == 0 && len(timeline) > 1 && !slices.ContainsFunc(timeline[:len(timeline)-1], func(t statement) bool { return t.value == last.value }):
		last.forgotten = true
		w.out.Forgets = append(w.out.Forgets, last.id)
		return "forgotten"
	}
	return ""
}

// distract adds messages that tell nothing of the attribute: small talk, questions, and the attribute of somebody else.
func (w *writer) distract(i int, a attribute, subject string, at time.Time) {
	other := pick(w.r, firstNames) + " Other"
	switch w.r.IntN(5) {
	case 0:
		w.say(i, other, pick(w.r, smallTalk), at, "")
	case 1:
		w.say(i, other, "Is it true? "+strings.TrimSuffix(fmt.Sprintf(strings.Replace(a.statements[0], "I ", "You ", 1), pick(w.r, a.values)), ".")+"?", at, "")
	case 2:
		w.say(i, subject, pick(w.r, smallTalk), at, "")
	case 3:
		w.say(i, other, fmt.Sprintf(a.statements[0], pick(w.r, a.values)), at, "")
	}
}

// ask adds the probes: what holds now, and what held between each two statements.
func (w *writer) ask(a attribute, subject string, timeline []statement, kind string) {
	p := Probe{Kind: kind, Question: fmt.Sprintf(a.question, subject), Subject: subject, Values: a.values, Want: valueAt(timeline, Now)}
	if kind == "" {
		p.Kind = "now"
	}
	if last := timeline[len(timeline)-1]; last.forgotten {
		p.Never = last.value
	}
	w.out.Probes = append(w.out.Probes, p)
	for k, t := range timeline {
		end := t.at.Add(48 * time.Hour)
		if k+1 < len(timeline) {
			end = timeline[k+1].at
		}
		then := t.at.Add(end.Sub(t.at) / 2)
		p.Kind, p.AsOf, p.Want = "as_of", &then, valueAt(timeline, then)
		w.out.Probes = append(w.out.Probes, p)
	}
}

// valueAt returns the value that held at a time, as known now: the last one stated by then, unless it was denied,
// withdrawn by then or forgotten.
func valueAt(timeline []statement, at time.Time) string {
	value := ""
	for _, t := range timeline {
		switch {
		case t.forgotten, t.at.After(at), t.withdrawn != nil && !t.withdrawn.After(at):
		case t.denies:
			value = ""
		default:
			value = t.value
		}
	}
	return value
}

// shuffle lets a third of the messages arrive late, by up to forty messages.
func (w *writer) shuffle() {
	type placed struct {
		said Said
		at   int
	}
	slices.SortStableFunc(w.out.Said, func(a, b Said) int { return a.Message.Time.Compare(b.Message.Time) })
	list, at := make([]placed, len(w.out.Said)), map[memory.MessageID]int{}
	for i, s := range w.out.Said {
		list[i] = placed{s, i}
		if w.r.IntN(3) == 0 {
			list[i].at += 1 + w.r.IntN(40)
		}
		list[i].at = max(list[i].at, at[s.Message.Replaces]) // nothing is withdrawn before it is said
		at[s.Message.ID] = list[i].at
	}
	slices.SortStableFunc(list, func(a, b placed) int { return a.at - b.at })
	for i, p := range list {
		w.out.Said[i] = p.said
	}
}
