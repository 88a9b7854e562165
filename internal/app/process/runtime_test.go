package process_test

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"runtime/metrics"
	"slices"
	"strings"
	"testing"

	"github.com/eunoe-memory/eunoe/internal/app/process"
	"github.com/eunoe-memory/eunoe/pkg/events/natstest"
)

func TestTurnsOfGoroutines(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		given     string
		has, want int
	}{{"", 2, 8}, {"", 1, 4}, {"3", 3, 3}} {
		if got := process.MaxProcs(c.given, c.has); got != c.want {
			t.Errorf("GOMAXPROCS %q with %d returns %d turns; expected %d", c.given, c.has, got, c.want)
		}
	}
}

func TestASmallHeapMayGrowByMoreThanItKeeps(t *testing.T) {
	t.Parallel()
	for kept, want := range map[uint64]int{0: 800, 4 << 20: 800, 32 << 20: 400, 64 << 20: 200, 128 << 20: 100, 1 << 40: 100} {
		if got := process.GCPercent(kept); got != want {
			t.Errorf("GOGC is %d where %d bytes are kept; expected %d", got, kept, want)
		}
	}
}

// TestGOGCFollowsTheHeap keeps 256 MiB, of which a collection must learn, and lets them go.
func TestGOGCFollowsTheHeap(t *testing.T) {
	if os.Getenv("GOGC") != "" {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run", "^TestGOGCFollowsTheHeap$", "-test.count=1")
		cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "GOGC=") })
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("without GOGC: %v\n%s", err, out)
		}
		return
	}
	process.TuneRuntime()
	becomes := func(want uint64) {
		t.Helper()
		natstest.Eventually(t, fmt.Sprintf("GOGC is %d", want), func() bool {
			runtime.GC()
			now := []metrics.Sample{{Name: "/gc/gogc:percent"}}
			metrics.Read(now)
			return now[0].Value.Uint64() == want
		})
	}
	kept := make([]byte, 256<<20)
	becomes(100)
	runtime.KeepAlive(kept) // up to here
	becomes(800)
}
