package offline_test

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"testing"

	"go.uber.org/goleak"

	"github.com/eunoe-memory/eunoe/internal/app/offline"
	"github.com/eunoe-memory/eunoe/internal/app/settings"
	"github.com/eunoe-memory/eunoe/pkg/consolidate/rebuild"
)

// TestMain runs the tests, or, in a child process, the rebuild that a test kills.
func TestMain(m *testing.M) {
	if dir := os.Getenv("EUNOE_TEST_REBUILD"); dir != "" {
		os.Exit(rebuildUntilKilled(dir, os.Getenv("EUNOE_TEST_AT")))
	}
	goleak.VerifyTestMain(m)
}

// rebuildUntilKilled rebuilds the store of dir, reports when it has reached the given step, and waits there to be
// killed.
func rebuildUntilKilled(dir, at string) int {
	stop, err := strconv.Atoi(at)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	set, fill := map[string]string{"DATA": dir, "LOG": "error", "SYNC": "false"}, offline.Rebuild
	if url := os.Getenv("EUNOE_TEST_EMBED"); url != "" {
		set["EMBED"], set["EMBED_URL"], set["EMBED_KEY"] = "openai:other-model", url, "none"
		fill = offline.Reembed
	}
	cfg, _, err := settings.Load(nil, set)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	cfg.Batch = 1
	told := 0
	err = fill(context.Background(), cfg, func(p rebuild.Progress) {
		told++
		if stop >= 0 && told >= stop || stop < 0 && p.Writes == p.LastWrite {
			fmt.Println("here", told)
			select {}
		}
	})
	fmt.Println("ended", told, err)
	return 0
}
