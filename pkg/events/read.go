package events

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"golang.org/x/sync/errgroup"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// Messages reads message events by sequence. One that is absent from the
// answer was erased: the leader of the stream was asked.
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

// EventAt reads one event of a stream. It is memory.ErrNotFound when the leader
// of the stream does not have it: erased, or not yet published.
func (c *Conn) EventAt(ctx context.Context, stream string, seq uint64) (Event, error) {
	e, err := c.direct(ctx, stream, map[string]any{"seq": seq})
	if err == nil {
		return e, nil
	}
	// A follower may lag behind, so its word that an event is gone is not taken.
	return c.fromLeader(ctx, stream, map[string]any{"seq": seq})
}

// LastMessage is the sequence of the bank's last message event, 0 for none.
func (c *Conn) LastMessage(ctx context.Context, bank memory.BankID) (uint64, error) {
	return c.lastOf(ctx, c.Naming.Messages(), c.Naming.StoredOf(bank, KindMessage))
}

// LastWrite is the sequence of the bank's last write, 0 for none.
func (c *Conn) LastWrite(ctx context.Context, bank memory.BankID) (uint64, error) {
	return c.lastOf(ctx, c.Naming.Writes(), c.Naming.BankKind(bank, KindWrite))
}

func (c *Conn) lastOf(ctx context.Context, stream, filter string) (uint64, error) {
	e, err := c.fromLeader(ctx, stream, map[string]any{"last_by_subj": filter})
	if errors.Is(err, memory.ErrNotFound) {
		return 0, nil
	}
	return e.Seq, err
}

// LastInPartition is the sequence of the last message or flush of a partition, 0 for none.
func (c *Conn) LastInPartition(ctx context.Context, partition int) (uint64, error) {
	return c.lastOf(ctx, c.Naming.Messages(), c.Naming.StoredMessages(partition))
}

// LastSeq is the last sequence of a stream, 0 when it never held an event.
func (c *Conn) LastSeq(ctx context.Context, stream string) (uint64, error) {
	s, err := c.JS.Stream(ctx, stream)
	if err != nil {
		return 0, meaning(err, "read stream %s", stream)
	}
	return s.CachedInfo().State.LastSeq, nil
}

// direct asks any replica of a stream.
func (c *Conn) direct(ctx context.Context, stream string, req map[string]any) (Event, error) {
	m, err := c.ask(ctx, "$JS.API.DIRECT.GET."+stream, req)
	if err != nil {
		return Event{}, err
	}
	if m.Header.Get("Status") != "" {
		return Event{}, memory.ErrNotFound
	}
	seq, err := strconv.ParseUint(m.Header.Get(jetstream.SequenceHeader), 10, 64)
	if err != nil {
		return Event{}, meaning(err, "read an event of %s", stream)
	}
	stored, err := time.Parse(time.RFC3339Nano, m.Header.Get(jetstream.TimeStampHeaer))
	if err != nil {
		return Event{}, meaning(err, "read event %d of %s", seq, stream)
	}
	subject := m.Header.Get(jetstream.SubjectHeader)
	for _, h := range []string{jetstream.SequenceHeader, jetstream.TimeStampHeaer, jetstream.SubjectHeader, jetstream.StreamHeader, jetstream.LastSequenceHeader} {
		m.Header.Del(h)
	}
	return c.Naming.newEvent(stream, subject, seq, stored, m.Data, m.Header), nil
}

// fromLeader asks the leader of a stream.
func (c *Conn) fromLeader(ctx context.Context, stream string, req map[string]any) (Event, error) {
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
		return Event{}, meaning(err, "read an event of %s", stream)
	}
	if reply.Error != nil {
		if reply.Error.ErrorCode == jetstream.JSErrCodeMessageNotFound {
			return Event{}, memory.ErrNotFound
		}
		return Event{}, meaning(reply.Error, "read an event of %s", stream)
	}
	var header nats.Header
	if len(reply.Message.Header) > 0 {
		if header, err = nats.DecodeHeadersMsg(reply.Message.Header); err != nil {
			return Event{}, meaning(err, "read event %d of %s", reply.Message.Seq, stream)
		}
	}
	return c.Naming.newEvent(stream, reply.Message.Subject, reply.Message.Seq, reply.Message.Time, reply.Message.Data, header), nil
}

func (c *Conn) ask(ctx context.Context, subject string, req map[string]any) (*nats.Msg, error) {
	body, err := json.Marshal(req)
	if err != nil {
		return nil, err
	}
	if _, ok := ctx.Deadline(); !ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, 5*time.Second)
		defer cancel()
	}
	m, err := c.NC.RequestWithContext(ctx, subject, body)
	return m, meaning(err, "ask the broker (%s)", subject)
}
