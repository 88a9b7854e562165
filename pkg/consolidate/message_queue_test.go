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

// apply applies what a queue gives next, and reports whether there was anything.
func (s *stored) apply(t *testing.T, b *consolidate.MessageQueue, most int) bool {
	t.Helper()
	run, to, ok := b.Take(most)
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
	return ok
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
		b, read := consolidate.NewMessageQueue(s.MessagePosition), 0
		for busy := true; busy; {
			switch n := r.IntN(20); {
			case n == 0 && r.IntN(2) == 0: // killed
				b = consolidate.NewMessageQueue(s.MessagePosition)
				read = slices.IndexFunc(log, func(e events.Event) bool { return e.Seq > s.Seq })
				if read < 0 {
					read = len(log)
				}
			case n < 8 && read < len(log):
				to := min(len(log), read+1+r.IntN(40))
				b.Add(log[read:to])
				read = to
			default:
				busy = s.apply(t, b, 1+r.IntN(20)) || read < len(log)
			}
			s.matches(t, log)
		}
		if want := (memory.MessagePosition{Seq: log[len(log)-1].Seq}); !s.Equal(want) {
			t.Fatalf("in the end the position is %+v, not %+v", s.MessagePosition, want)
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
			b, seq := consolidate.NewMessageQueue(memory.MessagePosition{}), uint64(0)
			body := make([]byte, loud.size)
			for range loud.n {
				seq++
				b.Add([]events.Event{{Seq: seq, Bank: "loud", Data: body}})
			}
			if n := b.InMemory(); n > 20<<20 {
				t.Errorf("%d bytes are kept in memory", n)
			}
			seq++
			b.Add([]events.Event{{Seq: seq, Bank: "quiet", Data: []byte("{}")}})
			for i := 0; ; i++ {
				run, to, ok := b.Take(200)
				if !ok || i > 1 {
					t.Fatalf("the quiet bank waits for %d transactions", i)
				}
				if slices.ContainsFunc(run, func(e events.Event) bool { return e.Bank == "quiet" }) {
					if to.Of("quiet") != seq || to.Of("loud") >= seq {
						t.Errorf("the position after it is %+v", to)
					}
					return
				}
			}
		})
	}
}
