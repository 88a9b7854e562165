//go:build !race

package main

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"os"
	"testing"
	"time"

	"github.com/eunoe-memory/eunoe/bench/dataset"
	"github.com/eunoe-memory/eunoe/bench/score"
	"github.com/eunoe-memory/eunoe/internal/app/local"
	"github.com/eunoe-memory/eunoe/internal/app/settings"
	"github.com/eunoe-memory/eunoe/pkg/client"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/provider/hashed"
	"github.com/eunoe-memory/eunoe/pkg/text"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

// factLine is a published fact with the turns it rests on.
type factLine struct {
	Conversation string          `json:"sample_id"`
	Speaker      string          `json:"speaker"`
	Text         string          `json:"fact"`
	Evidence     json.RawMessage `json:"evidence"` // a string or a list of strings
}

func (f factLine) sources() []memory.MessageID {
	var one string
	var many []string
	if json.Unmarshal(f.Evidence, &one) == nil {
		many = []string{one}
	} else if err := json.Unmarshal(f.Evidence, &many); err != nil {
		return nil
	}
	var out []memory.MessageID
	for _, id := range score.CleanEvidence(many, nil) {
		out = append(out, memory.MessageID(id))
	}
	return out
}

func readFacts(t *testing.T, path string) map[string][]memory.FactInput {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	out := map[string][]memory.FactInput{}
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		var f factLine
		if err := json.Unmarshal(lines.Bytes(), &f); err != nil {
			t.Fatal(err)
		}
		out[f.Conversation] = append(out[f.Conversation], memory.FactInput{Text: f.Text, Speaker: f.Speaker, Sources: f.sources()})
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}

// treeFigures describe the tree.
type treeFigures struct {
	facts, placed, composites, related int
	levels, largest                    int
	farthest                           float64 // least cosine of a member to its representative
}

