package offline

import (
	"context"
	"errors"
	"fmt"

	"github.com/eunoe-memory/eunoe/pkg/consolidate/rebuild"
	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

// moveShards moves the stores of several shards. Each consolidator fills its new store and follows the log until all have caught
// up; then they put them in force. Until then an error ends all, and nothing has changed. Afterwards an error says how many
// were moved: the same call moves the others.
func moveShards(ctx context.Context, conn *events.Conn, r wire.RebuildRequest, shards []events.Shard,
	progress func(rebuild.Progress)) (out wire.RebuildStatus, err error) {
	m := move{progress: progress}
	r.Hold = true
	for _, s := range shards {
		r.Shard = s.Index
		w, err := begin(ctx, conn, r)
		if err != nil {
			return out, errors.Join(fmt.Errorf("shard %s: %w", s, err), m.cancel(ctx))
		}
		m.shards = append(m.shards, w)
	}
	for !m.each(func(w *watched) bool { return w.status.Doing == "holding" || w.moved() }) {
		if err := m.ask(ctx, func(*watched) wire.RebuildRequest { return wire.RebuildRequest{} }); err != nil {
			return out, errors.Join(err, m.cancel(ctx))
		}
	}
	for !m.each(func(w *watched) bool { return !w.status.Running }) && ctx.Err() == nil {
		err = errors.Join(err, m.ask(ctx, func(w *watched) wire.RebuildRequest { return wire.RebuildRequest{Switch: w.status.ID} }))
	}
	n := 0
	for _, w := range m.shards {
		if w.moved() {
			n++
		}
		out.Paused = max(out.Paused, w.status.Paused)
	}
	if n < len(m.shards) {
		return out, fmt.Errorf("%d of %d stores were moved; run it again for the others: %w", n, len(m.shards), errors.Join(err, ctx.Err()))
	}
	out.Store, out.Progress = r.To, wire.RebuildProgress(m.least())
	return out, nil
}

// move is what is asked of the consolidators of several shards.
type move struct {
	shards   []*watched
	progress func(rebuild.Progress)
}

// moved reports whether the new store is in force.
func (w *watched) moved() bool { return !w.status.Running && w.status.ID != "" && w.status.Error == "" }

func (m *move) each(holds func(*watched) bool) bool {
	for _, w := range m.shards {
		if !holds(w) {
			return false
		}
	}
	return true
}

// ask asks, after a moment, every consolidator that is not done, and tells of the progress. One that failed counts as done: the
// error is that of all that fail now.
func (m *move) ask(ctx context.Context, request func(*watched) wire.RebuildRequest) (err error) {
	if p := m.least(); p.LastWrite > 0 && m.progress != nil {
		m.progress(p)
	}
	if !events.Sleep(ctx, liveEvery) {
		return ctx.Err()
	}
	for _, w := range m.shards {
		if !w.status.Running {
			continue
		}
		if failed := w.ask(ctx, request(w)); failed != nil {
			w.status.Running, w.status.Error = false, failed.Error()
			err = errors.Join(err, fmt.Errorf("shard %d: %w", w.shard, failed))
		}
	}
	return err
}

// cancel ends what is under way.
func (m *move) cancel(ctx context.Context) (err error) {
	for _, w := range m.shards {
		if w.status.Running {
			err = errors.Join(err, w.cancel(ctx))
		}
	}
	return err
}

// least is how far all are: as far as the last of them.
func (m *move) least() rebuild.Progress {
	p := rebuild.Progress(m.shards[0].status.Progress)
	for _, w := range m.shards[1:] {
		q := w.status.Progress
		p.Messages, p.Writes, p.LastWrite = min(p.Messages, q.Messages), min(p.Writes, q.Writes), max(p.LastWrite, q.LastWrite)
	}
	return p
}
