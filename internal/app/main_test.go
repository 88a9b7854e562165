package app_test

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"testing"

	"go.uber.org/goleak"

	"github.com/eunoe-memory/eunoe/internal/app"
	"github.com/eunoe-memory/eunoe/pkg/consolidate"
)

// TestMain runs the tests, or, as a process of its own, the rebuild that one of
// them kills.
func TestMain(m *testing.M) {
	if dir := os.Getenv("EUNOE_TEST_REBUILD"); dir != "" {
		os.Exit(rebuildUntilKilled(dir, os.Getenv("EUNOE_TEST_AT")))
	}
	goleak.VerifyTestMain(m)
}

// rebuildUntilKilled rebuilds the store of dir, says when it has come so many
// steps far, and waits there to be killed.
func rebuildUntilKilled(dir, at string) int {
	stop, err := strconv.Atoi(at)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	cfg, _, err := app.LoadConfig(nil, map[string]string{"DATA": dir, "LOG": "error", "SYNC": "false", "BATCH": "1"})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	told := 0
	err = app.Rebuild(context.Background(), cfg, func(p consolidate.Progress) {
		told++
		if stop >= 0 && told >= stop || stop < 0 && p.Writes == p.LastWrite {
			fmt.Println("here", told)
			select {}
		}
	})
	fmt.Println("ended", told, err)
	return 0
}
