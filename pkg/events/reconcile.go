package events

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// Reconcile creates the streams and buckets that are missing and updates those that differ. A stream that differs in
// what cannot be updated (storage, retention) is memory.ErrConflict, which names the difference, and stays as it is.
// Consumers follow the replicas of their stream. Settings that are not ours (placement, metadata, compression) are kept. Several processes may call it at once;
// repeating it changes nothing. A broker that is not ready is retried until ctx ends, at most 30 s, and so is a cluster
// that has not enough servers for the replicas; a single server that is asked for several is memory.ErrInvalid.
func (c *Conn) Reconcile(ctx context.Context, o StreamOptions) error {
	if err := o.Validate(); err != nil {
		return err
	}
	return c.reconcile(ctx, o)
}

func (c *Conn) reconcile(ctx context.Context, o StreamOptions) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	return Retry(ctx, Backoff{Max: 2 * time.Second}, func() error {
		var errs []error
		for _, want := range c.Naming.Streams(o) {
			if err := replicasError(c.reconcileStream(ctx, want), o.Replicas); err != nil {
				if Transient(err) {
					return err
				}
				errs = append(errs, err)
			}
		}
		for _, want := range c.Naming.Buckets(o) {
			if err := replicasError(c.reconcileBucket(ctx, want), o.Replicas); err != nil {
				if Transient(err) {
					return err
				}
				errs = append(errs, err)
			}
		}
		return errors.Join(errs...)
	}, func(err error) { c.Log.Warn().Err(err).Msg("waiting for JetStream") })
}

// reconcileWithin bounds one try of one stream or bucket: a server that hangs answers no request.
const reconcileWithin = 8 * time.Second

// The broker's errors about more replicas than it has servers for.
const (
	noPeers   jetstream.ErrorCode = 10005 // of a cluster: more servers may come
	noCluster jetstream.ErrorCode = 10074 // of a server that is alone
)

// replicasError says what an error about replicas means.
func replicasError(err error, replicas int) error {
	var api *jetstream.APIError
	if !errors.As(err, &api) {
		return err
	}
	switch api.ErrorCode {
	case noPeers:
		return fmt.Errorf("%d replicas (EUNOE_REPLICAS) need as many servers with JetStream and room, and the cluster has fewer that answer: %s: %w",
			max(1, replicas), err.Error(), memory.ErrUnavailable)
	case noCluster:
		return fmt.Errorf("replicas: %d (EUNOE_REPLICAS) need a cluster of as many NATS servers, and this server is in none: %s: %w", replicas, err.Error(), memory.ErrInvalid)
	}
	return err
}

func (c *Conn) reconcileStream(ctx context.Context, want jetstream.StreamConfig) error {
	ctx, cancel := context.WithTimeout(ctx, reconcileWithin)
	defer cancel()
	s, err := c.JS.Stream(ctx, want.Name)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		s, err = c.JS.CreateStream(ctx, want)
		if err == nil {
			return c.identify(ctx, s)
		}
		if !errors.Is(err, jetstream.ErrStreamNameAlreadyInUse) {
			return Classify(err, "create stream %s", want.Name)
		}
		s, err = c.JS.Stream(ctx, want.Name) // another process created it meanwhile
	}
	if err != nil {
		return Classify(err, "read stream %s", want.Name)
	}
	have := s.CachedInfo().Config
	fixed, loose := drift(have, want)
	if len(fixed) > 0 {
		return fmt.Errorf("stream %s differs in what cannot be changed (%s): move its events to a stream made anew: %w",
			want.Name, strings.Join(fixed, "; "), memory.ErrConflict)
	}
	if len(loose) == 0 {
		return c.identify(ctx, s)
	}
	if s, err = c.JS.UpdateStream(ctx, corrected(have, want)); err != nil {
		return Classify(err, "correct stream %s (%s)", want.Name, strings.Join(loose, "; "))
	}
	c.Log.Info().Str("stream", want.Name).Strs("corrected", loose).Msg("corrected a stream")
	return c.identify(ctx, s)
}

// drift returns the settings in which a stream differs, each as "name: is X, expected Y": those that are fixed at
// creation, and the others.
func drift(have, want jetstream.StreamConfig) (fixed, loose []string) {
	for _, s := range settings(have, want) {
		if reflect.DeepEqual(s.have, s.want) {
			continue
		}
		line := fmt.Sprintf("%s: is %v, expected %v", s.name, show(s.have), show(s.want))
		if s.fixed {
			fixed = append(fixed, line)
		} else {
			loose = append(loose, line)
		}
	}
	return fixed, loose
}

