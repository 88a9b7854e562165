package process

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// TuneRuntime sets what Go's runtime would choose otherwise, unless the environment sets it. A program calls it first.
//
// GOMAXPROCS is four times the number of cores. A goroutine inside SQLite may lose its core and then waits in Go's queue
// behind all others; with more threads than cores the operating system shares the cores out, and a recall waits less while
// the consolidator writes or other banks publish much (`go test -run xxx -benchtime 1x -bench BesideAFlood ./test/e2e`).
//
// GOGC is such that a process allocates room before the next collection: eight times what it keeps where that is less, and as
// much as it keeps where that is more. With Go's 100 % a process that keeps little collects all the time while it is busy.
func TuneRuntime() {
	runtime.GOMAXPROCS(maxProcs(os.Getenv("GOMAXPROCS"), runtime.GOMAXPROCS(0)))
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent(0))
		keepRoom()
	}
}

// maxProcs returns the number of threads for a process: what the environment says, else four times the number of cores.
func maxProcs(env string, cores int) int {
	if env != "" {
		return cores
	}
	return 4 * cores
}

// room is how many bytes a process may allocate from one collection to the next, whatever it keeps, and mostPercent bounds the
// growth of a small heap.
const (
	room        = 128 << 20
	mostPercent = 800
)

// gcPercent returns GOGC for a heap of which a collection kept so many bytes.
func gcPercent(kept uint64) int {
	if kept <= room*100/mostPercent {
		return mostPercent
	}
	return max(100, int(room*100/kept)) //nolint:gosec // below mostPercent
}

// collected is an object that nobody holds, so that the next collection cleans it up. It has a pointer, because small objects
// without one share a place.
type collected struct{ _ *collected }

// keepRoom sets GOGC anew after every collection.
func keepRoom() {
	kept := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	current := gcPercent(0)
	var after func(struct{})
	after = func(struct{}) {
		metrics.Read(kept)
		// Setting it stops all goroutines for a moment: a tenth is not worth that.
		if now := gcPercent(kept[0].Value.Uint64()); now*10 < current*9 || now*9 > current*10 {
			debug.SetGCPercent(now)
			current = now
		}
		runtime.AddCleanup(new(collected), after, struct{}{})
	}
	runtime.AddCleanup(new(collected), after, struct{}{})
}
