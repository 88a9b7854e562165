package events

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// Erase removes an event from a stream for good: its bytes are overwritten. An
// event that is not there is no error.
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
		return meaning(err, "erase event %d of %s", seq, stream)
	}
	if reply.Error == nil && reply.Success {
		return nil
	}
	// The bare error says that the event is not there; a missing stream has more to say.
	if _, gone := c.fromLeader(ctx, stream, map[string]any{"seq": seq}); gone == memory.ErrNotFound { //nolint:errorlint // the bare error is told from one that wraps it
		return nil
	}
	if reply.Error != nil {
		return meaning(reply.Error, "erase event %d of %s", seq, stream)
	}
	return fmt.Errorf("erase event %d of %s: the broker did not: %w", seq, stream, memory.ErrUnavailable)
}

// PendingWindows counts the windows of a bank that wait for an extractor or are with one.
func (c *Conn) PendingWindows(ctx context.Context, bank memory.BankID) (int, error) {
	return c.count(ctx, c.Naming.Windows(), c.Naming.BankKind(bank, KindWindow))
}

// CountDead counts the dead letters of a bank.
func (c *Conn) CountDead(ctx context.Context, bank memory.BankID) (int, error) {
	return c.count(ctx, c.Naming.Dead(), c.Naming.BankKind(bank, KindDead))
}

func (c *Conn) count(ctx context.Context, stream, filter string) (int, error) {
	s, err := c.JS.Stream(ctx, stream)
	if err != nil {
		return 0, meaning(err, "read stream %s", stream)
	}
	info, err := s.Info(ctx, jetstream.WithSubjectFilter(filter))
	if err != nil {
		return 0, meaning(err, "count %s", filter)
	}
	var n uint64
	for _, k := range info.State.Subjects {
		n += k
	}
	return int(n), nil
}
