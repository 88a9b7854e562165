package events_test

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/events/natstest"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// TestEveryEventIsOfOneShard reads messages and writes of many banks, good ones and such as cannot be read.
func TestEveryEventIsOfOneShard(t *testing.T) {
	t.Parallel()
	n := events.Naming{Prefix: "mem"}
	var run []events.Event
	for i := range 200 {
		bank := memory.BankID(fmt.Sprintf("tenant %d", i))
		for _, subject := range []string{n.MessageSubject(bank, "s"), n.WriteSubject(bank, memory.WriteWindow), fmt.Sprintf("mem.%%zz%d.message.s", i), "elsewhere", "mem.a"} {
			run = append(run, n.NewEvent("S", subject, uint64(len(run)+1), time.Unix(int64(i), 0), []byte("x"), nil))
		}
	}
	for _, of := range events.ShardCounts() {
		owners := make([]int, len(run))
		for _, s := range events.Shards(of) {
			own := s.Own(n, run)
			for i, e := range own {
				if e.Seq != run[i].Seq || !e.Stored.Equal(run[i].Stored) {
					t.Fatalf("%s: event %d became %+v", s, i, e)
				}
				switch {
				case !e.Elsewhere():
					owners[i]++
					if e.Bank != "" && !s.Holds(n, e.Bank) {
						t.Errorf("%s has an event of %s, and does not hold it", s, e.Bank)
					}
				case e.Data != nil || e.Bank != "":
					t.Errorf("%s: an event of another shard kept %+v", s, e)
				}
			}
		}
		for i, k := range owners {
			if k != 1 {
				t.Errorf("event %s is of %d of %d shards", run[i].Subject, k, of)
			}
		}
	}
	for i, e := range run {
		if e.Elsewhere() || string(e.Data) != "x" {
			t.Fatalf("event %d of the run that was given became %+v", i, e)
		}
	}
}

func TestTheNumberOfShardsIsKeptInTheLog(t *testing.T) {
	t.Parallel()
	c := natstest.Start(t)
	if of, err := c.ShardCount(t.Context()); of != 0 || err != nil {
		t.Errorf("at first %d, %v", of, err)
	}
	if err := c.SetShardCount(t.Context(), 8); err != nil {
		t.Fatal(err)
	}
	if err := c.Reconcile(t.Context(), events.DefaultStreamOptions()); err != nil {
		t.Fatal(err)
	}
	if of, err := c.ShardCount(t.Context()); of != 8 || err != nil {
		t.Errorf("after a stage started: %d, %v", of, err)
	}
	if err := c.SetShardCount(t.Context(), 3); err != nil {
		t.Fatal(err)
	}
	if of, err := c.ShardCount(t.Context()); err == nil {
		t.Errorf("a number that is none: %d", of)
	}
}

// TestShardsGetEqualSharesOfBanks prints how much of the messages of 100,000 banks the busiest shard gets, by Zipf's law too.
func TestShardsGetEqualSharesOfBanks(t *testing.T) {
	t.Parallel()
	const banks = 100_000
	for _, exponent := range []float64{0, 1, 1.2} {
		of16, all := make([]float64, events.Partitions), 0.0
		for i := range banks {
			weight := math.Pow(float64(i+1), -exponent)
			of16[events.Naming{}.ShardOf(memory.BankID(fmt.Sprintf("bank-%d", i)), events.Partitions)] += weight
			all += weight
		}
		for _, of := range events.ShardCounts() {
			shares := make([]float64, of)
			for i, w := range of16 {
				shares[i%of] += w / all
			}
			busiest := slices.Max(shares)
			t.Logf("exponent %.1f, %2d shards: the busiest has %.1f %%, %.2f times the mean", exponent, of, 100*busiest, busiest*float64(of))
			if exponent == 0 && busiest*float64(of) > 1.2 {
				t.Errorf("%d shards: the busiest has %.2f times the mean of equal banks", of, busiest*float64(of))
			}
		}
	}
}