type setting struct {
	name       string
	have, want any
	fixed      bool
}

func settings(have, want jetstream.StreamConfig) []setting {
	replicas := cmp.Or(want.Replicas, have.Replicas)
	return []setting{
		{"storage", have.Storage, want.Storage, true},
		{"retention", have.Retention, want.Retention, true},
		{"deny_delete", have.DenyDelete, false, true},
		{"allow_msg_ttl", have.AllowMsgTTL, false, true},
		{"allow_msg_schedules", have.AllowMsgSchedules, false, true},
		{"sealed", have.Sealed, false, true},
		{"mirror", have.Mirror, want.Mirror, true},
		{"sources", len(have.Sources), 0, false},
		{"subjects", have.Subjects, want.Subjects, false},
		{"subject_transform", have.SubjectTransform, want.SubjectTransform, false},
		{"duplicate_window", have.Duplicates, want.Duplicates, false},
		{"discard", have.Discard, want.Discard, false},
		{"max_age", have.MaxAge, want.MaxAge, false},
		{"max_bytes", have.MaxBytes, want.MaxBytes, false},
		{"max_msgs", have.MaxMsgs, want.MaxMsgs, false},
		{"max_msgs_per_subject", have.MaxMsgsPerSubject, want.MaxMsgsPerSubject, false},
		{"max_msg_size", have.MaxMsgSize, want.MaxMsgSize, false},
		{"max_consumers", have.MaxConsumers, want.MaxConsumers, false},
		{"allow_direct", have.AllowDirect, want.AllowDirect, false},
		{"allow_rollup_hdrs", have.AllowRollup, false, false},
		{"no_ack", have.NoAck, false, false},
		{"allow_atomic", have.AllowAtomicPublish, want.AllowAtomicPublish, false},
		{"num_replicas", have.Replicas, replicas, false},
	}
}

// corrected returns have with our settings replaced by those of want.
func corrected(have, want jetstream.StreamConfig) jetstream.StreamConfig {
	c := have
	c.Subjects, c.SubjectTransform, c.Sources = want.Subjects, want.SubjectTransform, nil
	c.Duplicates, c.Discard, c.MaxAge = want.Duplicates, want.Discard, want.MaxAge
	c.MaxBytes, c.MaxMsgs, c.MaxMsgsPerSubject = want.MaxBytes, want.MaxMsgs, want.MaxMsgsPerSubject
	c.MaxMsgSize, c.MaxConsumers, c.AllowDirect = want.MaxMsgSize, want.MaxConsumers, want.AllowDirect
	c.AllowRollup, c.NoAck, c.AllowAtomicPublish = false, false, want.AllowAtomicPublish
	if want.Replicas > 0 {
		c.Replicas = want.Replicas
	}
	return c
}

func show(v any) string {
	if t, ok := v.(*jetstream.SubjectTransformConfig); ok {
		if t == nil {
			return "none"
		}
		return t.Source + " to " + t.Destination
	}
	return fmt.Sprintf("%v", v)
}

func (c *Conn) reconcileBucket(ctx context.Context, want jetstream.KeyValueConfig) error {
	ctx, cancel := context.WithTimeout(ctx, reconcileWithin)
	defer cancel()
	_, err := c.JS.CreateKeyValue(ctx, want)
	if err == nil {
		return nil
	}
	if !errors.Is(err, jetstream.ErrBucketExists) {
		return Classify(err, "create bucket %s", want.Bucket)
	}
	kv, err := c.JS.KeyValue(ctx, want.Bucket)
	if err != nil {
		return Classify(err, "read bucket %s", want.Bucket)
	}
	st, err := kv.Status(ctx)
	if err != nil {
		return Classify(err, "read bucket %s", want.Bucket)
	}
	have := st.Config()
	if have.Storage != want.Storage {
		return fmt.Errorf("bucket %s is kept in %v storage, expected %v, which cannot be changed: delete it and start again: %w",
			want.Bucket, have.Storage, want.Storage, memory.ErrConflict)
	}
	want.Replicas = cmp.Or(want.Replicas, have.Replicas)
	if _, err := c.JS.UpdateKeyValue(ctx, want); err != nil {
		return Classify(err, "correct bucket %s", want.Bucket)
	}
	return nil
}
