package providertest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"
)

// ReadFacts reads facts, one JSON object a line with sample_id, session,
// speaker, fact and evidence (a turn's id, or several), and the dataset with
// their turns: a list of samples with sample_id and conversation, whose
// session_N are lists of turns with dia_id, speaker and text.
func ReadFacts(facts, dataset []byte) (*Facts, error) {
	f := &Facts{asked: map[int]bool{}, given: map[int]map[int]bool{}}
	places, err := f.readTurns(dataset)
	if err != nil {
		return nil, fmt.Errorf("turns: %w", err)
	}
	in := bufio.NewScanner(bytes.NewReader(facts))
	in.Buffer(nil, 16<<20)
	for n := 1; in.Scan(); n++ {
		line := bytes.TrimSpace(in.Bytes())
		if len(line) == 0 {
			continue
		}
		var one struct {
			Sample   string          `json:"sample_id"`
			Speaker  string          `json:"speaker"`
			Fact     string          `json:"fact"`
			Evidence json.RawMessage `json:"evidence"`
		}
		if err := json.Unmarshal(line, &one); err != nil || one.Fact == "" {
			return nil, fmt.Errorf("facts, line %d: no object with a fact", n)
		}
		p := publishedFact{text: one.Fact, speaker: one.Speaker}
		for _, id := range evidence(one.Evidence) {
			if at, ok := places[one.Sample+" "+id]; ok && !slices.Contains(p.turns, at) {
				p.turns = append(p.turns, at)
			}
		}
		if len(p.turns) == 0 {
			f.unplaced++
			continue
		}
		slices.Sort(p.turns)
		f.facts = append(f.facts, p)
	}
	if err := in.Err(); err != nil {
		return nil, fmt.Errorf("facts: %w", err)
	}
	sort.SliceStable(f.facts, func(i, j int) bool { return f.facts[i].last() < f.facts[j].last() })
	return f, nil
}

func (p publishedFact) last() int { return p.turns[len(p.turns)-1] }

// evidence reads one turn's id or several, as a text or a list.
func evidence(raw json.RawMessage) []string {
	var list []string
	var one string
	if json.Unmarshal(raw, &one) == nil {
		list = []string{one}
	} else if json.Unmarshal(raw, &list) != nil {
		return nil
	}
	var out []string
	for _, e := range list {
		out = append(out, strings.FieldsFunc(e, func(r rune) bool { return strings.ContainsRune(" ,;", r) })...)
	}
	return out
}

func (f *Facts) readTurns(dataset []byte) (map[string]int, error) {
	var samples []struct {
		ID           string                     `json:"sample_id"`
		Conversation map[string]json.RawMessage `json:"conversation"`
	}
	if err := json.Unmarshal(dataset, &samples); err != nil {
		return nil, err
	}
	places, n := map[string]int{}, 0
	for _, s := range samples {
		var numbers []int
		for name := range s.Conversation {
			rest, ok := strings.CutPrefix(name, "session_")
			if k, err := strconv.Atoi(rest); ok && err == nil {
				numbers = append(numbers, k)
			}
		}
		slices.Sort(numbers)
		for _, k := range numbers {
			var turns []struct {
				ID      string `json:"dia_id"`
				Text    string `json:"text"`
				Caption string `json:"blip_caption"`
			}
			if err := json.Unmarshal(s.Conversation["session_"+itoa(k)], &turns); err != nil {
				return nil, fmt.Errorf("sample %s, session %d: %w", s.ID, k, err)
			}
			var session []turn
			for _, t := range turns {
				n++
				places[s.ID+" "+t.ID] = n
				if text := folded(t.Text); text != "" {
					session = append(session, turn{n, text})
				} else if t.Caption != "" {
					session = append(session, turn{n, "[image: " + folded(t.Caption) + "]"})
				}
			}
			f.sessions = append(f.sessions, session)
		}
	}
	return places, nil
}

func folded(text string) string { return strings.Join(strings.Fields(text), " ") }
