package score

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/eunoe-memory/eunoe/bench/dataset"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// Line is one question with what was found, as a line of a run file has it.
type Line struct {
	QID       string     `json:"qid"`
	Question  string     `json:"question"`
	Category  int        `json:"category"`
	Evidence  []string   `json:"evidence"`
	Retrieved [][]string `json:"retrieved"` // for each item found, the ids of its source turns

	Conversation string   `json:"-"`
	Texts        []string `json:"-"` // of the items found, in their order
}

// NewLine returns the line of a question for which nothing is found yet.
func NewLine(set dataset.Conversation, q dataset.Question) Line {
	return Line{QID: q.QID, Question: q.Question, Category: q.Category, Evidence: q.Evidence, Retrieved: [][]string{}, Conversation: set.ID}
}

// WriteFile writes a run file, one JSON object a line; "" writes nothing.
func WriteFile(path string, lines []Line) error {
	if path == "" {
		return nil
	}
	file, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("write the run: %w", err)
	}
	if err := errors.Join(writeLines(file, lines), file.Close()); err != nil {
		return fmt.Errorf("write the run: %w", err)
	}
	return nil
}

func writeLines(w io.Writer, lines []Line) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	for _, l := range lines {
		if err := enc.Encode(l); err != nil {
			return err
		}
	}
	return nil
}

// ReadFile reads a run file. Its lines have neither conversations nor texts.
func ReadFile(path string) ([]Line, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close() //nolint:errcheck // it is only read
	var out []Line
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 64<<20)
	for n := 1; lines.Scan(); n++ {
		var l Line
		if err := json.Unmarshal(lines.Bytes(), &l); err != nil || l.QID == "" {
			return nil, fmt.Errorf("line %d of %s is not a question of a run: %w", n, path, memory.ErrInvalid)
		}
		out = append(out, l)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	return out, nil
}
