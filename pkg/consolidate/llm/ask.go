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

// errNonsense means that the model answered, and that its answer cannot be used.
var errNonsense = errors.New("the answer makes no sense")

// answer is what one call of a model returned, and its usage.
type answer struct {
	text      string
	truncated bool
	stamp     memory.Stamp
	usage     []memory.StageUsage
}

// ask calls a stage's model. The error is errNonsense where the model refuses the prompt, and errSpent for a bank
// without tokens left; with any other, asking again may help, and the usage of the call has been appended to the log.
func (w *Worker) ask(ctx context.Context, bank memory.BankID, stage string, m memory.LanguageModel, p memory.Prompt) (answer, error) {
	if w.exhausted(ctx, bank) {
		return answer{}, errSpent
	}
	meter := &memory.Meter{}
	limited, cancel := context.WithTimeout(memory.WithMeter(ctx, meter), w.cfg.Timeout)
	defer cancel()
	c, err := m.Complete(limited, p)
	q := answer{text: c.Text, truncated: c.Truncated, stamp: memory.Stamp{Model: m.Name(), Prompt: promptName(stage)}, usage: meter.Take()}
	if errors.Is(err, memory.ErrInvalid) {
		w.metrics.answered(stage, "refused")
		return q, fmt.Errorf("%s: %w: %w", m.Name(), errNonsense, err)
	}
	if err != nil {
		w.metrics.answered(stage, "failed")
		w.appendUsage(ctx, bank, q.usage)
		return q, fmt.Errorf("%s: %w", m.Name(), err)
	}
	return q, nil
}

// appendUsage appends usage that no other write reports to the log. It is tried once.
func (w *Worker) appendUsage(ctx context.Context, bank memory.BankID, usage []memory.StageUsage) {
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

// append appends a write and waits until the store has applied it, so that the next look at the store does not find the
// question pending any more.
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

// opOf returns the op of a write that answers a question, from what it answers: repeating it changes nothing.
func opOf(stage string, parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return stage + ":" + hex.EncodeToString(sum[:12])
}

// questionKey names a question that got an unusable answer.
type questionKey struct {
	bank memory.BankID
	memory.PendingKey
}

// giveUp counts an unusable answer and reports whether the question is to be given up.
func (w *Worker) giveUp(bank memory.BankID, kind memory.PendingKind, id string) bool {
	s := questionKey{bank, memory.PendingKey{Kind: kind, ID: id}}
	w.unusable[s]++
	if w.unusable[s] < w.cfg.Tries {
		return false
	}
	delete(w.unusable, s)
	return true
}

// batchSize is how many questions go into one prompt after so many unusable answers: ever fewer, and one at the last
// try, so that a question which breaks an answer affects no other.
func (w *Worker) batchSize(most, attempts int) int {
	switch {
	case attempts == 0:
		return most
	case attempts >= w.cfg.Tries-1:
		return 1
	}
	return max(1, most>>(2*min(attempts, 8)))
}

func (w *Worker) unusableAnswers(bank memory.BankID, kind memory.PendingKind, id string) int {
	return w.unusable[questionKey{bank, memory.PendingKey{Kind: kind, ID: id}}]
}

func (w *Worker) clearUnusable(bank memory.BankID, kind memory.PendingKind, id string) {
	delete(w.unusable, questionKey{bank, memory.PendingKey{Kind: kind, ID: id}})
}
