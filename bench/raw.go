package main

import (
	"context"
	"fmt"
	"io"
	"strconv"

	"github.com/eunoe-memory/eunoe/bench/dataset"
	"github.com/eunoe-memory/eunoe/bench/score"
	"github.com/eunoe-memory/eunoe/internal/console"
	"github.com/eunoe-memory/eunoe/pkg/client"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// rawRun is what was found when less was asked for than everything.
type rawRun struct {
	lines  []score.Line // raw messages alone
	subset []subset     // the multi-hop questions
}

// subset is what was found when some kinds of records were asked for.
type subset struct {
	name    string
	records []memory.Record
	lines   []score.Line
}

// subsets returns the kinds of records, beside messages alone and everything, that show what each adds.
func subsets() []subset {
	return []subset{
		{name: "messages, facts", records: []memory.Record{memory.RecordMessage, memory.RecordFact}},
		{name: "messages, composites", records: []memory.Record{memory.RecordMessage, memory.RecordComposite}},
		{name: "messages, facts, composites", records: []memory.Record{memory.RecordMessage, memory.RecordFact, memory.RecordComposite}},
		{name: "facts", records: []memory.Record{memory.RecordFact}},
		{name: "facts, composites", records: []memory.Record{memory.RecordFact, memory.RecordComposite}},
	}
}

// runRaw asks every question again, for raw messages alone, and the multi-hop questions for each subset of records.
func runRaw(ctx context.Context, c *client.Client, sets []dataset.Conversation, o runOptions) (*rawRun, error) {
	asked := func(sets []dataset.Conversation, records []memory.Record) ([]score.Line, error) {
		run := &retrievalRun{}
		o.records = records
		err := run.askQuestions(ctx, c, sets, o)
		return run.lines, err
	}
	lines, err := asked(sets, []memory.Record{memory.RecordMessage})
	if err != nil {
		return nil, err
	}
	out := &rawRun{lines: lines}
	var multiHop []dataset.Conversation
	for _, set := range sets {
		var questions []dataset.Question
		for _, q := range set.Questions {
			if q.Category == score.MultiHop {
				questions = append(questions, q)
			}
		}
		set.Questions = questions
		multiHop = append(multiHop, set)
	}
	for _, p := range subsets() {
		if p.lines, err = asked(multiHop, p.records); err != nil {
			return nil, err
		}
		out.subset = append(out.subset, p)
	}
	return out, nil
}

// rawFigures compare everything with raw messages alone.
type rawFigures struct {
	Raw map[string]score.Score `json:"raw"` // by group: 1 to 5, 1-4 and 1-5
	// Difference is everything − raw on recall@10, by group.
	Difference map[string]score.Difference `json:"difference"`
	Parts      []subsetFigures             `json:"parts"` // of the multi-hop questions

	own, raw []score.Scored
}

// subsetFigures are what a subset of records finds of the multi-hop questions.
type subsetFigures struct {
	Records   string  `json:"records"`
	Questions int     `json:"questions"`
	Recall    float64 `json:"recall@10"`
	All       float64 `json:"all@10"`
	Hit       float64 `json:"hit@10"`
}

// figures returns nil where raw messages were not asked for.
func (r *rawRun) figures(own []score.Scored, valid map[string]map[string]bool) *rawFigures {
	if r == nil {
		return nil
	}
	raw, _ := score.Run(r.lines, valid)
	f := &rawFigures{Raw: score.ByGroup(raw), Difference: map[string]score.Difference{}, own: own, raw: raw}
	for _, g := range score.Groups() {
		a, b := g.Of(raw), g.Of(own)
		if len(a) > 0 {
			d, low, high := score.Paired(a, b, "recall@10")
			f.Difference[g.Key] = score.Difference{d, low, high}
		}
	}
	f.part("messages", raw)
	f.part("everything", own)
	for _, p := range r.subset {
		all, _ := score.Run(p.lines, valid)
		f.part(p.name, all)
	}
	return f
}

// part adds what a subset of records found of the multi-hop questions.
func (f *rawFigures) part(name string, all []score.Scored) {
	multiHop := score.Groups()[score.MultiHop-1].Of(all)
	mean := func(metric string) float64 { return score.Mean(multiHop, metric) }
	f.Parts = append(f.Parts, subsetFigures{name, len(multiHop), mean("recall@10"), mean("all@10"), mean("hit@10")})
}

func (f *rawFigures) show(w io.Writer) {
	scoreTable(w, "raw messages alone", f.raw)
	var rows [][]string
	for _, g := range score.Groups() {
		if d, ok := f.Difference[g.Key]; ok {
			rows = append(rows, []string{g.Name, fmt.Sprintf("%+.3f", d[0]), fmt.Sprintf("%+.3f to %+.3f", d[1], d[2])})
		}
	}
	fmt.Fprintln(w, "everything − raw messages, recall@10 paired by question")
	console.Table(w, []string{"category", "difference", "95% interval"}, rows)
	fmt.Fprintln(w)
	rows = nil
	for _, p := range f.Parts {
		rows = append(rows, []string{p.Records, strconv.Itoa(p.Questions), metric("", p.Recall), metric("", p.Hit), metric("", p.All)})
	}
	fmt.Fprintln(w, "multi-hop questions by what is asked for")
	console.Table(w, []string{"records", "n", "recall@10", "hit@10", "all@10"}, rows)
	fmt.Fprintln(w)
}
