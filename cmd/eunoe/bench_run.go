package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/schollz/progressbar/v3"

	"github.com/eunoe-memory/eunoe/pkg/client"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/query"
)

// runLine is one question with what was found, as a scorer reads it.
type runLine struct {
	QID       string     `json:"qid"`
	Question  string     `json:"question"`
	Category  int        `json:"category"`
	Evidence  []string   `json:"evidence"`
	Retrieved [][]string `json:"retrieved"`

	conversation string
	texts        []string // of what was found, in its order
}

// pack gives the sources of what fits into so many tokens, chosen as recall
// chooses, and the tokens taken.
func (l runLine) pack(maxFacts, maxTokens int) (items [][]string, tokens int) {
	chosen, tokens := query.Pack(l.texts, maxFacts, maxTokens)
	for _, i := range chosen {
		items = append(items, l.Retrieved[i])
	}
	return items, tokens
}

// benchOptions say what is asked and how.
type benchOptions struct {
	maxFacts   int
	records    []memory.Record
	strategies map[string]float64
	bankPrefix string
	settle     time.Duration
	// consolidate has what waits for a schedule done before anything is asked.
	consolidate bool
	progress    io.Writer
	dir         string // where the store of this process lies; "" = none
}

// benchRun is what a run found and how long it took.
type benchRun struct {
	lines    []runLine
	stored   map[string][]string // conversation → ids that are a source of anything stored
	publish  time.Duration
	settled  time.Duration
	recalls  []time.Duration
	degraded []string
	ablation []ablated // with --ablate
}

// runRetrieval publishes the conversations, each to a bank of its own, waits
// until they are settled, and asks every question.
func runRetrieval(ctx context.Context, c *client.Client, sets []conversation, o benchOptions) (*benchRun, error) {
	run := &benchRun{stored: map[string][]string{}}
	for _, set := range sets {
		bank := memory.BankID(o.bankPrefix + set.ID)
		began := time.Now()
		if err := publishConversation(ctx, c, bank, set); err != nil {
			return nil, err
		}
		run.publish += time.Since(began)
	}
	for _, set := range sets {
		bank := memory.BankID(o.bankPrefix + set.ID)
		began := time.Now()
		waiting, cancel := context.WithTimeout(ctx, o.settle)
		_, err := c.WaitSettled(waiting, bank, nil)
		cancel()
		if err != nil {
			return nil, err
		}
		if o.consolidate {
			if err := consolidateAll(ctx, c, []memory.BankID{bank}, o.settle); err != nil {
				return nil, err
			}
		}
		run.settled += time.Since(began)
	}
	return run, askAll(ctx, c, sets, o, run)
}

func publishConversation(ctx context.Context, c *client.Client, bank memory.BankID, set conversation) error {
	for _, s := range set.Sessions {
		for _, m := range s.Turns {
			if _, err := c.Publish(ctx, bank, s.ID, m); err != nil {
				return err
			}
		}
		if _, err := c.Flush(ctx, bank, s.ID); err != nil {
			return err
		}
	}
	return nil
}

// askAll asks every question and lists what is stored.
func askAll(ctx context.Context, c *client.Client, sets []conversation, o benchOptions, run *benchRun) error {
	if err := askQuestions(ctx, c, sets, o, run); err != nil {
		return err
	}
	for _, set := range sets {
		ids, err := storedSources(ctx, c, memory.BankID(o.bankPrefix+set.ID))
		if err != nil {
			return err
		}
		run.stored[set.ID] = ids
	}
	return nil
}

func askQuestions(ctx context.Context, c *client.Client, sets []conversation, o benchOptions, run *benchRun) error {
	total := 0
	for _, set := range sets {
		total += len(set.Questions)
	}
	bar := newBar(o.progress, total, "asking")
	defer bar.Close() //nolint:errcheck // a bar that cannot be drawn changes nothing
	for _, set := range sets {
		bank := memory.BankID(o.bankPrefix + set.ID)
		now, tokens := set.last(), memory.MaxTokens
		for _, q := range set.Questions {
			began := time.Now()
			r, err := c.Recall(ctx, bank, memory.RecallRequest{Query: q.Question, Filter: memory.Filter{Records: o.records},
				MaxFacts: &o.maxFacts, MaxTokens: &tokens, Now: &now, Strategies: o.strategies})
			if err != nil {
				return fmt.Errorf("question %s: %w", q.QID, err)
			}
			run.recalls = append(run.recalls, time.Since(began))
			line := runLine{QID: q.QID, Question: q.Question, Category: q.Category, Evidence: q.Evidence, Retrieved: [][]string{}, conversation: set.ID}
			for _, it := range r.Items {
				line.Retrieved = append(line.Retrieved, sourcesOf(it))
				line.texts = append(line.texts, it.Text)
			}
			for _, d := range r.Degraded {
				if !slices.Contains(run.degraded, d) {
					run.degraded = append(run.degraded, d)
				}
			}
			run.lines = append(run.lines, line)
			bar.Add(1) //nolint:errcheck // a bar that cannot be drawn changes nothing
		}
	}
	return nil
}

// sourcesOf gives the ids of the messages an item rests on; a message rests on itself.
func sourcesOf(it memory.Item) []string {
	out := make([]string, 0, len(it.Sources))
	for _, s := range it.Sources {
		out = append(out, string(s))
	}
	if len(out) == 0 && it.Record == memory.RecordMessage {
		out = append(out, it.ID)
	}
	return out
}

// storedSources gives the ids of the messages that anything stored rests on, sorted.
func storedSources(ctx context.Context, c *client.Client, bank memory.BankID) ([]string, error) {
	var out []string
	for _, r := range memory.Records {
		for it, err := range c.All(ctx, bank, memory.ListRequest{Record: r, Limit: 500}) {
			if err != nil {
				return nil, fmt.Errorf("list the %ss of bank %s: %w", r, bank, err)
			}
			out = append(out, sourcesOf(it)...)
		}
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

// baselineRun answers every question by plain BM25 over the turns.
func baselineRun(sets []conversation, limit int) []runLine {
	var out []runLine
	for _, set := range sets {
		x := NewBM25(set.turns(), 1.2, 0.75)
		for _, q := range set.Questions {
			line := runLine{QID: q.QID, Question: q.Question, Category: q.Category, Evidence: q.Evidence, Retrieved: [][]string{}, conversation: set.ID}
			for _, id := range x.Search(q.Question, limit) {
				line.Retrieved = append(line.Retrieved, []string{id})
			}
			out = append(out, line)
		}
	}
	return out
}

func writeLines(w io.Writer, lines []runLine) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	for _, l := range lines {
		if err := enc.Encode(l); err != nil {
			return err
		}
	}
	return nil
}

// newBar draws progress with its rate and the time left, or nothing without a terminal.
func newBar(w io.Writer, total int, what string) *progressbar.ProgressBar {
	return progressbar.NewOptions(total, progressbar.OptionSetWriter(w), progressbar.OptionSetDescription(what),
		progressbar.OptionShowCount(), progressbar.OptionShowIts(), progressbar.OptionSetPredictTime(true),
		progressbar.OptionSetVisibility(isTerminal(w)), progressbar.OptionThrottle(100*time.Millisecond),
		progressbar.OptionOnCompletion(func() { fmt.Fprintln(w) }))
}
