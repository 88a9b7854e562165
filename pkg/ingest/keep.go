package ingest

import (
	"errors"
	"fmt"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// keep makes the draft, which is stored, the state in memory.
func (d *draft) keep() {
	for _, n := range d.order {
		s := d.sessions[n]
		s.base.Session = s.Session
		if len(s.Open) > 0 {
			d.open[n] = s.base
		} else {
			delete(d.open, n)
		}
	}
	for _, b := range d.banks {
		d.partition.limiters[b].limiter = *d.limiters[b]
	}
	for _, w := range d.windows {
		for _, m := range w.New {
			delete(d.partition.traces, m.Seq)
		}
	}
	d.metrics.add(d.counts, len(d.letters))
}

// drop forgets what the draft touched, for it is not known what of it was
// stored; it is read again.
func (d *draft) drop() {
	for _, n := range d.order {
		delete(d.partition.sessions, n)
		delete(d.open, n)
	}
	for _, b := range d.banks {
		delete(d.partition.limiters, b)
	}
}

// again says of a state that another owner wrote, or that a write before a
// crash left, that it is to be read again: only the position decides who stands down.
func again(err error) error {
	if errors.Is(err, memory.ErrConflict) {
		return fmt.Errorf("%w: %s", memory.ErrUnavailable, err.Error())
	}
	return err
}
