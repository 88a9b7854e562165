package main

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// conversation is one sample of a dataset: what was said, and questions whose
// evidence is named by turn.
type conversation struct {
	ID        string
	Sessions  []benchSession
	Questions []benchQuestion
}

type benchSession struct {
	ID    memory.SessionID
	Turns []memory.Message
}

type benchQuestion struct {
	QID      string   `json:"qid"`
	Question string   `json:"question"`
	Category int      `json:"category"`
	Evidence []string `json:"evidence"`
}

// loadDataset reads a file in the shape of LoCoMo: a list of samples with
// sample_id, conversation (session_N, session_N_date_time) and qa.
func loadDataset(path string) ([]conversation, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("dataset: %w", err)
	}
	out, err := ParseDataset(data)
	if err != nil {
		return nil, fmt.Errorf("dataset %s: %w", path, err)
	}
	return out, nil
}

// ParseDataset reads a dataset; sessions are in the order of their numbers.
func ParseDataset(data []byte) ([]conversation, error) {
	var samples []struct {
		ID           string                     `json:"sample_id"`
		Conversation map[string]json.RawMessage `json:"conversation"`
		QA           []benchQuestion            `json:"qa"`
	}
	if err := json.Unmarshal(data, &samples); err != nil {
		return nil, err
	}
	out := make([]conversation, 0, len(samples))
	for _, s := range samples {
		sessions, err := readSessions(s.Conversation)
		if err != nil {
			return nil, fmt.Errorf("sample %s: %w", s.ID, err)
		}
		for i := range s.QA {
			s.QA[i].QID = fmt.Sprintf("%s_q%d", s.ID, i)
		}
		out = append(out, conversation{ID: s.ID, Sessions: sessions, Questions: s.QA})
	}
	return out, nil
}

func readSessions(fields map[string]json.RawMessage) ([]benchSession, error) {
	var numbers []int
	for name := range fields {
		rest, ok := strings.CutPrefix(name, "session_")
		if n, err := strconv.Atoi(rest); ok && err == nil {
			numbers = append(numbers, n)
		}
	}
	slices.Sort(numbers)
	out := make([]benchSession, 0, len(numbers))
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
		out = append(out, benchSession{ID: memory.SessionID(name), Turns: turns})
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
	return time.Time{}, fmt.Errorf("%q is no date and time this program knows", s)
}

// readTurns gives the turns as messages, one second each. A turn without text
// and caption is left out.
func readTurns(raw json.RawMessage, start time.Time) ([]memory.Message, error) {
	var turns []struct {
		Speaker string `json:"speaker"`
		ID      string `json:"dia_id"`
		Text    string `json:"text"`
		Caption string `json:"blip_caption"`
	}
	if err := json.Unmarshal(raw, &turns); err != nil {
		return nil, err
	}
	var out []memory.Message
	for i, t := range turns {
		m := memory.Message{ID: memory.MessageID(t.ID), Speaker: t.Speaker, Content: t.Text, Time: start.Add(time.Duration(i) * time.Second)}
		if t.Caption != "" {
			m.Images = []memory.Image{{Caption: t.Caption}}
		}
		if m.Validate() == nil {
			out = append(out, m)
		}
	}
	return out, nil
}

// turns gives all turns of the conversation in order.
func (c conversation) turns() []memory.Message {
	var out []memory.Message
	for _, s := range c.Sessions {
		out = append(out, s.Turns...)
	}
	return out
}

// last is when the last turn was said.
func (c conversation) last() time.Time {
	all := c.turns()
	if len(all) == 0 {
		return time.Time{}
	}
	return all[len(all)-1].Time
}
