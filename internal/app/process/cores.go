package process

import (
	"os"
	"runtime"
)

// OversubscribeCores sets GOMAXPROCS to four times the number of cores, unless the environment sets it. A program calls it
// first. A goroutine inside SQLite may lose its core and then waits in Go's queue behind all others; with more threads
// than cores the operating system shares the cores out, and a recall waits less while the consolidator writes or other
// banks publish much (`go test -run xxx -benchtime 1x -bench BesideAFlood ./test/e2e`).
func OversubscribeCores() {
	runtime.GOMAXPROCS(maxProcs(os.Getenv("GOMAXPROCS"), runtime.GOMAXPROCS(0)))
}

// maxProcs returns the number of threads for a process: what the environment says, else four times the number of cores.
func maxProcs(env string, cores int) int {
	if env != "" {
		return cores
	}
	return 4 * cores
}
