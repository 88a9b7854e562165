package query_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/events/natstest"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/query"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

// BenchmarkStatus measures the status of a bank of which 82,000 writes are not applied, or whose 82,000 messages, of one
// session or of many, are in no window yet.
func BenchmarkStatus(b *testing.B) {
	const n = 82_000
	for _, c := range []struct {
		name                       string
		writes, messages, sessions int
	}{{"little to do", 10, 10, 1}, {"writes not applied", n, 10, 1}, {"messages in one session", 10, n, 1}, {"messages in many sessions", 10, n, 4000}} {
		b.Run(c.name, func(b *testing.B) {
			conn := natstest.Start(b)
			w := newFixtureWith(b, query.DefaultConfig(), func(d *query.Deps) { d.Conn = conn })
			for from := 0; from < c.messages; from += 1000 {
				var list []memory.Message
				for i := from; i < min(from+1000, c.messages); i++ {
					list = append(list, memory.Message{Content: "x", Session: memory.SessionID(fmt.Sprintf("s%d", i%c.sessions))})
				}
				w.say(list...)
			}
			subject := conn.Naming.Subject(events.EncodeToken(string(alice)), events.KindWrite, string(memory.WriteUsage))
			for i := range c.writes {
				if _, err := conn.JS.PublishAsync(subject, []byte(`{}`)); err != nil {
					b.Fatal(err)
				}
				if i%1000 == 0 {
					<-conn.JS.PublishAsyncComplete()
				}
			}
			<-conn.JS.PublishAsyncComplete()
			var took []time.Duration
			for b.Loop() {
				began := time.Now()
				s, err := w.service.Status(context.Background(), alice, wire.StatusRequest{})
				if err != nil || s.Writes.Pending != c.writes || s.Conservation.Pending != c.messages {
					b.Fatalf("%+v %v", s, err)
				}
				took = append(took, time.Since(began))
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
			b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "p99-ms")
		})
	}
}
