package events

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// identityKey is where the metadata of a kept stream has its identity: when it was first created. A backup that is
// restored has it too, while the broker may say that the stream was created anew.
const identityKey = "eunoe-log"

// identity returns the identity of a stream: two streams that were created one after the other have different ones.
func identity(s *jetstream.StreamInfo) string {
	if id := s.Config.Metadata[identityKey]; id != "" {
		return id
	}
	return strconv.FormatInt(s.Created.UnixNano(), 36)
}

// identify writes the identity of a kept stream into its metadata, unless it is there.
func (c *Conn) identify(ctx context.Context, s jetstream.Stream) error {
	info := s.CachedInfo()
	if name := info.Config.Name; name != c.Naming.Messages() && name != c.Naming.Writes() || info.Config.Metadata[identityKey] != "" {
		return nil
	}
	cfg := info.Config
	cfg.Metadata = map[string]string{identityKey: identity(info)}
	for k, v := range info.Config.Metadata {
		cfg.Metadata[k] = v
	}
	_, err := c.JS.UpdateStream(ctx, cfg)
	return Classify(err, "write the identity of stream %s", cfg.Name)
}

// LogStore is a store that applies the two kept streams.
type LogStore interface {
	// LogPositions returns how far the store has applied MEM_MESSAGES and MEM_WRITES.
	LogPositions(ctx context.Context) (messages, writes memory.LogPosition, err error)
}

// CheckLog checks that the log is the one that a store was made from, and that it holds what the store has applied. It
// returns the identities of the two kept streams. The error is memory.ErrConflict, and says what to do, if a stream is
// another one, ends before the position of the store, or holds another event where the store knows one. A stream that
// the store has applied nothing of may be any. That a replicated stream ends before the position is believed as by EndOf.
func (c *Conn) CheckLog(ctx context.Context, store LogStore) (messages, writes string, err error) {
	m, w, err := store.LogPositions(ctx)
	if err != nil {
		return "", "", err
	}
	if messages, err = c.checkStream(ctx, c.Naming.Messages(), m); err != nil {
		return "", "", err
	}
	writes, err = c.checkStream(ctx, c.Naming.Writes(), w)
	return messages, writes, err
}

// mendLog says what to do about a log that lost what a store has applied.
const mendLog = "restore the backup that holds it, or run `eunoe rebuild --smaller` to keep what the log holds now"

func (c *Conn) checkStream(ctx context.Context, name string, p memory.LogPosition) (log string, err error) {
	info, err := c.streamReaching(ctx, name, p.Applied)
	if err != nil {
		return "", err
	}
	log = identity(info)
	last := info.State.LastSeq
	differs := func(format string, args ...any) error {
		return fmt.Errorf("stream %s is not the log of this store: %s; %s: %w", name, fmt.Sprintf(format, args...), mendLog, memory.ErrConflict)
	}
	switch {
	case p.Applied == 0:
		return log, nil
	case p.Log != "" && p.Log != log:
		return "", differs("it is another stream (%s, the store was made from %s)", log, p.Log)
	case p.Applied > last:
		return "", differs("it ends at %d, and the store has applied %d", last, p.Applied)
	case p.Event == 0:
		return log, nil
	}
	e, err := c.EventAt(ctx, name, p.Event)
	switch {
	case errors.Is(err, memory.ErrNotFound): // a forget may have erased it
		return log, nil
	case err != nil:
		return "", err
	case !memory.At(e.Stored).Equal(p.Stored):
		return "", differs("event %d was stored at %s, the store has applied one of %s", p.Event, memory.At(e.Stored), p.Stored)
	}
	return log, nil
}
