package extract

import (
	"errors"
	"sync"

	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// waiting tells a model that is away from a window it cannot answer. It is
// kept in the process alone.
type waiting struct {
	mu       sync.Mutex
	answered int                     // windows the model was asked about and ended
	failed   map[memory.WindowID]int // answered, when the window last failed
}

// maxWaiting bounds the windows whose failures are remembered.
const maxWaiting = 4096

// ended counts a window that ended.
func (w *waiting) ended(id memory.WindowID, asked bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.failed, id)
	if asked {
		w.answered++
	}
}

// alone reports whether the model answered for no other window since this one
// failed before.
func (w *waiting) alone(id memory.WindowID) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	before, known := w.failed[id]
	if w.failed == nil || len(w.failed) >= maxWaiting {
		w.failed = map[memory.WindowID]int{}
	}
	w.failed[id] = w.answered
	return !known || before == w.answered
}

// verdict says what a failure means for its window. What is wrong with the
// window, or with an answer about it, counts as a try; so does a failure that
// took tokens, or that this window has while others are answered. What remains
// is a part that is away: the window is put off.
func (w *Worker) verdict(id memory.WindowID, used []memory.StageUsage, err error) error {
	var dead *events.DeadError
	var answer *events.OutputError
	switch {
	case err == nil, errors.As(err, &dead), errors.As(err, &answer):
		return err
	case errors.Is(err, memory.ErrInvalid):
		return events.Dead(err.Error())
	case !errors.Is(err, memory.ErrUnavailable) && !errors.Is(err, memory.ErrDeadline):
		return err
	}
	alone := w.waiting.alone(id)
	for _, u := range used {
		if u.Tokens() > 0 {
			return err
		}
	}
	if !alone {
		return err
	}
	return events.Later(err)
}
