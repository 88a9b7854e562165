package consolidate_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/eunoe-memory/eunoe/pkg/consolidate"
	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// stored is what a store has of a stream: how far it says it is, and what was applied to it.
type stored struct {
	memory.MessagePosition
	events map[memory.BankID][]uint64
}

// apply applies a run, after which the position is another one.
func (s *stored) apply(t *testing.T, run []events.Event, to memory.MessagePosition) {
	t.Helper()
	if !slices.IsSortedFunc(run, func(x, y events.Event) int { return int(x.Seq) - int(y.Seq) }) {
		t.Fatal("a run is not in the order of the stream")
	}
	for _, e := range run {
		if e.Seq <= s.Of(e.Bank) {
			t.Fatalf("event %d of bank %q is applied again: the position is %+v", e.Seq, e.Bank, s.MessagePosition)
		}
		s.events[e.Bank] = append(s.events[e.Bank], e.Seq)
	}
	s.MessagePosition = to
}

// matches checks that of each bank the events up to its position are applied, in their order, and no other.
func (s *stored) matches(t *testing.T, log []events.Event) {
	t.Helper()
	want := map[memory.BankID][]uint64{}
	for _, e := range log {
		if e.Seq <= s.Of(e.Bank) {
			want[e.Bank] = append(want[e.Bank], e.Seq)
		}
		if e.Seq <= s.Seq && e.Seq > s.Of(e.Bank) {
			t.Fatalf("event %d is not applied at %+v", e.Seq, s.MessagePosition)
		}
	}
	if !maps.EqualFunc(want, s.events, slices.Equal) {
		t.Fatalf("at %+v (-want +got):\n%s", s.MessagePosition, cmp.Diff(want, s.events))
	}
}

// TestEachBankIsAppliedInItsOrder applies generated logs of loud and quiet banks, in runs of every size, by consolidators
// that are killed between transactions: each event is applied once, those of a bank in their order, and the position says
// at any time which.
func TestEachBankIsAppliedInItsOrder(t *testing.T) {
	t.Parallel()
	body := make([]byte, 900_000)
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 7))
		var log []events.Event
		for seq := uint64(1); len(log) < 250; seq += 1 + uint64(r.IntN(3)/2) {
			bank := memory.BankID(fmt.Sprintf("loud%d", r.IntN(1+int(seed%4))))
			size := r.IntN(900_000)
			if quiet := r.IntN(4); quiet == 0 {
				bank, size = memory.BankID(fmt.Sprintf("quiet%d", r.IntN(5))), r.IntN(100)
			} else if r.IntN(20) == 0 {
				bank = "" // a name that cannot be decoded
			}
			log = append(log, events.Event{Seq: seq, Bank: bank, Data: body[:size]})
		}
		s := &stored{events: map[memory.BankID][]uint64{}}
		q, read := consolidate.NewMessageQueue(s.MessagePosition), 0
		var bank memory.BankID // held, whose events are being decoded
		var run []events.Event
		for q.Position().Seq < log[len(log)-1].Seq {
			switch n := r.IntN(20); {
			case n == 0 && r.IntN(2) == 0: // killed
				q, run = consolidate.NewMessageQueue(s.MessagePosition), nil
				if read = slices.IndexFunc(log, func(e events.Event) bool { return e.Seq > s.Seq }); read < 0 {
					read = len(log)
				}
			case n < 8 && read < len(log):
				to := min(len(log), read+1+r.IntN(40))
				q.Add(log[read:to])
				read = to
			case n < 12 && len(run) == 0:
				bank, run = q.PeekHeld(1 + r.IntN(20))
			case n < 16 && len(run) > 0:
				promised, after := q.TakeHeld(bank, len(run))
				if s.apply(t, run, promised); !promised.Equal(after) {
					t.Fatalf("the position after a run is %+v, and was to be %+v", after, promised)
				}
				run = nil
			default:
				others, to := q.TakeOthers(1+r.IntN(20), len(run) > 0 && r.IntN(2) == 0)
				s.apply(t, others, to)
			}
			s.matches(t, log)
		}
		s.apply(t, nil, q.Position())
		if s.matches(t, log); !s.Equal(memory.MessagePosition{Seq: log[len(log)-1].Seq}) {
			t.Fatalf("in the end the position is %+v", s.MessagePosition)
		}
	}
}

// TestAQuietBankDoesNotWaitForALoudOne lets a bank publish after another one has published hundreds of megabytes: its
// message is among the next two transactions, and what is read ahead is not kept in memory.
func TestAQuietBankDoesNotWaitForALoudOne(t *testing.T) {
	t.Parallel()
	for name, loud := range map[string]struct{ n, size int }{"long messages": {400, 900_000}, "short ones": {20_000, 50}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			q, seq := consolidate.NewMessageQueue(memory.MessagePosition{}), uint64(0)
			body := make([]byte, loud.size)
			for range loud.n {
				seq++
				q.Add([]events.Event{{Seq: seq, Bank: "loud", Data: body}})
			}
			if n := q.InMemory(); n > 20<<20 {
				t.Errorf("%d bytes are kept in memory", n)
			}
			seq++
			q.Add([]events.Event{{Seq: seq, Bank: "quiet", Data: []byte("{}")}})
			run, to := q.TakeOthers(200, false)
			if len(run) == 0 { // the loud bank had no turn yet
				bank, loud := q.PeekHeld(200)
				q.TakeHeld(bank, len(loud))
				run, to = q.TakeOthers(200, false)
			}
			if !slices.ContainsFunc(run, func(e events.Event) bool { return e.Bank == "quiet" }) || to.Of("quiet") != seq || to.Of("loud") >= seq {
				t.Errorf("%d events are next, and the position after them is %+v", len(run), to)
			}
			q.PeekHeld(200) // and is decoded
			for range 3 {
				seq++
				q.Add([]events.Event{{Seq: seq, Bank: "quiet", Data: []byte("{}")}})
				if run, _ := q.TakeOthers(200, true); len(run) != 1 {
					t.Errorf("while the loud bank's next messages are decoded, %d events of others are taken", len(run))
				}
			}
		})
	}
}
