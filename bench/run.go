package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/eunoe-memory/eunoe/bench/bm25"
	"github.com/eunoe-memory/eunoe/bench/dataset"
	"github.com/eunoe-memory/eunoe/bench/score"
	"github.com/eunoe-memory/eunoe/internal/console"
	"github.com/eunoe-memory/eunoe/pkg/client"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

// runOptions say what is asked and how.
type runOptions struct {
	maxFacts   int
	records    []memory.Record    // nil = all
	strategies map[string]float64 // nil = the defaults
	bankPrefix string
	settle     time.Duration // how long a bank may take to settle
	// consolidate runs consolidation of every bank before anything is asked.
	consolidate bool
	progress    io.Writer
	dir         string // where the store of this process lies; "" = none
	kept        bool   // the store may be that of an earlier run
}

// retrievalRun is what a run found and how long it took.
type retrievalRun struct {
	lines       []score.Line
	stored      map[string][]string // conversation → sorted ids that are a source of anything stored
	publish     time.Duration
	settled     time.Duration // after publishing
	recalls     []time.Duration
	confidences []float64 // of the replies, by line
	degraded    []string
	ablation    []ablated // with --ablate
}

// runRetrieval publishes the conversations and asks every question.
func runRetrieval(ctx context.Context, c *client.Client, sets []dataset.Conversation, o runOptions) (*retrievalRun, error) {
	run := &retrievalRun{stored: map[string][]string{}}
	if err := run.publishAll(ctx, c, sets, o); err != nil {
		return nil, err
	}
	return run, run.askAll(ctx, c, sets, o)
}

// publishAll publishes each conversation to a bank of its own, unless an earlier run published all of it, and waits until
// all are settled. What an interrupted run published of one is not stored twice: the turns have ids.
func (run *retrievalRun) publishAll(ctx context.Context, c *client.Client, sets []dataset.Conversation, o runOptions) error {
	for _, set := range sets {
		bank := memory.BankID(o.bankPrefix + set.ID)
		if o.kept {
			st, err := c.Status(ctx, bank)
			if err == nil && st.Conservation.Published-st.Conservation.Duplicate >= len(set.Turns()) {
				continue
			}
			if err != nil && !errors.Is(err, memory.ErrNotFound) {
				return err
			}
		}
		began := time.Now()
		if err := publishConversation(ctx, c, bank, set); err != nil {
			return err
		}
		run.publish += time.Since(began)
	}
	for _, set := range sets {
		bank := memory.BankID(o.bankPrefix + set.ID)
		began := time.Now()
		if err := waitSettled(ctx, c, bank, o.settle); err != nil {
			return err
		}
		if o.consolidate {
			if err := consolidateAll(ctx, c, []memory.BankID{bank}, o.settle); err != nil {
				return err
			}
		}
		run.settled += time.Since(began)
	}
	return nil
}

// publishConversation publishes the turns of a conversation, with a flush after each session.
func publishConversation(ctx context.Context, c *client.Client, bank memory.BankID, set dataset.Conversation) error {
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

func waitSettled(ctx context.Context, c *client.Client, bank memory.BankID, within time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	_, err := c.WaitSettled(ctx, bank, nil)
	return err
}

// askAll asks every question and lists what is stored.
func (run *retrievalRun) askAll(ctx context.Context, c *client.Client, sets []dataset.Conversation, o runOptions) error {
	if err := run.askQuestions(ctx, c, sets, o); err != nil {
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

// askQuestions asks every question.
func (run *retrievalRun) askQuestions(ctx context.Context, c *client.Client, sets []dataset.Conversation, o runOptions) error {
	total := 0
	for _, set := range sets {
		total += len(set.Questions)
	}
	bar := console.NewBar(o.progress, total, "asking")
	defer bar.Close() //nolint:errcheck // a bar that cannot be drawn changes nothing
	for _, set := range sets {
		bank := memory.BankID(o.bankPrefix + set.ID)
		for _, q := range set.Questions {
			began := time.Now()
			r, err := c.Recall(ctx, bank, o.request(set, q))
			if err != nil {
				return fmt.Errorf("question %s: %w", q.QID, err)
			}
			run.recalls = append(run.recalls, time.Since(began))
			run.confidences = append(run.confidences, r.Confidence)
			line := score.NewLine(set, q)
			for _, it := range r.Items {
				line.Retrieved = append(line.Retrieved, sourcesOf(it))
				line.Texts = append(line.Texts, it.Text)
			}
			run.degraded = appendNew(run.degraded, r.Degraded)
			run.lines = append(run.lines, line)
			bar.Add(1) //nolint:errcheck // a bar that cannot be drawn changes nothing
		}
	}
	return nil
}

// request asks a question verbatim, as of the end of its conversation or as of the turn it is asked at.
func (o runOptions) request(set dataset.Conversation, q dataset.Question) wire.RecallRequest {
	tokens := memory.MaxTokens
	before, now := set.Before(q)
	r := wire.RecallRequest{Query: q.Question, Filter: memory.Filter{Records: o.records},
		MaxFacts: &o.maxFacts, MaxTokens: &tokens, Now: &now, Strategies: o.strategies}
	if before < len(set.Turns()) {
		to := now.Add(-time.Microsecond)
		r.To = &to
	}
	return r
}

// appendNew appends what is not in the list yet.
func appendNew(list, more []string) []string {
	for _, s := range more {
		if !slices.Contains(list, s) {
			list = append(list, s)
		}
	}
	return list
}

// sourcesOf returns the ids of the messages an item rests on; a message rests on itself.
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

// storedSources returns the ids of the messages that anything stored rests on, sorted.
func storedSources(ctx context.Context, c *client.Client, bank memory.BankID) ([]string, error) {
	var out []string
	for _, r := range memory.Records {
		for it, err := range c.All(ctx, bank, wire.ListRequest{Record: r, Limit: 500}) {
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
func baselineRun(sets []dataset.Conversation, limit int) []score.Line {
	var out []score.Line
	for _, set := range sets {
		index := bm25.New(set.Turns(), 1.2, 0.75)
		for _, q := range set.Questions {
			line := score.NewLine(set, q)
			before, _ := set.Before(q)
			for _, id := range index.Search(q.Question, before, limit) {
				line.Retrieved = append(line.Retrieved, []string{id})
			}
			out = append(out, line)
		}
	}
	return out
}
