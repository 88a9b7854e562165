package events

import (
	"errors"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// LeaseTTL is how long a lease lives without being renewed.
const LeaseTTL = 3 * time.Second

// budgetTTL keeps a day's spending through the day, wherever it began.
const budgetTTL = 72 * time.Hour

// Windows in which the broker drops an event whose Nats-Msg-Id it has seen.
const (
	smallestDuplicates = 100 * time.Millisecond // the least a stream can have
	workDuplicates     = 2 * time.Minute
	deadDuplicates     = 24 * time.Hour
)

// StreamOptions are what a deployment may choose about its streams.
type StreamOptions struct {
	Replicas int // of every stream and bucket, 1 to 5; 0 = leave as it is, or 1
	// ChangesAge and ChangesBytes limit MEM_CHANGES: who was away longer asks
	// the store. 0 = 7 days and 1 GiB.
	ChangesAge   time.Duration
	ChangesBytes int64
}

// DefaultStreamOptions is one replica, changes kept 7 days and at most 1 GiB.
func DefaultStreamOptions() StreamOptions {
	return StreamOptions{ChangesAge: 7 * 24 * time.Hour, ChangesBytes: 1 << 30}
}

// Validate reports every option out of range, joined.
func (o StreamOptions) Validate() error {
	var errs []error
	if o.Replicas < 0 || o.Replicas > 5 {
		errs = append(errs, memory.Invalid("replicas", "is %d; expected 1 to 5", o.Replicas))
	}
	if o.ChangesAge < 0 {
		errs = append(errs, memory.Invalid("changes_age", "is %s; it must not be negative", o.ChangesAge))
	}
	if o.ChangesBytes < 0 {
		errs = append(errs, memory.Invalid("changes_bytes", "is %d; it must not be negative", o.ChangesBytes))
	}
	return errors.Join(errs...)
}

func (o StreamOptions) orDefault() StreamOptions {
	d := DefaultStreamOptions()
	if o.ChangesAge == 0 {
		o.ChangesAge = d.ChangesAge
	}
	if o.ChangesBytes == 0 {
		o.ChangesBytes = d.ChangesBytes
	}
	return o
}

// Streams is the topology as data: the streams in the order they are made.
//
//   - MESSAGES keeps what was said, for ever, stored under its bank's partition.
//     Publishers may set nothing on it: no rollups, lifetimes or schedules, and
//     the smallest duplicate window there is.
//   - WINDOWS is a work queue: an event leaves it when its work is done.
//   - WRITES keeps everything that changes the store, for ever, in order.
//   - WINDOWS, WRITES and CHANGES, which no bot publishes to, take atomic batches:
//     a broker that syncs before it acknowledges does so once a batch.
//   - CHANGES keeps what became of it for a while.
//   - DEAD keeps what failed until it is sent again or dropped.
//   - PARKED keeps windows whose bank has used up its tokens for the day, until
//     they go back to WINDOWS.
//   - KV_BANKS is the bucket BANKS, made as a stream because a bucket refuses to
//     erase. A revision is erased when the next one is there, which is why there
//     is room for two: a limit would leave its bytes.
func (n Naming) Streams(o StreamOptions) []jetstream.StreamConfig {
	o = o.orDefault()
	every := func(kind string) string { return n.Subject("*", kind, "*") }
	base := func(name, about string, duplicates time.Duration, subjects ...string) jetstream.StreamConfig {
		return jetstream.StreamConfig{
			Name: name, Description: about, Subjects: subjects,
			Retention: jetstream.LimitsPolicy, Storage: jetstream.FileStorage, Discard: jetstream.DiscardOld,
			MaxMsgs: -1, MaxBytes: -1, MaxMsgsPerSubject: -1, MaxMsgSize: -1, MaxConsumers: -1,
			Duplicates: duplicates, Replicas: o.Replicas, AllowDirect: true,
		}
	}
	messages := base(n.Messages(), "what was said, kept", smallestDuplicates, every(KindMessage), every(KindFlush))
	messages.SubjectTransform = &jetstream.SubjectTransformConfig{
		Source:      n.prefix() + ".*.*.*",
		Destination: n.prefix() + ".{{partition(16,1)}}.{{wildcard(1)}}.{{wildcard(2)}}.{{wildcard(3)}}",
	}
	windows := base(n.Windows(), "windows to extract", workDuplicates, every(KindWindow))
	windows.Retention = jetstream.WorkQueuePolicy
	windows.AllowAtomicPublish = true
	writes := base(n.Writes(), "everything that changes the store, kept", workDuplicates, every(KindWrite))
	writes.AllowAtomicPublish = true
	changes := base(n.Changes(), "what became of the writes, kept for a while", workDuplicates, every(KindChange))
	changes.MaxAge, changes.MaxBytes = o.ChangesAge, o.ChangesBytes
	changes.AllowAtomicPublish = true
	banks := base(Bucket{name: n.BankBucket()}.stream(), "profiles of banks", smallestDuplicates, Bucket{name: n.BankBucket()}.subject(">"))
	banks.MaxMsgsPerSubject = 2
	return []jetstream.StreamConfig{
		messages,
		windows,
		writes,
		changes,
		base(n.Dead(), "what failed, until it is sent again or dropped", deadDuplicates, every(KindDead)),
		base(n.Parked(), "windows that wait for their bank's token budget", workDuplicates, every(KindParked)),
		banks,
	}
}

// Buckets is the topology's key-value side.
//
//   - INGEST keeps ingest's sessions and positions.
//   - LEASES keeps who owns what, in memory: a lease lives LeaseTTL.
//   - BUDGETS keeps what extraction spent for each bank on one day; a record goes
//     budgetTTL after it was last written.
//
// BANKS, the profiles of banks for the stages without the store, is one more:
// see Streams.
func (n Naming) Buckets(o StreamOptions) []jetstream.KeyValueConfig {
	return []jetstream.KeyValueConfig{
		{Bucket: n.IngestBucket(), Description: "sessions and positions of ingest", History: 1, Storage: jetstream.FileStorage, Replicas: o.Replicas},
		{Bucket: n.LeaseBucket(), Description: "who owns what", History: 1, TTL: LeaseTTL, Storage: jetstream.MemoryStorage, Replicas: o.Replicas},
		{Bucket: n.BudgetBucket(), Description: "tokens spent today by bank", History: 1, TTL: budgetTTL, Storage: jetstream.FileStorage, Replicas: o.Replicas},
	}
}
