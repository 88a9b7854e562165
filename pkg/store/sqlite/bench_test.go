package sqlite_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/consolidate"
	"github.com/eunoe-memory/eunoe/pkg/consolidate/plan"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/store/sqlite"
)

var benchEpoch = time.Date(2026, 5, 20, 9, 0, 0, 0, time.UTC)

func openBench(b testing.TB) *sqlite.DB {
	b.Helper()
	db, err := sqlite.Open(sqlite.DefaultConfig(filepath.Join(b.TempDir(), "eunoe.db")))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := db.Close(); err != nil {
			b.Error(err)
		}
	})
	return db
}

// sentence returns words of a skewed vocabulary, as in conversations.
func sentence(r *rand.Rand, words int) string {
	var b strings.Builder
	for range words {
		fmt.Fprintf(&b, "word%d ", int(r.ExpFloat64()*800))
	}
	return b.String() + "."
}

func benchMessages(r *rand.Rand, from, n int) []consolidate.MessageEvent {
	out := make([]consolidate.MessageEvent, n)
	for i := range out {
		seq := uint64(from + i + 1)
		m := &memory.Message{Bank: "b", Session: "s", Seq: seq, ID: memory.MessageID(fmt.Sprintf("message-%d", seq)), Role: memory.RoleUser, Speaker: "Ann",
			Content: sentence(r, 15), Time: benchEpoch.Add(time.Duration(seq) * time.Second)}
		out[i] = consolidate.MessageEvent{Seq: seq, Bank: "b", Session: "s", Stored: m.Time, State: memory.StatePending, Message: m}
	}
	return out
}

func benchFact(r *rand.Rand, seq uint64) memory.Fact {
	text := sentence(r, 10)
	said := benchEpoch.Add(time.Duration(seq) * time.Second)
	v := make(memory.Vector, 384)
	for i := range v {
		v[i] = float32(r.NormFloat64())
	}
	return memory.Fact{ID: memory.NewFactID("b", fmt.Sprint(seq, text), memory.KindWorld), Bank: "b", Text: text, Kind: memory.KindWorld, Type: memory.TypeFact,
		Entities: []memory.EntityID{memory.EntityID(fmt.Sprintf("person:p%d", seq%50))}, Speaker: "Ann", Said: said, Recorded: said,
		Valid: []memory.Interval{{From: said}}, Confidence: 0.7, Version: seq, Vector: v.Unit(),
		Sources: []memory.Source{{Message: memory.SequenceID(seq), Seq: seq, Said: said, Start: said}}}
}

func benchWrites(r *rand.Rand, from, n int) []memory.Write {
	out := make([]memory.Write, n)
	for i := range out {
		seq := uint64(from + i + 1)
		out[i] = memory.Write{Bank: "b", Kind: memory.WriteWindow, Seq: seq, Op: fmt.Sprintf("op-%d", seq), Time: benchEpoch, Facts: []memory.Fact{benchFact(r, seq)}}
	}
	return out
}

func asGiven(_ plan.View, w memory.Write) (memory.Changes, error) {
	return memory.Changes{Facts: w.Facts, Outcome: memory.WriteOutcome{Results: []memory.WriteResult{{ID: string(w.Facts[0].ID), Outcome: memory.OutcomeAdded}}},
		Changes: []memory.Change{{What: memory.ChangeFact, Op: memory.OutcomeAdded, Record: string(w.Facts[0].ID)}}}, nil
}

func BenchmarkApplyMessages(b *testing.B) {
	for _, batch := range []int{1, 100, 200} {
		b.Run(fmt.Sprintf("batch=%d", batch), func(b *testing.B) {
			db, r := openBench(b), rand.New(rand.NewPCG(1, 2))
			events := benchMessages(r, 0, b.N)
			b.ResetTimer()
			for from := 0; from < b.N; from += batch {
				to := min(from+batch, b.N)
				if err := db.ApplyMessages(context.Background(), uint64(from), uint64(to), events[from:to]); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "messages/s")
		})
	}
}

func BenchmarkApplyWrites(b *testing.B) {
	for _, batch := range []int{1, 100, 200} {
		b.Run(fmt.Sprintf("batch=%d", batch), func(b *testing.B) {
			db, r := openBench(b), rand.New(rand.NewPCG(1, 2))
			writes := benchWrites(r, 0, b.N)
			b.ResetTimer()
			for from := 0; from < b.N; from += batch {
				to := min(from+batch, b.N)
				if err := db.ApplyWrites(context.Background(), uint64(from), uint64(to), writes[from:to], asGiven); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "facts/s")
		})
	}
}

// BenchmarkNearest looks up neighbours in banks of several sizes. The time must not grow with the bank.
func BenchmarkNearest(b *testing.B) {
	for _, size := range []int{1000, 10000, 50000} {
		b.Run(fmt.Sprintf("facts=%d", size), func(b *testing.B) {
			db, r := openBench(b), rand.New(rand.NewPCG(1, 2))
			ctx := context.Background()
			for from := 0; from < size; from += 1000 {
				if err := db.ApplyWrites(ctx, uint64(from), uint64(from+1000), benchWrites(r, from, 1000), asGiven); err != nil {
					b.Fatal(err)
				}
			}
			probes := make([]memory.Fact, 100)
			for i := range probes {
				probes[i] = benchFact(r, uint64(size+i))
			}
			last := uint64(size)
			look := func(v plan.View, _ memory.Write) (memory.Changes, error) {
				b.ResetTimer()
				for i := range b.N {
					f := probes[i%len(probes)]
					if _, err := v.Nearest(0, f.Vector, strings.Fields(f.Text), f.Entities, .55, 15); err != nil {
						b.Fatal(err)
					}
				}
				b.StopTimer()
				return memory.Changes{}, nil
			}
			if err := db.ApplyWrites(ctx, last, last+1, []memory.Write{{Bank: "b", Kind: memory.WriteRetain, Seq: last + 1, Op: "look", Time: benchEpoch}}, look); err != nil {
				b.Fatal(err)
			}
		})
	}
}
