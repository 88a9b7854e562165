package plan

import "github.com/eunoe-memory/eunoe/pkg/memory"

// Retimed returns the facts of a state that computing its whole timeline anew changes.
func Retimed(v View, s memory.State, cfg Config) ([]memory.Fact, error) {
	ws, err := newWorkspace(v, memory.Write{}, cfg, nil)
	if err != nil {
		return nil, err
	}
	ws.retime(s)
	var out []memory.Fact
	for _, f := range ws.changedFacts() {
		out = append(out, f.now)
	}
	return out, ws.err
}
