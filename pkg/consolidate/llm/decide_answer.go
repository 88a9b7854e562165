package llm

import (
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/provider/reply"
)

// pair is a fact and an older one that the prompt showed together, by their positions in the batch.
type pair struct{ newer, older int }

// pairs maps the numbers of a prompt to what they stand for.
type pairs struct {
	batch []decideCase
	newer map[int]int     // position in the batch, by number of the new fact
	shown map[[2]int]pair // by the numbers of a new and an older fact
	long  map[[2]int]bool // pairs of which a text was shortened
}

// decidePrompt returns the prompt for a batch of facts. A statement that belongs to several cases is shown once.
func decidePrompt(s shown, batch []decideCase) (memory.Prompt, pairs, error) {
	type decideLine struct {
		New   int   `json:"new"`
		Older []int `json:"older"`
	}
	ps := pairs{batch: batch, newer: map[int]int{}, shown: map[[2]int]pair{}, long: map[[2]int]bool{}}
	numbers := map[memory.FactID]int{}
	var statements, cases []any
	number := func(f memory.Fact) int {
		n, ok := numbers[f.ID]
		if !ok {
			n = len(numbers) + 1
			numbers[f.ID] = n
			statements = append(statements, s.statement(n, f))
		}
		return n
	}
	for i, c := range batch {
		line := decideLine{}
		for _, t := range c.older {
			line.Older = append(line.Older, number(t))
		}
		line.New = number(c.fact)
		ps.newer[line.New] = i
		for j, n := range line.Older {
			ps.shown[[2]int{line.New, n}] = pair{i, j}
			ps.long[[2]int{line.New, n}] = len(c.fact.Text) > s.bytes || len(c.older[j].Text) > s.bytes
		}
		cases = append(cases, line)
	}
	p, err := prompt(memory.StageDecide, append(statements, cases...))
	return p, ps, err
}

// decideItem is one accepted item of an answer.
type decideItem struct {
	pair
	action       memory.Action
	text, reason string
	relation     *memory.Relation
}

// decideAnswer is the accepted part of an answer.
type decideAnswer struct {
	items   []decideItem
	refused int
	bad     map[int]bool // facts of the batch with a refused item
	// truncated says that the answer was cut off, or that an item names no fact.
	truncated bool
	nonsense  bool
}

// answers reports whether the answer decides about a fact: by an accepted item or, where the answer is complete and
// none of the fact's items was refused, by naming it not at all, which means that there is nothing to do.
func (a decideAnswer) answers(i int) bool {
	if slices.ContainsFunc(a.items, func(d decideItem) bool { return d.newer == i }) {
		return true
	}
	return !a.nonsense && !a.truncated && !a.bad[i]
}

// parseDecisions checks the items of an answer against the pairs that were shown. It refuses a pair that was not shown,
// an unknown action, an update without a wording, and a second decision about a pair. The error wraps memory.ErrInvalid
// where the answer holds no list of decisions.
func parseDecisions(text string, truncated bool, ps pairs) (decideAnswer, error) {
	items, notes, err := reply.Items(text, "decisions")
	if err != nil {
		return decideAnswer{}, err
	}
	a := decideAnswer{bad: map[int]bool{}, truncated: truncated || notes.Truncated || notes.Broken > 0, refused: notes.Broken}
	seen := map[pair]bool{}
	for _, raw := range items {
		item, newer, ok := parseDecision(raw, ps)
		if ok && !seen[item.pair] {
			seen[item.pair] = true
			a.items = append(a.items, item)
			continue
		}
		a.refused++
		if i, known := ps.newer[newer]; known && !ok {
			a.bad[i] = true
		}
		a.truncated = a.truncated || newer == 0
	}
	if len(a.items) == 0 && a.refused > 0 && len(a.bad) == 0 {
		return decideAnswer{}, memory.Invalid("decisions", "names nothing that was shown")
	}
	return a, nil
}

func parseDecision(raw json.RawMessage, ps pairs) (item decideItem, newer int, ok bool) {
	var in struct {
		New      loose           `json:"new"`
		Older    loose           `json:"older"`
		Action   string          `json:"action"`
		Text     *string         `json:"text"`
		Reason   json.RawMessage `json:"reason"`
		Relation *string         `json:"relation"`
		Strength *loose          `json:"strength"`
	}
	if json.Unmarshal(raw, &in) != nil {
		var who struct {
			New loose `json:"new"`
		}
		_ = json.Unmarshal(raw, &who) // what is no object names no fact
		return item, who.New.whole(), false
	}
	newer = in.New.whole()
	key := [2]int{newer, in.Older.whole()}
	p, known := ps.shown[key]
	item = decideItem{pair: p, action: memory.Action(strings.ToLower(strings.TrimSpace(in.Action))), reason: plain(in.Reason, 300)}
	if !known || !item.action.Valid() {
		return item, newer, false
	}
	if item.action == memory.ActionUpdate {
		if in.Text == nil || memory.NormalText(*in.Text) == "" || len(*in.Text) > memory.MaxFactText || ps.long[key] {
			return item, newer, false
		}
		item.text = strings.TrimSpace(*in.Text)
	}
	if item.action == memory.ActionMerge && ps.long[key] {
		return item, newer, false
	}
	if in.Relation != nil && strings.TrimSpace(*in.Relation) != "" {
		c := ps.batch[p.newer]
		from, to := c.fact.ID, c.older[p.older].ID
		strength := 0.5
		if in.Strength != nil && !math.IsNaN(float64(*in.Strength)) {
			strength = max(0, min(1, float64(*in.Strength)))
		}
		facts := []memory.FactID{from, to}
		slices.Sort(facts)
		item.relation = &memory.Relation{From: string(from), To: string(to), Strength: strength, Facts: facts,
			Type: memory.RelationType(strings.ReplaceAll(strings.ToLower(clip(strings.TrimSpace(*in.Relation), 64)), " ", "_"))}
	}
	return item, newer, true
}

// loose is a number that a model may have written as a string.
type loose float64

// UnmarshalJSON reads 3, 3.0 and "3"; anything else, null included, is NaN.
func (l *loose) UnmarshalJSON(b []byte) error {
	v, err := strconv.ParseFloat(strings.Trim(string(b), `" `), 64)
	if err != nil {
		*l = loose(math.NaN())
		return nil
	}
	*l = loose(v)
	return nil
}

// whole returns a whole number from 1 to 999,999; 0 for any other.
func (l loose) whole() int {
	if v := float64(l); v == math.Trunc(v) && v > 0 && v < 1e6 {
		return int(v)
	}
	return 0
}

// plain returns a JSON string, at most n bytes of it; "" for another kind of value.
func plain(raw json.RawMessage, n int) string {
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return clip(strings.TrimSpace(s), n)
}

func clip(s string, n int) string {
	if len(s) <= n {
		return strings.ToValidUTF8(s, "")
	}
	return strings.ToValidUTF8(s[:n], "")
}

func isNonsense(err error) bool {
	return errors.Is(err, errNonsense) || errors.Is(err, memory.ErrInvalid)
}
