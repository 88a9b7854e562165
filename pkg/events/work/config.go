package work

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// Config says what Run takes and how it handles it.
type Config struct {
	Stream      string // a work queue; "" = Naming.Windows
	Durable     string // name of the consumer that all workers of the stage share; required
	Stage       string // of dead letters; "" = Durable
	Concurrency int    // handlers at a time; 0 = 4
	// InTurn gives each handler a Turn (TurnOf), so that concurrent handlers of a bank can take effect in the order of
	// the stream.
	InTurn bool
	// Ahead is how many events are taken before a handler is free for them, so that banks take turns: one with many
	// events does not keep those of another waiting. Half of them go back while another process asks for more; those that
	// were delivered before stay for a while first. 0 = events are handled in the order of the stream.
	Ahead       int
	MaxAttempts int // tries before an event is dead, by any process; 0 = 5
	// Patience bounds the sum of the waits of an event that is repeated by RetryLater; after it such a try counts
	// as an attempt. 0 = 24 h, negative = none.
	Patience time.Duration
	// Backoff is the wait before a failed event is delivered again, doubled each time; zero = 1 s to 1 min.
	Backoff events.Backoff
	// AckWait is how long the event of a worker that died stays with it; 0 = 30 s. A handler may take longer: the
	// worker extends it meanwhile.
	AckWait time.Duration
	// Grace is how long handlers may continue after ctx ended; 0 = 10 s.
	Grace time.Duration
	// StallAfter is how long a request may stay unanswered before the consumer is asked whether it holds events back; 0
	// = 5 s.
	StallAfter time.Duration
	// Dead is called with each dead letter before it is published; nil = nobody. An error has the event delivered
	// again.
	Dead func(context.Context, events.Event, memory.DeadLetter) error
	Now  func() time.Time // nil = time.Now
}

// batch returns how many events a request asks for.
func (c Config) batch() int { return max(1, c.Concurrency/4) }

func (c Config) orDefault(n events.Naming) Config {
	c.Stream = cmp.Or(c.Stream, n.Windows())
	c.Stage = cmp.Or(c.Stage, c.Durable)
	if c.Concurrency <= 0 {
		c.Concurrency = 4
	}
	if c.MaxAttempts <= 0 {
		c.MaxAttempts = 5
	}
	if c.Backoff == (events.Backoff{}) {
		c.Backoff = events.Backoff{Min: time.Second, Max: time.Minute}
	}
	if c.AckWait <= 0 {
		c.AckWait = 30 * time.Second
	}
	if c.Grace <= 0 {
		c.Grace = 10 * time.Second
	}
	if c.StallAfter <= 0 {
		c.StallAfter = 5 * time.Second
	}
	c.Patience = cmp.Or(c.Patience, 24*time.Hour)
	if c.Now == nil {
		c.Now = time.Now
	}
	return c
}

// consumerConfig is the consumer that the workers of a stage share. It bounds neither deliveries nor pending
// acknowledgements: the workers do both.
func (c Config) consumerConfig() jetstream.ConsumerConfig {
	return jetstream.ConsumerConfig{
		Durable: c.Durable, AckPolicy: jetstream.AckExplicitPolicy, AckWait: c.AckWait,
		MaxDeliver: -1, MaxAckPending: -1, MaxWaiting: 4096,
	}
}

// maxNames is how many names a consumer may have, one after another.
const maxNames = 4

// consumer returns the consumer of the work queue. It creates one that is missing, corrects one that differs, and
// recreates one that cannot be corrected; then every event that is not acknowledged is delivered again. What a power cut
// left of a consumer can be a file that the broker cannot read: it makes none of that name then, and the next name is
// used, by every worker alike.
func (w *worker) consumer(ctx context.Context) (cons jetstream.Consumer, err error) {
	var first error
	for i := range maxNames {
		name := w.cfg.Durable
		if i > 0 {
			name = fmt.Sprintf("%s-%d", name, i+1)
		}
		if cons, err = w.consumerNamed(ctx, name); err == nil {
			if was := w.name.Swap(&name); i > 0 && (was == nil || *was != name) {
				w.conn.Log.Error().Err(first).Str("consumer", name).Msg("the broker cannot make the consumer of the usual name; another one takes its place")
			}
			return cons, nil
		}
		if first == nil {
			first = err
		}
		if !errors.Is(err, jetstream.ErrConsumerCreate) {
			break
		}
	}
	return nil, first
}

// durable returns the name of the consumer in use.
func (w *worker) durable() string {
	if name := w.name.Load(); name != nil {
		return *name
	}
	return w.cfg.Durable
}

func (w *worker) consumerNamed(ctx context.Context, name string) (jetstream.Consumer, error) {
	js, want := w.conn.JS, w.cfg.consumerConfig()
	want.Durable = name
	have, err := w.conn.Consumer(ctx, w.cfg.Stream, name)
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
	log := w.conn.Log.Warn().Str("consumer", name).Strs("corrected", append(fixed, loose...))
	if len(fixed) > 0 {
		log.Msg("a consumer differs in what cannot be changed; it is made anew")
		if err := js.DeleteConsumer(ctx, w.cfg.Stream, name); err != nil && !errors.Is(err, jetstream.ErrConsumerNotFound) {
			return nil, err
		}
	} else {
		log.Msg("corrected a consumer")
	}
	return js.CreateOrUpdateConsumer(ctx, w.cfg.Stream, want)
}

// consumerDrift returns the settings in which a consumer differs from want: those that are fixed at its creation, and
// the others.
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
	return fixed, append(loose, restrictions(info)...)
}

// restrictions returns the settings of a work queue's consumer that hold back events which ours would deliver.
func restrictions(info *jetstream.ConsumerInfo) []string {
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