// TestTreeOfPublishedFacts retains facts that a language model wrote, with the
// turns they rest on, and looks at the tree that becomes of them.
func TestTreeOfPublishedFacts(t *testing.T) {
	t.Parallel()
	facts := readFacts(t, inBenchDir(t, "locomo-dev-facts.jsonl"))
	sets, err := dataset.Load(inBenchDir(t, "locomo-dev.json"))
	if err != nil {
		t.Fatal(err)
	}
	// Nothing is extracted: the tree is of the retained facts alone.
	cfg, _, err := settings.Load(nil, map[string]string{"DATA": t.TempDir(), "PORT": "-1", "LOG": "error", "SYNC": "false",
		"TRIGGER_EVERY": "0", "WINDOW_TOKENS": "1000000", "IDLE_AFTER": "1h"})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	l, err := local.Start(ctx, cfg, os.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close(ctx)
	c, err := client.New(client.DefaultConfig(), client.Deps{Conn: l.Conn})
	if err != nil {
		t.Fatal(err)
	}
	var f treeFigures
	f.farthest = 1
	var with, without []score.Scored
	for _, set := range sets {
		bank := memory.BankID(set.ID)
		retainAll(ctx, t, c, bank, set, facts[set.ID])
		f.count(ctx, t, c, bank)
		with = append(with, askWith(ctx, t, c, set, memory.RecordFact, memory.RecordComposite, memory.RecordMessage)...)
		without = append(without, askWith(ctx, t, c, set, memory.RecordFact, memory.RecordMessage)...)
	}
	a, b := score.Mean(with, "recall@10"), score.Mean(without, "recall@10")
	t.Logf("%d of %d facts in %d composites on %d levels, the largest of %d; farthest member %.2f; members share a word with the representative in %d; recall@10 %.4f with composites, %.4f without",
		f.placed, f.facts, f.composites, f.levels, f.largest, f.farthest, f.related, a, b)
	limits := hashed.New().Thresholds()
	switch {
	case f.placed*100 < 15*f.facts:
		t.Errorf("%d of %d facts are in composites; at least 15%% are expected", f.placed, f.facts)
	case f.levels < 2:
		t.Errorf("the tree has %d levels; at least 2 are expected", f.levels)
	case f.largest > 8:
		t.Errorf("a composite has %d members; the cap is 8", f.largest)
	case f.farthest < limits.Diameter-1e-6:
		t.Errorf("a member is %.3f near its representative; the diameter is %.2f", f.farthest, limits.Diameter)
	case f.related*10 < 9*f.composites:
		t.Errorf("in %d of %d composites every member shares a word with the representative; 90%% are expected", f.related, f.composites)
	case a < b:
		t.Errorf("recall@10 falls from %.4f to %.4f with composites", b, a)
	}
}

func retainAll(ctx context.Context, t *testing.T, c *client.Client, bank memory.BankID, set dataset.Conversation, facts []memory.FactInput) {
	t.Helper()
	var last uint64
	for _, s := range set.Sessions {
		for _, m := range s.Turns {
			var err error
			if last, err = c.Publish(ctx, bank, s.ID, m); err != nil {
				t.Fatal(err)
			}
		}
	}
	if _, err := c.Recall(ctx, bank, wire.RecallRequest{Query: "are they all there", After: last}); err != nil {
		t.Fatal(err)
	}
	wait := memory.Duration(time.Minute)
	for len(facts) > 0 {
		n := min(100, len(facts))
		r, err := c.Retain(ctx, bank, wire.RetainRequest{WriteControl: wire.WriteControl{Wait: &wait}, Facts: facts[:n]})
		if err != nil {
			t.Fatal(err)
		}
		for _, res := range r.Results {
			if res.Outcome == memory.OutcomeRefused {
				t.Errorf("refused: %s", res.Reason)
			}
		}
		facts = facts[n:]
	}
}

// count walks the trees of a bank.
func (f *treeFigures) count(ctx context.Context, t *testing.T, c *client.Client, bank memory.BankID) {
	t.Helper()
	s, err := c.Status(ctx, bank)
	if err != nil {
		t.Fatal(err)
	}
	f.facts += s.Facts
	var walk func(n wire.TreeNode)
	walk = func(n wire.TreeNode) {
		if n.Record == memory.RecordFact {
			f.placed++
			return
		}
		f.composites++
		f.levels = max(f.levels, n.Level)
		f.largest = max(f.largest, len(n.Children))
		f.compare(t, n)
		for _, child := range n.Nodes {
			walk(child)
		}
	}
	for n, err := range c.Roots(ctx, bank, wire.TreeRequest{Depth: 12}) {
		if err != nil {
			t.Fatal(err)
		}
		walk(n)
	}
}

// compare compares the children of a composite with its text, which is its representative's.
func (f *treeFigures) compare(t *testing.T, n wire.TreeNode) {
	t.Helper()
	texts, related := []string{n.Text}, true
	for _, child := range n.Nodes {
		texts = append(texts, child.Text)
		related = related && shareWord(n.Text, child.Text)
	}
	vectors, err := hashed.New().Embed(context.Background(), texts)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range vectors[1:] {
		f.farthest = min(f.farthest, memory.Cosine(vectors[0], v))
	}
	if related {
		f.related++
	}
}

// shareWord reports whether two texts share a content word other than a name.
func shareWord(a, b string) bool {
	words := map[string]bool{}
	for _, t := range text.Terms(a) {
		if !t.Stop && !t.Name {
			words[t.Stem] = true
		}
	}
	for _, t := range text.Terms(b) {
		if !t.Stop && !t.Name && words[t.Stem] {
			return true
		}
	}
	return false
}

func askWith(ctx context.Context, t *testing.T, c *client.Client, set dataset.Conversation, records ...memory.Record) []score.Scored {
	t.Helper()
	run := &retrievalRun{stored: map[string][]string{}}
	if err := run.askAll(ctx, c, []dataset.Conversation{set}, runOptions{maxFacts: 50, records: records, progress: io.Discard}); err != nil {
		t.Fatal(err)
	}
	out, _ := score.Run(run.lines, dataset.TurnIDs([]dataset.Conversation{set}))
	return out
}
