package query_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

// chatter generates sentences whose words follow a Zipf-like distribution.
type chatter struct {
	rng   *rand.Rand
	zipf  *rand.Zipf
	words []string
}

func newChatter() *chatter {
	rng := rand.New(rand.NewPCG(1, 2))
	c := &chatter{rng: rng, zipf: rand.NewZipf(rng, 1.1, 8, 30000)}
	syllables := strings.Fields("ba ke li mo nu ra se ti vo zu pla gre fin dor mas tel")
	for i := range 30001 {
		w := syllables[i%16] + syllables[(i/16)%16] + syllables[(i/256)%16]
		if i >= 4096 {
			w += syllables[i/4096]
		}
		c.words = append(c.words, w)
	}
	return c
}

func (c *chatter) say(n int) string {
	out := make([]string, n)
	for i := range out {
		out[i] = c.words[c.zipf.Uint64()]
	}
	return strings.Join(out, " ") + "."
}

// BenchmarkRecall measures a recall with default settings from a bank of n messages and n facts, with questions of
// about six words.
func BenchmarkRecall(b *testing.B) {
	for _, n := range []int{1000, 10000, 100000} {
		b.Run(fmt.Sprintf("%d messages", n), func(b *testing.B) {
			w := newFixture(b)
			c := newChatter()
			for from := 0; from < n; from += 1000 {
				var messages []memory.Message
				var facts []memory.Fact
				for i := from; i < from+1000; i++ {
					messages = append(messages, memory.Message{Session: memory.SessionID(fmt.Sprintf("s%d", i/200)), Speaker: []string{"Ann", "Ben"}[i%2],
						Content: c.say(20), Time: noon.Add(-time.Duration(n-i) * time.Minute)})
				}
				w.say(messages...)
				for i := range messages {
					id := fmt.Sprintf("m%d", from+i+1)
					facts = append(facts, memory.Fact{Text: c.say(12), Sources: w.from(alice, id), Said: messages[i].Time, Vector: memory.Vector{1},
						Entities: []memory.EntityID{memory.EntityID("concept:" + c.words[c.zipf.Uint64()])}})
				}
				w.know(alice, facts...)
			}
			var took []time.Duration
			b.ResetTimer()
			for b.Loop() {
				q := "What did Ann say about " + c.say(6) + "?"
				start := time.Now()
				if _, err := w.service.Recall(context.Background(), alice, wire.RecallRequest{Query: q}); err != nil {
					b.Fatal(err)
				}
				took = append(took, time.Since(start))
			}
			b.StopTimer()
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
			b.ReportMetric(float64(took[int(math.Min(float64(len(took)-1), float64(len(took))*.99))].Microseconds())/1000, "p99-ms")
		})
	}
}
