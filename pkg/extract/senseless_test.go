package extract_test

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/events/deadletter"
	"github.com/eunoe-memory/eunoe/pkg/extract"
	"github.com/eunoe-memory/eunoe/pkg/extract/rules"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

// TestAModelThatMakesNoSense has every answer about one bank make none: after a few tries rules extract the bank's windows
// until the hour ends, while another bank's are still shown to the model.
func TestAModelThatMakesNoSense(t *testing.T) {
	t.Parallel()
	p := newPipeline(t)
	var asked, askedNext atomic.Int64
	var clock atomic.Pointer[time.Time]
	began := time.Date(2026, 5, 20, 9, 14, 0, 0, time.UTC)
	clock.Store(&began)
	model := extract.Func{ID: "muddled", Do: func(_ context.Context, in extract.Input) ([]extract.Draft, error) {
		if in.Bank == "alice" {
			asked.Add(1)
			return nil, &deadletter.OutputError{Err: fmt.Errorf("no list: %w", memory.ErrUnavailable), Output: "banana"}
		}
		askedNext.Add(1)
		return []extract.Draft{{Text: "Bob was heard by the model.", Sources: []memory.MessageID{in.New[0].ID}}}, nil
	}}
	stop := p.extractor(model, nil, func(d *extract.Deps) {
		d.Fallback, d.Now = rules.New(), func() time.Time { return *clock.Load() }
	})
	const windows = 12
	for i := range windows {
		p.say("alice", memory.SessionID(fmt.Sprintf("s%d", i)), fmt.Sprintf("I own boat number %d.", i))
	}
	byRules := func(s wire.Status) int {
		i := slices.IndexFunc(s.Usage, func(u memory.StageUsage) bool { return u.Stage == memory.StageExtract && u.Model == rules.Name })
		if i < 0 {
			return 0
		}
		return s.Usage[i].Calls
	}
	p.until("alice", "every window has ended, most by rules", func(s wire.Status) bool {
		return s.Settled && s.Conservation.Dead+s.Conservation.Committed == windows && byRules(s) == s.Conservation.Committed
	})
	if n := asked.Load(); n != 6 {
		t.Errorf("the model was asked %d times within the hour, expected 6", n)
	}
	s, err := p.client.Status(t.Context(), "alice")
	if err != nil || s.Conservation.Dead > 3 || s.Facts == 0 {
		t.Errorf("status %+v, %v", s, err)
	}
	p.say("bob", "s", "I own a drum.")
	p.until("bob", "the other bank is extracted by the model", func(s wire.Status) bool { return s.Settled && s.Facts == 1 && byRules(s) == 0 })
	next := began.Add(time.Hour)
	clock.Store(&next)
	p.say("alice", "later", "I own a harp.")
	p.until("alice", "the model is asked again in the next hour", func(s wire.Status) bool { return s.Settled && asked.Load() > 6 })
	stop()
	if askedNext.Load() != 1 {
		t.Errorf("the other bank's window was shown %d times", askedNext.Load())
	}
}
