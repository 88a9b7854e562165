//go:build !race

package main

import (
	"context"
	"io"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/eunoe-memory/eunoe/bench/dataset"
	"github.com/eunoe-memory/eunoe/bench/score"
	"github.com/eunoe-memory/eunoe/internal/app/apptest"
	"github.com/eunoe-memory/eunoe/pkg/client"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/query/recall"
)

// talk is a dataset, as much of it as is measured, and the bounds of what is found. They lie some half a point below what was
// measured, so that a ranking that is worse on one kind of talk fails here.
type talk struct {
	file          string
	conversations int         // the first so many; 0 = all
	turns         int         // of each, about the first so many; 0 = all
	least         score.Score // of everything
	above         float64     // recall@10 above plain BM25's in the same run
	raw           float64     // recall@10 of raw messages alone; 0 = not asked
	last          float64     // hit@10 above plain BM25's where each question comes behind five others; 0 = not asked
	foreign       float64     // how surely the confidence knows what nobody spoke of (AUC)
	unanswered    float64     // the same of category 5; 0 = there is none
	worse         worsening   // with which a bound of least does not hold
}

// worsening is a wrong weight of a signal that a kind of talk hangs on.
type worsening struct {
	signal string
	factor float64 // by which its weights are multiplied
}

var talks = []talk{
	{file: "locomo-dev.json", least: score.Score{"recall@10": .835, "hit@10": .885, "MRR": .68, "brecall@10": .83},
		above: .22, raw: .83, foreign: .975, unanswered: .86, worse: worsening{"words", .5}},
	{file: "realtalk-dev.json", least: score.Score{"recall@10": .68, "hit@10": .81, "MRR": .588},
		above: .10, raw: .675, foreign: .93, worse: worsening{"told", .5}},
	{file: "beam-dev.json", conversations: 4, least: score.Score{"recall@10": .68, "hit@10": .88, "MRR": .61},
		above: .14, foreign: .985, unanswered: .75, worse: worsening{"length", .5}},
	{file: "realmem-dev.json", conversations: 1, turns: 700, least: score.Score{"recall@10": .31, "hit@10": .44, "MRR": .268},
		above: .06, foreign: .98, worse: worsening{"session share", 0}},
	{file: "lifebench-en-dev.json", turns: 700, least: score.Score{"recall@10": .592, "hit@10": .99, "MRR": .79},
		above: .22, last: .45, foreign: .985, worse: worsening{"in time", .5}},
	{file: "lifebench-zh-dev.json", turns: 700, least: score.Score{"recall@10": .573, "hit@10": .96, "MRR": .77},
		above: .27, last: .7, foreign: .985, worse: worsening{"in time", .5}},
}

// load reads what is measured of the dataset.
func (k talk) load(t *testing.T) []dataset.Conversation {
	t.Helper()
	sets, err := dataset.Load(inBenchDir(t, k.file))
	if err != nil {
		t.Fatal(err)
	}
	if k.conversations > 0 {
		sets = sets[:k.conversations]
	}
	if k.turns > 0 {
		for i := range sets {
			sets[i] = beginning(sets[i], k.turns)
		}
	}
	return sets
}

// beginning returns the first sessions of a conversation, until they have so many turns, and the questions whose evidence
// lies in them.
func beginning(set dataset.Conversation, turns int) dataset.Conversation {
	kept, n := map[string]bool{}, 0
	for i, s := range set.Sessions {
		if n >= turns {
			set.Sessions = set.Sessions[:i]
			break
		}
		for _, m := range s.Turns {
			kept[string(m.ID)] = true
			n++
		}
	}
	set.Questions = slices.DeleteFunc(set.Questions, func(q dataset.Question) bool {
		return len(q.Evidence) == 0 || q.Asked != "" && !kept[q.Asked] || slices.ContainsFunc(q.Evidence, func(e string) bool { return !kept[e] })
	})
	return set
}

