package app_test

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/eunoe-memory/eunoe/internal/app"
	"github.com/eunoe-memory/eunoe/pkg/events/natstest"
)

// TestAStageThatIsStoppedWhileItStarts has each stage stopped ever later in its
// start: that is no failure.
func TestAStageThatIsStoppedWhileItStarts(t *testing.T) {
	t.Parallel()
	for _, s := range []func() app.Stage{app.Ingest, app.Extractor, app.Consolidator, app.Query} {
		server := natstest.StartServer(t)
		c, _, err := app.LoadConfig(nil, map[string]string{"URL": server.Server.ClientURL(), "DATA": t.TempDir(), "LOG": "fatal",
			"STORE": filepath.Join(t.TempDir(), "eunoe.db")})
		if err != nil {
			t.Fatal(err)
		}
		for wait := time.Duration(0); wait <= 60*time.Millisecond; wait += 3 * time.Millisecond {
			ctx, stop := context.WithCancel(t.Context())
			time.AfterFunc(wait, stop)
			if err := app.Run(ctx, c, s()); err != nil {
				t.Errorf("stopped after %s: %v", wait, err)
			}
			stop()
		}
	}
}
