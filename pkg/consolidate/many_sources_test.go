package consolidate_test

import (
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"unsafe"

	"github.com/eunoe-memory/eunoe/pkg/consolidate"
	"github.com/eunoe-memory/eunoe/pkg/consolidate/consolidatetest"
	"github.com/eunoe-memory/eunoe/pkg/consolidate/plan"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// repeated stores one fact that rests on so many messages, but for the tenth. again adds one of more, the tenth among them;
// the store is opened anew before it if reopen says so. dump returns what is stored.
func repeated(t *testing.T, messages, more int, reopen bool) (again func(), dump func() string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "eunoe.db")
	db := openStore(t, path)
	source := func(i int) memory.Source {
		return memory.Source{Message: memory.MessageID(fmt.Sprintf("hei-%d", i)), Seq: uint64(i), Said: at(i), Start: at(i)}
	}
	var list []consolidate.MessageEvent
	for i := 1; i <= messages+more; i++ {
		m := memory.Message{ID: source(i).Message, Speaker: "Aino", Role: memory.RoleUser, Content: "Aino soutaa.", Time: at(i)}
		list = append(list, consolidate.MessageEvent{Seq: uint64(i), Bank: "aino", Session: "s", Stored: at(i), State: memory.StatePending, Message: &m})
	}
	if err := db.ApplyMessages(t.Context(), 0, uint64(messages+more), list); err != nil {
		t.Fatal(err)
	}
	planner := plan.NewPlanner(settings().Config)
	seq, said := uint64(0), 0
	say := func(numbers ...int) {
		f := consolidatetest.Fact(t, "Aino", "Aino soutaa.")
		for _, n := range numbers {
			f.Sources = append(f.Sources, source(n))
		}
		said += len(numbers)
		from, to := f.Sources[0].Seq, f.Sources[len(numbers)-1].Seq
		w := memory.Window{ID: memory.NewWindowID("aino", "s", from, to, 0), New: []memory.WindowMessage{{Seq: from}, {Seq: to}}}
		seq++
		write := memory.Write{Bank: "aino", Seq: seq, Kind: memory.WriteWindow, Op: fmt.Sprint("op ", seq), Time: at(messages), Upto: to, Facts: []memory.Fact{f},
			Window: &memory.WindowEnd{Window: w, SessionID: "s", Outcome: memory.WindowFacts}}
		if err := db.ApplyWrites(t.Context(), seq-1, seq, []memory.Write{write}, planner.Plan); err != nil {
			t.Fatal(err)
		}
	}
	var first []int
	for n := 1; n <= messages; n++ {
		if n != late {
			first = append(first, n)
		}
	}
	say(first...)
	again = func() {
		if reopen {
			db = openStore(t, path)
		}
		if n := said + 2; said == messages+more/2 {
			say(late)
		} else if said > messages+more/2 {
			say(n - 1)
		} else {
			say(n)
		}
	}
	return again, func() string { return dumpOf(t, db) }
}

// late is the message that comes behind later ones.
const late = 10

// TestOneMoreSourceCostsLittle counts the bytes that one more message behind a fact takes: with 20,000 messages behind it
// the list of them is copied less than twice. It runs alone, because what all of the process allocates is counted.
func TestOneMoreSourceCostsLittle(t *testing.T) { //nolint:paralleltest // see above
	const few, many, times = 1_000, 20_000, 40
	cost := func(messages int) float64 {
		again, _ := repeated(t, messages, times+1, false)
		again()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for range times {
			again()
		}
		runtime.ReadMemStats(&after)
		return float64(after.TotalAlloc-before.TotalAlloc) / times
	}
	small, large := cost(few), cost(many)
	if list := float64(many-few) * float64(unsafe.Sizeof(memory.Source{})); large-small > 2*list {
		t.Errorf("with %d messages one more takes %.0f bytes, with %d %.0f: the list is copied %.1f times", few, small, many, large, (large-small)/list)
	}
}

// TestSourcesThatComeOneByOneAreStored compares what is stored of a fact whose messages come one by one, one of them late,
// with what a store makes that remembers nothing from one write to the next.
func TestSourcesThatComeOneByOneAreStored(t *testing.T) {
	t.Parallel()
	const messages, more = 100, 20
	dumps := map[bool]string{}
	for _, reopen := range []bool{false, true} {
		again, dump := repeated(t, messages, more, reopen)
		for range more {
			again()
		}
		dumps[reopen] = dump()
	}
	if n := strings.Count(dumps[false], `["fact_sources"`); n != messages+more-1 {
		t.Errorf("%d sources are stored", n)
	}
	same(t, "of a store that remembers and of one that does not", dumps[false], dumps[true])
}
