package answer

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// The bounds of what a model may ask for at once.
const (
	MaxQueries  = 5    // of one search
	MaxExpanded = 10   // of one expansion
	MaxQuery    = 1000 // bytes of a query
	MaxLimit    = 20   // items of a query
)

// Search is what a model asks search_memory for.
type Search struct {
	Queries []string
	Records []memory.Record // nil = all
	From    *time.Time
	To      *time.Time
	Limit   int // 0 = what the request says
}

// Arguments are the members of a JSON object as a model wrote it.
type Arguments map[string]json.RawMessage

// Search reads the arguments of search_memory. A query that is too long is cut,
// a query or record beyond the bounds is left out. The error is memory.ErrInvalid
// and a sentence that the model can follow.
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

// Expand reads the arguments of expand: numbers of items, each once.
func (a Arguments) Expand() ([]int, error) {
	numbers, _ := a.numbers("ids")
	if len(numbers) == 0 {
		return nil, memory.Invalid("ids", "must name numbers of items that were shown")
	}
	return numbers[:min(len(numbers), MaxExpanded)], nil
}

// Ending is what a model ends with.
type Ending struct {
	Text    string   // as it wrote it, with its marks
	Cited   []int    // beside the marks
	Strange []string // what stands among the citations that is no number
	Nothing bool     // it says that memory does not hold the answer
}

// Done reads the arguments of done. Only a plain false says that nothing was found.
func (a Arguments) Done() (e Ending, err error) {
	if json.Unmarshal(a["answer"], &e.Text) != nil || strings.TrimSpace(e.Text) == "" {
		return Ending{}, memory.Invalid("answer", "must be a text that is not empty")
	}
	e.Cited, e.Strange = a.numbers("citations")
	e.Nothing = string(a["found"]) == "false"
	return e, nil
}

// texts gives a text or a list of texts; an absent member and null are empty.
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

// numbers gives the whole numbers of a list, or one alone, as 3, "3" or "[3]",
// each once; and what else stands there.
func (a Arguments) numbers(name string) (out []int, strange []string) {
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
			strange = append(strange, Clip(text, 40))
		case !slices.Contains(out, n):
			out = append(out, n)
		}
	}
	return out, strange
}

// time reads a date or a time; a date alone is its first moment, or its last.
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
	return nil, memory.Invalid(name, "%q is no date or time; expected one like 2026-05-20 or 2026-05-20T09:00:00Z", Clip(text, 40))
}

// Queries gives the queries of an adequacy round, cleaned, at most three, and
// whether what was found is enough. False means that it says neither.
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

// ReadJudgement reads one item of a judge's answer. A score outside 0 to 1, or
// a number that is none, is memory.ErrInvalid.
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

// clean makes a query of what a model wrote.
func clean(q string) string { return Clip(strings.TrimSpace(strings.ToValidUTF8(q, " ")), MaxQuery) }

// Clip cuts a text to at most n bytes, between runes.
func Clip(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n]
}

// Refused is what a model is told of a call that could not be carried out.
func Refused(err error) string {
	return fmt.Sprintf("This call was not carried out: %s.", Clip(err.Error(), 300))
}
