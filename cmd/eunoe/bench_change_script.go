package main

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// changing is an attribute that people have one value of at a time, and how it
// is spoken of. In the sentences %s stands for a value, in the question for a name.
type changing struct {
	values   []string
	tells    []string
	denies   string
	question string
}

var changings = []changing{
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
	chatter    = []string{"The weather was fine today.", "Ha, that is a good one!", "Thanks, talk to you soon.", "How was your weekend?", "I read a long book about ships.",
		"My sister sends her regards.", "We had soup for dinner.", "The bus was late again."}
)

// changeScript is a made conversation and what memory must hold of it.
type changeScript struct {
	Said    []saidIn // in the order in which it is published
	Forgets []string // ids of messages that are forgotten at the end
	Probes  []changeProbe
}

type saidIn struct {
	Session memory.SessionID
	Message memory.Message
}

// changeProbe asks what one subject's attribute was at a time.
type changeProbe struct {
	Kind     string // what it tries: now, as_of, withdrawn, denied or forgotten
	Question string
	Subject  string
	AsOf     *time.Time // nil = now
	Values   []string   // every value of the attribute
	Want     string     // the value held then, "" = none
	Never    string     // the value that was forgotten, "" = none
}

// changeNow is when the script's questions are asked.
var changeNow = time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)

// told is one statement of a timeline.
type told struct {
	id       string
	at       time.Time
	value    string
	denies   bool
	replaced *time.Time // when a later message took it back
	forgot   bool
}

// MakeChanges writes a script of n attributes; the same seed and n give the same one.
func MakeChanges(seed uint64, n int) changeScript {
	m := &changeMaker{r: rand.New(rand.NewPCG(seed, 11))}
	for i := range n {
		m.attribute(i)
	}
	m.shuffle()
	return m.out
}

type changeMaker struct {
	r   *rand.Rand
	out changeScript
	n   int // messages so far
}

func pick[T any](r *rand.Rand, list []T) T { return list[r.IntN(len(list))] }

func (m *changeMaker) say(i int, speaker, text string, at time.Time, replaces string) string {
	m.n++
	id := fmt.Sprintf("m%04d", m.n)
	m.out.Said = append(m.out.Said, saidIn{memory.SessionID(fmt.Sprintf("talk%d", i/10)), memory.Message{ID: memory.MessageID(id), Speaker: speaker, Content: text, Time: at,
		Replaces: memory.MessageID(replaces)}})
	return id
}

// attribute makes the timeline of one attribute of one person, with what
// distracts from it, and the questions about it. The person changes with every
// len(changings) attributes.
func (m *changeMaker) attribute(i int) {
	c, who := changings[i%len(changings)], i/len(changings)
	subject := firstNames[who%len(firstNames)] + " " + lastNames[(who/len(firstNames)+who)%len(lastNames)]
	at := time.Date(2024, 1, 1+m.r.IntN(20), 8+m.r.IntN(12), m.r.IntN(60), i%60, 0, time.UTC)
	var line []told
	for range 2 + m.r.IntN(5) { // one to five changes
		value := pick(m.r, c.values)
		switch last := len(line) - 1; {
		case last > 0 && m.r.IntN(3) == 0: // and back
			value = line[last-1].value
		case last >= 0 && m.r.IntN(8) == 0 && !line[last].denies:
			line = append(line, told{at: at, value: line[last].value, denies: true})
			at = at.AddDate(0, 0, 10+m.r.IntN(60))
			continue
		}
		if last := len(line) - 1; last >= 0 && !line[last].denies && value == line[last].value {
			continue
		}
		line = append(line, told{at: at, value: value})
		at = at.AddDate(0, 0, 10+m.r.IntN(60))
	}
	for k := range line {
		text := fmt.Sprintf(pick(m.r, c.tells), line[k].value)
		if line[k].denies {
			text = fmt.Sprintf(c.denies, line[k].value)
		}
		line[k].id = m.say(i, subject, text, line[k].at, "")
		m.distract(i, c, subject, line[k].at.Add(time.Hour))
	}
	kind := m.end(i, subject, line, at)
	m.ask(c, subject, line, kind)
}

