package events

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// workConsumer is the consumer that the workers of a stage share. Nothing of it
// bounds how often, or how many at a time, events are delivered: that is the
// workers' own.
func (w WorkConfig) workConsumer() jetstream.ConsumerConfig {
	return jetstream.ConsumerConfig{
		Durable: w.Durable, AckPolicy: jetstream.AckExplicitPolicy, AckWait: w.AckWait,
		MaxDeliver: -1, MaxAckPending: -1, MaxWaiting: 4096,
	}
}

// consumer gives the consumer of the work queue: made where it is missing,
// corrected where it differs, and made anew where that is the only way, which
// has every event that is not settled delivered again.
func (w *worker) consumer(ctx context.Context) (jetstream.Consumer, error) {
	js, want := w.conn.JS, w.cfg.workConsumer()
	have, err := js.Consumer(ctx, w.cfg.Stream, w.cfg.Durable)
	if errors.Is(err, jetstream.ErrConsumerNotFound) {
		return js.CreateOrUpdateConsumer(ctx, w.cfg.Stream, want)
	}
	if err != nil {
		return nil, err
	}
	info := have.CachedInfo()
	fixed, loose := consumerDrift(info, want)
	if len(fixed) == 0 && len(loose) == 0 {
		return have, nil
	}
	log := w.conn.Log.Warn().Str("consumer", w.cfg.Durable).Strs("corrected", append(fixed, loose...))
	if len(fixed) > 0 {
		log.Msg("a consumer differs in what cannot be changed; it is made anew")
		if err := js.DeleteConsumer(ctx, w.cfg.Stream, w.cfg.Durable); err != nil && !errors.Is(err, jetstream.ErrConsumerNotFound) {
			return nil, err
		}
	} else {
		log.Msg("corrected a consumer")
	}
	return js.CreateOrUpdateConsumer(ctx, w.cfg.Stream, want)
}

// consumerDrift says in what a consumer differs from the one that is wanted:
// what is fixed when it is made, and the rest.
func consumerDrift(info *jetstream.ConsumerInfo, want jetstream.ConsumerConfig) (fixed, loose []string) {
	have := info.Config
	differs := func(list *[]string, name string, is, expected any) {
		if is != expected {
			*list = append(*list, fmt.Sprintf("%s: is %v, expected %v", name, is, expected))
		}
	}
	differs(&fixed, "ack_policy", have.AckPolicy, want.AckPolicy)
	differs(&fixed, "deliver_policy", have.DeliverPolicy, want.DeliverPolicy)
	differs(&fixed, "replay_policy", have.ReplayPolicy, want.ReplayPolicy)
	differs(&fixed, "max_waiting", have.MaxWaiting, want.MaxWaiting)
	differs(&fixed, "paused", info.Paused, false) // an update does not end a pause
	differs(&loose, "ack_wait", have.AckWait, want.AckWait)
	differs(&loose, "inactive_threshold", have.InactiveThreshold, want.InactiveThreshold)
	return fixed, append(loose, held(info)...)
}

// held says which settings of a work queue's consumer hold events back that
// ours would deliver.
func held(info *jetstream.ConsumerInfo) []string {
	c := info.Config
	var out []string
	add := func(is bool, name string, value any) {
		if is {
			out = append(out, fmt.Sprintf("%s: is %v", name, value))
		}
	}
	add(info.Paused, "paused until", info.PauseRemaining)
	add(c.FilterSubject != "" || len(c.FilterSubjects) > 0, "filter", append(c.FilterSubjects, c.FilterSubject))
	add(c.MaxDeliver > 0, "max_deliver", c.MaxDeliver)
	add(c.MaxAckPending >= 0, "max_ack_pending", c.MaxAckPending)
	add(c.MaxRequestBatch > 0, "max_batch", c.MaxRequestBatch)
	add(c.MaxRequestExpires > 0, "max_expires", c.MaxRequestExpires)
	add(c.MaxRequestMaxBytes > 0, "max_bytes", c.MaxRequestMaxBytes)
	add(c.HeadersOnly, "headers_only", c.HeadersOnly)
	add(len(c.BackOff) > 0, "backoff", c.BackOff)
	return out
}

// watch looks after a consumer that delivers nothing. One is asked at most
// each StallAfter.
type watch struct {
	looked    time.Time // last time something came, or the consumer was asked
	delivered uint64    // to anybody, when it was last asked
	doubted   bool      // the last look found events pending
}

// came notes that the subscription delivered an event.
func (w *watch) came() { w.looked, w.doubted = time.Now(), false }

// look asks the consumer when a request for events was not answered for long:
// events pending twice in a row, and none delivered to anybody between, mean
// that it stalled; and it may have been changed behind our back.
func (w *worker) look(ctx context.Context, cons jetstream.Consumer, seen *watch) error {
	if time.Since(seen.looked) < w.cfg.StallAfter {
		return nil
	}
	info, err := cons.Info(ctx)
	if err != nil {
		return broken(causeLost, meaning(err, "ask the consumer %s", w.cfg.Durable))
	}
	seen.looked = time.Now()
	if differs := held(info); len(differs) > 0 {
		return broken(causeDrifted, fmt.Errorf("consumer %s was changed (%s)", w.cfg.Durable, strings.Join(differs, "; ")))
	}
	same := info.Delivered.Consumer == seen.delivered
	seen.delivered = info.Delivered.Consumer
	if info.NumPending == 0 || !same {
		seen.doubted = false
		return nil
	}
	if !seen.doubted {
		seen.doubted = true
		return nil
	}
	return broken(causeStalled, fmt.Errorf("consumer %s stalled with %d pending", w.cfg.Durable, info.NumPending))
}

// unstall deletes a consumer that stalled again right after its subscription
// was made anew: known faults of the broker end with the consumer alone. Every
// event that is not settled is delivered again then.
func (w *worker) unstall(ctx context.Context) {
	w.conn.Log.Warn().Str("consumer", w.cfg.Durable).Msg("a new subscription did not help; the consumer is made anew")
	if err := w.conn.JS.DeleteConsumer(ctx, w.cfg.Stream, w.cfg.Durable); err != nil {
		w.conn.Log.Warn().Err(err).Str("consumer", w.cfg.Durable).Msg("the consumer could not be deleted")
	}
}
