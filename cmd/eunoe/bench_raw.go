package main

import (
	"context"
	"fmt"
	"io"
	"strconv"

	"github.com/eunoe-memory/eunoe/pkg/client"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// multiHop is the category whose questions rest on several turns.
const multiHop = 1

// rawRun is what was found when less was asked for than everything.
type rawRun struct {
	lines []runLine // raw messages alone
	parts []rawPart // the questions of category 1
}

// rawPart is what a choice of records found.
type rawPart struct {
	name    string
	records []memory.Record
	lines   []runLine
}

// rawParts are the choices of records, beside messages alone and everything,
// that show what each adds.
func rawParts() []rawPart {
	return []rawPart{
		{name: "messages, facts", records: []memory.Record{memory.RecordMessage, memory.RecordFact}},
		{name: "messages, composites", records: []memory.Record{memory.RecordMessage, memory.RecordComposite}},
		{name: "messages, facts, composites", records: []memory.Record{memory.RecordMessage, memory.RecordFact, memory.RecordComposite}},
		{name: "facts", records: []memory.Record{memory.RecordFact}},
		{name: "facts, composites", records: []memory.Record{memory.RecordFact, memory.RecordComposite}},
	}
}

// runRaw asks every question again, for raw messages alone, and those of
// category 1 for each choice of records.
func runRaw(ctx context.Context, c *client.Client, sets []conversation, o benchOptions) (*rawRun, error) {
	asked := func(sets []conversation, records []memory.Record) ([]runLine, error) {
		run := &benchRun{}
		o.records = records
		err := askQuestions(ctx, c, sets, o, run)
		return run.lines, err
	}
	lines, err := asked(sets, []memory.Record{memory.RecordMessage})
	if err != nil {
		return nil, err
	}
	out := &rawRun{lines: lines}
	var some []conversation
	for _, set := range sets {
		var questions []benchQuestion
		for _, q := range set.Questions {
			if q.Category == multiHop {
				questions = append(questions, q)
			}
		}
		set.Questions = questions
		some = append(some, set)
	}
	for _, p := range rawParts() {
		if p.lines, err = asked(some, p.records); err != nil {
			return nil, err
		}
		out.parts = append(out.parts, p)
	}
	return out, nil
}

// rawFigures hold everything against raw messages alone.
type rawFigures struct {
	Raw map[string]Score `json:"raw"` // by group: 1 to 5, 1-4 and 1-5
	// Difference is everything − raw on recall@10 by group: the mean over the
	// questions and the ends of its 95% interval.
	Difference map[string][3]float64 `json:"difference"`
	Parts      []partFigures         `json:"parts"` // category 1 by choice of records

	own, raw []scored
}

// partFigures are what a choice of records finds of category 1.
type partFigures struct {
	Records   string  `json:"records"`
	Questions int     `json:"questions"`
	Recall    float64 `json:"recall@10"`
	All       float64 `json:"all@10"`
	Hit       float64 `json:"hit@10"`
}

// figures gives nil where raw messages were not asked for.
func (r *rawRun) figures(own []scored, valid map[string]map[string]bool) *rawFigures {
	if r == nil {
		return nil
	}
	raw, _ := scoreRun(r.lines, valid)
	f := &rawFigures{Raw: byGroup(raw), Difference: map[string][3]float64{}, own: own, raw: raw}
	for _, g := range scoreGroups() {
		a, b := only(raw, g), only(own, g)
		if len(a) > 0 {
			d, low, high := paired(a, b, "recall@10")
			f.Difference[g.key] = [3]float64{d, low, high}
		}
	}
	f.part("messages", raw)
	f.part("everything", own)
	for _, p := range r.parts {
		all, _ := scoreRun(p.lines, valid)
		f.part(p.name, all)
	}
	return f
}

// part adds what a choice of records found of category 1.
func (f *rawFigures) part(name string, all []scored) {
	of := func(m string) float64 {
		v, _ := mean(all, m, func(category int) bool { return category == multiHop })
		return v
	}
	_, n := mean(all, "recall@10", func(category int) bool { return category == multiHop })
	f.Parts = append(f.Parts, partFigures{name, n, of("recall@10"), of("all@10"), of("hit@10")})
}

// only gives the questions of a group, in order.
func only(all []scored, g scoreGroup) []scored {
	var out []scored
	for _, s := range all {
		if g.in(s.Category) {
			out = append(out, s)
		}
	}
	return out
}

func (f *rawFigures) show(w io.Writer) {
	scoreTable(w, "raw messages alone", f.raw)
	var rows [][]string
	for _, g := range scoreGroups() {
		if d, ok := f.Difference[g.key]; ok {
			rows = append(rows, []string{g.name, fmt.Sprintf("%+.3f", d[0]), fmt.Sprintf("%+.3f to %+.3f", d[1], d[2])})
		}
	}
	fmt.Fprintln(w, "everything − raw messages, recall@10 paired by question")
	table(w, []string{"category", "difference", "95% interval"}, rows)
	fmt.Fprintln(w)
	rows = nil
	for _, p := range f.Parts {
		rows = append(rows, []string{p.Records, strconv.Itoa(p.Questions), metric("", p.Recall), metric("", p.Hit), metric("", p.All)})
	}
	fmt.Fprintln(w, "multi-hop questions by what is asked for")
	table(w, []string{"records", "n", "recall@10", "hit@10", "all@10"}, rows)
	fmt.Fprintln(w)
}