// end takes the last statement back, or has it forgotten, of some timelines.
func (m *changeMaker) end(i int, subject string, line []told, at time.Time) string {
	last := &line[len(line)-1]
	switch {
	case last.denies:
		return "denied"
	case m.r.IntN(5) == 0:
		last.replaced = &at
		m.say(i, subject, "Forget that, I got it mixed up.", at, last.id)
		return "withdrawn"
	case m.r.IntN(6) == 0 && len(line) > 1 && !slices.ContainsFunc(line[:len(line)-1], func(t told) bool { return t.value == last.value }):
		last.forgot = true
		m.out.Forgets = append(m.out.Forgets, last.id)
		return "forgotten"
	}
	return ""
}

// distract says what tells nothing of the attribute: talk, questions, wishes,
// and the same of somebody else.
func (m *changeMaker) distract(i int, c changing, subject string, at time.Time) {
	other := pick(m.r, firstNames) + " Other"
	switch m.r.IntN(5) {
	case 0:
		m.say(i, other, pick(m.r, chatter), at, "")
	case 1:
		m.say(i, other, "Is it true? "+strings.TrimSuffix(fmt.Sprintf(strings.Replace(c.tells[0], "I ", "You ", 1), pick(m.r, c.values)), ".")+"?", at, "")
	case 2:
		m.say(i, subject, pick(m.r, chatter), at, "")
	case 3:
		m.say(i, other, fmt.Sprintf(c.tells[0], pick(m.r, c.values)), at, "")
	}
}

// ask adds the questions: what holds now, and what held between each two statements.
func (m *changeMaker) ask(c changing, subject string, line []told, kind string) {
	p := changeProbe{Kind: kind, Question: fmt.Sprintf(c.question, subject), Subject: subject, Values: c.values, Want: heldAt(line, changeNow)}
	if kind == "" {
		p.Kind = "now"
	}
	if last := line[len(line)-1]; last.forgot {
		p.Never = last.value
	}
	m.out.Probes = append(m.out.Probes, p)
	for k, t := range line {
		end := t.at.Add(48 * time.Hour)
		if k+1 < len(line) {
			end = line[k+1].at
		}
		then := t.at.Add(end.Sub(t.at) / 2)
		p.Kind, p.AsOf, p.Want = "as_of", &then, heldAt(line, then)
		m.out.Probes = append(m.out.Probes, p)
	}
}

// heldAt gives the value that is believed at a time, as known now: the last one
// told by then, unless it was denied, taken back by then or forgotten.
func heldAt(line []told, at time.Time) string {
	held := ""
	for _, t := range line {
		switch {
		case t.forgot, t.at.After(at), t.replaced != nil && !t.replaced.After(at):
		case t.denies:
			held = ""
		default:
			held = t.value
		}
	}
	return held
}

// shuffle lets a third of what was said arrive late, up to forty messages.
func (m *changeMaker) shuffle() {
	type placed struct {
		said saidIn
		at   int
	}
	slices.SortStableFunc(m.out.Said, func(a, b saidIn) int { return a.Message.Time.Compare(b.Message.Time) })
	list, at := make([]placed, len(m.out.Said)), map[memory.MessageID]int{}
	for i, s := range m.out.Said {
		list[i] = placed{s, i}
		if m.r.IntN(3) == 0 {
			list[i].at += 1 + m.r.IntN(40)
		}
		list[i].at = max(list[i].at, at[s.Message.Replaces]) // nothing is taken back before it is said
		at[s.Message.ID] = list[i].at
	}
	slices.SortStableFunc(list, func(a, b placed) int { return a.at - b.at })
	for i, p := range list {
		m.out.Said[i] = p.said
	}
}
