package main_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/eunoe-memory/eunoe/internal/app/apptest"
	"github.com/eunoe-memory/eunoe/test/programs"
)

func TestBenchOnSyntheticBanks(t *testing.T) {
	t.Parallel()
	type times struct {
		P50 float64 `json:"p50_ms"`
		P99 float64 `json:"p99_ms"`
		N   int     `json:"n"`
	}
	type bank struct {
		Facts, Messages, Composites, Entities int
		Bytes                                 int64
	}
	t.Run("recall is measured over NATS, and vectors against comparing all of them", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		args := []string{"recall", "--facts", "1000", "--questions", "20", "--dir", dir, "--json"}
		for range 2 { // the second time with the store of the first
			f := apptest.Decode[struct {
				Bank           bank
				Recall, Vector times
				Items          int
				RecallAt       float64 `json:"vector_recall_at_10"`
				Exact          times   `json:"exact_scan"`
				Degraded       []string
			}](t, ok(t, nil, args...))
			if f.Bank.Facts < 900 || f.Bank.Messages != 1000 || f.Bank.Composites < 100 || f.Bank.Entities != 250 || f.Recall.N < 20 || f.Items < f.Recall.N || f.RecallAt != 1 || f.Exact.P50 <= 0 ||
				f.Vector.P99 < f.Vector.P50 || len(f.Degraded) > 0 {
				t.Errorf("got %+v", f)
			}
		}
		if r := run(t, nil, append(args, "--facts", "2000")...); r.code != 2 || !strings.Contains(r.err, "holds a bank of 1000 facts") {
			t.Errorf("another size in the same directory: %+v", r)
		}
	})
	t.Run("HTTP, MCP, the chat proxy and event streams are measured on a process of its own", func(t *testing.T) {
		t.Parallel()
		built, err := programs.Dir()
		if err != nil {
			t.Fatal(err)
		}
		f := apptest.Decode[struct {
			NATS      times   `json:"recall_nats"`
			HTTP      times   `json:"recall_http"`
			MCP       times   `json:"recall_mcp_stdio"`
			Direct    times   `json:"first_token_direct"`
			Proxy     times   `json:"first_token_proxy"`
			Published float64 `json:"published_per_second"`
			Batch     times
			Changes   int
			Delivered times
		}](t, ok(t, nil, "doors", "--eunoe", filepath.Join(built, "eunoe"), "--facts", "200", "--questions", "3", "--messages", "100",
			"--streams", "4", "--stream-banks", "2", "--changes", "5", "--json"))
		if f.NATS.N < 3 || f.HTTP.N != f.NATS.N || f.MCP.N != f.NATS.N || f.Direct.N != f.NATS.N || f.Proxy.N != f.NATS.N || f.Proxy.P50 <= f.Direct.P50 || f.Published <= 0 || f.Batch.N != 1 ||
			f.Changes < 1 || f.Delivered.N != 2*f.Changes {
			t.Errorf("got %+v", f)
		}
	})
	t.Run("ingest is measured beside what moves the same bytes bare", func(t *testing.T) {
		t.Parallel()
		f := apptest.Decode[struct {
			Bank       bank
			Settled    float64 `json:"settled_per_second"`
			Floor      struct{ Seconds float64 }
			Ratio      float64
			Recallable times `json:"recallable_at_100"`
			Busy       times `json:"recall_at_200"`
		}](t, ok(t, nil, "ingest", "--facts", "200", "--messages", "100", "--questions", "10", "--steady", "200ms", "--json"))
		if f.Bank.Messages != 200 || f.Settled <= 0 || f.Floor.Seconds <= 0 || f.Ratio <= 0 || f.Recallable.N == 0 || f.Busy.N < 10 {
			t.Errorf("got %+v", f)
		}
	})
	t.Run("what a fact takes is more with a vector", func(t *testing.T) {
		t.Parallel()
		type taken struct {
			FactKB   float64 `json:"kb_per_fact"`
			Resident int64
		}
		f := apptest.Decode[struct {
			With    taken `json:"with_vectors"`
			Without taken `json:"without_vectors"`
		}](t, ok(t, nil, "mem", "--facts", "1000", "--questions", "10", "--json"))
		if two := 2 * .484; f.Without.FactKB <= 0 || f.With.FactKB < f.Without.FactKB+two || f.With.FactKB > 3.5 { // its own and its message's
			t.Errorf("got %+v", f)
		}
	})
}
