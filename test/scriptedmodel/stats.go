package scriptedmodel

import (
	"slices"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// keptCalls is how many of the last calls are kept whole.
const keptCalls = 2000

// keptAnswer is how much of an answer is kept, in bytes.
const keptAnswer = 256 << 10

// Call is one call and what it was given.
type Call struct {
	Request
	Answer    string            // as it was sent, spoilt or not; the first 256 KiB of it
	ToolCalls []memory.ToolCall // as they were sent
	Fault     Kind              // "" = none
	Status    int               // of HTTP; 0 = none was sent
	Usage     memory.Usage      // as reported; only Calls and Failed when none was
}

// Stats holds counts since the start.
type Stats struct {
	Stages map[string]memory.Usage `json:"stages"` // by stage, as it was reported to the caller
	Faults map[Kind]int            `json:"faults"`
	Facts  *FactStats              `json:"facts,omitempty"` // with published facts
}

// Total returns the sum over all stages.
func (s Stats) Total() memory.Usage {
	var out memory.Usage
	for _, u := range s.Stages {
		out = out.Plus(u)
	}
	return out
}

type counts struct {
	stages map[string]memory.Usage
	faults map[Kind]int
}

// Calls returns the calls of a stage in their order, "" those of all; the last
// 2,000 are kept. A call is there once its answer is decided.
func (h *Handler) Calls(stage string) []Call {
	h.mu.Lock()
	defer h.mu.Unlock()
	var out []Call
	for _, c := range h.calls {
		if stage == "" || c.Stage == stage {
			out = append(out, c)
		}
	}
	slices.SortStableFunc(out, func(a, b Call) int { return a.N - b.N })
	return out
}

// Stats returns the counts.
func (h *Handler) Stats() Stats {
	h.mu.Lock()
	defer h.mu.Unlock()
	out := Stats{Stages: map[string]memory.Usage{}, Faults: map[Kind]int{}}
	for stage, u := range h.counts.stages {
		out.Stages[stage] = u
	}
	for kind, n := range h.counts.faults {
		out.Faults[kind] = n
	}
	if h.script.Facts != nil {
		f := h.script.Facts.Stats()
		out.Facts = &f
	}
	return out
}

// record keeps a call. It failed if it was refused or lost.
func (h *Handler) record(c Call) {
	c.Usage.Calls = 1
	c.Answer = c.Answer[:min(len(c.Answer), keptAnswer)]
	if c.Status != 200 {
		c.Usage.Failed = 1
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.counts.stages == nil {
		h.counts = counts{map[string]memory.Usage{}, map[Kind]int{}}
	}
	h.counts.stages[c.Stage] = h.counts.stages[c.Stage].Plus(c.Usage)
	if c.Fault != "" {
		h.counts.faults[c.Fault]++
	}
	if len(h.calls) == keptCalls {
		h.calls = h.calls[1:]
	}
	h.calls = append(h.calls, c)
}
