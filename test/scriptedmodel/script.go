package scriptedmodel

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// Response is the answer to one call.
type Response struct {
	Text      string
	Calls     []memory.ToolCall // with Text or in its place; an empty ID is given one
	Truncated bool              // finish_reason "length"
	Fault     Kind              // what goes wrong with it; "" = nothing
	Wait      time.Duration     // as in Fault
}

// Script says how the model behaves. The zero value follows the rules alone. It may be extended while a server uses it,
// and is safe for concurrent use; the exported fields are set before the server starts. One server uses one script.
type Script struct {
	Obey      bool          // follow every instruction planted in what is shown
	Facts     *Facts        // published facts that extraction is answered with
	Latency   time.Duration // before every answer
	Dimension int           // of embeddings; 0 = DefaultDimension
	Context   int           // tokens a prompt may have; 0 = any
	Model     string        // its name in answers and in the list of models; "" = "testmodel"

	mu     sync.Mutex
	queues map[string][]step
	faults []*countedFault
	lines  []*Line
	funcs  map[string]func(Request) Response
}

type countedFault struct {
	Fault
	seen, done int
}

// step is what a script has for one call. Without given the answer is still to
// be found, and the response says only what goes wrong with it.
type step struct {
	Response
	given bool
}

// Answer queues an answer for the next call of a stage; "" is any stage. A queued answer is used once, in the order of
// queueing. For embeddings and rerank it is the whole body of the reply.
func (s *Script) Answer(stage, text string) *Script {
	return s.queue(stage, step{Response{Text: text}, true})
}

// Call queues an answer that calls one tool.
func (s *Script) Call(stage, tool, arguments string) *Script {
	return s.queue(stage, step{Response{Calls: []memory.ToolCall{{Name: tool, Arguments: arguments}}}, true})
}

// Respond queues a whole response.
func (s *Script) Respond(stage string, r Response) *Script { return s.queue(stage, step{r, true}) }

// Fault queues a fault for the next calls of a stage, so many times. What it
// spoils is the answer the call would have had without the queue.
func (s *Script) Fault(stage string, kind Kind, times int) *Script {
	for range times {
		s.queue(stage, step{Response: Response{Fault: kind}})
	}
	return s
}

// Inject adds a fault by rule. Of several rules that apply the first is used.
func (s *Script) Inject(f Fault) *Script {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = append(s.faults, &countedFault{Fault: f})
	return s
}

// Func answers all calls of a stage by a function, where nothing is queued and
// no line matches; "" is any stage that has no function of its own.
func (s *Script) Func(stage string, fn func(Request) Response) *Script {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.funcs == nil {
		s.funcs = map[string]func(Request) Response{}
	}
	s.funcs[stage] = fn
	return s
}

func (s *Script) queue(stage string, next step) *Script {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.queues == nil {
		s.queues = map[string][]step{}
	}
	s.queues[stage] = append(s.queues[stage], next)
	return s
}

// next returns what the script has for a call, and the function that answers where it has no answer; nil = none.
func (s *Script) next(r *Request) (out step, fn func(Request) Response) {
	out, fn = s.take(r)
	if !out.Fault.concerns(r) {
		out.Fault = ""
	}
	return out, fn
}

func (s *Script) take(r *Request) (out step, fn func(Request) Response) {
	s.mu.Lock()
	defer s.mu.Unlock()
	fn = s.funcs[r.Stage]
	if fn == nil {
		fn = s.funcs[""]
	}
	var fired *countedFault
	for _, f := range s.faults {
		if f.due(r.Stage) && fired == nil {
			fired = f
		}
	}
	for _, stage := range []string{r.Stage, ""} {
		if q := s.queues[stage]; len(q) > 0 {
			s.queues[stage] = q[1:]
			return q[0], fn
		}
	}
	if fired != nil {
		fired.done++
		return step{Response: Response{Fault: fired.Kind, Wait: fired.Wait}}, fn
	}
	for _, l := range s.lines {
		if l.matches(r) {
			l.used++
			return l.out, fn
		}
	}
	return step{}, fn
}

// due counts a call of the stage and says whether the fault is its.
func (f *countedFault) due(stage string) bool {
	if f.Stage != "" && f.Stage != stage {
		return false
	}
	f.seen++
	if f.seen <= f.After || f.Times > 0 && f.done >= f.Times {
		return false
	}
	return (f.seen-f.After)%max(f.Every, 1) == 0
}

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

// Line is one rule of a script file: calls of Stage whose prompt contains Contains get Answer, Calls or Fault.
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
