package llm

import (
	"encoding/json"
	"math"
	"slices"
	"strings"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/provider/reply"
	"github.com/eunoe-memory/eunoe/pkg/text"
)

// shownSubjects maps the numbers of a prompt to what they stand for.
type shownSubjects struct {
	subjects []subject
	facts    map[int]map[int]memory.FactID      // by number of the subject
	known    map[int]map[int]memory.Observation // likewise
}

// observePrompt returns the prompt for subjects. A fact has one number wherever it is shown, and so has a known
// observation.
func observePrompt(s shown, subjects []subject) (memory.Prompt, shownSubjects, error) {
	type knownLine struct {
		N    int    `json:"n"`
		Type string `json:"type"`
		Text string `json:"text"`
	}
	type subjectLine struct {
		Subject int         `json:"subject"`
		Name    string      `json:"name"`
		Known   []knownLine `json:"known"`
	}
	sh := shownSubjects{subjects: subjects, facts: map[int]map[int]memory.FactID{}, known: map[int]map[int]memory.Observation{}}
	numbers := map[memory.FactID]int{}
	var lines []any
	seen := 0
	for i, sub := range subjects {
		line := subjectLine{Subject: i + 1, Name: s.text(sub.entity.Name), Known: []knownLine{}}
		sh.facts[i+1], sh.known[i+1] = map[int]memory.FactID{}, map[int]memory.Observation{}
		for _, o := range sub.known {
			seen++
			sh.known[i+1][seen] = o
			line.Known = append(line.Known, knownLine{seen, string(o.Type), s.text(o.Text)})
		}
		lines = append(lines, line)
		for _, f := range sub.facts {
			n, ok := numbers[f.ID]
			if !ok {
				n = len(numbers) + 1
				numbers[f.ID] = n
			}
			sh.facts[i+1][n] = f.ID
			lines = append(lines, s.statement(n, f))
		}
	}
	p, err := prompt(memory.StageObserve, lines)
	return p, sh, err
}

// parseObservations checks the items of an answer against what was shown. It refuses an observation of a subject that
// was not shown, of an unknown type, without text, or that rests on fewer than two facts of its subject; facts that
// were not shown are left out. The error wraps memory.ErrInvalid where the answer holds no list of observations, or
// none that is accepted.
func parseObservations(text string, sh shownSubjects) (out []memory.ObservationInput, refused int, err error) {
	items, notes, err := reply.Items(text, "observations")
	if err != nil {
		return nil, 0, err
	}
	refused = notes.Broken
	for _, raw := range items {
		o, ok := parseObservation(raw, sh)
		twin := slices.ContainsFunc(out, func(h memory.ObservationInput) bool { return h.Type == o.Type && h.Subject == o.Subject })
		if !ok || twin {
			refused++
			continue
		}
		out = append(out, o)
	}
	if len(out) == 0 && (refused > 0 || notes.Truncated) {
		return nil, refused, memory.Invalid("observations", "holds none that stands")
	}
	return out, refused, nil
}

func parseObservation(raw json.RawMessage, sh shownSubjects) (memory.ObservationInput, bool) {
	var in struct {
		Subject    loose           `json:"subject"`
		Type       string          `json:"type"`
		Topic      json.RawMessage `json:"topic"`
		Text       string          `json:"text"`
		Reasoning  json.RawMessage `json:"reasoning"`
		Confidence *loose          `json:"confidence"`
		Facts      []loose         `json:"facts"`
		Known      *loose          `json:"known"`
	}
	if json.Unmarshal(raw, &in) != nil {
		return memory.ObservationInput{}, false
	}
	n := in.Subject.whole()
	o := memory.ObservationInput{Type: memory.ObservationType(strings.ToLower(strings.TrimSpace(in.Type))),
		Text: clip(strings.TrimSpace(in.Text), 2000), Reasoning: plain(in.Reasoning, 2000)}
	if n < 1 || n > len(sh.subjects) || !o.Type.Valid() || memory.NormalText(o.Text) == "" {
		return o, false
	}
	for _, f := range in.Facts {
		if id, shown := sh.facts[n][f.whole()]; shown && !slices.Contains(o.Facts, id) {
			o.Facts = append(o.Facts, id)
		}
	}
	if len(o.Facts) < 2 {
		return o, false
	}
	slices.Sort(o.Facts)
	confidence := 0.5
	if in.Confidence != nil && !math.IsNaN(float64(*in.Confidence)) {
		confidence = max(0, min(1, float64(*in.Confidence)))
	}
	o.Confidence = &confidence
	known := 0
	if in.Known != nil {
		known = in.Known.whole()
	}
	o.Subject = subjectFor(sh.subjects[n-1], o, sh.known[n][known], plain(in.Topic, 200))
	return o, true
}

// between separates the entity from the topic in a model's subject.
const between = " · "

// subjectFor returns the subject that keys an observation, so that it updates a known one: the subject of the one it
// names, or of one of its type that shares most of its facts, else its entity and topic.
func subjectFor(s subject, o memory.ObservationInput, named memory.Observation, topic string) string {
	if named.ID != "" && named.Type == o.Type {
		return named.Subject
	}
	for _, k := range s.known {
		shared := 0
		for _, id := range o.Facts {
			if slices.Contains(k.Facts, id) {
				shared++
			}
		}
		if k.Type == o.Type && 2*shared > min(len(k.Facts), len(o.Facts)) {
			return k.Subject
		}
	}
	stems := text.ContentStems(topic)
	if len(stems) == 0 {
		stems = text.ContentStems(o.Text)
	}
	stems = stems[:min(3, len(stems))]
	slices.Sort(stems)
	return string(s.entity.ID) + between + strings.Join(slices.Compact(stems), " ")
}

// splitSubject returns the parts that subjectFor joined.
func splitSubject(s string) (entity memory.EntityID, topic string) {
	e, topic, found := strings.Cut(s, between)
	if !found {
		return "", ""
	}
	return memory.EntityID(e), topic
}

// contains reports whether an observation is among those of an answer.
func contains(list []memory.ObservationInput, o memory.Observation) bool {
	return slices.ContainsFunc(list, func(in memory.ObservationInput) bool { return in.Type == o.Type && in.Subject == o.Subject })
}

// asInput returns an observation as an answer that repeats it.
func asInput(o memory.Observation) memory.ObservationInput {
	confidence := o.Confidence
	return memory.ObservationInput{Type: o.Type, Text: o.Text, Reasoning: o.Reasoning, Subject: o.Subject, Confidence: &confidence, Facts: o.Facts}
}
