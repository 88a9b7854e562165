// Command eunoe is the whole of Eunoe in one program: `eunoe up` runs every
// stage with a NATS server of its own, and the other commands speak to a
// running one, wherever it is.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/eunoe-memory/eunoe/internal/app"
)

func main() {
	app.ShareCores()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := Execute(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}
