package ordered_test

import (
	"context"
	"slices"
	"testing"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/events/natstest"
	"github.com/eunoe-memory/eunoe/pkg/events/ordered"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// lagging is a cluster that recovers: the first consumers are on a server whose copy of a stream ends earlier.
type lagging struct {
	jetstream.JetStream
	ends []string // by consumer: what it has of the stream, as a filter; then all
}

func (l *lagging) CreateConsumer(ctx context.Context, stream string, cfg jetstream.ConsumerConfig) (jetstream.Consumer, error) {
	if len(l.ends) > 0 {
		cfg.FilterSubjects, cfg.FilterSubject = nil, l.ends[0]
		l.ends = l.ends[1:]
	}
	return l.JetStream.CreateConsumer(ctx, stream, cfg)
}

// TestAScanSkipsNothingThatAServerLacksYet scans a replicated stream by consumers that have none of it, or the beginning.
func TestAScanSkipsNothingThatAServerLacksYet(t *testing.T) {
	t.Parallel()
	cluster := natstest.StartCluster(t)
	c := cluster.Connect(t)
	options := events.DefaultStreamOptions()
	options.Replicas = 3
	if err := c.Reconcile(t.Context(), options); err != nil {
		t.Fatal(err)
	}
	for i := range 6 {
		natstest.Publish(t, c, "marit", []memory.SessionID{"early", "late"}[i/3], "Hva heter katten?")
	}
	early, none := c.Naming.StoredOfSession("marit", "early"), c.Naming.StoredOfSession("marit", "never")
	c.JS = &lagging{JetStream: c.JS, ends: []string{none, early, none}}
	var seqs []uint64
	last, err := ordered.Scan(t.Context(), c, c.Naming.Messages(), nil, 0, func(e events.Event) error {
		seqs = append(seqs, e.Seq)
		return nil
	})
	if err != nil || last != 6 || !slices.Equal(seqs, []uint64{1, 2, 3, 4, 5, 6}) {
		t.Errorf("events %v up to %d, %v", seqs, last, err)
	}
}
