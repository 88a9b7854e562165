package events

import (
	"cmp"
	"errors"
	"slices"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// LeaseTTL is how long a lease lives unless it is renewed.
const LeaseTTL = 3 * time.Second

// budgetTTL exceeds one day in every time zone.
const budgetTTL = 72 * time.Hour

// recallTTL is how long the recalls of a bank are kept after the last of them.
const recallTTL = 24 * time.Hour

// How long the broker remembers a Nats-Msg-Id and drops an event that repeats it.
const (
	smallestDuplicates = 100 * time.Millisecond // the least the broker accepts
	workDuplicates     = 2 * time.Minute
	deadDuplicates     = 24 * time.Hour
)

// StreamOptions are the settings of streams that a deployment may choose.
type StreamOptions struct {
	Replicas int // of every stream and bucket: 1, 3 or 5; 0 = keep the present number, or 1
	// ChangesAge and ChangesBytes limit MEM_CHANGES. A reader that was away longer has to query the store. 0 = 7 days
	// and 1 GiB.
	ChangesAge   time.Duration
	ChangesBytes int64
}

// DefaultStreamOptions returns one replica, and changes kept for 7 days and up to 1 GiB.
func DefaultStreamOptions() StreamOptions {
	return StreamOptions{ChangesAge: 7 * 24 * time.Hour, ChangesBytes: 1 << 30}
}

// Validate returns every option that is out of range, joined.
func (o StreamOptions) Validate() error {
	var errs []error
	if !slices.Contains([]int{0, 1, 3, 5}, o.Replicas) { // of two or four, a majority survives no more losses than of one or three
		errs = append(errs, memory.Invalid("replicas", "is %d; expected 1, 3 or 5", o.Replicas))
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
	o.ChangesAge = cmp.Or(o.ChangesAge, d.ChangesAge)
	o.ChangesBytes = cmp.Or(o.ChangesBytes, d.ChangesBytes)
	return o
}

// Streams returns the configuration of every stream, in the order of creation.
//
//   - MESSAGES keeps messages and flushes for ever, stored under the partition of
//     their bank. Publishers control nothing about it: it allows no rollups, TTLs or
//     schedules, and has the smallest duplicate window.
//   - WINDOWS is a work queue: an event leaves it when it is acknowledged.
//   - WRITES keeps everything that changes the store for ever, in order.
//   - CHANGES announces the changes of the store and keeps them for a while.
//   - DEAD keeps dead letters until they are retried or dropped.
//   - PARKED keeps windows whose bank has used up its tokens of the day, until they
//     are queued again.
//   - KV_BANKS is the bucket BANKS. It is created as a stream because a bucket denies
//     erasure. It holds two revisions of a key because the old one is erased, with its
//     bytes, after the new one is written; a limit would leave the bytes on disk.
//
// MESSAGES, WINDOWS, WRITES and CHANGES accept atomic batches: a broker that syncs before it acknowledges does so once
// per batch. A bot with an account of its own sends none: ingest refuses their headers.
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
	messages.AllowAtomicPublish = true
	windows := base(n.Windows(), "windows to extract", workDuplicates, every(KindWindow))
	windows.Retention = jetstream.WorkQueuePolicy
	windows.AllowAtomicPublish = true
	writes := base(n.Writes(), "everything that changes the store, kept", workDuplicates, every(KindWrite))
	writes.AllowAtomicPublish = true
	changes := base(n.Changes(), "what became of the writes, kept for a while", workDuplicates, every(KindChange))
	changes.MaxAge, changes.MaxBytes = o.ChangesAge, o.ChangesBytes
	changes.AllowAtomicPublish = true
	banks := base("KV_"+n.BankBucket(), "profiles of banks", smallestDuplicates, "$KV."+n.BankBucket()+".>")
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

// Buckets returns the configuration of the key-value buckets.
//
//   - INGEST keeps the sessions and positions of ingest.
//   - LEASES keeps owners in memory; a lease lives LeaseTTL.
//   - RECALLS keeps the last recalls of banks that ask for it, in memory; a record is
//     removed recallTTL after its last change.
//   - BUDGETS keeps what extraction spent: tokens today, by bank, and tries of windows
//     that did not end at once; a record is removed budgetTTL after it was written.
//
// The bucket BANKS is among Streams.
func (n Naming) Buckets(o StreamOptions) []jetstream.KeyValueConfig {
	return []jetstream.KeyValueConfig{
		{Bucket: n.IngestBucket(), Description: "sessions and positions of ingest", History: 1, Storage: jetstream.FileStorage, Replicas: o.Replicas},
		{Bucket: n.LeaseBucket(), Description: "who owns what", History: 1, TTL: LeaseTTL, Storage: jetstream.MemoryStorage, Replicas: o.Replicas},
		{Bucket: n.RecallBucket(), Description: "last recalls by bank", History: 1, TTL: recallTTL, Storage: jetstream.MemoryStorage, Replicas: o.Replicas},
		{Bucket: n.BudgetBucket(), Description: "what extraction spent", History: 1, TTL: budgetTTL, Storage: jetstream.FileStorage, Replicas: o.Replicas},
	}
}
