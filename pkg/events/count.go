package events

import (
	"context"
	"encoding/json"

	"github.com/nats-io/nats.go/jetstream"
)

// Tally is how many events of a stream match a filter, if there is one.
type Tally struct {
	Events int
	// Last is the last sequence that the stream had when they were counted, of whatever subject; 0 = it never held an event.
	// Where it is the same as before, no event was added meanwhile.
	Last uint64
}

// Count returns how many events of a stream match a filter on stored subjects. It is one request to the broker, unless they
// have very many subjects.
func (c *Conn) Count(ctx context.Context, stream, filter string) (int, error) {
	t, err := c.Tally(ctx, stream, filter)
	return t.Events, err
}

// Tally is Count, with the end that the stream had before.
func (c *Conn) Tally(ctx context.Context, stream, filter string) (t Tally, err error) {
	for subjects := 0; ; {
		m, err := c.ask(ctx, "$JS.API.STREAM.INFO."+stream, map[string]any{"subjects_filter": filter, "offset": subjects})
		if err != nil {
			return Tally{}, err
		}
		var page struct {
			Error *jetstream.APIError `json:"error"`
			Total int                 `json:"total"` // subjects
			State struct {
				Last     uint64            `json:"last_seq"`
				Subjects map[string]uint64 `json:"subjects"`
			} `json:"state"`
		}
		if err := json.Unmarshal(m.Data, &page); err != nil {
			return Tally{}, Classify(err, "count %s", filter)
		}
		if page.Error != nil {
			return Tally{}, Classify(page.Error, "count %s", filter)
		}
		if subjects == 0 {
			t.Last = page.State.Last
		}
		for _, k := range page.State.Subjects {
			t.Events += int(k) //nolint:gosec // a count of events
		}
		if subjects += len(page.State.Subjects); len(page.State.Subjects) == 0 || subjects >= page.Total {
			return t, nil
		}
	}
}

// Size returns how many events a stream counts, and its end. Events that it deleted are not among them; those that a damaged
// file no longer lets it read are.
func (c *Conn) Size(ctx context.Context, stream string) (Tally, error) {
	info, err := c.streamReaching(ctx, stream, 0)
	if err != nil {
		return Tally{}, err
	}
	return Tally{Events: int(info.State.Msgs), Last: info.State.LastSeq}, nil //nolint:gosec // a count of events
}
