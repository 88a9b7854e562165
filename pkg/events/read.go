package events

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"golang.org/x/sync/errgroup"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// Messages reads message events by sequence, all of which were stored. A sequence that is missing in the result was erased.
func (c *Conn) Messages(ctx context.Context, seqs []uint64) (map[uint64]Event, error) {
	var mu sync.Mutex
	found := make(map[uint64]Event, len(seqs))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(16)
	for _, seq := range seqs {
		g.Go(func() error {
			e, err := c.EventAt(ctx, c.Naming.Messages(), seq)
			if errors.Is(err, memory.ErrNotFound) {
				return nil
			}
			if err != nil {
				return err
			}
			mu.Lock()
			defer mu.Unlock()
			found[seq] = e
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	return found, nil
}

// EventAt reads an event that was stored. The error is memory.ErrNotFound if it was erased. That is final where the stream has one
// replica. Of others the leader is believed where it holds a later event, and else if it has said so for 15 seconds: a server that
// led the stream, was stopped and wakes does not know the last events. The error is memory.ErrUnavailable if ctx ends before that.
func (c *Conn) EventAt(ctx context.Context, stream string, seq uint64) (Event, error) {
	for {
		e, err := c.EventIfAny(ctx, stream, seq)
		if err != memory.ErrNotFound { //nolint:errorlint // the bare error means the event; one that wraps it the stream
			return e, err
		}
		s, err := c.stream(ctx, stream)
		if err != nil {
			return Event{}, err
		}
		if s.CachedInfo().Config.Replicas <= 1 {
			return Event{}, memory.ErrNotFound
		}
		switch gone, err := c.Gone(ctx, stream, seq-1, seq); {
		case err != nil:
			return Event{}, err
		case gone:
			return Event{}, memory.ErrNotFound
		}
		if !Sleep(ctx, endPause) {
			return Event{}, fmt.Errorf("the leader of %s does not hold event %d, which an old leader may say: %w", stream, seq, memory.ErrUnavailable)
		}
	}
}

// EventIfAny reads an event that may never have been stored. The error is memory.ErrNotFound if the leader of the stream does not
// hold it.
func (c *Conn) EventIfAny(ctx context.Context, stream string, seq uint64) (Event, error) {
	e, err := c.direct(ctx, stream, seq)
	if err == nil {
		return e, nil
	}
	// A follower may lag behind: only the leader knows that an event is gone.
	return c.ReadLeader(ctx, stream, map[string]any{"seq": seq})
}

// LastMessage returns the sequence of the last message of a bank, 0 if it has none.
func (c *Conn) LastMessage(ctx context.Context, bank memory.BankID) (uint64, error) {
	return c.lastOf(ctx, c.Naming.Messages(), c.Naming.StoredOf(bank, KindMessage))
}

// LastWrite returns the sequence of the last write of a bank, 0 if it has none.
func (c *Conn) LastWrite(ctx context.Context, bank memory.BankID) (uint64, error) {
	return c.lastOf(ctx, c.Naming.Writes(), c.Naming.BankKind(bank, KindWrite))
}

// LastChange returns the sequence of the last change event of a bank about a kind of record, 0 if there is none.
func (c *Conn) LastChange(ctx context.Context, bank memory.BankID, what string) (uint64, error) {
	return c.lastOf(ctx, c.Naming.Changes(), c.Naming.ChangeSubject(bank, what))
}

func (c *Conn) lastOf(ctx context.Context, stream, filter string) (uint64, error) {
	e, err := c.ReadLeader(ctx, stream, map[string]any{"last_by_subj": filter})
	if errors.Is(err, memory.ErrNotFound) {
		return 0, nil
	}
	return e.Seq, err
}

// LastInPartition returns the sequence of the last message or flush of a partition, 0 if it has none.
func (c *Conn) LastInPartition(ctx context.Context, partition int) (uint64, error) {
	return c.lastOf(ctx, c.Naming.Messages(), c.Naming.StoredMessages(partition))
}

// added returns what the broker added to the headers of an event: behind what the publisher set under the same name.
func added(m *nats.Msg, name string) string {
	v := m.Header.Values(name)
	if len(v) == 0 {
		return ""
	}
	return v[len(v)-1]
}

// direct reads the event of a sequence from any replica of a stream.
func (c *Conn) direct(ctx context.Context, stream string, seq uint64) (Event, error) {
	m, err := c.ask(ctx, "$JS.API.DIRECT.GET."+stream, map[string]any{"seq": seq})
	if err != nil {
		return Event{}, err
	}
	if m.Header.Get("Status") != "" {
		return Event{}, memory.ErrNotFound
	}
	if got := added(m, jetstream.SequenceHeader); got != strconv.FormatUint(seq, 10) {
		return Event{}, fmt.Errorf("the answer for event %d of %s is about event %q: %w", seq, stream, got, memory.ErrUnavailable)
	}
	stored, err := time.Parse(time.RFC3339Nano, added(m, jetstream.TimeStampHeaer))
	if err != nil {
		return Event{}, Classify(err, "read event %d of %s", seq, stream)
	}
	subject := added(m, jetstream.SubjectHeader)
	for _, h := range []string{jetstream.SequenceHeader, jetstream.TimeStampHeaer, jetstream.SubjectHeader, jetstream.StreamHeader, jetstream.LastSequenceHeader} {
		m.Header.Del(h)
	}
	c.saw(stream, seq)
	return c.Naming.NewEvent(stream, subject, seq, stored, m.Data, m.Header), nil
}

// ReadLeader reads one event from the leader of a stream, by a request of the JetStream API ($JS.API.STREAM.MSG.GET).
// The error is memory.ErrNotFound if there is none.
func (c *Conn) ReadLeader(ctx context.Context, stream string, req map[string]any) (Event, error) {
	m, err := c.ask(ctx, "$JS.API.STREAM.MSG.GET."+stream, req)
	if err != nil {
		return Event{}, err
	}
	var reply struct {
		Error   *jetstream.APIError `json:"error"`
		Message struct {
			Subject string    `json:"subject"`
			Seq     uint64    `json:"seq"`
			Header  []byte    `json:"hdrs"`
			Data    []byte    `json:"data"`
			Time    time.Time `json:"time"`
		} `json:"message"`
	}
	if err := json.Unmarshal(m.Data, &reply); err != nil {
		return Event{}, Classify(err, "read an event of %s", stream)
	}
	if reply.Error != nil {
		if reply.Error.ErrorCode == jetstream.JSErrCodeMessageNotFound {
			return Event{}, memory.ErrNotFound
		}
		return Event{}, Classify(reply.Error, "read an event of %s", stream)
	}
	var header nats.Header
	if len(reply.Message.Header) > 0 {
		// As the library does with a delivery, headers that are none are left out.
		header, _ = nats.DecodeHeadersMsg(reply.Message.Header) //nolint:errcheck // nil
	}
	c.saw(stream, reply.Message.Seq)
	return c.Naming.NewEvent(stream, reply.Message.Subject, reply.Message.Seq, reply.Message.Time, reply.Message.Data, header), nil
}

// stream reads the state of a stream.
func (c *Conn) stream(ctx context.Context, name string) (jetstream.Stream, error) {
	s, err := Again(ctx, func(ctx context.Context) (jetstream.Stream, error) { return c.JS.Stream(ctx, name) })
	return s, Classify(err, "read stream %s", name)
}

// HasStream reports whether the broker has a stream.
func (c *Conn) HasStream(ctx context.Context, name string) (bool, error) {
	_, err := c.stream(ctx, name)
	if errors.Is(err, memory.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

func (c *Conn) ask(ctx context.Context, subject string, req map[string]any) (*nats.Msg, error) {
	body, err := json.Marshal(req)
	if err != nil {
		return nil, err
	}
	m, err := Again(ctx, func(ctx context.Context) (*nats.Msg, error) { return c.NC.RequestWithContext(ctx, subject, body) })
	return m, Classify(err, "ask the broker (%s)", subject)
}

// NextEvent reads the first event at or after seq whose stored subject matches filter. The error is memory.ErrNotFound
// if there is none.
func (c *Conn) NextEvent(ctx context.Context, stream, filter string, seq uint64) (Event, error) {
	return c.ReadLeader(ctx, stream, map[string]any{"seq": seq, "next_by_subj": filter})
}

// ErrDamaged is the error of Erase for an event whose record the broker cannot read, because its bytes were changed on disk:
// it is given to nobody, and its bytes stay. It wraps memory.ErrConflict, for repeating does not help.
var ErrDamaged = fmt.Errorf("the broker cannot read the damaged event, and its bytes stay: %w", memory.ErrConflict)

// corrupt is what a broker says of a record that does not fit its checksum; its reply has no code for it.
const corrupt = "corrupt message"

// Erase removes an event from a stream and overwrites its bytes. An event that does not exist is no error; one that the
// broker cannot read is ErrDamaged.
func (c *Conn) Erase(ctx context.Context, stream string, seq uint64) error {
	m, err := c.ask(ctx, "$JS.API.STREAM.MSG.DELETE."+stream, map[string]any{"seq": seq})
	if err != nil {
		return fmt.Errorf("erase event %d of %s: %w", seq, stream, err)
	}
	var reply struct {
		Error   *jetstream.APIError `json:"error"`
		Success bool                `json:"success"`
	}
	if err := json.Unmarshal(m.Data, &reply); err != nil {
		return Classify(err, "erase event %d of %s", seq, stream)
	}
	if reply.Error == nil && reply.Success {
		return nil
	}
	if reply.Error != nil && strings.Contains(reply.Error.Description, corrupt) {
		return fmt.Errorf("erase event %d of %s: %w", seq, stream, ErrDamaged)
	}
	// The unwrapped error means that the event does not exist; a missing stream is another error.
	if _, gone := c.ReadLeader(ctx, stream, map[string]any{"seq": seq}); gone == memory.ErrNotFound { //nolint:errorlint // the bare error is told from one that wraps it
		return nil
	}
	if reply.Error != nil {
		return Classify(reply.Error, "erase event %d of %s", seq, stream)
	}
	return fmt.Errorf("erase event %d of %s: the broker did not: %w", seq, stream, memory.ErrUnavailable)
}
