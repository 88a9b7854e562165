package llm

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// errNonsense: the model answered, and the answer is of no use.
var errNonsense = errors.New("the answer makes no sense")

// question is one call of a model: what it answered, and what it took.
type question struct {
	text      string
	truncated bool
	stamp     memory.Stamp
	usage     []memory.StageUsage
}

// ask calls a stage's model. The error is errNonsense where the model refuses
// the prompt as it stands; any other means that asking again may help, and what
// the call took is in the log by then. A bank without tokens left is errSpent.
func (w *Worker) ask(ctx context.Context, bank memory.BankID, stage string, m memory.LanguageModel, p memory.Prompt) (question, error) {
	if w.exhausted(ctx, bank) {
		return question{}, errSpent
	}
	meter := &memory.Meter{}
	limited, cancel := context.WithTimeout(memory.WithMeter(ctx, meter), w.cfg.Timeout)
	defer cancel()
	c, err := m.Complete(limited, p)
	q := question{text: c.Text, truncated: c.Truncated, stamp: memory.Stamp{Model: m.Name(), Prompt: promptName(stage)}, usage: meter.Take()}
	if errors.Is(err, memory.ErrInvalid) {
		w.metrics.answered(stage, "refused")
		return q, fmt.Errorf("%s: %w: %w", m.Name(), errNonsense, err)
	}
	if err != nil {
		w.metrics.answered(stage, "failed")
		w.spend(ctx, bank, q.usage)
		return q, fmt.Errorf("%s: %w", m.Name(), err)
	}
	return q, nil
}

// spend puts usage in the log that no other write tells of. It is tried once.
func (w *Worker) spend(ctx context.Context, bank memory.BankID, usage []memory.StageUsage) {
	if len(usage) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	_, err := w.deps.Log.AppendWrite(ctx, memory.Write{Bank: bank, Kind: memory.WriteUsage, Op: ulid.Make().String(), Usage: usage})
	if err != nil {
		w.warn(ctx, bank, "", err, "the usage of a failed call is not in the log")
	}
}

// append appends a write and waits until the store has applied it, so that the
// next look does not find waiting what was answered.
func (w *Worker) append(ctx context.Context, wr memory.Write) error {
	seq, err := w.deps.Log.AppendWrite(ctx, wr)
	if err != nil {
		return fmt.Errorf("append %s %s: %w", wr.Kind, wr.Op, err)
	}
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		_, applied, err := w.deps.Store.Applied(ctx)
		if err == nil && applied >= seq {
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// opOf names a write by what it answers: a repeat of it is known as one.
func opOf(stage string, parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return stage + ":" + hex.EncodeToString(sum[:12])
}

// strike is what an answer without sense was about.
type strike struct {
	bank memory.BankID
	memory.PendingKey
}

// strikeOut counts an answer without sense and reports that it was the last.
func (w *Worker) strikeOut(bank memory.BankID, kind memory.PendingKind, id string) bool {
	s := strike{bank, memory.PendingKey{Kind: kind, ID: id}}
	w.strikes[s]++
	if w.strikes[s] < w.cfg.Tries {
		return false
	}
	delete(w.strikes, s)
	return true
}

// batchSize is how many questions go into one prompt after so many answers
// without sense: ever fewer, and at the last try one alone, so that what breaks
// an answer takes nothing else with it.
func (w *Worker) batchSize(most, strikes int) int {
	switch {
	case strikes == 0:
		return most
	case strikes >= w.cfg.Tries-1:
		return 1
	}
	return max(1, most>>(2*min(strikes, 8)))
}

func (w *Worker) struck(bank memory.BankID, kind memory.PendingKind, id string) int {
	return w.strikes[strike{bank, memory.PendingKey{Kind: kind, ID: id}}]
}

func (w *Worker) forgive(bank memory.BankID, kind memory.PendingKind, id string) {
	delete(w.strikes, strike{bank, memory.PendingKey{Kind: kind, ID: id}})
}