// TestRecallOnEverySet publishes all of it to one store and asks all of it once; then it asks what else there is to ask.
func TestRecallOnEverySet(t *testing.T) {
	t.Parallel()
	ctx, o := t.Context(), runOptions{maxFacts: 50, settle: 10 * time.Minute, progress: io.Discard}
	var sets, again []dataset.Conversation
	of := map[string][]dataset.Conversation{}
	for _, k := range talks {
		loaded := k.load(t)
		of[k.file] = loaded
		sets = append(sets, loaded...)
		if k.turns == 0 {
			again = append(again, slices.MinFunc(loaded, func(a, b dataset.Conversation) int { return len(a.Turns()) - len(b.Turns()) }))
		}
	}
	o.dir = t.TempDir()
	c := localClient(t, o.dir)
	run, err := runRetrieval(ctx, c, sets, o)
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range talks {
		t.Run(k.file, func(t *testing.T) {
			t.Parallel()
			k.check(t, c, of[k.file], sets, run, o)
		})
	}
	t.Run("another store of the same conversations gives the same answers", func(t *testing.T) {
		t.Parallel()
		second, err := runRetrieval(ctx, localClient(t, t.TempDir()), again, o)
		if err != nil {
			t.Fatal(err)
		}
		var first []score.Line
		for _, set := range again {
			first = append(first, slices.DeleteFunc(slices.Clone(run.lines), func(l score.Line) bool { return l.Conversation != set.ID })...)
		}
		if diff := cmp.Diff(first, second.lines); diff != "" {
			t.Errorf("the second run answers otherwise:\n%s", diff)
		}
	})
}

