package e2e_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/eunoe-memory/eunoe/internal/app/local"
	"github.com/eunoe-memory/eunoe/internal/app/settings"
	"github.com/eunoe-memory/eunoe/pkg/client"
	"github.com/eunoe-memory/eunoe/pkg/events/natstest"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

// saying returns a sentence whose words have a skewed frequency, as in speech.
func saying(r *rand.Rand, speaker string) string {
	var b strings.Builder
	b.WriteString(speaker + " told that I")
	for range 8 {
		fmt.Fprintf(&b, " word%d", int(r.ExpFloat64()*400))
	}
	return b.String() + "."
}

// BenchmarkSettle publishes messages to several banks of a complete rule-based pipeline and waits until all banks
// report settled.
func BenchmarkSettle(b *testing.B) { settle(b, 5, 25) }

// BenchmarkSettleASession does so with one session of one bank, and then forgets it: until the reply, and until nothing
// of it is left to erase.
func BenchmarkSettleASession(b *testing.B) { settle(b, 1, 1<<30) }

func settle(b *testing.B, banks, perSession int) {
	b.Helper()
	cfg, _, err := settings.Load(nil, map[string]string{"DATA": b.TempDir(), "PORT": "-1", "LOG": "error", "SYNC": "false", "EXTRACTORS": "1"})
	if err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	local, err := local.Start(ctx, cfg, os.Stderr)
	if err != nil {
		b.Fatal(err)
	}
	defer local.Close(ctx) //nolint:errcheck // the figures are taken by then
	own := client.DefaultConfig()
	own.URL = local.URL
	c, err := client.Connect(ctx, own)
	if err != nil {
		b.Fatal(err)
	}
	defer c.Close() //nolint:errcheck // likewise
	r, speakers := rand.New(rand.NewPCG(1, 2)), []string{"Ann", "Bob", "Cleo"}
	b.ResetTimer()
	for i := range b.N {
		bank, session := memory.BankID(fmt.Sprintf("b%d", i%banks)), memory.SessionID(fmt.Sprintf("s%d", i/banks/perSession))
		speaker := speakers[r.IntN(len(speakers))]
		if _, err := c.Publish(ctx, bank, session, memory.Message{Role: memory.RoleUser, Speaker: speaker, Content: saying(r, speaker)}); err != nil {
			b.Fatal(err)
		}
		if last := i/banks%perSession == perSession-1; last || i+banks >= b.N {
			if _, err := c.Flush(ctx, bank, session); err != nil {
				b.Fatal(err)
			}
		}
	}
	for i := range min(banks, b.N) {
		if _, err := c.WaitSettled(ctx, memory.BankID(fmt.Sprintf("b%d", i)), nil); err != nil {
			b.Fatal(err)
		}
	}
	b.StopTimer()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "messages/s")
	if banks > 1 {
		return
	}
	began := time.Now()
	if _, err := c.Forget(ctx, "b0", wire.ForgetRequest{Session: "s0"}); err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(time.Since(began).Seconds(), "forget-s")
	natstest.Eventually(b, "everything is forgotten", func() bool {
		s, err := c.Status(ctx, "b0")
		return err == nil && s.Settled && s.Conservation.Forgotten >= b.N
	})
	b.ReportMetric(time.Since(began).Seconds(), "forgotten-s")
}
