package work

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/events/deadletter"
	"github.com/eunoe-memory/eunoe/pkg/events/kv"
)

// tries is how often handlers began with an event, in any process. The number of its deliveries says nothing about that: most of
// many are passes from one process to another, and some are lost on their way. It is kept in the broker from the second delivery
// or the first failure on, which few events have; so of a process that dies with an event in its first delivery nothing is known.
type tries struct {
	Begun   int `json:"begun"`
	Excused int `json:"excused,omitempty"` // of these, by RetryLater, a stop, or a dead letter that could not be published
	record  kv.Record
}

// attempts returns how many tries count.
func (t tries) attempts() int { return t.Begun - t.Excused }

func (w *worker) records() kv.Bucket { return kv.Open(w.conn, w.conn.Naming.BudgetBucket()) }

// begins counts a handler that is about to begin. It returns an error, which is permanent, where none may. While the broker does
// not answer, handlers begin uncounted.
func (w *worker) begins(ctx context.Context, e events.Event) (t tries, err error) {
	// The time tells it from an event of the same sequence in a stream that was made anew.
	t.record.Key = fmt.Sprintf("tries.%d.%d", e.Seq, e.Stored.UnixNano())
	if e.Err != nil {
		return t, deadletter.Permanent(e.Err.Error())
	}
	if e.Attempt == 1 {
		t.Begun = 1
		return t, nil
	}
	reading, stop := context.WithTimeout(ctx, heardWithin)
	r, err := w.records().Get(reading, t.record.Key)
	stop()
	if err != nil {
		w.log(ctx, e, err).Msg("how often an event was tried is unknown")
	} else {
		t.record = r
		_ = json.Unmarshal(r.Value, &t) // none, or not ours: it is written over
	}
	if t.attempts() >= w.cfg.MaxAttempts {
		return t, deadletter.Permanent(fmt.Sprintf("the process ended during each of %d attempts", t.attempts()))
	}
	t.Begun++
	w.keep(ctx, e, &t)
	return t, nil
}

// keep writes the record of an event's tries.
func (w *worker) keep(ctx context.Context, e events.Event, t *tries) {
	value, err := json.Marshal(t)
	if bytes.Equal(value, t.record.Value) {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), heardWithin) // a process that stops has time for it, too
	defer cancel()
	r := kv.Record{Key: t.record.Key, Value: value, Revision: t.record.Revision}
	if err == nil {
		r.Revision, err = w.records().Put(ctx, r)
	}
	if err != nil {
		w.log(ctx, e, err).Msg("an attempt is not recorded")
		return
	}
	t.record = r
}