// localClient returns a client of a pipeline on a data directory, which runs until the end of the test.
func localClient(t *testing.T, dir string) *client.Client {
	t.Helper()
	settings := apptest.Settings(t, map[string]string{"DATA": dir})
	c, err := client.New(client.DefaultConfig(), client.Deps{Conn: apptest.Start(t, settings).Conn})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func (k talk) check(t *testing.T, c *client.Client, sets, all []dataset.Conversation, run *retrievalRun, o runOptions) {
	t.Helper()
	ctx, valid := t.Context(), dataset.TurnIDs(sets)
	lines := linesOf(run.lines, all, sets[0].Set)
	own := &retrievalRun{lines: lines, stored: run.stored}
	var against *rawRun
	if k.raw > 0 {
		raw, o := &retrievalRun{}, o
		o.records = []memory.Record{memory.RecordMessage}
		if err := raw.askQuestions(ctx, c, sets, o); err != nil {
			t.Fatal(err)
		}
		against = &rawRun{lines: raw.lines}
	}
	f := newFigures(sets, own, against, baselineRun(sets, o.maxFacts), nil, o.maxFacts)
	found, d := f.Sets[0].Eunoe, f.Sets[0].Difference["recall@10"]
	t.Logf("%d questions: R@10 %.4f, hit@10 %.4f, MRR %.4f, brecall@10 %.4f; R@10 is %+.3f (%+.3f to %+.3f) against plain BM25, %.4f of the evidence is stored",
		f.Questions, found["recall@10"], found["hit@10"], found["MRR"], found["brecall@10"], d[0], d[1], d[2], f.Stored)
	for metric, least := range k.least {
		if found[metric] < least {
			t.Errorf("%s is %.4f; at least %.3f is expected", metric, found[metric], least)
		}
	}
	if d[0] < k.above {
		t.Errorf("recall@10 is %+.3f against plain BM25; at least %+.2f is expected", d[0], k.above)
	}
	if f.Stored < .995 {
		t.Errorf("%.4f of the evidence is stored; something was lost on the way", f.Stored)
	}
	if k.raw > 0 {
		notBelowRaw(t, *f, false)
		if alone := f.Raw.Raw["1-5"]["recall@10"]; alone < k.raw {
			t.Errorf("recall@10 of raw messages alone is %.4f; at least %.3f is expected", alone, k.raw)
		}
	}
	if k.last > 0 {
		k.checkLastLine(t, c, sets, o)
	}
	k.checkConfidence(ctx, t, c, sets, all, run, valid, o)
	k.checkWorsened(t, sets, o)
}

// farBelow is how far below a bound a wrong weight may bring a figure.
const farBelow = .15

// checkWorsened asks the questions by a wrong weight and expects that the bounds notice.
func (k talk) checkWorsened(t *testing.T, sets []dataset.Conversation, o runOptions) {
	t.Helper()
	lines, err := askChanged(t.Context(), o, sets, func(c *recall.Config) { c.Ranking = c.Ranking.Scaled(k.worse.signal, k.worse.factor) })
	if err != nil {
		t.Fatal(err)
	}
	found := newSetFigures(sets, lines, nil)[0].Eunoe
	t.Logf("with %v of the weight of %q: R@10 %.4f, hit@10 %.4f, MRR %.4f", k.worse.factor, k.worse.signal, found["recall@10"], found["hit@10"], found["MRR"])
	noticed := false
	for metric, least := range k.least {
		noticed = noticed || found[metric] < least
		if found[metric] < least-farBelow {
			t.Errorf("with %v of the weight of %q %s is %.4f: more than a weight is wrong", k.worse.factor, k.worse.signal, metric, found[metric])
		}
	}
	if !noticed {
		t.Errorf("with %v of the weight of %q every bound of %v holds; they are too low to notice", k.worse.factor, k.worse.signal, k.least)
	}
}

// checkLastLine asks each question behind five others of its conversation: what is asked last counts most.
func (k talk) checkLastLine(t *testing.T, c *client.Client, sets []dataset.Conversation, o runOptions) {
	t.Helper()
	sets = slices.Clone(sets)
	for i := range sets {
		sets[i].Questions = afterOthers(sets[i].Questions, 5)
	}
	run := &retrievalRun{}
	if err := run.askQuestions(t.Context(), c, sets, o); err != nil {
		t.Fatal(err)
	}
	f := newSetFigures(sets, run.lines, baselineRun(sets, o.maxFacts))[0]
	d := f.Difference["hit@10"]
	t.Logf("behind five others: hit@10 %.3f, plain BM25 %.3f", f.Eunoe["hit@10"], f.Baseline["hit@10"])
	if d[0] < k.last {
		t.Errorf("behind five others hit@10 is %+.3f against plain BM25; at least %+.2f is expected", d[0], k.last)
	}
}

// checkConfidence compares the confidence of the answered questions with that of questions that have no answer: those of
// category 5, and some of the other sets.
func (k talk) checkConfidence(ctx context.Context, t *testing.T, c *client.Client, sets, all []dataset.Conversation, run *retrievalRun,
	valid map[string]map[string]bool, o runOptions) {
	t.Helper()
	var answered, unanswerable, foreign []float64
	for i, l := range run.lines {
		switch ids, ours := valid[l.Conversation]; {
		case !ours:
		case l.Category == unanswered:
			unanswerable = append(unanswerable, run.confidences[i])
		case len(score.CleanEvidence(l.Evidence, ids)) > 0:
			answered = append(answered, run.confidences[i])
		}
	}
	for _, set := range sets {
		for i, q := range foreignTo(set, all) {
			if i%3 > 0 {
				continue
			}
			r, err := c.Recall(ctx, memory.BankID(set.ID), o.request(set, q))
			if err != nil {
				t.Fatal(err)
			}
			foreign = append(foreign, r.Confidence)
		}
	}
	auc, own := score.AUC(answered, foreign), score.AUC(answered, unanswerable)
	t.Logf("AUC of the confidence against %d questions of other sets %.3f, against %d of category 5 %.3f", len(foreign), auc, len(unanswerable), own)
	if auc < k.foreign || own < k.unanswered {
		t.Errorf("AUC of the confidence: %.3f against other sets, %.3f against category 5; at least %.3f and %.3f are expected", auc, own, k.foreign, k.unanswered)
	}
}
