// Command eunoe is the whole of Eunoe in one program: `eunoe up` runs every
// stage with a NATS server of its own, and the other commands speak to a
// running one, wherever it is.
package main

import (
	"context"
	"os"
	"os/signal"
	"runtime"
	"syscall"
)

func main() {
	// A goroutine within SQLite may lose its turn and then waits in Go's queue
	// behind all others. With twice as many turns as cores the operating system
	// shares the cores out, and a recall beside heavy writing waits less.
	if os.Getenv("GOMAXPROCS") == "" {
		runtime.GOMAXPROCS(2 * runtime.GOMAXPROCS(0))
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := Execute(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}
