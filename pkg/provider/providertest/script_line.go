package providertest

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// Load adds the lines of a script file: one JSON object a line, empty lines and
// lines that begin with # left out. An error names the line, and nothing is added.
func (s *Script) Load(r io.Reader) error {
	var add []*Line
	in := bufio.NewScanner(r)
	in.Buffer(nil, 16<<20)
	for n := 1; in.Scan(); n++ {
		text := strings.TrimSpace(in.Text())
		if text == "" || text[0] == '#' {
			continue
		}
		l := &Line{}
		d := json.NewDecoder(strings.NewReader(text))
		d.DisallowUnknownFields()
		err := d.Decode(l)
		if err == nil {
			err = l.prepare()
		}
		if err != nil {
			return fmt.Errorf("script line %d: %w", n, err)
		}
		add = append(add, l)
	}
	if err := in.Err(); err != nil {
		return fmt.Errorf("script: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lines = append(s.lines, add...)
	return nil
}

func (l *Line) prepare() error {
	if len(l.Answer) == 0 && len(l.Calls) == 0 && l.Fault == "" {
		return fmt.Errorf("it has neither answer, calls nor fault")
	}
	if l.Fault != "" {
		f, err := ParseFault(l.Fault)
		if err != nil {
			return err
		}
		l.out.Fault, l.out.Wait = f.Kind, f.Wait
	}
	if json.Unmarshal(l.Answer, &l.out.Text) != nil {
		l.out.Text = string(l.Answer)
	}
	l.out.given = len(l.Answer) > 0 || len(l.Calls) > 0
	for _, c := range l.Calls {
		l.out.Calls = append(l.out.Calls, memory.ToolCall{Name: c.Name, Arguments: string(c.Arguments)})
	}
	return nil
}

// Line is one rule of a script file: calls of Stage whose prompt contains
// Contains get Answer, Calls or Fault.
type Line struct {
	Stage    string          `json:"stage"`    // "" = any
	Contains string          `json:"contains"` // anywhere in the messages, letter case counts; "" = any
	Answer   json.RawMessage `json:"answer"`   // a JSON text as it is, anything else as JSON
	Calls    []struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	} `json:"calls"`
	Fault string `json:"fault"` // as ParseFault reads it, of which kind and wait count
	Times int    `json:"times"` // at most so often, then the next line that matches; 0 = without end

	used int
	out  step
}

func (l *Line) matches(r *Request) bool {
	if l.Stage != "" && l.Stage != r.Stage || l.Times > 0 && l.used >= l.Times {
		return false
	}
	if l.Contains == "" {
		return true
	}
	for _, m := range r.Messages {
		if strings.Contains(m.Content, l.Contains) {
			return true
		}
	}
	for _, t := range r.Texts {
		if strings.Contains(t, l.Contains) {
			return true
		}
	}
	return strings.Contains(r.Query, l.Contains)
}
