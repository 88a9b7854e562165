package ingest_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/eunoe-memory/eunoe/pkg/events/natstest"
	"github.com/eunoe-memory/eunoe/pkg/ingest"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// BenchmarkIngest reads messages of some sessions, all in one partition.
func BenchmarkIngest(b *testing.B) {
	for _, sessions := range []int{1, 100, 5000} {
		b.Run(fmt.Sprintf("sessions=%d", sessions), func(b *testing.B) {
			c := natstest.Start(b)
			const n = 20000
			for i := range n {
				subject := c.Naming.MessageSubject("alice", memory.SessionID(fmt.Sprint("s", i%sessions)))
				if _, err := c.JS.PublishAsync(subject, []byte(`{"content":"I moved to Lisbon in May."}`), jetstream.WithStallWait(time.Minute)); err != nil {
					b.Fatal(err)
				}
			}
			<-c.JS.PublishAsyncComplete()
			i := newIngest(b, c, nil)
			ctx, cancel := context.WithCancel(b.Context())
			b.ResetTimer()
			done := make(chan error, 1)
			go func() { done <- ingest.RunPartition(ctx, i, c.Naming.PartitionOf("alice")) }()
			natstest.Eventually(b, "all messages", func() bool { return i.Metrics().Messages.Load() == n })
			b.StopTimer()
			cancel()
			if err := <-done; err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(n/b.Elapsed().Seconds(), "messages/s")
		})
	}
}
