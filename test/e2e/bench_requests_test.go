package e2e_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

// BenchmarkBesideRequests measures how long recalls of a bank take, in milliseconds at the median and the 99th percentile,
// alone and while 24 clients of another bank send requests that take long. Each bank has 2,000 facts.
func BenchmarkBesideRequests(b *testing.B) {
	var changes []string
	for i := range 100 {
		changes = append(changes, fmt.Sprintf(`{"op":"remember","text":"Ann rented a barge called N%d."}`, i))
	}
	every := `"max_facts":1000,"max_tokens":1000000,"exact":true,"explain":true,"strategies":{"keyword":1,"semantic":1,"graph":1,"entity":1,"temporal":1,"recency":1}`
	for _, loud := range []struct{ name, endpoint, body string }{
		{"nothing", "", ""},
		{"long-queries", "recall", `{"query":"` + strings.Repeat("which barge did Ann rent in 1950 ", 1900) + `",` + every + `}`},
		{"all-filters", "recall", `{"query":"barge","speakers":["Ann"],"kinds":["world","experience"],"as_of":"2030-01-01T00:00:00Z","exclude":{"sessions":["s1"]},` + every + `}`},
		{"waits", "recall", `{"query":"barge","after":1099511627776,"wait":"5s"}`},
		{"reflect", "reflect", `{"query":"Which barge did Ann rent?","max_facts":1000,"max_tokens":1000000}`},
		{"list", "list", `{"limit":1000,"record":"message"}`},
		{"tree", "tree", `{"depth":16,"limit":1000}`},
		{"history", "history", `{"id":"f_none"}`},
		{"previews", "forget", `{"speaker":"Ann","preview":true}`},
		{"forgets", "forget", `{"session":"none"}`},
		{"dry-runs", "apply", `{"dry_run":true,"changes":[` + strings.Join(changes, ",") + `]}`},
		{"verify", "verify", `{"full":true}`},
	} {
		b.Run(loud.name, func(b *testing.B) {
			c, nc := connect(b)
			for i := range 2000 {
				body, err := json.Marshal(object{"speaker": "Ann", "content": fmt.Sprintf("I rented barge number %d in Ghent with Tom.", i)})
				if err != nil {
					b.Fatal(err)
				}
				flood(b, nc, "loud", 20, 1, string(body))
				flood(b, nc, "quiet", 20, 1, strings.ReplaceAll(string(body), "barge", "boat"))
			}
			for _, bank := range []string{"loud", "quiet"} {
				for s := range 20 {
					if err := nc.Publish(fmt.Sprintf("mem.%s.flush.s%d", bank, s), nil); err != nil {
						b.Fatal(err)
					}
				}
			}
			for _, bank := range []string{"loud", "quiet"} {
				if _, err := c.WaitSettled(b.Context(), memory.BankID(bank), nil); err != nil {
					b.Fatal(err)
				}
			}
			subject := "mem.loud." + loud.endpoint
			if loud.endpoint == "verify" {
				subject = "mem.admin.verify"
			}
			over := make(chan struct{})
			var clients sync.WaitGroup
			for range 24 {
				clients.Go(func() {
					for loud.endpoint != "" {
						select {
						case <-over:
							return
						default:
							_, _ = nc.RequestMsg(&nats.Msg{Subject: subject, Data: []byte(loud.body)}, 20*time.Second) // refusals count too
						}
					}
				})
			}
			var took []time.Duration
			for began := time.Now(); time.Since(began) < 5*time.Second; {
				asked := time.Now()
				if _, err := c.Recall(b.Context(), "quiet", wire.RecallRequest{Query: "Which boat did Ann rent in Ghent?"}); err != nil {
					b.Fatal(err)
				}
				took = append(took, time.Since(asked))
			}
			close(over)
			slices.Sort(took)
			b.ReportMetric(took[len(took)/2].Seconds()*1000, "recall-p50-ms")
			b.ReportMetric(took[len(took)*99/100].Seconds()*1000, "recall-p99-ms")
			clients.Wait()
		})
	}
}
