// Package dataset reads labelled conversations in the shape of LoCoMo: what was said, and questions whose evidence is
// named by turn. A turn may have a role and a time of its own, and a question the turn at which it is asked. Datasets are
// taken by path; none is part of the repository.
package dataset

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// Conversation is one sample of a dataset.
type Conversation struct {
	Set       string // the dataset's name: its file's, without extension and "-dev"
	ID        string
	Sessions  []Session // in the order of their numbers
	Questions []Question
}

// Session is a run of turns in the order they were said.
type Session struct {
	ID    memory.SessionID
	Turns []memory.Message
}

// Question is asked after the whole conversation, or at the turn that Asked names: then only what was said before that turn
// counts. Evidence holds the labels as they are written; score.CleanEvidence reads them.
type Question struct {
	QID      string   `json:"qid"` // the conversation's id, "_q" and the question's index in it
	Question string   `json:"question"`
	Category int      `json:"category"`
	Evidence []string `json:"evidence"`
	Asked    string   `json:"asked"`
}

// Load reads a file: a list of samples with sample_id, conversation (session_N, session_N_date_time) and qa.
func Load(path string) ([]Conversation, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("dataset: %w", err)
	}
	out, err := Parse(data)
	if err != nil {
		return nil, fmt.Errorf("dataset %s: %w", path, err)
	}
	name := strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
	for i := range out {
		out[i].Set = strings.TrimSuffix(name, "-dev")
	}
	return out, nil
}

// Parse is Load of a file's content.
func Parse(data []byte) ([]Conversation, error) {
	var samples []struct {
		ID           string                     `json:"sample_id"`
		Conversation map[string]json.RawMessage `json:"conversation"`
		QA           []Question                 `json:"qa"`
	}
	if err := json.Unmarshal(data, &samples); err != nil {
		return nil, err
	}
	out := make([]Conversation, 0, len(samples))
	for _, s := range samples {
		sessions, err := readSessions(s.Conversation)
		if err != nil {
			return nil, fmt.Errorf("sample %s: %w", s.ID, err)
		}
		for i := range s.QA {
			s.QA[i].QID = fmt.Sprintf("%s_q%d", s.ID, i)
		}
		out = append(out, Conversation{ID: s.ID, Sessions: sessions, Questions: s.QA})
	}
	return out, nil
}

func readSessions(fields map[string]json.RawMessage) ([]Session, error) {
	var numbers []int
	for name := range fields {
		rest, ok := strings.CutPrefix(name, "session_")
		if n, err := strconv.Atoi(rest); ok && err == nil {
			numbers = append(numbers, n)
		}
	}
	slices.Sort(numbers)
	out := make([]Session, 0, len(numbers))
	for _, n := range numbers {
		name := fmt.Sprintf("session_%d", n)
		start, err := sessionTime(fields[name+"_date_time"])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		turns, err := readTurns(fields[name], start)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		out = append(out, Session{ID: memory.SessionID(name), Turns: turns})
	}
	return out, nil
}

// sessionTime reads "1:56 pm on 8 May, 2023" or "29.12.2023, 22:42:04", as UTC.
func sessionTime(raw json.RawMessage) (time.Time, error) {
	var s string
	if err := json.Unmarshal(raw, &s); err != nil {
		return time.Time{}, fmt.Errorf("its date and time is missing")
	}
	for _, layout := range []string{"3:04 pm on 2 January, 2006", "3:04 PM on 2 January, 2006", "02.01.2006, 15:04:05", time.RFC3339} {
		if t, err := time.Parse(layout, strings.TrimSpace(s)); err == nil {
			return t.UTC(), nil
		}
	}
	return time.Time{}, fmt.Errorf("%q is not a known form of date and time", s)
}

// readTurns returns the turns as messages, at their own time (UTC) or one second apart. A turn without text and caption is
// left out.
func readTurns(raw json.RawMessage, start time.Time) ([]memory.Message, error) {
	var turns []struct {
		Speaker string      `json:"speaker"`
		Role    memory.Role `json:"role"`
		ID      string      `json:"dia_id"`
		Text    string      `json:"text"`
		Caption string      `json:"blip_caption"`
		At      string      `json:"at"`
	}
	if err := json.Unmarshal(raw, &turns); err != nil {
		return nil, err
	}
	var out []memory.Message
	for i, t := range turns {
		m := memory.Message{ID: memory.MessageID(t.ID), Role: t.Role, Speaker: t.Speaker, Content: t.Text, Time: start.Add(time.Duration(i) * time.Second)}
		if t.At != "" {
			at, err := time.Parse("2006-01-02T15:04:05", t.At)
			if err != nil {
				return nil, fmt.Errorf("turn %s: %q is not a date and time", t.ID, t.At)
			}
			m.Time = at
		}
		if t.Caption != "" {
			m.Images = []memory.Image{{Caption: t.Caption}}
		}
		if m.Validate() == nil {
			out = append(out, m)
		}
	}
	return out, nil
}

// Turns returns all turns of the conversation in order.
func (c Conversation) Turns() []memory.Message {
	var out []memory.Message
	for _, s := range c.Sessions {
		out = append(out, s.Turns...)
	}
	return out
}

// Last returns when the last turn was said; zero for a conversation without turns.
func (c Conversation) Last() time.Time {
	all := c.Turns()
	if len(all) == 0 {
		return time.Time{}
	}
	return all[len(all)-1].Time
}

// Before returns how many turns a question of the conversation may rest on, and the time at which it is asked: all of them and
// the time of the last one, unless the question names the turn it is asked at.
func (c Conversation) Before(q Question) (turns int, now time.Time) {
	all := c.Turns()
	if at := slices.IndexFunc(all, func(m memory.Message) bool { return string(m.ID) == q.Asked }); q.Asked != "" && at >= 0 {
		return at, all[at].Time
	}
	return len(all), c.Last()
}

// TurnIDs returns the ids of the turns of each conversation.
func TurnIDs(sets []Conversation) map[string]map[string]bool {
	out := map[string]map[string]bool{}
	for _, set := range sets {
		out[set.ID] = map[string]bool{}
		for _, m := range set.Turns() {
			out[set.ID][string(m.ID)] = true
		}
	}
	return out
}
