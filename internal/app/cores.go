package app

import (
	"os"
	"runtime"
)

// ShareCores gives a process as many turns for goroutines as turns says; a
// command calls it first.
func ShareCores() { runtime.GOMAXPROCS(turns(os.Getenv("GOMAXPROCS"), runtime.GOMAXPROCS(0))) }

// turns is twice what Go has by itself, unless GOMAXPROCS is set. A goroutine
// within SQLite may lose its turn and then waits in Go's queue behind all
// others; with more turns than cores the operating system shares the cores out,
// and a recall beside heavy writing waits less.
func turns(given string, has int) int {
	if given != "" {
		return has
	}
	return 2 * has
}
