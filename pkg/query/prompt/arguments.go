package prompt

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// The bounds of what a model may ask for at once.
const (
	MaxQueries  = 5    // of one search
	MaxExpanded = 10   // of one expansion
	MaxQuery    = 1000 // bytes of a query
	MaxLimit    = 20   // items of a query
)

// Search is what a model asks of search_memory.
type Search struct {
	Queries []string
	Records []memory.Record // nil = all
	From    *time.Time
	To      *time.Time
	Limit   int // 0 = as many as the request says
}

// Arguments are the members of a JSON object as a model wrote it.
type Arguments map[string]json.RawMessage

// Search reads the arguments of search_memory. A query that is too long is cut; a query beyond the bound and an unknown
// record are left out. The error is memory.ErrInvalid and says what the model should change.
func (a Arguments) Search() (Search, error) {
	var out Search
	for _, name := range []string{"queries", "query"} {
		list, ok := a.texts(name)
		if !ok {
			return out, memory.Invalid(name, "must be a text or a list of texts")
		}
		for _, q := range list {
			if q = clean(q); q != "" && !slices.Contains(out.Queries, q) && len(out.Queries) < MaxQueries {
				out.Queries = append(out.Queries, q)
			}
		}
	}
	if len(out.Queries) == 0 {
		return out, memory.Invalid("queries", "must name something to look for")
	}
	records, ok := a.texts("records")
	if !ok {
		return out, memory.Invalid("records", "must be a list of fact, composite, observation or message")
	}
	for _, r := range records {
		rec := memory.Record(strings.ToLower(strings.TrimSpace(r)))
		if slices.Contains(memory.Records, rec) && !slices.Contains(out.Records, rec) {
			out.Records = append(out.Records, rec)
		}
	}
	if len(records) > 0 && len(out.Records) == 0 {
		return out, memory.Invalid("records", "must be of fact, composite, observation and message")
	}
	var err error
	if out.From, err = a.time("from", false); err != nil {
		return out, err
	}
	if out.To, err = a.time("to", true); err != nil {
		return out, err
	}
	if out.From != nil && out.To != nil && out.To.Before(*out.From) {
		return out, memory.Invalid("to", "lies before from")
	}
	if numbers, _ := a.numbers("limit"); len(numbers) > 0 {
		out.Limit = min(max(numbers[0], 0), MaxLimit)
	}
	return out, nil
}

// Expand reads the arguments of expand: the numbers of items, each once.
func (a Arguments) Expand() ([]int, error) {
	numbers, _ := a.numbers("ids")
	if len(numbers) == 0 {
		return nil, memory.Invalid("ids", "must name numbers of items that were shown")
	}
	return numbers[:min(len(numbers), MaxExpanded)], nil
}

// Answer is a model's answer.
type Answer struct {
	Text     string   // as the model wrote it, with its marks
	Cited    []int    // the numbers it lists apart from the marks
	Invalid  []string // what it lists as citations that is no number
	NotFound bool     // it says that memory does not hold the answer
}

// Done reads the arguments of done. Only a plain false means that nothing was found.
func (a Arguments) Done() (out Answer, err error) {
	if json.Unmarshal(a["answer"], &out.Text) != nil || strings.TrimSpace(out.Text) == "" {
		return Answer{}, memory.Invalid("answer", "must be a text that is not empty")
	}
	out.Cited, out.Invalid = a.numbers("citations")
	out.NotFound = string(a["found"]) == "false"
	return out, nil
}

// texts returns a text or a list of texts; an absent member and null are empty.
func (a Arguments) texts(name string) ([]string, bool) {
	raw := a[name]
	if len(raw) == 0 || string(raw) == "null" {
		return nil, true
	}
	var one string
	if json.Unmarshal(raw, &one) == nil {
		return []string{one}, true
	}
	var list []any
	if json.Unmarshal(raw, &list) != nil {
		return nil, false
	}
	var out []string
	for _, v := range list {
		if s, ok := v.(string); ok {
			out = append(out, s)
		}
	}
	return out, len(out) > 0 || len(list) == 0
}

// numbers returns the whole numbers of a list, or a single one, written as 3, "3" or "[3]", each once; and what else
// the list holds.
func (a Arguments) numbers(name string) (out []int, invalid []string) {
	var list []json.RawMessage
	if json.Unmarshal(a[name], &list) != nil {
		if len(a[name]) == 0 || string(a[name]) == "null" {
			return nil, nil
		}
		list = []json.RawMessage{a[name]}
	}
	for _, raw := range list {
		text := strings.Trim(string(raw), `"[]#() `)
		n, err := strconv.Atoi(text)
		switch {
		case err != nil:
			invalid = append(invalid, memory.Truncate(text, 40))
		case !slices.Contains(out, n):
			out = append(out, n)
		}
	}
	return out, invalid
}

// time reads a date or a time; a date alone means its first moment, or its last.
func (a Arguments) time(name string, last bool) (*time.Time, error) {
	list, ok := a.texts(name)
	if !ok || len(list) == 0 || strings.TrimSpace(list[0]) == "" {
		if !ok {
			return nil, memory.Invalid(name, "must be a date or a time, as 2026-05-20 or 2026-05-20T09:00:00Z")
		}
		return nil, nil
	}
	text := strings.TrimSpace(list[0])
	if t, err := time.Parse(time.RFC3339, text); err == nil && t.UTC().Year() >= 1 && t.UTC().Year() <= 9999 {
		t = t.UTC()
		return &t, nil
	}
	if t, err := time.Parse(time.DateOnly, text); err == nil && t.Year() >= 1 {
		if last {
			t = t.Add(24*time.Hour - time.Microsecond)
		}
		return &t, nil
	}
	return nil, memory.Invalid(name, "%q is no date or time; expected one like 2026-05-20 or 2026-05-20T09:00:00Z", memory.Truncate(text, 40))
}

// Queries returns the queries of an adequacy round, cleaned, at most three, and whether what was found is enough. ok is
// false when the answer says neither.
func (a Arguments) Queries() (queries []string, enough, ok bool) {
	said := json.Unmarshal(a["enough"], &enough) == nil && len(a["enough"]) > 0
	list, readable := a.texts("queries")
	for _, q := range list {
		if q = clean(q); q != "" && len(queries) < 3 {
			queries = append(queries, q)
		}
	}
	return queries, enough, said || readable && len(queries) > 0
}

// Judgement is the score of one item.
type Judgement struct {
	Number int
	Score  float64 // 0 to 1
}

// ReadJudgement reads one item of a judge's answer. A score outside 0 to 1, and anything that is no number, is
// memory.ErrInvalid.
func ReadJudgement(raw json.RawMessage) (Judgement, error) {
	var a Arguments
	if json.Unmarshal(raw, &a) != nil {
		return Judgement{}, memory.Invalid("judgements", "an item is no object")
	}
	numbers, _ := a.numbers("n")
	score, err := strconv.ParseFloat(strings.Trim(string(a["score"]), `" `), 64)
	if len(numbers) != 1 || err != nil || !(score >= 0 && score <= 1) {
		return Judgement{}, memory.Invalid("judgements", "an item has no number or no score from 0 to 1")
	}
	return Judgement{numbers[0], score}, nil
}

// clean makes valid UTF-8 of at most MaxQuery bytes of what a model wrote.
func clean(q string) string {
	return memory.Truncate(strings.TrimSpace(strings.ToValidUTF8(q, " ")), MaxQuery)
}

// Refused returns what a model is told about a call that could not be carried out.
func Refused(err error) string {
	return fmt.Sprintf("This call was not carried out: %s.", memory.Truncate(err.Error(), 300))
}
